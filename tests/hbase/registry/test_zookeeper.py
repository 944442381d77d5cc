"""The registry in ZooKeeper, on working and on failing servers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Event
from threading import enumerate as enumerate_threads
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from hbase.registry.fake_zookeeper import FakeZooKeeper
from rowkey.hbase.registry import (
    ClusterNotFound,
    RegistryUnavailable,
    RegistryUnreachable,
    parse_url,
)
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import encode_message, encode_text, encode_uint

if TYPE_CHECKING:
    from rowkey.hbase.registry import Registry

RS1 = ServerName("rs1", 16020, 1_700_000_000_000)
META = bytes.fromhex(
    "ff0000001a726567696f6e7365727665723a31363032300000000000000000504255460a0f0a0372733110947d1880d095"
    "ffbc3110001803"
)
"""The znode of hbase:meta as HBase 2.6.4 writes it: rs1:16020, open."""

CLUSTER = {
    "/hbase/meta-region-server": META,
    "/hbase/master": b"\xff\x00\x00\x00\x01mPBUF"
    + encode_message(1, RS1.encode())
    + encode_uint(2, 0),
    "/hbase/hbaseid": b"\xff\x00\x00\x00\x01mPBUF" + encode_text(1, "some-id"),
}
DEADLINE_S = 0.3
LATE_S = 5.0
"""A busy machine may be late by this much."""


def build_registry(*nodes: str, root: str = "") -> Registry:
    """Return a registry of these nodes."""
    no_servers: Any = None
    return parse_url(f"hbase://{','.join(nodes)}{root}").open_registry(no_servers, Settings())


def test_the_znodes_of_a_cluster_are_read() -> None:
    """The id, the master and the server of hbase:meta are read, and each session is closed."""
    with FakeZooKeeper(CLUSTER) as zookeeper:
        asked = build_registry(zookeeper.node)
        until = Deadline.from_now(60)
        told = (asked.get_cluster_id(until), asked.get_master(until), asked.get_meta_server(until))
        while zookeeper.closed < zookeeper.sessions:
            assert not until.is_expired
    assert ("some-id", RS1, RS1) == told
    assert (3, 3) == (zookeeper.sessions, zookeeper.closed)


def test_pings_and_events_before_an_answer_are_skipped() -> None:
    """A ping or an event before the answer is not mistaken for it."""
    with FakeZooKeeper(CLUSTER, "chatty") as zookeeper:
        assert RS1 == build_registry(zookeeper.node).get_meta_server(Deadline.from_now(60))


def test_the_path_of_the_url_is_the_root_znode() -> None:
    """The znodes are read below the path of the URL."""
    with FakeZooKeeper({"/a/b/meta-region-server": META}) as zookeeper:
        assert RS1 == build_registry(zookeeper.node, root="/a/b").get_meta_server(
            Deadline.from_now(60)
        )


@pytest.mark.parametrize("mode", ["silent", "mute", "drip"])
def test_a_slow_zookeeper_server_costs_only_the_deadline(mode: str) -> None:
    """A server that answers nothing, or one byte at a time, costs no more than the deadline."""
    with FakeZooKeeper(CLUSTER, mode) as zookeeper:
        began = monotonic()
        with pytest.raises(
            RegistryUnavailable,
            match=r"no server at this URL knows where hbase:meta is; .* in time",
        ):
            build_registry(zookeeper.node).get_meta_server(Deadline.from_now(DEADLINE_S))
        took = monotonic() - began
    assert took < DEADLINE_S + LATE_S


@pytest.mark.parametrize(
    ("mode", "message"),
    [("hang up", "closed the connection|reset"), ("refuse", "refused the session"),
     ("garbage", "not speak ZooKeeper's protocol"),
     ("huge", "not speak ZooKeeper's protocol: a frame"),
     ("short", "not speak ZooKeeper's protocol")],
)  # fmt: skip
def test_the_error_names_the_zookeeper_node_and_its_failure(mode: str, message: str) -> None:
    """The error names the node, and how it failed."""
    with FakeZooKeeper(CLUSTER, mode) as zookeeper:
        with pytest.raises((RegistryUnavailable, ClusterNotFound)) as caught:
            build_registry(zookeeper.node).get_meta_server(Deadline.from_now(60))
        (said,) = caught.value.failures
    assert zookeeper.node == said.node
    assert any(one in said.text for one in message.split("|"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "there is no znode /hbase/hbaseid"),
        ({"/hbase/meta-region-server": -102}, "does not allow this (NoAuth)"),
        ({"/hbase/meta-region-server": -999}, "Invalid error code"),
        ({"/hbase/meta-region-server": b""}, "holds b''"),
        ({"/hbase/meta-region-server": b"\xff\x7f\xff\xff\xff"}, "which HBase did not write"),
        ({"/hbase/meta-region-server": b"x" * (1 << 20)}, "which HBase did not write"),
        ({"/hbase/meta-region-server": b"PBUF"}, "names no server"),
        ({"/hbase/meta-region-server": b"PBUF\xff"}, "end within a"),
        ({"/hbase/meta-region-server": META[:-1] + b"\x02"}, "hbase:meta is OPENING on rs1"),
        ({"/hbase/hbaseid": b"PBUF"}, "there is no znode /hbase/meta-region-server"),
    ],
)
def test_a_missing_or_malformed_znode_is_reported(
    content: dict[str, bytes | int], message: str
) -> None:
    """A missing, unreadable, malformed or unready znode is in the error."""
    with (
        FakeZooKeeper(content) as zookeeper,
        pytest.raises((RegistryUnavailable, ClusterNotFound)) as caught,
    ):
        build_registry(zookeeper.node).get_meta_server(Deadline.from_now(60))
    assert message in caught.value.failures[0].text


def test_a_wrong_root_znode_is_final_and_a_missing_master_is_not() -> None:
    """Without an id there is no cluster, but a missing master may come back."""
    with FakeZooKeeper({"/hbase/hbaseid": CLUSTER["/hbase/hbaseid"]}) as zookeeper:
        with pytest.raises(ClusterNotFound, match=r"zookeeper\.znode\.parent"):
            build_registry(zookeeper.node, root="/other").get_master(Deadline.from_now(60))
        with pytest.raises(RegistryUnavailable) as caught:
            build_registry(zookeeper.node).get_master(Deadline.from_now(60))
    assert (True, False) == (caught.value.is_retriable, ClusterNotFound.is_retriable)


def test_a_missing_root_znode_is_retried_after_one_success() -> None:
    """After one success, a missing root is not final."""
    with FakeZooKeeper(CLUSTER) as zookeeper:
        asked = build_registry(zookeeper.node)
        asked.get_meta_server(Deadline.from_now(60))
        zookeeper.znodes = {}
        with pytest.raises(RegistryUnavailable):
            asked.get_meta_server(Deadline.from_now(60))


def test_a_silent_zookeeper_node_gets_its_share_of_the_time() -> None:
    """A silent node gets its share of the time, and is tried last from then on."""
    with FakeZooKeeper(CLUSTER) as good, FakeZooKeeper(mode="silent") as silent:
        asked = build_registry(silent.node, "127.0.0.1:1", "no-such-host.invalid", good.node)
        assert RS1 == asked.get_meta_server(Deadline.from_now(2))
        began = monotonic()
        for _ in range(5):
            asked.get_meta_server(Deadline.from_now(60))
        assert monotonic() - began < LATE_S
        assert [silent.node, "127.0.0.1:1", "no-such-host.invalid:2181"] == [
            node for node, failed in asked.dump_state()["failed"].items() if failed
        ]


def test_a_name_without_address_is_reported() -> None:
    """The error names a host that cannot be resolved."""
    with pytest.raises(
        RegistryUnreachable, match=r"no-such-host.invalid:2181: .*cannot be resolved"
    ):
        build_registry("no-such-host.invalid").get_meta_server(Deadline.from_now(60))


def test_no_thread_or_socket_is_left_after_lookups() -> None:
    """Forty lookups, most of them failing, leave no thread and no socket."""
    with (
        FakeZooKeeper(CLUSTER) as good,
        FakeZooKeeper(mode="hang up") as bad,
        FakeZooKeeper(mode="silent") as silent,
    ):
        asked = [
            build_registry(one) for one in (good.node, bad.node, "127.0.0.1:1", "nobody.invalid")
        ]
        resources_before = (_count_open_files(), _list_client_threads())
        for one in asked * 9:
            with suppress(RegistryUnavailable, ClusterNotFound):
                one.get_meta_server(Deadline.from_now(60))
        for _ in range(4):
            with suppress(RegistryUnavailable):
                build_registry(silent.node).get_meta_server(Deadline.from_now(0.05))
        silent.hang_up()
        until = Deadline.from_now(60)
        while (
            resources_before != (_count_open_files(), _list_client_threads())
            and not until.is_expired
        ):
            Event().wait(0.01)  # the fakes close their ends in threads of their own
        assert resources_before == (_count_open_files(), _list_client_threads())


def _list_client_threads() -> set[str]:
    """Return the names of all threads except those of the servers."""
    names = {thread.name for thread in enumerate_threads()}
    return {name for name in names if "(_talk)" not in name}


def _count_open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
