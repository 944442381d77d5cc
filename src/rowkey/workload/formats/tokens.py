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
_YEARS = "yY"
_MORE = {"Y": 3, "y": 1}
"""Characters above 1 that the shortest text of a part has."""
_PART = re.compile("%.", re.DOTALL)
_SPACES = re.compile(r"\s+")
TIME_ROOM = 64
"""Characters by which a time may be longer than its shortest: a September, a zone, two digits."""


class Tokens(Format):
    """Lines cut at fixed text: `{client} - [{time}] {}`.

    A name in braces takes what stands up to the next fixed text, and `{}` skips it; a time may be
    followed by its form, `{time:%Y-%m-%d %H:%M:%S,%f}`, and then goes on as far as the form does,
    whatever fixed text it holds. Every part of a line is searched once, and a time is tried at no
    more than 64 ends, so no pattern is slow. `year` stands for the year that times lack, as those
    of syslog do.
    """

    name = "tokens"
    options = (
        Option("pattern", (str,), "fixed text and names in braces", None, "text", required=True),
        Option("year", (int,), "the year of times whose form has none", None, "1..9999"),
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
        if "\n" in pattern or "\r" in pattern:
            raise Refused("pattern", "holds the end of a line, so no line fits", "one line")
        for form in filter(None, self.forms):
            _check_form(form)
        self.times = self._times()

    def _times(self) -> list[_Time | None]:
        """How each time is read; None for what is no time.

        Raises:
            Refused: a year is missing, or one is given that no form lacks.
        """
        year = self.chosen["year"]
        if year is not None and not 1 <= year <= 9_999:
            raise Refused("year", f"{year} is out of range", "1..9999")
        lacks = [form for form in self.forms if form and not _parts_of(form) & set(_YEARS)]
        if lacks and year is None:
            remedy = "Say which one it is: year = 2024 beside the pattern."
            raise Refused("pattern", f"times of the form {lacks[0]!r} have no year", "%Y", remedy)
        if year is not None and not lacks:
            raise Refused("year", "no form of a time lacks a year", "a form without %Y")
        return [_Time(form, year if form in lacks else None) if form else None
                for form in self.forms]  # fmt: skip

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
        for number, line in enumerate(lines_of(path, self.meter), 1):
            values = self.cut(line)
            if values is None:
                misfits.add(number, line)
            else:
                yield values
        misfits.check(number)

    def cut(self, line: str) -> list[str] | None:
        """The values of a line, or None if it does not follow the pattern.

        Cost: one search for each fixed text, and at most 64 readings of each time.
        """
        if not line.startswith(self.head):
            return None
        at, values = len(self.head), []
        for text, time in zip(self.between, self.times, strict=True):
            if time is None:
                end = line.find(text, at) if text else len(line)
                value: str | None = line[at:end]
            else:
                end, value = time.read(line, at, text)
            if end < 0 or value is None:
                return None
            values.append(value)
            at = end + len(text)
        return values


class _Time:
    """Reads times of one form.

    Args:
        form: its parts.
        year: the year, if the form has none.
    """

    def __init__(self, form: str, year: int | None) -> None:
        self.form = form if year is None else f"%Y {form}"
        self.before = "" if year is None else f"{year:04d} "
        # A run of spaces stands for one space or more, as `Oct  1` beside `Oct 11`.
        self.least = len(_SPACES.sub(" ", _PART.sub("x", form)))
        self.least += sum(_MORE.get(part, 0) for part in _parts_of(form))

    def read(self, line: str, at: int, behind: str) -> tuple[int, str | None]:
        """Where the shortest time of the form ends that a fixed text follows, and its value.

        Args:
            line: the line.
            at: where the time begins.
            behind: the fixed text; if empty, the time goes to the end of the line.

        Returns:
            The end and the time as ISO 8601; -1 or None if there is none.
        """
        if not behind:
            return len(line), self._instant(line[at:])
        last = at + self.least + TIME_ROOM
        end = line.find(behind, at + self.least, last + len(behind))
        while end >= 0:
            if (value := self._instant(line[at:end])) is not None:
                return end, value
            end = line.find(behind, end + 1, last + len(behind))
        return -1, None

    def _instant(self, text: str) -> str | None:
        if len(text) > self.least + TIME_ROOM:
            return None
        try:
            found = datetime.strptime(self.before + text, self.form)  # noqa: DTZ007 - naive is UTC
        except ValueError:
            return None
        return found.isoformat()


def _parts_of(form: str) -> set[str]:
    """The letters of a form's parts."""
    return {piece[:1] for piece in form.replace("%%", "").split("%")[1:]}


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
