"""Send puts that are already encoded, as Arrow columns are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rowkey.hbase.errors import HBaseError
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.multi_response import (
    build_unanswered_error,
    find_region_error,
    is_all_done,
    parse_results,
    split_region_answers,
)
from rowkey.hbase.wire.names import encode_region_specifier
from rowkey.hbase.wire.proto import ProtoMessage, encode_message


class ActionFailure(NamedTuple):
    """One put of an encoded batch that failed.

    Args:
        region: index of the region in the batch.
        action: index of the action in its region.
        error: the error of the action.
    """

    region: int
    action: int
    error: HBaseError


@dataclass(frozen=True, slots=True)
class RawMulti(Request[list[ActionFailure]]):
    """Send puts that are encoded already; the answer is the puts that failed.

    Args:
        regions: for each region its full name, its actions as fields 3 of the message
            `RegionAction` with the indexes 1..count, and their count.
        cells: the cells of all actions, in the same order.
    """

    method: ClassVar[str] = "Multi"
    regions: Sequence[tuple[bytes, bytes, int]]
    cells: bytes

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf, and its cells as a cell block."""
        params = (
            encode_message(1, encode_message(1, encode_region_specifier(name)), actions)
            for name, actions, _ in self.regions
        )
        return b"".join(params), self.cells

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[ActionFailure]:
        """Return the puts that failed."""
        answers = split_region_answers(answer, len(self.regions))
        return [
            ActionFailure(place, action, error)
            for place, region_answer in enumerate(answers)
            for action, error in _iter_failures(region_answer, self.regions[place][2])
        ]


def _iter_failures(answer: bytes, count: int) -> Iterator[tuple[int, HBaseError]]:
    """Yield the index and error of each failed action of one region."""
    if is_all_done(answer, count):
        return
    region_error = find_region_error(answer)
    if region_error is not None:
        yield from ((action, region_error) for action in range(count))
        return
    results = parse_results(answer, count)
    for action in range(count):
        result = results.get(action + 1)
        if result is None:
            yield action, build_unanswered_error()
        elif isinstance(result, HBaseError):
            yield action, result
