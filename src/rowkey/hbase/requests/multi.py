"""Many actions on the rows of one server in a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeAlias

from rowkey.cells import RowCells
from rowkey.errors import InvalidArgument
from rowkey.hbase.errors import HBaseError, MalformedAnswer, OverwrittenAnswer
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.messages.multi_response import (
    build_unanswered_error,
    check_applied,
    find_region_error,
    is_all_done,
    parse_atomic_result,
    parse_results,
    split_region_answers,
)
from rowkey.hbase.messages.mutations import (
    encode_actions,
    encode_atomic_action,
    get_idempotence,
    is_mixed,
)
from rowkey.hbase.messages.reads import Result, parse_result
from rowkey.hbase.requests.row_reads import Exists, Get
from rowkey.hbase.requests.row_writes import Append, DeleteRow, Increment
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.names import encode_region_specifier
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError, encode_message, encode_uint

RowRequest: TypeAlias = Get | Exists | Increment | Append | DeleteRow
"""A request about one row that may be an action of a batch."""

Action: TypeAlias = RowCells | RowRequest
"""One action of a batch; a `RowCells` writes its cells together."""

Outcome: TypeAlias = RowCells | bool | list[int] | list[bytes] | HBaseError | None
"""The outcome of one action: None for a write, the value of a read or a change, or an error."""


def get_action_idempotence(action: Action) -> Idempotence:
    """Return what happens if an action of a batch is sent twice."""
    if isinstance(action, RowCells):
        return get_idempotence(action.cells)
    if isinstance(action, Increment | Append):
        return Idempotence.NOT_IDEMPOTENT
    return Idempotence.IDEMPOTENT


class _ActionGroup(NamedTuple):
    """Consecutive actions of one region that are sent as one protobuf RegionAction.

    Args:
        region: full name of the region.
        start: index of the first action in the batch.
        stop: index after the last action.
        is_atomic: whether it is one row with cells of different types.
        has_no_results: whether all actions write, so that the server returns no values.
    """

    region: bytes
    start: int
    stop: int
    is_atomic: bool
    has_no_results: bool


@dataclass(frozen=True, slots=True)
class Multi(Request[list[Outcome]]):
    """Run many actions; the answer is the outcome of each, in their order.

    Within one row, gets do not see puts that precede them in the batch, and deletes win over puts
    without a timestamp in any order.

    Args:
        regions: full name of each region and its actions. A region may occur twice.
        nonce_group: number of the client, which completes the nonces of the actions.
        sync: whether writes are on the disks before they are acknowledged.

    Raises:
        InvalidArgument: an action has no cells.

    Cost: 0.8 µs to encode a put of one cell, 0.2 µs to decode its outcome.
    Source: HRegion.doMiniBatchMutate for the order; measured on HBase 2.5.13 and 2.6.4.
    """

    method: ClassVar[str] = "Multi"
    has_cells: ClassVar[bool] = True
    regions: Sequence[tuple[bytes, Sequence[Action]]]
    nonce_group: int = 0
    sync: bool = False
    _groups: tuple[_ActionGroup, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        groups: list[_ActionGroup] = []
        start = 0
        for region, actions in self.regions:
            groups += _group_actions(region, actions, start)
            start += len(actions)
        object.__setattr__(self, "_groups", tuple(groups))

    @property
    def idempotence(self) -> Idempotence:
        """Return NOT_IDEMPOTENT if that holds for one of the actions."""
        if Idempotence.NOT_IDEMPOTENT in map(get_action_idempotence, self._list_actions()):
            return Idempotence.NOT_IDEMPOTENT
        return Idempotence.IDEMPOTENT

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        actions = self._list_actions()
        params: list[bytes] = []
        blocks: list[bytes] = []
        for group in self._groups:
            first = actions[group.start]
            if group.is_atomic and isinstance(first, RowCells):
                param, block = encode_atomic_action(group.region, *first, sync=self.sync)
            else:
                fields, block = encode_actions(actions[group.start : group.stop], sync=self.sync)
                param = encode_message(1, encode_region_specifier(group.region)) + fields
            params.append(encode_message(1, param))
            blocks.append(block)
        if self.nonce_group:
            params.append(encode_uint(2, self.nonce_group))
        return b"".join(params), b"".join(blocks)

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[Outcome]:
        actions = self._list_actions()
        outcomes: list[Outcome] = [None] * len(actions)
        results: list[tuple[int, Result]] = []
        answers = split_region_answers(answer, len(self._groups))
        for group, group_answer in zip(self._groups, answers, strict=True):
            if not (group.has_no_results and is_all_done(group_answer, group.stop - group.start)):
                results += _read_group_answer(group, group_answer, outcomes)
        # Cells are in the order of the answer, which differs from that of the actions.
        cell_counts = [result.block_cell_count or 0 for _, result in results]
        rows = decode_rows(cells, cell_counts)
        for (index, result), found in zip(results, rows, strict=True):
            action = actions[index]
            if not isinstance(action, RowCells):
                outcomes[index] = _parse_outcome(action, result, found)
        return outcomes

    def _list_actions(self) -> list[Action]:
        """Return all actions in the order of the batch."""
        return [action for _, actions in self.regions for action in actions]


def _parse_outcome(action: RowRequest, result: Result, found: RowCells) -> Outcome:
    """Return the outcome of an action, or the error of an answer that is not about it."""
    try:
        return action.parse_outcome(result, found if found.cells else result.cells)
    except OverwrittenAnswer as error:
        return error
    except WireFormatError as problem:
        return MalformedAnswer.from_wire_error("the answer to Multi", problem)


def _group_actions(
    region: bytes, actions: Sequence[Action], first_index: int
) -> Iterator[_ActionGroup]:
    """Group the actions of a region; a row with puts and deletes is a group of its own.

    Raises:
        InvalidArgument: an action has no cells.
    """
    start, writes_only = first_index, True
    for index, action in enumerate(actions, first_index):
        if not isinstance(action, RowCells):
            writes_only = writes_only and type(action) is DeleteRow
            continue
        cells = action.cells
        if len(cells) == 1:
            continue
        if not cells:
            raise InvalidArgument(
                f"actions[{index}].cells", "the list is empty", "one cell or more"
            )
        if is_mixed(cells):
            if start < index:
                yield _ActionGroup(region, start, index, False, writes_only)
            yield _ActionGroup(region, index, index + 1, True, False)
            start, writes_only = index + 1, True
    if start < first_index + len(actions):
        yield _ActionGroup(region, start, first_index + len(actions), False, writes_only)


def _read_group_answer(
    group: _ActionGroup, answer: bytes, outcomes: list[Outcome]
) -> list[tuple[int, Result]]:
    """Store the errors of a group's RegionActionResult in `outcomes`; return its results.

    Returns:
        The index and result of each action whose cells must be decoded, in the order of the answer.
    """
    indexes = range(group.start, group.stop)
    if group.is_atomic:
        try:
            check_applied(parse_atomic_result(answer))
        except HBaseError as error:
            outcomes[group.start] = error
        return []
    region_error = find_region_error(answer)
    if region_error is not None:
        outcomes[group.start : group.stop] = [region_error] * len(indexes)
        return []
    results: list[tuple[int, Result]] = []
    answered = parse_results(answer, len(indexes))
    for number, result in answered.items():
        index = group.start + number - 1
        if isinstance(result, HBaseError):
            outcomes[index] = result
        else:
            results.append((index, parse_result(result)))
    for number in range(1, len(indexes) + 1):
        if number not in answered:
            outcomes[group.start + number - 1] = build_unanswered_error()
    return results


class ActionFailure(NamedTuple):
    """One put of an encoded batch that failed.

    Args:
        region: index of the region in the batch.
        action: index of the action in its region.
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
        params = (
            encode_message(1, encode_message(1, encode_region_specifier(name)), actions)
            for name, actions, _ in self.regions
        )
        return b"".join(params), self.cells

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[ActionFailure]:
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
