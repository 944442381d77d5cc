"""The registry in ZooKeeper, against servers that behave and that do not."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Event
from threading import enumerate as enumerate_threads
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from hbase.registry.fake_zookeeper import FakeZooKeeper
from rowkey.hbase.registry import NobodyKnows, NobodyThere, NoCluster, parse_url
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import Server
from rowkey.hbase.wire.proto import message, text, uint

if TYPE_CHECKING:
    from rowkey.hbase.registry import Registry

RS1 = Server("rs1", 16020, 1_700_000_000_000)
META = bytes.fromhex(
    "ff0000001a726567696f6e7365727665723a31363032300000000000000000504255460a0f0a0372733110947d1880d095"
    "ffbc3110001803"
)
"""As HBase 2.6.4 writes it: rs1:16020, open."""

CLUSTER = {
    "/hbase/meta-region-server": META,
    "/hbase/master": b"\xff\x00\x00\x00\x01mPBUF" + message(1, RS1.encode()) + uint(2, 0),
    "/hbase/hbaseid": b"\xff\x00\x00\x00\x01mPBUF" + text(1, "some-id"),
}
DEADLINE_S = 0.3
LATE_S = 5.0
"""By so much a busy machine may be late; none of these waits ends on its own."""


def registry(*nodes: str, root: str = "") -> Registry:
    """A registry of these nodes."""
    no_servers: Any = None
    return parse_url(f"hbase://{','.join(nodes)}{root}").open(no_servers, Settings())


def test_what_the_servers_wrote_is_read() -> None:
    """The id, the master and the server of hbase:meta; each session is closed."""
    with FakeZooKeeper(CLUSTER) as zookeeper:
        asked = registry(zookeeper.node)
        until = Deadline.after(60)
        told = (asked.cluster_id(until), asked.master(until), asked.meta(until))
        while zookeeper.closed < zookeeper.sessions:
            assert not until.expired
    assert ("some-id", RS1, RS1) == told
    assert (3, 3) == (zookeeper.sessions, zookeeper.closed)


def test_pings_and_events_are_passed_over() -> None:
    """What comes beside the answer is not taken for it."""
    with FakeZooKeeper(CLUSTER, "chatty") as zookeeper:
        assert RS1 == registry(zookeeper.node).meta(Deadline.after(60))


def test_another_root_is_looked_below() -> None:
    """The path of the URL is the cluster's znode."""
    with FakeZooKeeper({"/a/b/meta-region-server": META}) as zookeeper:
        assert RS1 == registry(zookeeper.node, root="/a/b").meta(Deadline.after(60))


@pytest.mark.parametrize("mode", ["silent", "mute", "drip"])
def test_nothing_takes_longer_than_the_deadline(mode: str) -> None:
    """A port that accepts and never answers, or answers byte by byte, costs the deadline."""
    with FakeZooKeeper(CLUSTER, mode) as zookeeper:
        began = monotonic()
        with pytest.raises(NobodyKnows, match=r"no node told where hbase:meta is; .* in time"):
            registry(zookeeper.node).meta(Deadline.after(DEADLINE_S))
        took = monotonic() - began
    assert took < DEADLINE_S + LATE_S


@pytest.mark.parametrize(
    ("mode", "says"),
    [("hang up", "closed the connection|reset"), ("refuse", "refused the session"),
     ("garbage", "not ZooKeeper's"), ("huge", "not ZooKeeper's: a frame of"),
     ("short", "its answer ends too soon")],
)  # fmt: skip
def test_what_a_node_says_is_told(mode: str, says: str) -> None:
    """The error names the node and what it said."""
    with FakeZooKeeper(CLUSTER, mode) as zookeeper:
        with pytest.raises((NobodyKnows, NoCluster)) as caught:
            registry(zookeeper.node).meta(Deadline.after(60))
        (said,) = caught.value.said
    assert zookeeper.node == said.node
    assert any(one in said.text for one in says.split("|"))


