"""Faults of a cluster, and maintenance of the tables of a move, one after the other in a thread."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Self

from cluster import JudgeError

if TYPE_CHECKING:
    from cluster import Cluster

PAUSE_S = 1.0
ZOOKEEPER_PAUSE_S = 3.0
ABORT_S = 5.0
"""Seconds in which a server ends whose session has expired, before clients are ended."""


class Faults:
    """Moves, splits and compacts the tables whose names begin alike, and ends servers.

    Args:
        cluster: the cluster.
        prefix: how the names of the tables begin.
        seed: decides the order.
    """

    def __init__(self, cluster: Cluster, prefix: str, seed: int) -> None:
        self.cluster, self.prefix, self.random = cluster, prefix, Random(seed)
        self.counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.problem: Exception | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        if self.problem is not None:
            raise self.problem

    def _run(self) -> None:
        actions = {
            "region moves": self._move_regions,
            "splits": self._split_regions,
            "major compactions": self._compact,
            "region servers killed": self._kill_server,
            "masters killed": self._kill_master,
            "ZooKeeper pauses": self._pause_zookeeper,
        }
        try:
            while not self._is_over.is_set():
                names = list(actions)
                self.random.shuffle(names)
                for name in names:
                    if not self._is_over.wait(PAUSE_S):
                        self._act(name, actions[name])
                        self._restart_aborted()
            time.sleep(ABORT_S)
            self._restart_aborted()
        except Exception as problem:  # noqa: BLE001 - raised in the thread of the test
            self.problem = problem

    def _restart_aborted(self) -> None:
        """Restart servers that ended themselves, as they do when their session has expired."""
        for name in self.cluster.names:
            if not self.cluster.alive(name):
                self._act("restarts", partial(self.cluster.restart, name))

    def _act(self, name: str, action: Callable[[], None]) -> None:
        try:
            action()
            self.counts[name] += 1
        except (JudgeError, TimeoutError, KeyError):  # a table was dropped, a region is on its way
            self.skipped[name] += 1

    @property
    def _tables(self) -> list[str]:
        """The tables of the move that exist now."""
        return [one for one in self.cluster.judge.tables() if one.startswith(self.prefix)]

    def _move_regions(self) -> None:
        for table in self._tables:
            starts = [one.start for one in self.cluster.judge.regions(table)]
            server = self.random.choice(self.cluster.server_names)
            self.cluster.move(table, self.random.choice(starts), server)

    def _split_regions(self) -> None:
        for table in self._tables:
            start = self.random.choice([one.start for one in self.cluster.judge.regions(table)])
            at = start + bytes(7) + self.random.randbytes(4) if len(start) < 2 else start + b"\1"
            self.cluster.split(table, at)

    def _compact(self) -> None:
        for table in self._tables:
            self.cluster.judge.flush(table)
            self.cluster.judge.compact(table)

    def _kill_server(self) -> None:
        name = self.random.choice(self.cluster.server_names)
        self.cluster.kill(name)
        time.sleep(self.random.uniform(0, 2))
        self.cluster.restart(name)

    def _kill_master(self) -> None:
        self.cluster.kill("master")
        time.sleep(self.random.uniform(0, 2))
        self.cluster.restart("master")

    def _pause_zookeeper(self) -> None:
        self.cluster.pause("zookeeper")
        try:
            time.sleep(ZOOKEEPER_PAUSE_S)
        finally:
            self.cluster.resume("zookeeper")
