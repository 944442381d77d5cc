"""Puts of many rows from Arrow columns, without an object a cell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rowkey.hbase.batching import Batch, Part
from rowkey.hbase.requests.raw_multi import ActionFailure, RawMulti
from rowkey.hbase.wire.blocks import encode_puts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from rowkey.cells import CellBlock
    from rowkey.hbase.errors import HBaseError


class Load(Batch):
    """The puts that some blocks make, one for each row.

    Args:
        table: where they belong.
        blocks: of the same rows.
        sync: whether they are on the disks before they are acknowledged.
        numbers: the number that each row had among those given, if that is not its place.

    Raises:
        Refused: a row cannot be stored; it is named by its number.
    """

    def __init__(
        self,
        table: str,
        blocks: Sequence[CellBlock],
        *,
        sync: bool = False,
        numbers: npt.NDArray[Any] | None = None,
    ) -> None:
        self.table, self._numbers = table, numbers
        self._puts = encode_puts(blocks, sync=sync)

    def __len__(self) -> int:
        return len(self._puts)

    def row(self, place: int) -> bytes:
        row: bytes = self._puts.rows[place].as_py()
        return row

    def index(self, place: int) -> int:
        number = int(self._puts.numbers[place])
        return number if self._numbers is None else int(self._numbers[number])

    def counts(self, place: int) -> bool:
        return False

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


def waves_of(
    blocks: Sequence[CellBlock],
) -> Iterator[tuple[Sequence[CellBlock], npt.NDArray[Any] | None]]:
    """Blocks cut so that no row is named twice at once: of two puts the later is to win.

    Returns:
        The blocks of each wave and the numbers that its rows had; None if that is all of them.

    Cost: 20 ns a row where all rows differ, 0.5 µs else.
    """
    import numpy as np
    import pyarrow.compute as pc

    rows = blocks[0].rows
    if pc.count_distinct(rows, mode="all").as_py() == len(rows):
        yield blocks, None
        return
    order = pc.array_sort_indices(rows).to_numpy()
    ordered = rows.take(order)
    repeated = np.append(False, pc.equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False))
    places = np.arange(len(rows))
    times = places - np.maximum.accumulate(np.where(repeated, 0, places))
    for wave in range(int(times.max()) + 1):
        numbers = np.sort(order[times == wave])
        yield [_taken(block, numbers) for block in blocks], numbers


def _taken(block: CellBlock, numbers: npt.NDArray[Any]) -> CellBlock:
    """The rows of some numbers."""
    qualifiers, timestamps = block.qualifiers, block.timestamps
    return replace(
        block,
        rows=block.rows.take(numbers),
        values=block.values.take(numbers),
        qualifiers=qualifiers if isinstance(qualifiers, bytes) else qualifiers.take(numbers),
        timestamps=timestamps if isinstance(timestamps, int) else _lines(timestamps, numbers),
    )


def _lines(timestamps: Any, numbers: npt.NDArray[Any]) -> Any:
    """Some timestamps, of an Arrow or a NumPy array."""
    return timestamps.take(numbers)
