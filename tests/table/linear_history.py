"""Threads that change and read a few rows at once, and record their observations."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from math import inf
from random import Random
from threading import Barrier
from typing import Any

import pytest

import rowkey
from rowkey.errors import Conflict
from table.linear_checker import Operation, is_linearizable

THREADS = 8
ROWS = 4
"""Rows that are changed at the same time."""
OPERATIONS_PER_ROUND = 30
"""Operations of a thread in a round."""
ROUNDS = 8
"""Rounds in which the same rows are changed."""

FIELDS: dict[str, Any] = {
    "id": "u64",
    "a": {"type": "u64", "nullable": True},
    "b": {"type": "u64", "nullable": True},
    "n": {"type": "i64", "nullable": True},
    "s": {"type": "text", "nullable": True},
}
COLUMNS = ("a", "b", "n", "s")
ABSENT = None
"""The state of a row that is not there; else it is the values of `COLUMNS`."""

UNKNOWN = "unknown"
"""The result of a change that was refused with the remark that it may have been made: such an
operation never ends, so it may have happened at any time after it began, or not before all else."""

State = tuple[Any, ...] | None


def build_design(name: str = "linear") -> rowkey.Design:
    """Build a table whose number of buckets can be changed."""
    return rowkey.Design(name, "[bucket(id, 4)][id]", fields=FIELDS, splits="per_bucket")


def apply_operation(state: State, done: Operation) -> tuple[bool, State]:
    """Return whether an operation's result is possible in a state, and the state after it."""
    values = dict(zip(COLUMNS, state or (None,) * len(COLUMNS), strict=True))
    match done.name:
        case "get":
            return done.result == state, state
        case "delete":
            return True, ABSENT
        case "put":
            values |= done.given
        case "replace":
            values = {**dict.fromkeys(COLUMNS), **done.given}
        case "increment":
            values["n"] = (values["n"] or 0) + done.given
            if done.result not in (UNKNOWN, values["n"]):
                return False, state
        case "append":
            values["s"] = (values["s"] or "") + done.given
        case "check_and_put":
            return _apply_check_and_put(values, done, state)
    return True, tuple(values[name] for name in COLUMNS)


def _apply_check_and_put(
    values: dict[str, Any], done: Operation, state: State
) -> tuple[bool, State]:
    (column, expected), given = done.given
    is_equal = values[column] == expected
    if done.result not in (UNKNOWN, is_equal):
        return False, state
    if not is_equal:
        return True, state
    values |= given
    return True, tuple(values[name] for name in COLUMNS)


class Client:
    """One thread's recorded use of a table.

    Args:
        table: the table.
        thread: the number of the thread.
        seed: decides the operations.
        numbers: an iterator of unique numbers.
    """

    def __init__(self, table: rowkey.Table, thread: int, seed: int, numbers: Iterator[int]) -> None:
        self.table, self.thread, self.random = table, thread, Random(f"{seed} {thread}")
        self.numbers = numbers
        self.noted: list[tuple[int, Operation]] = []
        self.seen: dict[int, dict[str, Any]] = defaultdict(dict)
        """What was read of each row last: a check that may hold is worth more."""

    def run(self, rows: list[int], count_of: int) -> None:
        """Do a number of operations on some rows."""
        names = list(OPERATIONS)
        weights = [OPERATIONS[name] for name in names]
        for name in self.random.choices(names, weights, k=count_of):
            getattr(self, f"do_{name}")(self.random.choice(rows), rows)

    def _time_call(self, call: Callable[[], Any]) -> tuple[Any, float, float]:
        """Return the result of a call, and when it began and ended."""
        start = time.perf_counter()
        try:
            return call(), start, time.perf_counter()
        except Conflict as refusal:
            if "may be lost" not in str(refusal):
                raise
            return UNKNOWN, start, inf

    def _note(self, row: int, name: str, given: Any, call: Callable[[], Any]) -> None:
        result, start, stop = self._time_call(call)
        if name != "get" or result != UNKNOWN:
            self.noted.append((row, Operation(name, given, result, start, stop, self.thread)))

    def _values(self, *, nulls: bool) -> dict[str, Any]:
        """Return new values of some columns, or None to delete them."""
        chosen = self.random.sample(COLUMNS, self.random.randint(1, 3))
        values: dict[str, Any] = {}
        for name in chosen:
            number = next(self.numbers)
            values[name] = f"v{number}" if name == "s" else number
            if nulls and self.random.random() < 0.3:
                values[name] = None
        return values

    def do_get(self, row: int, _: list[int]) -> None:
        def call() -> State:
            found = self.table.get(id=row)
            self.seen[row] = found or {}
            return None if found is None else tuple(found[name] for name in COLUMNS)

        self._note(row, "get", None, call)

    def do_put(self, row: int, _: list[int]) -> None:
        given = self._values(nulls=True)
        self._note(row, "put", given, lambda: self.table.put({"id": row, **given}))

    def do_replace(self, row: int, _: list[int]) -> None:
        given = self._values(nulls=True)
        self._note(row, "replace", given, lambda: self.table.replace({"id": row, **given}))

    def do_delete(self, row: int, _: list[int]) -> None:
        self._note(row, "delete", None, lambda: self.table.delete(id=row))

    def do_batch(self, _: int, rows: list[int]) -> None:
        """Change each row in one batch; each change happens at some time within the batch."""
        changes = []
        for row in rows:
            kind = self.random.choice(["put", "replace", "delete"])
            changes.append((row, kind, None if kind == "delete" else self._values(nulls=True)))

        def call() -> None:
            with self.table.batch() as batch:
                for row, kind, given in changes:
                    getattr(batch, kind)({"id": row, **(given or {})})

        _, start, stop = self._time_call(call)
        self.noted += [
            (row, Operation(kind, given, None, start, stop, self.thread))
            for row, kind, given in changes
        ]

    def do_increment(self, row: int, _: list[int]) -> None:
        by = self.random.randint(-3, 9)
        self._note(row, "increment", by, lambda: self.table.increment({"id": row}, n=by)["n"])

    def do_append(self, row: int, _: list[int]) -> None:
        piece = f"+{next(self.numbers)}"
        self._note(row, "append", piece, lambda: self.table.append({"id": row}, s=piece))

    def do_check_and_put(self, row: int, _: list[int]) -> None:
        column = self.random.choice(("a", "b", "n"))
        expected = self.seen[row].get(column) if self.random.random() < 0.8 else None
        given = self._values(nulls=True)

        def call() -> bool:
            return self.table.check_and_put({"id": row, **given}, **{column: expected})

        self._note(row, "check_and_put", ((column, expected), given), call)


