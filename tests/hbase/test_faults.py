from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import pytest

from hbase.storm import DESIGN, SCANS, WRITERS, Storm, threads_and_sockets
from rowkey.errors import RowkeyError
from rowkey.hbase import Settings, connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cluster import Cluster
    from rowkey.hbase import Client

    Fault = tuple[Callable[[Cluster, str], None], str]

MOVE_S, SPLIT_S = 2.0, 20.0
PAUSE_S = 10.0
LEASES, SOCKETS = 3, 3 * 4 * 2
"""Most threads and sockets of three clients: a keeper of leases each, two services of four servers.

The clients are the table's, its catalog's and that of the unrest; however many faults there are.
"""
SLACK_S = 5.0
"""What two loaded cores may add to a deadline before anybody looks at the clock."""


class Unrest:
    """Moves a region every two seconds and splits one every twenty, as far as the master lets it.

    Args:
        client: its own, so that what it waits for keeps nobody waiting.
        seed: of what it does.
    """

    def __init__(self, client: Client, seed: int) -> None:
        self.client, self.random = client, random.Random(seed)
        self.moved = self.split = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        next_split = time.monotonic() + SPLIT_S / 4
        while not self._over.wait(MOVE_S):
            with suppress(RowkeyError):
                regions = self.client.admin.regions(DESIGN.table, wait_s=2)
                self.client.admin.move(self.random.choice(regions), wait_s=5)
                self.moved += 1
            if time.monotonic() >= next_split:
                with suppress(RowkeyError):
                    at = bytes([self.random.randrange(8)]) + self.random.randbytes(8)
                    self.client.admin.split(DESIGN.table, at, wait_s=10)
                    self.split += 1
                    next_split = time.monotonic() + SPLIT_S


def kill(cluster: Cluster, name: str) -> None:
    """A region server dies and is started anew once it is given up."""
    cluster.kill(name)
    time.sleep(PAUSE_S)
    cluster.restart(name)


def pause(cluster: Cluster, name: str) -> None:
    """A region server stands still."""
    cluster.pause(name)
    time.sleep(PAUSE_S)
    cluster.resume(name)
    if not cluster.alive(name):
        cluster.restart(name)


def kill_master(cluster: Cluster, name: str) -> None:
    """The master dies and is started anew."""
    cluster.kill(name)
    time.sleep(PAUSE_S / 2)
    cluster.restart(name)


@pytest.fixture
def client(hbase_url: str) -> Iterator[Client]:
    """A client of its own for those who make trouble."""
    with connect(hbase_url, Settings(operation_s=20.0)) as client:
        yield client


EVERY_DAY: list[Fault] = [(kill, "server1"), (pause, "server2"), (kill_master, "master")]
"""One of each kind; the first server may hold hbase:meta or not."""
IN_TURN = [
    (fault, name)
    for _ in range(4)
    for fault, name in (
        *((kill, f"server{n}") for n in (1, 2, 3)),
        *((pause, f"server{n}") for n in (1, 2, 3)),
        (kill_master, "master"),
    )
] + EVERY_DAY[:2]
"""Every server in turn, thirty faults."""


@pytest.mark.parametrize(
    "faults", [EVERY_DAY, pytest.param(IN_TURN, marks=pytest.mark.long)], ids=["each", "thirty"]
)
def test_nothing_is_lost_while_servers_fail(
    hbase_cluster: Cluster, hbase_url: str, client: Client, faults: list[Fault]
) -> None:
    """Whatever fails, what was acknowledged is there, in order, once, and nobody waits for ever."""
    before = threads_and_sockets()
    storm = Storm(hbase_url)
    with storm, Unrest(client, 1) as unrest:
        time.sleep(5)
        for fault, name in faults:
            begin = time.monotonic()
            fault(hbase_cluster, name)
            time.sleep(5)
            gap = storm.seen.gap_s(begin, time.monotonic())
            print(f"{fault.__name__} {name}: nothing acknowledged for {gap:.1f} s at most")
    storm.check()
    during = threads_and_sockets()
    storm.table.close()
    seen = storm.seen
    print(f"{dict(seen.acknowledged)} rows, {seen.scans} scans, slowest {seen.slowest_s:.1f} s")
    assert [] == seen.wrong
    assert seen.slowest_s < Settings().operation_s + SLACK_S
    assert WRITERS == len(seen.acknowledged)
    assert seen.scans > SCANS
    assert unrest.moved > 0
    assert unrest.split > 0
    assert during[0] <= before[0] + LEASES
    assert during[1] <= before[1] + SOCKETS
