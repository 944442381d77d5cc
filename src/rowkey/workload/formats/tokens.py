"""The format `tokens`."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.workload.contract import Format, Option
from rowkey.workload.files import lines_of, wanted
from rowkey.workload.records import Misfits, batches_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from rowkey.workload.records import LeftOut

_TOKEN = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MOST_TOKENS = 64
_PARTS = "aAbBdfHIjmMpSyYz"
"""Parts of a time that mean the same on every machine; a zone's name, %Z, does not."""


class Tokens(Format):
    """Lines cut at fixed text: `{client} - [{time}] {}`.

    A name in braces takes what stands up to the next fixed text, and `{}` skips it; a time may be
    followed by its form, `{time:%d/%b/%Y:%H:%M:%S %z}`. No line is ever searched twice, so no
    pattern is slow.
    """

    name = "tokens"
    options = (
        Option("pattern", (str,), "fixed text and names in braces", None, "text", required=True),
    )

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        pattern = self.chosen["pattern"]
        pieces = _TOKEN.split(pattern)
        self.head, self.names, self.between = pieces[0], pieces[1::2], pieces[2::2]
        if not self.names or len(self.names) > MOST_TOKENS or len(pattern) > 4_096:
            raise Refused("pattern", f"{len(self.names)} names in braces", f"1..{MOST_TOKENS}")
        if any(not text for text in self.between[:-1]):
            raise Refused("pattern", "two names touch", "fixed text between names")
        self.forms = [name.partition(":")[2] for name in self.names]
        self.names = [name.partition(":")[0] for name in self.names]
        for name in filter(None, self.names):
            if not _NAME.fullmatch(name):
                raise Refused("pattern", f"{name!r} is no name", "letters, digits and _")
        for form in filter(None, self.forms):
            _check_form(form)

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        available = [name for name in self.names if name]
        kept = wanted(available, columns, path)
        order = [self.names.index(name) for name in kept]
        yield from batches_of(([row[i] for i in order] for row in self._rows(path, left_out)), kept)

    def _rows(self, path: Path, left_out: LeftOut) -> Iterator[list[str]]:
        misfits = Misfits(path, self.chosen["pattern"], left_out)
        number = 0
        for number, line in enumerate(lines_of(path), 1):
            values = self.cut(line)
            if values is None:
                misfits.add(number, line)
            else:
                yield values
        misfits.check(number)

    def cut(self, line: str) -> list[str] | None:
        """The values of a line, or None if it does not follow the pattern.

        Cost: one search for each fixed text.
        """
        if not line.startswith(self.head):
            return None
        at, values = len(self.head), []
        for text, form in zip(self.between, self.forms, strict=True):
            end = line.find(text, at) if text else len(line)
            if end < 0:
                return None
            value: str | None = line[at:end]
            if form and (value := _instant(line[at:end], form)) is None:
                return None
            values.append(value or "")
            at = end + len(text)
        return values


def _check_form(form: str) -> None:
    """Raise if the form of a time has parts that are unknown, or come twice."""
    parts = [piece[:1] for piece in form.replace("%%", "").split("%")[1:]]
    for part in parts:
        if part not in _PARTS or not part:
            allowed = " ".join(f"%{one}" for one in _PARTS)
            raise Refused("pattern", f"%{part} is no part of a time in {form!r}", allowed)
        if parts.count(part) > 1:
            raise Refused("pattern", f"%{part} comes twice in {form!r}", "each part once")
    if not parts:
        raise Refused("pattern", f"{form!r} is no form of a time", "parts such as %Y-%m-%d")


def _instant(text: str, form: str) -> str | None:
    """A time in the given form, as ISO 8601."""
    try:
        return datetime.strptime(text, form).isoformat()  # noqa: DTZ007 - naive times are UTC here
    except ValueError:
        return None
