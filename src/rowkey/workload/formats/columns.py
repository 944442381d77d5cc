"""The format `columns`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import SampleError
from rowkey.workload.contract import NULLS, Format, Option, nulls_of
from rowkey.workload.files import MARKED, lines_of, wanted
from rowkey.workload.records import Misfits, batches_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    import pyarrow as pa

    from rowkey.workload.records import LeftOut


class Columns(Format):
    """Values apart by white space, with a line of names, or `names` for a file without one."""

    name = "columns"
    suffixes = (".txt", ".dat")
    options = (
        Option("names", (list, tuple), "names of the columns of a file that has no line of them"),
        NULLS,
    )

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.nulls = frozenset(nulls_of(self.chosen))

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        names = list(self.chosen["names"] or ())
        has_header = not names
        names = names or next(lines_of(path), "").split()
        if not names:
            raise SampleError(str(path), "is empty", "a line of names, then rows")
        kept = wanted(names, columns, path)
        order = [names.index(name) for name in kept]
        rows = self._rows(path, len(names), int(has_header), left_out)
        yield from batches_of(([row[i] for i in order] for row in rows), kept)

    def _rows(
        self, path: Path, width: int, skip: int, left_out: LeftOut
    ) -> Iterator[list[str | None]]:
        misfits = Misfits(path, f"{width} values a line", left_out)
        number = 0
        for number, line in enumerate(lines_of(path, self.meter, strange=MARKED), 1):
            values = line.split()
            if number <= skip or not values:
                continue
            if len(values) == width:
                yield [None if value in self.nulls else value for value in values]
            else:
                misfits.add(number, line)
        misfits.check(number)
