"""Acknowledged writes persist and calls end in time while servers fail or regions move."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from secrets import token_hex
from struct import pack
from typing import TYPE_CHECKING, Self

import pytest

from cluster import JudgeError
from hbase.storm import BUCKETS, DEADLINE_S, SCANS, Storm, count_threads_and_sockets
from rowkey.cells import Family
from rowkey.errors import RowkeyError
from rowkey.hbase import Settings, connect
from rowkey.hbase.errors import HBaseError

if TYPE_CHECKING:
    from cluster import Cluster
    from rowkey.hbase import Client

    Fault = tuple[Callable[[Cluster, str], None], str]

MOVE_S, SPLIT_S = 2.0, 20.0
TROUBLE_S = 20.0
"""The deadline of an operation of the region mover, with retries."""
PAUSE_S = 10.0
"""A pause longer than the 6 s after which ZooKeeper gives up a silent server."""
MASTER_PAUSE_S = 2.0
CALM_S = 1.0
"""Time without faults before the first one and after each: hundreds of writes."""
SETTLED_S = 60.0
"""Seconds in which a resumed server that was given up notices that and ends."""
STAYS_S = 8.0
"""Seconds, longer than a session, after which a known server was not given up."""
LEASES, SOCKETS = 3, 3 * 4 * 2
"""Most threads and sockets of three clients: a keeper of leases each, two services of four servers.

The clients are the table's, its catalog's and that of the unrest; however many faults there are.
"""


class RegionMover:
    """Moves a region every two seconds and splits one every twenty, if the master allows.

    Args:
        client: its own, so that what it waits for keeps nobody waiting.
        table: the table whose regions it moves and splits.
        seed: of what it does.
    """

    def __init__(self, client: Client, table: str, seed: int) -> None:
        self.client, self.table, self.random = client, table, random.Random(seed)
        self.moved = self.split = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="unrest", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(4 * TROUBLE_S)
        assert not self._thread.is_alive(), "an operation of the unrest does not end"

    def _run(self) -> None:
        next_split = time.monotonic() + SPLIT_S / 4
        while not self._over.wait(MOVE_S):
            with suppress(RowkeyError):
                regions = self.client.admin.list_regions(self.table, wait_s=2)
                self.client.admin.move_region(self.random.choice(regions), wait_s=5)
                self.moved += 1
            if time.monotonic() >= next_split:
                with suppress(RowkeyError):
                    # Among the rows that are there: their key is a bucket, then 8 bytes of the id.
                    at = pack(">BQ", self.random.randrange(BUCKETS), self.random.randrange(1, 4096))
                    self.client.admin.split_region(self.table, at, wait_s=10)
                    self.split += 1
                    next_split = time.monotonic() + SPLIT_S


def kill(cluster: Cluster, name: str) -> None:
    """Kill a region server and restart it once the master has given it up."""
    old = find_server_name(cluster, name)
    cluster.kill(name)
    wait_until_given_up(cluster, name, old)
    restart_server(cluster, name, old)


def pause(cluster: Cluster, name: str) -> None:
    """Pause a region server, and restart it if the master gave it up meanwhile."""
    old = find_server_name(cluster, name)
    cluster.pause(name)
    wait_until_given_up(cluster, name, old)
    cluster.resume(name)
    if not is_still_member(cluster, name, old):
        restart_server(cluster, name, old)


def wait_until_given_up(cluster: Cluster, name: str, old: str | None) -> None:
    """Wait until the master has given up a silent region server."""
    if old is None:
        time.sleep(PAUSE_S)
        return
    cluster.wait(lambda: find_server_name(cluster, name) != old, f"{name} is given up")


def find_server_name(cluster: Cluster, name: str) -> str | None:
    """Return the master's name of a live region server, which has its start time."""
    try:
        return cluster.places().get(name)
    except JudgeError:  # the master does not answer
        return None


def is_still_member(cluster: Cluster, name: str, old: str | None) -> bool:
    """Return whether a resumed server stays in the cluster, once that is certain."""
    until = time.monotonic() + SETTLED_S
    known_since = None
    while cluster.alive(name) and time.monotonic() < until:
        now = time.monotonic()
        if old is None or find_server_name(cluster, name) != old:
            known_since = None
        elif known_since is None:
            known_since = now
        elif now - known_since > STAYS_S:
            return True
        time.sleep(0.2)
    return False


def restart_server(cluster: Cluster, name: str, old: str | None) -> None:
    """Restart a region server, and wait until the master knows the new one."""
    cluster.restart(name)
    cluster.wait(
        lambda: find_server_name(cluster, name) not in {None, old}, f"{name} is known anew"
    )


def is_cluster_complete(cluster: Cluster) -> bool:
    """Return whether every process runs and the master knows every region server."""
    try:
        known = cluster.places()
    except JudgeError:  # the master does not answer
        return False
    return all(map(cluster.alive, cluster.names)) and set(cluster.server_names) == known.keys()


