"""Writers of a cluster's table that use HBase's official client and nothing of rowkey."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.servers import JUDGE_FLAGS
from cluster.site import build_client_settings

if TYPE_CHECKING:
    from cluster import Cluster
    from rowkey.design import Design

THREADS, ROWS = 4, 10
"""Threads of the program, and the rows that each changes."""
STOP_TIMEOUT_S = 60.0


@dataclass
class RawRow:
    """What a row holds after the acknowledged changes.

    Args:
        register: the value that was put last, None if it was deleted.
        counter: the sum of what was added, None if there is none.
    """

    register: int | None = None
    counter: int | None = None


class RawWriters:
    """The Java program `RawWriters`, and the changes that HBase acknowledged to it.

    Args:
        cluster: the cluster.
        design: the table's design, with the register in field `a` and the counter in field `n`.
    """

    def __init__(self, cluster: Cluster, design: Design) -> None:
        slots = {slot.field_names: slot for slot in design.layout.slots}
        register, counter = slots[("a",)], slots[("n",)]
        state = cluster.state
        settings = build_client_settings(state.ports)
        words = [
            *(design.table, register.family, register.qualifier.hex(), counter.qualifier.hex()),
            *(str(THREADS), str(ROWS), *(f"{name}={value}" for name, value in settings.items())),
        ]
        self.rows: dict[int, RawRow] = {}
        self.failed: set[int] = set()
        self.counts: Counter[str] = Counter()
        self._process = subprocess.Popen(
            [state.java, *JUDGE_FLAGS, "-cp", state.class_path, "RawWriters", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._reading = threading.Thread(target=self._read_journal)
        self._reading.start()

    def _read_journal(self) -> None:
        """Make the acknowledged changes in the model."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            name, row, *rest = line.split()
            one = self.rows.setdefault(int(row), RawRow())
            self.counts[name] += 1
            match name:
                case "put":
                    one.register = int(rest[0])
                case "increment":
                    one.counter = (one.counter or 0) + int(rest[0])
                case "clear":
                    one.register = None
                case "delete":
                    one.register = one.counter = None
                case "failed":
                    self.failed.add(int(row))

    def wait_for(self, changes: int) -> None:
        """Wait until so many more changes are acknowledged."""
        goal = self.counts.total() + changes
        while self.counts.total() < goal and self._process.poll() is None:
            time.sleep(0.02)
        assert self.counts.total() >= goal, "the program has ended"

    def stop(self) -> None:
        """Stop the program, and read all of its journal; a second call does nothing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        assert 0 == self._process.wait(STOP_TIMEOUT_S)
        self._reading.join()
        self._process.stdout.close()