@pytest.mark.parametrize(
    ("held", "says"),
    [
        ({}, "there is no znode /hbase/hbaseid"),
        ({"/hbase/meta-region-server": -102}, "not allowed (NoAuth)"),
        ({"/hbase/meta-region-server": -999}, "ZooKeeper's error -999"),
        ({"/hbase/meta-region-server": b""}, "holds b''"),
        ({"/hbase/meta-region-server": b"\xff\x7f\xff\xff\xff"}, "is not HBase's"),
        ({"/hbase/meta-region-server": b"x" * (1 << 20)}, "is not HBase's"),
        ({"/hbase/meta-region-server": b"PBUF"}, "names no server"),
        ({"/hbase/meta-region-server": b"PBUF\xff"}, "end within a"),
        ({"/hbase/meta-region-server": META[:-1] + b"\x02"}, "hbase:meta is OPENING on rs1"),
        ({"/hbase/hbaseid": b"PBUF"}, "there is no znode /hbase/meta-region-server"),
    ],
)
def test_what_a_znode_holds_is_checked(held: dict[str, bytes | int], says: str) -> None:
    """A znode that is missing, not readable, garbage or not ready is told as such."""
    with FakeZooKeeper(held) as zookeeper, pytest.raises((NobodyKnows, NoCluster)) as caught:
        registry(zookeeper.node).meta(Deadline.after(60))
    assert says in caught.value.said[0].text


def test_a_wrong_root_is_not_waited_for_but_a_missing_master_is() -> None:
    """Without the cluster's own znode there is no cluster; a master comes and goes."""
    with FakeZooKeeper({"/hbase/hbaseid": CLUSTER["/hbase/hbaseid"]}) as zookeeper:
        with pytest.raises(NoCluster, match=r"zookeeper\.znode\.parent"):
            registry(zookeeper.node, root="/other").master(Deadline.after(60))
        with pytest.raises(NobodyKnows) as caught:
            registry(zookeeper.node).master(Deadline.after(60))
    assert (True, False) == (caught.value.retriable, NoCluster.retriable)


def test_what_has_worked_may_work_again() -> None:
    """A cluster that was there is waited for, whatever is said meanwhile."""
    with FakeZooKeeper(CLUSTER) as zookeeper:
        asked = registry(zookeeper.node)
        asked.meta(Deadline.after(60))
        zookeeper.znodes = {}
        with pytest.raises(NobodyKnows):
            asked.meta(Deadline.after(60))


def test_every_node_is_tried() -> None:
    """One that hangs gets its share of the time, and is the last to be asked the next time."""
    with FakeZooKeeper(CLUSTER) as good, FakeZooKeeper(mode="silent") as silent:
        asked = registry(silent.node, "127.0.0.1:1", "no-such-host.invalid", good.node)
        assert RS1 == asked.meta(Deadline.after(2))
        began = monotonic()
        for _ in range(5):
            asked.meta(Deadline.after(60))
        assert monotonic() - began < LATE_S
        assert [silent.node, "127.0.0.1:1", "no-such-host.invalid:2181"] == [
            node for node, failed in asked.dump()["failed"].items() if failed
        ]


def test_a_name_nobody_knows_is_told() -> None:
    """The error names the host; asking again helps only if the name server had a hiccup."""
    with pytest.raises(NobodyThere, match=r"no-such-host.invalid:2181 said: .*cannot be resolved"):
        registry("no-such-host.invalid").meta(Deadline.after(60))


def test_nothing_is_left_behind() -> None:
    """A hundred lookups, most of them failing, leave no thread and no socket."""
    with FakeZooKeeper(CLUSTER) as good, FakeZooKeeper(mode="hang up") as bad:
        asked = [registry(one) for one in (good.node, bad.node, "127.0.0.1:1", "nobody.invalid")]
        open_before = _open_files()
        for one in asked * 25:
            with suppress(NobodyKnows, NoCluster):
                one.meta(Deadline.after(60))
        until = Deadline.after(60)
        while _open_files() > open_before and not until.expired:
            Event().wait(0.01)  # the fakes close their ends in threads of their own
        assert open_before == _open_files()
    assert [] == [thread.name for thread in enumerate_threads() if "resolve" in thread.name]


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