def kill_master(cluster: Cluster, name: str) -> None:
    """Kill the master and restart it."""
    cluster.kill(name)
    time.sleep(MASTER_PAUSE_S)
    cluster.restart(name)


@pytest.fixture
def client(hbase_url: str) -> Iterator[Client]:
    """Yield a client for the threads that cause failures."""
    with connect(hbase_url, Settings(operation_timeout_s=TROUBLE_S)) as client:
        yield client


SERVER_FAULTS: list[Fault] = [(kill, "server1"), (pause, "server2")]
"""A fault of each type; the first server may hold hbase:meta or not."""
IN_TURN = [
    (fault, name)
    for _ in range(4)
    for fault, name in (
        *((kill, f"server{n}") for n in (1, 2, 3)),
        *((pause, f"server{n}") for n in (1, 2, 3)),
        (kill_master, "master"),
    )
] + SERVER_FAULTS
"""Thirty faults over all servers in turn."""


@pytest.mark.long
def test_a_write_to_a_paused_server_fails_or_is_stored(
    hbase_cluster: Cluster, hbase_url: str, client: Client
) -> None:
    name = f"given_up_{token_hex(4)}"
    client.admin.create_table(name, [Family("d")])
    at = str(hbase_cluster.holders(name)[b""])
    [region] = client.admin.list_regions(name)
    old, rows = find_server_name(hbase_cluster, at), [b"%d" % n for n in range(8)]
    patient = Settings(call_timeout_s=SETTLED_S, operation_timeout_s=SETTLED_S, max_attempts=1)
    with connect(hbase_url, patient) as one, ThreadPoolExecutor(len(rows)) as threads:
        one.table(name).get(b"a")  # so that it is known where the region is
        hbase_cluster.pause(at)
        try:
            asked = [threads.submit(is_acknowledged, one, name, row) for row in rows]
            hbase_cluster.wait(
                lambda: [region] != client.admin.list_regions(name), f"another serves what {at} did"
            )
            assert not any(told.done() for told in asked), "they wait for the one that stands still"
        finally:
            hbase_cluster.resume(at)
        acknowledged = [row for row, told in zip(rows, asked, strict=True) if told.result()]
    assert not is_still_member(hbase_cluster, at, old)
    restart_server(hbase_cluster, at, old)
    there = [row for row in acknowledged if client.table(name).get(row).cells]
    client.admin.disable_table(name)
    client.admin.delete_table(name)
    print(f"{len(acknowledged)} of {len(rows)} acknowledged")
    assert acknowledged == there


def is_acknowledged(client: Client, table: str, row: bytes) -> bool:
    """Return whether a put is acknowledged at the first attempt."""
    with suppress(HBaseError):
        client.table(table).put(row, {("d", b""): b"v"})
        return True
    return False


@pytest.mark.parametrize(
    "faults", [SERVER_FAULTS, pytest.param(IN_TURN, marks=pytest.mark.long)], ids=["two", "thirty"]
)
def test_acknowledged_rows_are_kept_while_servers_fail(
    hbase_cluster: Cluster, hbase_url: str, client: Client, faults: list[Fault]
) -> None:
    """Acknowledged rows are stored once and in order, and all calls end in time."""
    before = count_threads_and_sockets()
    with closing(Storm(hbase_url)) as storm:
        with storm, RegionMover(client, storm.table.design.table, 1) as unrest:
            time.sleep(CALM_S)
            for fault, name in faults:
                run_fault(hbase_cluster, storm, fault, name)
            hbase_cluster.wait(
                lambda: unrest.moved > 0 and unrest.split > 0, "a region was moved and one split"
            )
        storm.check()
        during = count_threads_and_sockets()
    seen = storm.seen
    print(f"{seen.acknowledged} rows, {seen.scans} scans, slowest call {seen.slowest_s:.1f} s")
    assert [] == seen.wrong
    assert seen.slowest_s < DEADLINE_S
    assert all(seen.acknowledged.values())
    assert seen.scans > SCANS
    assert during[0] <= before[0] + LEASES
    assert during[1] <= before[1] + SOCKETS


def run_fault(
    cluster: Cluster, storm: Storm, fault: Callable[[Cluster, str], None], name: str
) -> None:
    """Cause one fault, wait until all servers are back, and return its effect on the writers."""
    begin = time.monotonic()
    fault(cluster, name)
    cluster.wait(
        lambda: is_cluster_complete(cluster), f"all servers are back after {fault.__name__}"
    )
    time.sleep(CALM_S)
    gap = storm.seen.gap_s(begin, time.monotonic())
    print(f"{fault.__name__} {name}: nothing acknowledged for {gap:.1f} s at most")
