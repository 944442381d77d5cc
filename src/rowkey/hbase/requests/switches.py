"""Switch the balancer, splits and merges of a cluster on or off."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.proto import ProtoMessage, encode_bool, encode_uint


@dataclass(frozen=True, slots=True)
class SetBalancerRunning(Request[bool]):
    """Switch the balancer; the answer is whether it was on when the request arrived.

    A repetition after a lost answer returns the state that the first request set, so ask
    `IsBalancerEnabled` before switching to learn the previous state.

    Args:
        enabled: whether regions are moved so that servers have equally many.

    Source: Master.proto, SetBalancerRunningRequest {1:on, 2:synchronous}: switched off, it returns
        after the moves in progress.
    """

    service = "MasterService"
    method = "SetBalancerRunning"
    is_slow: ClassVar[bool] = True
    enabled: bool

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_bool(1, self.enabled) + encode_bool(2, True), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        """Return whether the balancer was on before."""
        return answer.require_fields(1).get_bool(1)


@dataclass(frozen=True, slots=True)
class IsBalancerEnabled(Request[bool]):
    """Ask whether the balancer is on.

    Source: Master.proto, IsBalancerEnabledRequest {}, answered by {1:enabled}.
    """

    service = "MasterService"
    method = "IsBalancerEnabled"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return b"", b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        """Return whether the balancer is on."""
        return answer.require_fields(1).get_bool(1)


class MasterSwitch(IntEnum):
    """A switch of the master. Source: Master.proto, MasterSwitchType."""

    SPLIT = 0
    """Whether regions may be split."""
    MERGE = 1
    """Whether regions may be merged."""


@dataclass(frozen=True, slots=True)
class SetSplitOrMerge(Request[bool]):
    """Allow or forbid splits or merges, including those that a client requests.

    The answer is the state when the request arrived; for a repetition after a lost answer that is
    the state set by the first request.

    Args:
        switch: splits or merges.
        enabled: whether they are allowed.

    Source: Master.proto, SetSplitOrMergeEnabledRequest {1:enabled, 2:synchronous,
        3:switch_types*}, answered by {1:prev_value*}. HBase 2.6.4 waits for nothing, synchronous or
        not: MasterRpcServices.setSplitOrMergeEnabled.
    """

    service = "MasterService"
    method = "SetSplitOrMergeEnabled"
    switch: MasterSwitch
    enabled: bool

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_bool(1, self.enabled) + encode_bool(2, True) + encode_uint(
            3, self.switch
        ), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        """Return whether splits, or merges, were allowed before."""
        return any(answer.require_fields(1).list_uints(1))


@dataclass(frozen=True, slots=True)
class IsSplitOrMergeEnabled(Request[bool]):
    """Ask whether splits, or merges, are allowed.

    Args:
        switch: splits or merges.

    Source: Master.proto, IsSplitOrMergeEnabledRequest {1:switch_type}, answered by {1:enabled}.
    """

    service = "MasterService"
    method = "IsSplitOrMergeEnabled"
    switch: MasterSwitch

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        """Encode the request as protobuf; it has no cell block."""
        return encode_uint(1, self.switch), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> bool:
        """Return whether splits, or merges, are allowed."""
        return answer.require_fields(1).get_bool(1)
