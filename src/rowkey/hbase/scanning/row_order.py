"""The order and the range that the rows of a scan's answers must have.

A server that sends other rows is wrong about the data, or was misread: passing them on would lose
rows or return some twice, since a scan continues after the last row it returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import ge, gt, le, lt
from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import Cell, RowCells, build_sort_key
from rowkey.hbase.errors import MalformedAnswer
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.wire.names import META_TABLE, build_meta_sort_key
from rowkey.hbase.wire.proto import WireFormatError


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The order and range of the rows of one answer.

    Args:
        region: the region that was read.
        scan: what was asked of it.
    """

    region: RegionLocation
    scan: ScanSpec

    def check_row_keys(self, keys: Sequence[bytes], partials: Sequence[bool] = ()) -> None:
        """Raise an error unless row keys come in order, each once, and are within the range.

        Args:
            keys: the keys of consecutive rows or pieces of rows, one or more.
            partials: of each piece, whether its row may continue in the next one; empty for rows.

        Raises:
            WireFormatError: a row is out of order, comes twice, or is outside of the range.

        Cost: 20 ns a row.
        """
        self.check_order(keys, partials)
        self.check_range(keys[-1])
        if len(keys) > 1:
            self.check_range(keys[0])

    def check_order(self, keys: Sequence[bytes], partials: Sequence[bool] = ()) -> None:
        """Raise an error unless row keys come in order, each once; see `check_row_keys`."""
        values: Sequence[Any] = keys
        if self.region.table == META_TABLE:
            values = list(map(build_meta_sort_key, keys))
        precedes = gt if self.scan.reverse else lt
        if not all(map(precedes, values, values[1:])):
            for place, (one, other) in enumerate(pairwise(values)):
                if not precedes(one, other) and not (partials and partials[place] and one == other):
                    order = "descending" if self.scan.reverse else "ascending"
                    what = f"the row {keys[place + 1]!r} follows {keys[place]!r}"
                    raise WireFormatError(what, f"each row once, in {order} order")

    def check_range(self, row: bytes) -> None:
        """Raise an error unless a row is in the region and in the range of the scan.

        Only the order of hbase:meta is known here, not how a server compares its ranges.
        """
        if self.region.table == META_TABLE:
            return
        if not self.region.has_row(row):
            allowed = f"rows from {self.region.start!r} to {self.region.stop!r}"
            raise WireFormatError(f"the row {row!r} is not in the region", allowed)
        if not self.scan.has_row(row):
            allowed = f"rows from {self.scan.start!r} to {self.scan.stop!r}"
            raise WireFormatError(f"the row {row!r} is not in the range of the scan", allowed)

    @property
    def has_cell_order(self) -> bool:
        """Whether readers rely on the order of the cells of a row, so that it is checked.

        All others find cells by their columns, each of which comes once.
        """
        scan = self.scan
        return scan.raw or scan.batch is not None or scan.read.versions > 1

    def check_cells(self, rows: Sequence[RowCells]) -> None:
        """Raise an error unless the cells of each row, and of pieces of it, are in order."""
        before: RowCells | None = None
        for one in rows:
            continues = before is not None and before.row == one.row
            cells = [*before.cells[-1:], *one.cells] if before and continues else one.cells
            check_cell_order(one.row, cells, is_raw=self.scan.raw)
            before = one

    def check_columns(
        self, cells: pa.RecordBatch, counts: Sequence[int], partials: Sequence[bool]
    ) -> None:
        """Raise an error unless Arrow columns of cells are in order and within the range.

        Args:
            cells: the cells of rows or pieces of rows.
            counts: how many cells each has.
            partials: of each piece, whether its row may continue in the next one.

        Raises:
            WireFormatError: they are not, or they are not the cells of so many rows.

        Cost: 10 ns a cell.
        """
        if cells.num_rows != sum(counts):
            what = f"the answer has {cells.num_rows:,} cells"
            raise WireFormatError(what, f"the {sum(counts):,} that it counts")
        if not counts:
            return
        keys = cells["row"]
        if self.has_cell_order:
            self._check_cell_columns(cells)
        if len(counts) < len(keys):
            starts = np.cumsum([0, *counts[:-1]])
            is_same_row = pc.equal(keys[:-1], keys[1:]).to_numpy(zero_copy_only=False)
            is_same_row[starts[1:] - 1] = True  # between rows
            if not is_same_row.all():
                raise WireFormatError("cells of other rows are counted as cells of a row")
            keys = keys.take(starts)
        precedes = pc.greater if self.scan.reverse else pc.less
        is_ordered = self.region.table != META_TABLE and (
            pc.all(precedes(keys[:-1], keys[1:]), min_count=0).as_py()
        )
        if is_ordered:
            self.check_range(keys[0].as_py())
            self.check_range(keys[-1].as_py())
        else:
            self.check_row_keys(keys.to_pylist(), partials)

    def _check_cell_columns(self, cells: pa.RecordBatch) -> None:
        """Raise an error unless adjacent cells of one row are in order."""
        names = cells["family"].dictionary
        ranks = pc.array_sort_indices(pc.array_sort_indices(names)).to_numpy()
        families = ranks[cells["family"].indices.to_numpy()]
        qualifiers, timestamps = cells["qualifier"], cells["timestamp"].to_numpy()
        same_row, same_qualifier, lower_qualifier = (
            compare(column[:-1], column[1:]).to_numpy(zero_copy_only=False)
            for compare, column in (
                (pc.equal, cells["row"]),
                (pc.equal, qualifiers),
                (pc.less, qualifiers),
            )
        )
        newer = timestamps[:-1] > timestamps[1:]
        in_order = (families[:-1] < families[1:]) | (
            (families[:-1] == families[1:]) & (lower_qualifier | (same_qualifier & newer))
        )
        bad = np.flatnonzero(same_row & ~in_order)
        if len(bad):
            one, other = cells.slice(int(bad[0]), 2).to_pylist()
            what = f"row {one['row']!r} has the cell {_name_cell(other)} after {_name_cell(one)}"
            raise WireFormatError(what, _CELL_ORDER)

    def build_error(self, problem: WireFormatError) -> MalformedAnswer:
        """Return the error of an answer about this region; it names the server and the region."""
        server, mistake = str(self.region.server), problem.mistake
        what = f"the scan of region {self.region.name!r} is malformed: {mistake.problem}"
        return MalformedAnswer(
            server, what, mistake.expected, server=server, region=self.region.name
        )


_CELL_ORDER = "the cells of a row in order, each once"


def _name_cell(cell: dict[str, Any]) -> tuple[str, bytes, int]:
    """Return the family, the qualifier and the timestamp of a cell in Arrow columns."""
    return cell["family"], cell["qualifier"], cell["timestamp"]


def check_cell_order(row: bytes, cells: Sequence[Cell], *, is_raw: bool) -> None:
    """Raise an error unless cells of a row are in order; a raw scan may return equal ones.

    Raises:
        WireFormatError: a cell is out of order, or comes twice.
    """
    if len(cells) < 2:
        return
    keys = list(map(build_sort_key, cells))
    if not all(map(le if is_raw else lt, keys, keys[1:])):
        precedes = gt if is_raw else ge
        place = next(
            place for place in range(len(keys) - 1) if precedes(keys[place], keys[place + 1])
        )
        what = f"row {row!r} has the cell {cells[place + 1][:3]} after {cells[place][:3]}"
        raise WireFormatError(what, _CELL_ORDER)
