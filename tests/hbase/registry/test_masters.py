"""The registry of masters, on servers with scripted answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rowkey.hbase.errors import (
    AuthenticationNeeded,
    ConnectionLost,
    HBaseError,
    HeaderRefused,
    MalformedAnswer,
    UnknownHost,
)
from rowkey.hbase.registry import (
    ClusterNotFound,
    RegistryUnavailable,
    RegistryUnreachable,
    parse_url,
)
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import encode_bool, encode_message, encode_text, encode_uint

if TYPE_CHECKING:
    from rowkey.hbase.registry import Registry

M1, M2 = ServerName("m1", 16000, 1), ServerName("m2", 16000, 2)
RS1, RS2 = ServerName("rs1", 16020, 11), ServerName("rs2", 16020, 12)
REPLICA = encode_message(1, encode_message(1, encode_uint(7, 1)), encode_message(2, RS2.encode()))
ANSWERS = {
    "GetClusterId": encode_text(1, "some-id"),
    "GetActiveMaster": encode_message(1, M1.encode()),
    "GetMasters": b"".join(
        encode_message(1, encode_message(1, one.encode()), encode_bool(2, one == M1))
        for one in (M1, M2)
    ),
    "GetMetaRegionLocations": REPLICA
    + encode_message(1, encode_message(1, encode_uint(7, 0)), encode_message(2, RS1.encode())),
    "GetBootstrapNodes": encode_message(1, RS1.encode()) + encode_message(1, RS2.encode()),
}


class FakeServers:
    """Servers by address, each with its answer or its error."""

    def __init__(self, **said: dict[str, bytes] | HBaseError) -> None:
        self.said = said
        self.requests: list[tuple[str, str]] = []

    def get_connection(
        self, address: tuple[str, int], service: str, deadline: Deadline
    ) -> FakeCall:
        """Return a connection, unless the server is dead."""
        said = self.said.get(address[0], ConnectionLost(address[0], "nobody is there"))
        if isinstance(said, HBaseError):
            self.requests.append((address[0], "connect"))
            raise said
        assert "ClientMetaService" == service
        return FakeCall(self, address[0], said)

    def registry(self, url: str = "hbase+master://m1,m2") -> Registry:
        """Return a registry that asks the servers."""
        double: Any = self
        return parse_url(url).open_registry(double, Settings())


class FakeCall:
    """A connection and a call on it."""

    def __init__(self, fakes: FakeServers, host: str, said: dict[str, bytes]) -> None:
        self.fakes, self.host, self.said = fakes, host, said
        self.answer = b""

    def send(self, method: str, param: bytes, cells: bytes, *, deadline: Deadline) -> FakeCall:
        """Return a request whose answer is always the same."""
        assert (b"", b"") == (param, cells)
        self.fakes.requests.append((self.host, method))
        self.answer = self.said.get(method, b"")
        return self

    def result(self, deadline: Deadline) -> Response:
        """Return the answer."""
        return Response(0, None, self.answer, b"")


def build_deadline() -> Deadline:
    """Return a deadline that no test reaches."""
    return Deadline.from_now(60)


def test_a_master_answers_all_registry_lookups() -> None:
    """A master returns the id, the active master and the server of hbase:meta."""
    asked = FakeServers(m1=ANSWERS).registry()
    told = (
        asked.get_cluster_id(build_deadline()),
        asked.get_master(build_deadline()),
        asked.get_meta_server(build_deadline()),
    )
    assert ("some-id", M1, RS1) == told


@pytest.mark.parametrize("empty", [b"", REPLICA])
def test_an_empty_answer_of_a_starting_master_is_skipped(empty: bytes) -> None:
    """If a starting master does not know hbase:meta yet, the next one is asked."""
    starting = {**ANSWERS, "GetMetaRegionLocations": empty}
    assert RS1 == FakeServers(m1=starting, m2=ANSWERS).registry().get_meta_server(build_deadline())


def test_region_servers_are_asked_when_all_masters_are_dead() -> None:
    """All known servers are tried, those that were learned and those that a master named."""
    fakes = FakeServers(m1=ANSWERS)
    asked = fakes.registry()
    asked.get_cluster_id(build_deadline())
    fakes.said = {"rs2": ANSWERS}
    assert RS1 == asked.get_meta_server(build_deadline())
    fakes.said = {"rs9": ANSWERS}
    asked.learn_servers([ServerName("rs9", 16020, 5)])
    assert RS1 == asked.get_meta_server(build_deadline())


def test_registry_nodes_that_answer_are_used_in_turn() -> None:
    """A node with old data is not used for every lookup, and dead nodes come last."""
    fakes = FakeServers(m2=ANSWERS, m3=ANSWERS)
    asked = fakes.registry("hbase+master://m1,m2,m3")
    for _ in range(4):
        asked.get_master(build_deadline())
    turns = [host for host, method in fakes.requests if method in {"connect", "GetActiveMaster"}]
    assert ["m1", "m2", "m3"] == turns[:3]
    assert "m1" not in turns[3:]


def test_the_registry_error_has_the_failure_of_each_node() -> None:
    """The error names every node and why it did not answer."""
    fakes = FakeServers(m1={"GetMetaRegionLocations": b"\xff"}, m2={})
    with pytest.raises(ClusterNotFound) as caught:
        fakes.registry("hbase+master://m1,m2,m3").get_meta_server(build_deadline())
    assert [
        ("m1:16000", "the answer is malformed: the bytes end within a protobuf field", True),
        ("m2:16000", "the server does not know the answer yet", False),
        ("m3:16000", "nobody is there", False),
    ] == list(caught.value.failures)


def test_an_error_of_silent_nodes_is_retriable() -> None:
    """If no server answers, the error is retriable and its text lists three nodes."""
    with pytest.raises(RegistryUnavailable, match=r"m3:16000: nobody is there; and 2 more servers"):
        FakeServers().registry("hbase+master://m1,m2,m3,m4,m5").get_meta_server(build_deadline())


@pytest.mark.parametrize(
    "error",
    [
        UnknownHost("m1:16000", "the name cannot be resolved"),
        HeaderRefused("m1:16000", "the server hung up before its first answer"),
    ],
)
def test_registry_errors_are_retried_without_a_limit_after_one_success(error: HBaseError) -> None:
    """Errors are retried a few times, and without a limit after one success."""
    fakes = FakeServers(m1=error)
    asked = fakes.registry("hbase+master://m1")
    with pytest.raises(RegistryUnreachable, match=f"m1:16000: {error.mistake.problem}") as caught:
        asked.get_meta_server(build_deadline())
    assert (True, True) == (caught.value.is_retriable, caught.value.is_likely_permanent)
    fakes.said = {"m1": {"GetClusterId": ANSWERS["GetClusterId"]}}
    asked.get_cluster_id(build_deadline())
    fakes.said = {"m1": error}
    with pytest.raises(RegistryUnavailable) as again:
        asked.get_meta_server(build_deadline())
    assert not again.value.is_likely_permanent


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationNeeded("m1:16000", "answers with TLS"),
        MalformedAnswer("m1:16000", "the server answers with HTTP"),
    ],
)
def test_a_server_that_answers_with_tls_or_http_raises_cluster_not_found(error: HBaseError) -> None:
    with pytest.raises(ClusterNotFound, match=f"m1:16000: {error.mistake.problem}"):
        FakeServers(m1=error).registry("hbase+master://m1").get_meta_server(build_deadline())


def test_nodes_that_were_not_asked_in_time_are_in_the_error() -> None:
    """After the deadline only one node is asked, and the error names the others."""
    with pytest.raises(RegistryUnavailable, match="m2:16000: the server was not asked"):
        FakeServers().registry().get_meta_server(Deadline.from_now(0))
