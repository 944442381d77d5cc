"""Actions on many rows, each with its own outcome."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rowkey.cells import OVERHEAD, RowCells
from rowkey.hbase.batching import Batch, Part
from rowkey.hbase.errors import HBaseError
from rowkey.hbase.messages.contract import Repeating
from rowkey.hbase.requests.multi import Multi, repeats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.hbase.requests.multi import Action, Outcome

ACTION_BYTES = 32
"""Bytes of an action beside its cells, about: tags and lengths of protobuf, and the row key."""

_OF_ONE = ACTION_BYTES + OVERHEAD + 16
"""Bytes of an action of one cell, beside its row key, which it holds twice, and its parts."""


class Many(Batch):
    """Actions in any order, and what came of each.

    Args:
        table: whose rows they are about.
        actions: the actions; of equal rows the order stays.
        nonce_group: number of the client, beside the nonces of the actions.
        sync: whether what is written is on the disks before it is acknowledged.

    Attributes:
        outcomes: what came of each action, in the order given.
    """

    def __init__(
        self,
        table: str,
        actions: Sequence[Action],
        nonce_group: int = 0,
        *,
        sync: bool = False,
    ) -> None:
        self.table, self._nonce_group, self._sync = table, nonce_group, sync
        rows = [row_of(action) for action in actions]
        self._order = sorted(range(len(rows)), key=rows.__getitem__)
        self._rows = [rows[place] for place in self._order]
        self._actions = [actions[place] for place in self._order]
        self._ends = list(accumulate(map(_size, self._actions), initial=0))
        self.outcomes: list[Outcome] = [None] * len(actions)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, place: int) -> bytes:
        return self._rows[place]

    def index(self, place: int) -> int:
        return self._order[place]

    def counts(self, place: int) -> bool:
        return repeats(self._actions[place]) is Repeating.COUNTS

    def below(self, key: bytes) -> int:
        return bisect_left(self._rows, key)

    def fit(self, start: int, stop: int, size: int, count: int) -> int:
        last = min(stop, start + count)
        end = bisect_right(self._ends, self._ends[start] + size, start, last + 1) - 1
        return max(start + 1, end)

    def size(self, start: int, stop: int) -> int:
        return self._ends[stop] - self._ends[start]

    def request(self, parts: Sequence[Part]) -> Multi:
        regions = [(part.region.name, self._actions[part.start : part.stop]) for part in parts]
        return Multi(regions, self._nonce_group, self._sync)

    def settle(
        self, parts: Sequence[Part], answer: list[Outcome]
    ) -> Iterator[tuple[int, HBaseError]]:
        places = (place for part in parts for place in range(part.start, part.stop))
        for place, outcome in zip(places, answer, strict=True):
            if isinstance(outcome, HBaseError):
                yield place, outcome
            elif outcome is not None:
                self.outcomes[self._order[place]] = outcome


def row_of(action: Action) -> bytes:
    """The row key of an action."""
    return action.row


def _size(action: Any) -> int:
    """Bytes of an action in a request, about."""
    if type(action) is not RowCells:
        pieces = getattr(action, "pieces", getattr(action, "amounts", ()))
        own = sum(len(one[1]) + (len(one[2]) if isinstance(one[2], bytes) else 8) for one in pieces)
        return ACTION_BYTES + len(action.row) + own + len(pieces) * (OVERHEAD + 16)
    row, cells = action
    if len(cells) == 1:
        family, qualifier, _, value, _, _ = cells[0]
        return _OF_ONE + 2 * len(row) + len(family) + len(qualifier) + len(value)
    own = sum(len(cell[0]) + len(cell[1]) + len(cell[3]) for cell in cells)
    return ACTION_BYTES + len(row) + own + len(cells) * (OVERHEAD + 16 + len(row))


def waves(mutations: Sequence[RowCells]) -> Iterator[tuple[Sequence[RowCells], Sequence[int]]]:
    """Mutations cut so that no row is named twice at once: a server would reorder them.

    Returns:
        The mutations of each wave, and their numbers among those given.

    Cost: 50 ns a mutation where all rows differ.

    Source: HRegion.doMiniBatchMutate writes puts and deletes of a batch together, with one
        timestamp.

    >>> rows = [RowCells(b"a", ()), RowCells(b"b", ()), RowCells(b"a", ())]
    >>> [numbers for _, numbers in waves(rows)]
    [[0, 1], [2]]
    """
    if len({mutation[0] for mutation in mutations}) == len(mutations):
        if mutations:
            yield mutations, range(len(mutations))
        return
    seen: dict[bytes, int] = {}
    found: list[list[int]] = []
    for number, mutation in enumerate(mutations):
        wave = seen[mutation[0]] = seen.get(mutation[0], -1) + 1
        if wave == len(found):
            found.append([])
        found[wave].append(number)
    for numbers in found:
        yield [mutations[number] for number in numbers], numbers
