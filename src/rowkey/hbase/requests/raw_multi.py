"""A batch of puts whose bytes were made elsewhere: for columns of cells rather than rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rowkey.hbase.errors import HBaseError
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.multi_answer import (
    all_done,
    region_answers,
    region_failure,
    results,
    unanswered,
)
from rowkey.hbase.wire.names import region_specifier
from rowkey.hbase.wire.proto import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.hbase.wire.frames import Response


class ActionFailure(NamedTuple):
    """One put of a raw batch that failed.

    Args:
        region: which of the batch's regions, from 0.
        action: which of the region's actions, from 0.
        error: what is wrong with it.
    """

    region: int
    action: int
    error: HBaseError


@dataclass(frozen=True, slots=True)
class RawMulti(Request[list[ActionFailure]]):
    """Those puts that failed; all others are applied.

    Args:
        regions: full name of each region; its actions as fields 3 of the message `RegionAction`,
            with the indexes 1..count; and how many they are.
        cells: the cells of all actions, in their order.
    """

    method: ClassVar[str] = "Multi"
    regions: Sequence[tuple[bytes, bytes, int]]
    cells: bytes

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        said = (
            message(1, message(1, region_specifier(name)), actions)
            for name, actions, _ in self.regions
        )
        return b"".join(said), self.cells

    def decode(self, response: Response) -> list[ActionFailure]:
        answers = region_answers(response.message, len(self.regions))
        return [
            ActionFailure(place, action, error)
            for place, answer in enumerate(answers)
            for action, error in _failures(answer, self.regions[place][2])
        ]


def _failures(answer: bytes, count: int) -> Iterator[tuple[int, HBaseError]]:
    """The actions of one region that failed, from 0, and what is wrong with each."""
    if all_done(answer, count):
        return
    whole = region_failure(answer)
    if whole is not None:
        yield from ((action, whole) for action in range(count))
        return
    told = dict(results(answer))
    for action in range(count):
        result = told.get(action + 1)
        if result is None:
            yield action, unanswered()
        elif isinstance(result, HBaseError):
            yield action, result
