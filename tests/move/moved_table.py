"""A table of a cluster that several processes use while another process moves it."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from secrets import token_hex
from typing import Any, Self

import rowkey
from move.client_process import PROCESSES
from rowkey.table import drop_table
from table.linear_checker import Operation
from table.linear_history import ABSENT, COLUMNS, UNKNOWN, RowHistory, build_design

FIRST_STANDING = 1 << 40
MAX_RUNS = 12
"""Times that a step is run until it succeeds: each time a server may fail."""
HERE = Path(__file__).parent


class MovedTable:
    """A new table, its client processes, and the steps of its move, each in a process of its own.

    Args:
        url: the cluster.
        folder: an empty folder.
        stale_s: seconds that a client goes on without the catalog.
        lifetime_s: seconds after which another mover takes over.
        patience_s: seconds after which a client ends the switch of a mover that has died.
        standing_rows: rows that are there before and are not changed.
        rows_per_s: the most rows that are copied in a second.
    """

    def __init__(
        self,
        url: str,
        folder: Path,
        *,
        stale_s: float = 1.0,
        lifetime_s: float = 4.0,
        patience_s: float = 4.0,
        standing_rows: int = 5_000,
        rows_per_s: int = 100_000,
    ) -> None:
        self.url, self.folder = url, folder
        self.standing_rows, self.rows_per_s = standing_rows, rows_per_s
        self.lifetime_s, self.patience_s = lifetime_s, patience_s
        self.name = f"moved.{token_hex(4)}"
        self.kills = self.kills_in_switch = self.failed_runs = 0
        self.windows_s: list[float] = []
        self._held = ExitStack()
        self.table = self._held.enter_context(
            rowkey.open(build_design(self.name), url, max_stale=stale_s)
        )
        with self.table.batch() as batch:
            for number in range(standing_rows):
                batch.put({"id": FIRST_STANDING + number, "a": number, "s": f"row {number}"})
        self._clients = [self._start_client(number) for number in range(PROCESSES)]
        for client in self._clients:
            assert client.stdout is not None
            assert "ready\n" == client.stdout.readline()

    def _start_client(self, number: int) -> subprocess.Popen[str]:
        script = str(HERE / "client_process.py")
        words = [self.url, self.name, str(number), str(self.folder), str(self.patience_s)]
        return subprocess.Popen(
            [sys.executable, script, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.kill()
            client.wait()
            for pipe in (client.stdin, client.stdout):
                assert pipe is not None
                pipe.close()
        self._held.close()
        drop_table(self.name, self.url)

    def start_step(self, step: str, design: int) -> subprocess.Popen[str]:
        """Start a process that makes a step."""
        script = str(HERE / "mover_process.py")
        numbers = (self.lifetime_s, self.rows_per_s)
        words = [self.url, self.name, str(design), step, *map(str, numbers)]
        with (self.folder / "mover.log").open("a") as log:
            return subprocess.Popen(
                [sys.executable, script, *words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
            )

    def make_step(self, step: str, design: int = 0) -> dict[str, Any]:
        """Make a step, again if it fails; return what came of it."""
        for _ in range(MAX_RUNS):
            mover = self.start_step(step, design)
            output, _ = mover.communicate()
            if mover.returncode == 0:
                result: dict[str, Any] = json.loads(output.splitlines()[-1])
                if "window_s" in result:
                    self.windows_s.append(result["window_s"])
                return result
            self.failed_runs += 1
        log = (self.folder / "mover.log").read_text()
        raise AssertionError(f"{step} failed {MAX_RUNS} times\n{log[-3000:]}")

    def require_passed(self, step: str, design: int = 0) -> int:
        """Make a step that verifies the move; return how many rows it compared."""
        for _ in range(MAX_RUNS):
            found = self.make_step(step, design)
            # A client whose call failed may have written one table only, also during the step.
            if found["has_passed"]:
                return int(found["rows"])
            print("not passed", found)
            step = "verify"
        raise AssertionError(found)

    def kill_step(self, step: str, design: int, random: Random, part: str, max_s: float) -> bool:
        """Kill a step at a random moment after one of its parts has begun.

        Args:
            step: the step.
            design: the number of the design.
            random: chooses the moment.
            part: the part; any if it is empty.
            max_s: the most seconds after which it is killed.

        Returns:
            Whether it was killed before its end.
        """
        mover = self.start_step(step, design)
        assert mover.stdout is not None
        with mover.stdout:
            while part and (line := mover.stdout.readline()) and line.strip() != part:
                pass
            time.sleep(random.uniform(0, max_s))
            mover.kill()
        is_killed = mover.wait() < 0
        self.kills += is_killed
        self.kills_in_switch += is_killed and part == "switch"
        return is_killed

    def check_clients(self) -> None:
        """Fail if a client process has ended."""
        assert [None] * PROCESSES == [client.poll() for client in self._clients]

    def end_clients(self) -> None:
        """End the client processes, and fail if one has met an error that it must not meet."""
        self.check_clients()
        for client in self._clients:
            assert client.stdin is not None
            client.stdin.close()
        assert [0] * PROCESSES == [client.wait(timeout=120) for client in self._clients]

    def check_histories(self) -> dict[str, int]:
        """Check that some order explains all that was seen of each row; return the figures."""
        histories = self._read_histories()
        unknown = sum(one.result == UNKNOWN for row in histories for one in row.operations)
        violations = [one for one in histories if not one.is_linearizable]
        text = "\n".join(str(one) for one in violations[:2])
        assert not violations, f"{len(violations)} rows: no order explains\n{text}"
        rows = self.table.count("id >= ?", FIRST_STANDING)
        assert self.standing_rows == rows
        return {
            "rows": len(histories),
            "operations": sum(len(one.operations) for one in histories),
            "unknown": unknown,
        }

    def _read_histories(self) -> list[RowHistory]:
        """Return what the clients did to each row, and then what the row is."""
        found: dict[int, RowHistory] = {}
        for path in self.folder.glob("client.*"):
            for row, one in _read_operations(path):
                found.setdefault(row, RowHistory(row, ABSENT, [])).operations.append(one)
        rows = list(found)
        start = time.perf_counter()
        states = self.table.get_many([{"id": row} for row in rows])
        stop = time.perf_counter()
        for row, state in zip(rows, states, strict=True):
            values = None if state is None else tuple(state[name] for name in COLUMNS)
            found[row].operations.append(Operation("get", None, values, start, stop))
        return list(found.values())


def _read_operations(path: Path) -> Iterator[tuple[int, Operation]]:
    """Yield what a thread has recorded."""
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return
