"""Count the bytes of written cells, with and without those that a later write replaces."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import FOREVER_S, LATEST, CellBlock, compute_block_bytes
from rowkey.design import Design
from rowkey.rows import build_cell_blocks

MAX_CELL_HEAP_BYTES = 96
"""What a cell takes in memory beside row key, qualifier and value, at most: its object, its array,
lengths, family, timestamp and kind. Source: KeyValue.heapSize of 2.6.4, with ClassSize.ARRAY."""


class CellSizeCounter:
    """Collects the sizes of the cells that batches of events write, and sums their bytes."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self._blocks: dict[str, list[pa.Table]] = {}
        self._oldest_ms: dict[str, int] = {}

    def add(
        self, rows: pa.RecordBatch, at_ms: int, salts: np.ndarray[Any, Any] | None = None
    ) -> None:
        """Add the cells that a batch of events writes.

        Args:
            at_ms: when they are written, milliseconds since 1970.
            salts: the random salt of each, where the key has one.
        """
        for block in build_cell_blocks(self.design.layout, rows, salts=salts):
            self._blocks.setdefault(block.family, []).append(_build_cell_table(block))
            oldest = self._oldest_ms.get(block.family, at_ms)
            self._oldest_ms[block.family] = min(oldest, _find_oldest_ms(block, at_ms))

    def find_expired_family(self, at_ms: int) -> str:
        """Return the first family with cells older than its TTL; "" if there is none.

        Args:
            at_ms: when, milliseconds since 1970.
        """
        families = self.design.families
        for name, oldest_ms in self._oldest_ms.items():
            ttl_s = families[name].ttl_s
            if ttl_s != FOREVER_S and oldest_ms + 1_000 * ttl_s <= at_ms:
                return name
        return ""

    def sum_bytes(self) -> int | None:
        """Return the bytes of all cells, of which a later write of the same cell replaces one.

        None if a cell was written twice in a family that keeps several versions.
        """
        total = 0
        for family, tables in self._blocks.items():
            count_and_bytes = _sum_live_cells(
                tables, keeps_one=self.design.families[family].versions == 1
            )
            if count_and_bytes is None:
                return None
            cells, parts = count_and_bytes
            total += parts + cells * compute_block_bytes(0, len(family.encode()), 0, 0)
        return total

    def sum_heap_bytes(self) -> int:
        """Return the most memory that all cells, replaced ones too, need in a server."""
        blocks = [one for tables in self._blocks.values() for one in tables]
        parts = sum(pc.sum(one["bytes"]).as_py() or 0 for one in blocks)
        return parts + sum(map(len, blocks)) * MAX_CELL_HEAP_BYTES


def _build_cell_table(block: CellBlock) -> pa.Table:
    """Return the cells of a block as a table of row, qualifier and size."""
    rows = pa.array(block.rows) if not isinstance(block.rows, pa.Array) else block.rows
    given = block.qualifiers
    qualifiers = (
        pa.repeat(pa.scalar(given, pa.binary()), len(rows)) if type(given) is bytes else given
    )
    lengths = [pc.binary_length(one) for one in (rows, qualifiers, block.values)]
    bytes_each = pc.add(pc.add(*lengths[:2]), lengths[2]).cast(pa.int64())
    table = pa.table({"row": rows, "qualifier": qualifiers, "bytes": bytes_each})
    return table.filter(pc.is_valid(block.values))


def _find_oldest_ms(block: CellBlock, at_ms: int) -> int:
    """Return the timestamp of the oldest cell of a block."""
    timestamps = block.timestamps
    if type(timestamps) is int:
        return at_ms if timestamps == LATEST else timestamps
    minimum = pc.min(timestamps).as_py()
    return at_ms if minimum is None else int(minimum)


def _sum_live_cells(tables: list[Any], *, keeps_one: bool) -> tuple[int, int] | None:
    """Return the number of live cells and their bytes; None if versions would overlap."""
    cells = pa.concat_tables(tables)
    groups = cells.group_by(["row", "qualifier"], use_threads=False)
    last = groups.aggregate([("bytes", "last")])
    if len(last) < len(cells) and not keeps_one:
        return None
    return len(last), int(pc.sum(last["bytes_last"]).as_py() or 0)
