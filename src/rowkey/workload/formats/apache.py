"""The format `apache`."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from rowkey.workload.contract import SampleFormat
from rowkey.workload.records import MalformedLines, SkippedRows, build_batches
from rowkey.workload.sample_streams import read_lines, resolve_columns

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
_CLOCK_TIME = re.compile(r":(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d ", re.ASCII)


class ApacheFormat(SampleFormat):
    """Apache access logs in the common or the combined format.

    Columns: client, ident, user, time, method, path, protocol, status, bytes, referer, agent; `-`
    stands for null.
    """

    name = "apache"
    suffixes = (".log",)

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of an Apache log in order, in batches of bounded size."""
        column_names = resolve_columns(COLUMNS, columns, path)
        order = [COLUMNS.index(name) for name in column_names]
        yield from build_batches(
            ([r[i] for i in order] for r in self._read_records(path, skipped_rows)), column_names
        )

    def read_column_names(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        """Return the column names of an Apache log; None if it shows none."""
        first = next(self._read_records(path, SkippedRows()), None)
        return None if first is None else list(COLUMNS)

    def _read_records(self, path: Path, skipped_rows: SkippedRows) -> Iterator[list[str | None]]:
        """Return the values of each line that follows the format."""
        misfits = MalformedLines(path, "lines of an Apache access log", skipped_rows)
        number = 0
        for number, line in enumerate(read_lines(path, self.progress), 1):
            match = _LINE.match(line)
            time = _parse_instant(match[4]) if match else None
            if match is None or time is None:
                misfits.add(number, line)
                continue
            request = match[5].split(" ")
            method, target, protocol = (*request, "-", "-")[:3] if len(request) < 3 else (
                request[0], " ".join(request[1:-1]), request[-1]
            )  # fmt: skip
            values = [
                match[1],
                match[2],
                match[3],
                time,
                method,
                target,
                protocol,
                *match.groups()[5:],
            ]
            yield [None if value == "-" else value for value in values]
        misfits.check_count(number)


def _parse_instant(text: str) -> str | None:
    """Return the time of a line as ISO 8601; None if it is not a time.

    Parsing times takes longest, and lines of one day share the date.
    """
    day, clock, zone = text[:11], text[11:21], text[21:]
    if _CLOCK_TIME.fullmatch(clock) is None:
        return _parse_time(text)
    midnight = _parse_midnight(day, zone)
    return None if midnight is None else f"{midnight[:11]}{clock[1:9]}{midnight[19:]}"


@lru_cache(maxsize=64)
def _parse_midnight(day: str, zone: str) -> str | None:
    """Return the start of a day in a time zone as ISO 8601."""
    return _parse_time(f"{day}:00:00:00 {zone}")


def _parse_time(text: str) -> str | None:
    """Return a time in Apache's notation as ISO 8601; None if it is not a time."""
    try:
        return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").isoformat()
    except ValueError:
        return None
