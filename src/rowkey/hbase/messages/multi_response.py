"""Parses the answer to a batch: results by index, and errors of a region or an action.

A failure of the whole call is raised before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rowkey.hbase.errors import MalformedAnswer, parse_remote_error
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.hbase.errors import HBaseError

_DONE_ACTION = re.compile(
    rb"\x0a(?:\x04\x08([\x01-\x7f])|\x05\x08([\x80-\xff][\x01-\x7f]))\x12\x00", re.DOTALL
)
"""An action that was done without a result: its index of one or two bytes, and an empty result.

Source: MultiResponse of HBase 2.5 and 2.6 as measured: `0a 04 08 01 12 00`.
"""

_DONE_ACTIONS = re.compile(
    rb"(?:\x0a\x04\x08[\x01-\x7f]\x12\x00|\x0a\x05\x08[\x80-\xff][\x01-\x7f]\x12\x00)*+",
    re.DOTALL,
)


def split_region_answers(message: bytes, count: int) -> list[bytes]:
    """Return the protobuf messages RegionActionResult, one for each region, of a MultiResponse.

    Args:
        message: the message `MultiResponse`.
        count: how many `RegionAction` were sent.

    Raises:
        WireFormatError: the response has another number of results.
    """
    results = ProtoMessage(message).list_bytes(1)
    if len(results) != count:
        what = f"the answer to Multi has results for {pluralize(len(results), 'region')}"
        raise WireFormatError(what, f"results for {count}")
    return results


def is_all_done(answer: bytes, count: int) -> bool:
    """Return whether a RegionActionResult says only that all actions succeeded.

    It is also False if the bytes say so in another form: the caller then parses them.

    Args:
        answer: the message.
        count: how many actions there were, with the indexes 1..count.

    Cost: 0.2 µs an action.

    >>> is_all_done(bytes.fromhex("0a0408021200" "0a0408011200"), 2)
    True
    """
    short = min(count, 127)
    # Each index comes once, so the answer is as long as all of them together.
    if len(answer) != 6 * short + 7 * (count - short) or count >= 1 << 14:
        return False
    whole = _DONE_ACTIONS.match(answer)
    if whole is None or whole.end() != len(answer):
        return False
    return len(set(_DONE_ACTION.findall(answer))) == count


def iter_results(answer: bytes) -> Iterator[tuple[int, bytes | HBaseError]]:
    """Yield (index, result or error) of each action in a RegionActionResult.

    The caller has checked `find_region_error` before.

    Source: Client.proto of HBase 2.6: RegionActionResult 1 resultOrException, 2 exception,
        3 processed; ResultOrException 1 index, 2 result, 3 exception.
    """
    for one in ProtoMessage(answer).list_messages(1):
        fault = one.get_message(3)
        yield one.get_uint(1), parse_fault(fault) if fault else one.get_bytes(2)


def find_region_error(answer: bytes) -> HBaseError | None:
    """Return the error that a RegionActionResult has for all its actions, or None."""
    if answer.startswith(b"\x0a\x04\x08") or not answer:
        return None
    fault = ProtoMessage(answer).get_message(2)
    return parse_fault(fault) if fault else None


def parse_fault(fault: ProtoMessage) -> HBaseError:
    """Convert the exception of an action, a protobuf NameBytesPair, to an error.

    Only its class says whether a retry helps.
    """
    return parse_remote_error(
        fault.get_text(1), fault.get_bytes(2).decode(errors="replace"), do_not_retry=False
    )


def build_unanswered_error() -> HBaseError:
    """Return the error for an action that an answer does not mention."""
    return MalformedAnswer("the answer to Multi", "the answer has no result for one of the actions")


def parse_atomic_response(message: bytes) -> bool:
    """Return whether a MultiResponse says that its one atomic RegionAction was applied.

    Raises:
        HBaseError: it failed, as a whole or in one of its actions.
        WireFormatError: the answer is not about one region.
    """
    (answer,) = split_region_answers(message, 1)
    return parse_atomic_result(answer)


def parse_atomic_result(answer: bytes) -> bool:
    """Return whether a RegionActionResult says that its condition was true and it was applied.

    Raises:
        HBaseError: it failed, as a whole or in one of its actions.
    """
    message = ProtoMessage(answer)
    faults = [message.get_message(2), *(one.get_message(3) for one in message.list_messages(1))]
    for fault in faults:
        if fault:
            raise parse_fault(fault)
    return message.get_bool(3)
