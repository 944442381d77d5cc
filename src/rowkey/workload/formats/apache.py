"""The format `apache`."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from rowkey.workload.contract import Format
from rowkey.workload.files import lines_of, wanted
from rowkey.workload.records import LeftOut, Misfits, batches_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

COLUMNS = (
    "client", "ident", "user", "time", "method", "path", "protocol", "status", "bytes", "referer",
    "agent",
)  # fmt: skip

_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_LINE = re.compile(
    rf"(\S+) (\S+) (\S+) \[([^\]]*)\] {_QUOTED} (\S+) (\S+)(?: {_QUOTED} {_QUOTED})?"
)
_CLOCK = re.compile(r":(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d ", re.ASCII)


class Apache(Format):
    """Apache's common and combined access logs.

    Columns: client, ident, user, time, method, path, protocol, status, bytes, referer, agent; `-`
    is no value.
    """

    name = "apache"
    suffixes = (".log",)

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        kept = wanted(COLUMNS, columns, path)
        order = [COLUMNS.index(name) for name in kept]
        yield from batches_of(([r[i] for i in order] for r in self._records(path, left_out)), kept)

    def column_names(self, path: Path, sought: Collection[str] = ()) -> list[str] | None:
        first = next(self._records(path, LeftOut()), None)
        return None if first is None else list(COLUMNS)

    def _records(self, path: Path, left_out: LeftOut) -> Iterator[list[str | None]]:
        misfits = Misfits(path, "lines of an Apache access log", left_out)
        number = 0
        for number, line in enumerate(lines_of(path, self.meter), 1):
            match = _LINE.match(line)
            time = _instant(match[4]) if match else None
            if match is None or time is None:
                misfits.add(number, line)
                continue
            request = match[5].split(" ")
            method, target, protocol = (*request, "-", "-")[:3] if len(request) < 3 else (
                request[0], " ".join(request[1:-1]), request[-1]
            )  # fmt: skip
            found = [
                match[1],
                match[2],
                match[3],
                time,
                method,
                target,
                protocol,
                *match.groups()[5:],
            ]
            yield [None if value == "-" else value for value in found]
        misfits.check(number)


def _instant(text: str) -> str | None:
    """The time of a line as ISO 8601; None if it is none.

    Python's reader of times takes most of a line's time, and lines of one day share the date.
    """
    day, clock, zone = text[:11], text[11:21], text[21:]
    if _CLOCK.fullmatch(clock) is None:
        return _parsed(text)
    midnight = _midnight(day, zone)
    return None if midnight is None else f"{midnight[:11]}{clock[1:9]}{midnight[19:]}"


@lru_cache(maxsize=64)
def _midnight(day: str, zone: str) -> str | None:
    """When a day begins where clocks are so many hours ahead."""
    return _parsed(f"{day}:00:00:00 {zone}")


def _parsed(text: str) -> str | None:
    try:
        return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").isoformat()
    except ValueError:
        return None
