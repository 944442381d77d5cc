"""What rules found, mended in the file: only what is safe, and only what makes nothing worse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.design import Design
from rowkey.errors import DeclarationError
from rowkey.lint.rewriting import rewritten
from rowkey.lint.rules import KINDS
from rowkey.lint.run import check
from rowkey.lint.subject import Subject
from rowkey.open_file_limit import explains_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.lint.finding import Finding
    from rowkey.lint.seen import Seen

MOST = 200
"""Fixes of one file; each is one word, and no file has more words that a rule would change."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A design file after its fixes.

    Args:
        text: the file.
        design: what it declares.
        done: the findings that are mended.
    """

    text: str
    design: Design
    done: tuple[Finding, ...]


@explains_shortage
def mended(
    design: Design,
    seen: Seen | None = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Mended:
    """A design file with the findings mended that have a safe fix.

    A fix is kept if the finding is gone, and no finding of a warning's weight has come.

    Args:
        design: the design, from a file or a text.
        seen: what a sample shows.
        select: as `check`.
        ignore: as `check`.

    Raises:
        Refused: no rule has such a code or name.
    """
    assert design.written is not None, "a design of Python has no text"
    now = Mended(design.written.text, design, ())
    tried: set[tuple[str, str]] = set()
    while len(now.done) < MOST:
        step = next(_steps(now, seen, select, ignore, tried), None)
        if step is None:
            return now
        now = step
    return now


def _steps(
    now: Mended,
    seen: Seen | None,
    select: Sequence[str],
    ignore: Sequence[str],
    tried: set[tuple[str, str]],
) -> Iterator[Mended]:
    """The file with one more finding mended, for each that can be."""
    rules = {rule.code: rule for rule in KINDS.values()}
    subject = Subject(now.design, seen)
    found = check(now.design, seen, select=select, ignore=ignore).found
    stood = {(one.code, one.path) for one in found}
    for finding in found:
        here = (finding.code, finding.path)
        if here in tried:
            continue
        tried.add(here)
        words = rules[finding.code]().fixed(subject, finding)
        if not words:
            continue
        text = rewritten(now.text, words)
        changed = _read(now.design, text)
        if changed is None:
            continue
        left = check(changed, seen, select=select, ignore=ignore).found
        worse = [one for one in left if one.rank and (one.code, one.path) not in stood]
        if here not in {(one.code, one.path) for one in left} and not worse:
            yield Mended(text, changed, (*now.done, finding))


def _read(before: Design, text: str) -> Design | None:
    """The design of a changed text; None if it is none."""
    source = before.written.source if before.written is not None else ""
    try:
        return Design.loads(text, source=source, directory=Path(before.directory))
    except DeclarationError:
        return None