OPERATIONS = {
    "get": 30,
    "put": 16,
    "replace": 8,
    "delete": 8,
    "batch": 3,
    "increment": 14,
    "append": 7,
    "check_and_put": 14,
}
"""How often each is done; of every hundred operations about 30 read."""


@contextmanager
def switch_threads_often() -> Iterator[None]:
    """Let Python switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@dataclass(frozen=True, slots=True)
class RowHistory:
    """The operations of all threads on one row in one round.

    Args:
        row: the number of the row.
        initial: the state of the row before the round.
        operations: the operations in any order.
    """

    row: int
    initial: State
    operations: list[Operation]

    @property
    def is_linearizable(self) -> bool:
        """Whether some order explains all results."""
        return is_linearizable(self.operations, apply_operation, self.initial)

    def __str__(self) -> str:
        lines = [f"row {self.row}, at first {self.initial}"]
        ordered = sorted(self.operations, key=lambda one: one.start)
        zero = ordered[0].start
        for one in ordered:
            times = f"{(one.start - zero) * 1e3:9.3f} {(one.stop - zero) * 1e3:9.3f} ms"
            lines.append(f"{times} thread {one.thread} {one.name} {one.given} -> {one.result}")
        return "\n".join(lines)


def require_linearizable(histories: Iterable[RowHistory]) -> None:
    """Fail with the shortest history that no order explains, if there is one."""
    violations = [one for one in histories if not one.is_linearizable]
    if violations:
        shortest = min(violations, key=lambda one: len(one.operations))
        pytest.fail(f"no order explains this history\n{shortest}", pytrace=False)


class Histories:
    """Rounds of threads that change a few rows, with the history of each row.

    No thread runs between two rounds, so each round is checked by itself, and only one round is in
    memory. The rows of a round are those of the round before, or new ones every `ROUNDS`.

    Args:
        tables: the clients that threads use, in turn.
        seed: decides the operations.
        threads: the number of threads.
    """

    def __init__(self, tables: list[rowkey.Table], seed: int, threads: int = THREADS) -> None:
        self.tables, self.threads = tables, threads
        self.random = Random(seed)
        self.numbers = count(1)
        self.next_rows = count(1)
        self.states: dict[int, State] = {}
        """The rows of the round and what they are."""
        self.rounds = self.rows = self.operations = self.unknown = 0

    def play(self, each: int = OPERATIONS_PER_ROUND) -> list[RowHistory]:
        """Play one round and return the history of each row."""
        if self.rounds % ROUNDS == 0:
            self.states = {next(self.next_rows): ABSENT for _ in range(ROWS)}
            self.rows += ROWS
        self.rounds += 1
        rows, seed = list(self.states), self.random.getrandbits(32)
        clients = [
            Client(self.tables[thread % len(self.tables)], thread, seed, self.numbers)
            for thread in range(self.threads)
        ]
        begin = Barrier(self.threads)

        def run(client: Client) -> None:
            begin.wait()
            client.run(rows, each)

        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(run, clients))
        last = Client(self.tables[0], self.threads, seed, self.numbers)
        for row in rows:
            last.do_get(row, rows)
        found = {row: RowHistory(row, state, []) for row, state in self.states.items()}
        for client in (*clients, last):
            for row, one in client.noted:
                found[row].operations.append(one)
                self.operations += 1
                self.unknown += one.result == UNKNOWN
        self.states = {row: one.result for row, one in last.noted}
        return list(found.values())

    def find_violations(self, each: int = OPERATIONS_PER_ROUND) -> list[RowHistory]:
        """Play one round and return the histories that no order explains."""
        return [one for one in self.play(each) if not one.is_linearizable]
