"""Sample a table: the first rows of its regions, with their columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rowkey.cells import RowCells
from rowkey.engines import CellSelection, ScanRange, Store

MAX_REGIONS = 256
"""Regions that are sampled at most, evenly chosen."""
MAX_ROWS = 4_096
"""Rows in a sample at most; each sampled region gives at least one."""
MAX_ROWS_PER_REGION = 512
"""Rows that one region gives at most."""
MAX_CELLS_PER_ROW = 256
"""Cells that are read of a row, from its first on; rows shared by many events have more."""
MAX_QUALIFIERS = 64
"""Different qualifiers of a family at most; more are taken for data, not for column names."""


@dataclass(slots=True)
class SampledColumn:
    """The number, lengths and kind of a column's sampled values.

    Args:
        row_count: rows that have it.
        min_bytes: bytes of its shortest value.
        max_bytes: bytes of its longest value.
        is_text: whether all of its values are printable text or empty.
    """

    family: str
    qualifier: bytes
    row_count: int = 0
    min_bytes: int = 0
    max_bytes: int = 0
    is_text: bool = True

    def add(self, value: bytes) -> None:
        """Add the value of one more row to the statistics."""
        self.min_bytes = min(self.min_bytes, len(value)) if self.row_count else len(value)
        self.max_bytes = max(self.max_bytes, len(value))
        self.is_text = self.is_text and (not value or bool(decode_text(value)))
        self.row_count += 1


@dataclass(slots=True)
class TableSample:
    """The sampled row keys and columns of a table.

    Args:
        keys: row keys, ascending.
        columns: the columns by family and qualifier, without those of wide families.
        wide_families: families with so many qualifiers that these hold data.
        sampled_regions: how many regions were sampled.
        total_regions: how many regions the table has.
    """

    keys: list[bytes] = field(default_factory=list)
    columns: dict[tuple[str, bytes], SampledColumn] = field(default_factory=dict)
    wide_families: set[str] = field(default_factory=set)
    sampled_regions: int = 0
    total_regions: int = 0

    def add(self, row: RowCells) -> None:
        """Add the next row of a scan, or a further batch of cells of the last row."""
        if not self.keys or self.keys[-1] != row.row:
            self.keys.append(row.row)
        for cell in row.cells:
            column = self._find_column(cell.family, cell.qualifier)
            if column is not None:
                column.add(cell.value)

    def _find_column(self, family: str, qualifier: bytes) -> SampledColumn | None:
        """Return the statistics of a column; None if its family has too many columns."""
        if family in self.wide_families:
            return None
        column = self.columns.get((family, qualifier))
        if column is None:
            if sum(1 for name, _ in self.columns if name == family) >= MAX_QUALIFIERS:
                self.wide_families.add(family)
                self.columns = {key: c for key, c in self.columns.items() if key[0] != family}
                return None
            column = self.columns[family, qualifier] = SampledColumn(family, qualifier)
        return column


def decode_text(data: bytes) -> str:
    """Return bytes as printable text; "" if they are not printable UTF-8.

    Args:
        data: a qualifier or a value.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() else ""


def sample_table(store: Store, splits: Sequence[bytes]) -> TableSample:
    """Return the first rows of regions, at most 256 evenly chosen ones, with the newest cells.

    Args:
        splits: where its regions begin.

    Cost: one short scan a region, of 4,096 rows in all and 256 cells a row; the read counters of
        the regions count these rows.
    """
    bounds = list(zip((b"", *splits), (*splits, b""), strict=True))
    step = -(-len(bounds) // MAX_REGIONS)
    sampled_bounds = bounds[::step]
    row_limit = max(min(MAX_ROWS // len(sampled_bounds), MAX_ROWS_PER_REGION), 1)
    sample = TableSample(sampled_regions=len(sampled_bounds), total_regions=len(bounds))
    selection = CellSelection(limit=row_limit, batch=MAX_CELLS_PER_ROW)
    for start, stop in sampled_bounds:
        (cursor,) = store.scan([ScanRange(start, stop)], selection)
        with cursor:
            _sample_region(sample, cursor, row_limit)
    return sample


def _sample_region(sample: TableSample, rows: Iterable[RowCells], row_limit: int) -> None:
    """Add the first rows of a region to the sample; of long rows only the first cells."""
    last_key: bytes | None = None
    for row in islice(rows, row_limit):
        if row.row != last_key:
            last_key = row.row
            sample.add(row)
