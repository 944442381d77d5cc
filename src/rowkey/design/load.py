"""A design file's text as a tree, with the line of every word."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from typing import Any

from rowkey.design.scanner import Lines, Path, scan
from rowkey.errors import DeclarationError, Mistake, Refused

_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class Places:
    """Finds the line of a mistake."""

    lines: Lines

    def placed(self, mistake: Mistake) -> Mistake:
        """The mistake with the line of its path, or of the nearest word above it."""
        return replace(mistake, line=self.lines.nearest(_steps(mistake.path)))


def _steps(path: str) -> Path:
    """A printed path as its steps: `reads[0].name` is reads, 0, name."""
    return tuple(
        int(index) if index else name for index, name in (m.groups() for m in _STEP.finditer(path))
    )


def parsed(text: str, source: str) -> tuple[dict[str, Any], Places]:
    """The tree of a text and where its words stand.

    Raises:
        DeclarationError: the text is too large, too deep, or no TOML.

    Cost: 1 s a megabyte; more than 256 KiB is refused before.
    """
    try:
        lines = scan(text)
        return tomllib.loads(text), Places(lines)
    except Refused as refusal:
        raise DeclarationError([refusal.mistake], source) from None
    except tomllib.TOMLDecodeError as problem:
        raise DeclarationError([_syntax(text, str(problem))], source) from None
    except (ValueError, RecursionError) as problem:
        what = f"is no TOML: {str(problem)[:120]}"
        raise DeclarationError([Mistake("", what)], source) from None


def _syntax(text: str, problem: str) -> Mistake:
    """A syntax error with its line, and the remedy where a key's escapes caused it."""
    match = _WHERE.search(problem)
    number = int(match[1]) if match and match[1] else text.count("\n") + 1
    lines = text.split("\n")
    line = lines[number - 1] if number <= len(lines) else ""
    remedy = ""
    if "\\" in line and "key" in line:
        remedy = "Write a key with escapes or quoted names between ''' and '''."
    what = _WHERE.sub("", problem).rstrip(".")
    return Mistake("", f"is no TOML: {what}: {line.strip()[:60]!r}", "", remedy, number)
