"""Puts of many rows from Arrow columns, without an object a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.hbase.batching import Batch, Part
from rowkey.hbase.requests.raw_multi import ActionFailure, RawMulti
from rowkey.hbase.wire.blocks import encode_puts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.cells import CellBlock
    from rowkey.hbase.errors import HBaseError


class Load(Batch):
    """The puts that some blocks make, one for each row.

    Args:
        table: where they belong.
        blocks: of the same rows.
        sync: whether they are on the disks before they are acknowledged.

    Raises:
        Refused: a row cannot be stored; it is named by its number.
    """

    def __init__(self, table: str, blocks: Sequence[CellBlock], *, sync: bool = False) -> None:
        self.table = table
        self._puts = encode_puts(blocks, sync=sync)

    def __len__(self) -> int:
        return len(self._puts)

    def row(self, place: int) -> bytes:
        row: bytes = self._puts.rows[place].as_py()
        return row

    def below(self, key: bytes) -> int:
        return self._puts.below(key)

    def fit(self, start: int, stop: int, size: int, count: int) -> int:
        return self._puts.fit(start, stop, size, count)

    def size(self, start: int, stop: int) -> int:
        cells, actions = self._puts.cell_bounds, self._puts.action_bounds
        return int(cells[stop] - cells[start] + actions[stop] - actions[start])

    def request(self, parts: Sequence[Part]) -> RawMulti:
        cuts = [(part, self._puts.cut(part.start, part.stop)) for part in parts]
        regions = [(part.region.name, cut.actions, part.stop - part.start) for part, cut in cuts]
        return RawMulti(regions, b"".join(cut.cells for _, cut in cuts))

    def settle(
        self, parts: Sequence[Part], answer: list[ActionFailure]
    ) -> Iterator[tuple[int, HBaseError]]:
        return ((parts[region].start + action, error) for region, action, error in answer)
