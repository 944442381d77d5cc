"""No malformed answer to any request is acknowledged."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from hbase.fakes import FakeServer, frame
from hbase.requests.malformed import (
    CALL_ID,
    EXAMPLES,
    Example,
    MalformedAnswers,
    build_frame,
    list_request_classes,
)
from rowkey.hbase import Settings
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.errors import HBaseError
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.requests import ActionFailure, ScanResponse
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.frames import parse_response
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import WireFormatError, encode_uint, encode_varint

if TYPE_CHECKING:
    from hbase.fakes import AcceptedConnection

MAX_MB = 256
OPERATION_S = 5.0
SETTINGS = Settings(
    operation_timeout_s=OPERATION_S,
    call_timeout_s=1.0,
    retry_pause_s=0.0,
    max_retry_pause_s=0.0,
    max_attempts=2,
)
each_request = pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda one: type(one.request).__name__
)


def has_error(answer: Any) -> bool:
    """Return whether a decoded answer holds the error of an action, or raise that of its rows."""
    if isinstance(answer, ScanResponse):
        decode_rows(answer.cells, answer.counts)
    return isinstance(answer, list) and any(
        isinstance(one, HBaseError | ActionFailure) for one in answer
    )


def test_each_class_of_requests_has_an_example_of_malformed_answers() -> None:
    """Malformed answers are made for every class of requests; add a new one to `EXAMPLES`."""
    assert list_request_classes() == {type(one.request) for one in EXAMPLES}


@each_request
def test_the_valid_answers_behind_the_malformed_ones_are_accepted(example: Example) -> None:
    """The answers that malformed ones are made of are acknowledged."""
    response = parse_response(build_frame(example.message, example.cells))
    assert CALL_ID == response.call_id
    assert not has_error(example.request.decode(response))


def check_refused(example: Example, seed: int, count: int) -> None:
    """Decode so many malformed answers, and check that each is refused."""
    for problem, sent in MalformedAnswers(example, Random(seed)).draw(count):
        try:
            response = parse_response(sent)
            answer = example.request.decode(response)
            is_refused = response.error is not None or has_error(answer)
        except (WireFormatError, HBaseError):
            continue
        assert is_refused, (problem, sent.hex(), answer)


@each_request
def test_no_malformed_answer_is_accepted(example: Example) -> None:
    """Some malformed answers of each sort, to each request, are refused."""
    check_refused(example, 1, 45)


@pytest.mark.long
@each_request
def test_none_of_a_thousand_malformed_answers_is_accepted(example: Example) -> None:
    """A thousand malformed answers to each request are refused."""
    check_refused(example, 2, 1_000)


class OneServer:
    """The registry and the regions of a cluster of one server."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.server = ServerName(*address, 1)
        self.region = RegionLocation("t", b"t,,1.", b"", b"", self.server, 1)

    def get_master(self, _: object) -> ServerName:
        return self.server

    def locate_region(self, *_: object) -> RegionLocation:
        return self.region

    def forget_region(self, *_: object) -> None:
        """Do nothing."""

    forget_server = record_move = forget_region


def answer_always(sent: bytes) -> Callable[[AcceptedConnection], None]:
    """Return the script of a server that sends this frame, with the call's id, to each request."""

    def script(peer: AcceptedConnection) -> None:
        while True:
            request = peer.read_request()
            peer.write(frame(set_call_id(sent, request.call_id)))

    return script


def set_call_id(sent: bytes, call_id: int) -> bytes:
    """Return a frame with another call id, if it has one."""
    old = encode_uint(1, CALL_ID)
    size, at = (sent[0], 1) if sent and sent[0] < 0x80 else (0, 0)
    if not sent[at : at + size].startswith(old):
        return sent
    header = encode_uint(1, call_id) + sent[at + len(old) : at + size]
    return encode_varint(len(header)) + header + sent[at + size :]


def check_calls_fail(example: Example, seed: int, count: int) -> None:
    """Call a server that gives malformed answers; check that each call fails in time."""
    first_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for problem, sent in MalformedAnswers(example, Random(seed)).draw(count):
        with FakeServer(answer_always(sent)) as server:
            cluster: Any = OneServer(server.address)
            connections = ServerConnections(SETTINGS)
            caller = RetryingCaller(cluster, connections, cluster, SETTINGS)
            started = time.monotonic()
            try:
                if example.request.service == "ClientService":
                    answer = caller.call_row("t", b"r", example.request)
                elif example.request.service == "MasterService":
                    answer = caller.call_master(example.request)
                else:
                    answer = caller.call_server(server.address, example.request)
                assert has_error(answer), (problem, sent.hex(), answer)
            except (WireFormatError, HBaseError):
                pass
            finally:
                caller.close()
                connections.close()
            assert time.monotonic() - started < 2 * OPERATION_S
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first_kb < MAX_MB << 10


@each_request
def test_a_call_fails_in_time_if_its_server_sends_malformed_answers(example: Example) -> None:
    """A call of each request fails in time when its server sends malformed answers."""
    check_calls_fail(example, 3, 2)


@pytest.mark.long
@each_request
def test_a_thousand_calls_with_malformed_answers_fail_in_time(example: Example) -> None:
    """A thousand calls of each request, with malformed answers, fail in time and little memory."""
    check_calls_fail(example, 4, 1_000)
