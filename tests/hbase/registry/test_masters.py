"""The registry of masters, against servers whose answers the test writes."""

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
from rowkey.hbase.registry import NobodyKnows, NobodyThere, NoCluster, parse_url
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.names import Server
from rowkey.hbase.wire.proto import flag, message, text, uint

if TYPE_CHECKING:
    from rowkey.hbase.registry import Registry

M1, M2 = Server("m1", 16000, 1), Server("m2", 16000, 2)
RS1, RS2 = Server("rs1", 16020, 11), Server("rs2", 16020, 12)
REPLICA = message(1, message(1, uint(7, 1)), message(2, RS2.encode()))
ANSWERS = {
    "GetClusterId": text(1, "some-id"),
    "GetActiveMaster": message(1, M1.encode()),
    "GetMasters": b"".join(
        message(1, message(1, one.encode()), flag(2, one == M1)) for one in (M1, M2)
    ),
    "GetMetaRegionLocations": REPLICA
    + message(1, message(1, uint(7, 0)), message(2, RS1.encode())),
    "GetBootstrapNodes": message(1, RS1.encode()) + message(1, RS2.encode()),
}


class Fakes:
    """Servers by address: what each answers, or the error that asking it gets."""

    def __init__(self, **said: dict[str, bytes] | HBaseError) -> None:
        self.said = said
        self.asked: list[tuple[str, str]] = []

    def connection(self, address: tuple[str, int], service: str, deadline: Deadline) -> Fake:
        """A connection, unless the server is dead."""
        said = self.said.get(address[0], ConnectionLost(address[0], "nobody is there"))
        if isinstance(said, HBaseError):
            self.asked.append((address[0], "connect"))
            raise said
        assert "ClientMetaService" == service
        return Fake(self, address[0], said)

    def registry(self, url: str = "hbase+master://m1,m2") -> Registry:
        """The registry that asks them."""
        double: Any = self
        return parse_url(url).open(double, Settings())


class Fake:
    """A connection, and a call on it."""

    def __init__(self, fakes: Fakes, host: str, said: dict[str, bytes]) -> None:
        self.fakes, self.host, self.said = fakes, host, said
        self.answer = b""

    def send(self, method: str, param: bytes, cells: bytes, *, deadline: Deadline) -> Fake:
        """A request, whose answer is the same however it is asked."""
        assert (b"", b"") == (param, cells)
        self.fakes.asked.append((self.host, method))
        self.answer = self.said.get(method, b"")
        return self

    def result(self, deadline: Deadline) -> Response:
        """The answer."""
        return Response(0, None, self.answer, b"")


def soon() -> Deadline:
    """A deadline that is never reached."""
    return Deadline.after(60)


def test_a_master_tells_all() -> None:
    """The id, the active master, and the replica of hbase:meta that is written."""
    asked = Fakes(m1=ANSWERS).registry()
    told = (asked.cluster_id(soon()), asked.master(soon()), asked.meta(soon()))
    assert ("some-id", M1, RS1) == told


@pytest.mark.parametrize("empty", [b"", REPLICA])
def test_an_empty_answer_is_none(empty: bytes) -> None:
    """A master that is still starting knows nothing of hbase:meta: the next one is asked."""
    starting = {**ANSWERS, "GetMetaRegionLocations": empty}
    assert RS1 == Fakes(m1=starting, m2=ANSWERS).registry().meta(soon())


def test_region_servers_are_asked_when_all_masters_are_dead() -> None:
    """Every server ever heard of is asked in turn: those learnt, and those a master named."""
    fakes = Fakes(m1=ANSWERS)
    asked = fakes.registry()
    asked.cluster_id(soon())
    fakes.said = {"rs2": ANSWERS}
    assert RS1 == asked.meta(soon())
    fakes.said = {"rs9": ANSWERS}
    asked.learn([Server("rs9", 16020, 5)])
    assert RS1 == asked.meta(soon())


def test_nodes_that_answer_take_turns() -> None:
    """A node whose word is old is not believed again and again; dead ones come last."""
    fakes = Fakes(m2=ANSWERS, m3=ANSWERS)
    asked = fakes.registry("hbase+master://m1,m2,m3")
    for _ in range(4):
        asked.master(soon())
    turns = [host for host, method in fakes.asked if method in {"connect", "GetActiveMaster"}]
    assert ["m1", "m2", "m3"] == turns[:3]
    assert "m1" not in turns[3:]


def test_each_node_tells_why_not() -> None:
    """The error names every node and what it said."""
    fakes = Fakes(m1={"GetMetaRegionLocations": b"\xff"}, m2={})
    with pytest.raises(NoCluster) as caught:
        fakes.registry("hbase+master://m1,m2,m3").meta(soon())
    assert [
        ("m1:16000", "its answer is malformed: end within a field", True),
        ("m2:16000", "it does not know (yet)", False),
        ("m3:16000", "nobody is there", False),
    ] == list(caught.value.said)


def test_silence_may_end() -> None:
    """While servers only do not answer, the cluster may be starting; the text names three."""
    with pytest.raises(NobodyKnows, match=r"m3:16000 said: nobody is there; and 2 more nodes"):
        Fakes().registry("hbase+master://m1,m2,m3,m4,m5").meta(soon())


@pytest.mark.parametrize(
    "error",
    [
        UnknownHost("m1:16000", "the name cannot be resolved"),
        HeaderRefused("m1:16000", "hung up before its first answer"),
    ],
)
def test_what_may_pass_is_tried_a_few_times_at_first(error: HBaseError) -> None:
    """A name server has a hiccup, a master dies amid the first call; what has worked may again."""
    fakes = Fakes(m1=error)
    asked = fakes.registry("hbase+master://m1")
    with pytest.raises(NobodyThere, match=f"m1:16000 said: {error.mistake.what}") as caught:
        asked.meta(soon())
    assert (True, True) == (caught.value.retriable, caught.value.few_times)
    fakes.said = {"m1": {"GetClusterId": ANSWERS["GetClusterId"]}}
    asked.cluster_id(soon())
    fakes.said = {"m1": error}
    with pytest.raises(NobodyKnows) as again:
        asked.meta(soon())
    assert not again.value.few_times


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationNeeded("m1:16000", "answers with TLS"),
        MalformedAnswer("m1:16000", "speaks HTTP"),
    ],
)
def test_what_is_no_server_of_ours_is_final(error: HBaseError) -> None:
    """It will say the same for ever."""
    with pytest.raises(NoCluster, match=f"m1:16000 said: {error.mistake.what}"):
        Fakes(m1=error).registry("hbase+master://m1").meta(soon())


def test_nodes_not_asked_in_time_are_told() -> None:
    """A deadline that is over asks one node, and says which were left out."""
    with pytest.raises(NobodyKnows, match="m2:16000 said: not asked in time"):
        Fakes().registry().meta(Deadline.after(0))
