"""Threads that change and read a few rows at once, and what each of them saw."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from random import Random
from threading import Barrier
from typing import TYPE_CHECKING, Any

import rowkey
from table.linear_checker import Operation, is_linearizable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

THREADS = 8
ROWS = 4
"""Rows that are changed at the same time."""
EACH = 30
"""Operations of a thread in a round."""

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

State = tuple[Any, ...] | None


def design(name: str = "linear") -> rowkey.Design:
    """A table whose number of buckets can be changed."""
    return rowkey.Design(name, "[bucket(id, 4)][id]", fields=FIELDS, splits="per_bucket")


def step(state: State, done: Operation) -> tuple[bool, State]:
    """What a row is after an operation, and whether its result may have been what it was."""
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
            if values["n"] != done.result:
                return False, state
        case "append":
            values["s"] = (values["s"] or "") + done.given
        case "check_and_put":
            return _check(values, done, state)
    return True, tuple(values[name] for name in COLUMNS)


def _check(values: dict[str, Any], done: Operation, state: State) -> tuple[bool, State]:
    (column, expected), given = done.given
    if (values[column] == expected) is not done.result:
        return False, state
    if not done.result:
        return True, state
    values |= given
    return True, tuple(values[name] for name in COLUMNS)


class Client:
    """One thread's use of a table, noted.

    Args:
        table: the table.
        thread: its number.
        seed: decides what it does.
        numbers: gives numbers that nobody else gets.
    """

    def __init__(self, table: rowkey.Table, thread: int, seed: int, numbers: Iterator[int]) -> None:
        self.table, self.thread, self.random = table, thread, Random(f"{seed} {thread}")
        self.numbers = numbers
        self.noted: list[tuple[int, Operation]] = []
        self.seen: dict[int, dict[str, Any]] = defaultdict(dict)
        """What was read of each row last: a check that may hold is worth more."""

    def run(self, rows: list[int], count_of: int) -> None:
        """Do so many operations on some rows."""
        names = list(OPERATIONS)
        weights = [OPERATIONS[name] for name in names]
        for name in self.random.choices(names, weights, k=count_of):
            getattr(self, f"do_{name}")(self.random.choice(rows), rows)

    def _note(self, row: int, name: str, given: Any, call: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = call()
        self.noted.append(
            (row, Operation(name, given, result, start, time.perf_counter(), self.thread))
        )
        return result

    def _values(self, *, nulls: bool) -> dict[str, Any]:
        """New values of some columns, or that they are taken away."""
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
        """A change of each row; each of them happens at some time within the batch."""
        changes = []
        for row in rows:
            kind = self.random.choice(["put", "replace", "delete"])
            changes.append((row, kind, None if kind == "delete" else self._values(nulls=True)))
        start = time.perf_counter()
        with self.table.batch() as batch:
            for row, kind, given in changes:
                getattr(batch, kind)({"id": row, **(given or {})})
        stop = time.perf_counter()
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
        given = self._values(nulls=False)

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
def switching_often() -> Iterator[None]:
    """Let Python go on with another thread at every chance."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Histories:
    """Rounds of threads on a table, each with rows of its own, and their verdicts.

    Args:
        tables: the clients that threads use, in turn.
        seed: decides what is done.
        threads: how many there are.
    """

    def __init__(self, tables: list[rowkey.Table], seed: int, threads: int = THREADS) -> None:
        self.tables, self.threads = tables, threads
        self.random, self.seed = Random(seed), seed
        self.numbers = count(1)
        self.rows = count(1)
        self.operations = 0

    def play(self, each: int = EACH) -> list[list[Operation]]:
        """Play one round; gives the history of each row."""
        rows = [next(self.rows) for _ in range(ROWS)]
        seed = self.random.getrandbits(32)
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
        histories: dict[int, list[Operation]] = defaultdict(list)
        for client in (*clients, last):
            for row, one in client.noted:
                histories[row].append(one)
                self.operations += 1
        return list(histories.values())

    def violations(self, each: int = EACH) -> list[list[Operation]]:
        """Play one round; gives the histories that no order explains."""
        return [one for one in self.play(each) if not is_linearizable(one, step, ABSENT)]
