"""Clients that were suspended while a move went on find the right table, and lose nothing.

A client sleeps between its look at the catalog entry and its call to the engine, for longer than
the mover waits, as a process does that is stopped by a signal or by its machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.errors import Conflict, RowkeyError
from rowkey.move import Move
from table.buckets import advance_clock
from table.clients import ManualClock, open_client, set_clock

if TYPE_CHECKING:
    from rowkey.table import Table

STALE_S = 0.02
FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "note": {"type": "text", "nullable": True},
    "hits": {"type": "i64", "nullable": True},
}
OLD = rowkey.Design("logs", "[ts][host]", fields=FIELDS)
NEW = rowkey.Design("logs", "[bucket(host, 4)][host][ts]", fields=FIELDS, splits="per_bucket")
KEY = {"host": "w1", "ts": 1}
BEFORE = {**KEY, "note": "before", "hits": 1}

STEPS: dict[str, Callable[[Move], Any]] = {
    "announce": lambda move: move.start(NEW),
    "copy": lambda move: move.run(NEW),
    "cut over": lambda move: move.cut_over(),
    "roll back": lambda move: move.roll_back(),
    "cut over again": lambda move: move.cut_over(),
    "finish": lambda move: move.finish(),
}
"""The steps of a move in their order."""
NAMES = list(STEPS)
QUICK_SLEEPS = [(0, 1), (0, 4), (2, 3)]
SLEEPS = [
    pytest.param(first, last, marks=[] if (first, last) in QUICK_SLEEPS else pytest.mark.long)
    for first in range(len(NAMES))
    for last in range(first + 1, len(NAMES) + 1)
]
"""The steps that are made while a client sleeps: from one, inclusive, to another, exclusive."""


def load(table: Table, row: dict[str, Any]) -> None:
    """Load one row from Arrow columns."""
    import pyarrow as pa

    types = {"host": pa.string(), "ts": pa.int64(), "note": pa.string(), "hits": pa.int64()}
    table.load(pa.table({name: pa.array([row[name]], types[name]) for name in row}))


def put_in_batch(table: Table, row: dict[str, Any]) -> None:
    """Put a row in a batch."""
    with table.batch() as batch:
        batch.put(row)


def put_in_waiting_batch(table: Table, row: dict[str, Any]) -> None:
    """Put a row in a batch that has sent another one before."""
    with table.batch() as batch:
        batch.put({**row, "ts": 2})
        batch.send()
        batch.put(row)


PUT = {**KEY, "note": "new", "hits": 5}
WRITES: dict[str, tuple[Callable[[Table], Any], dict[str, Any] | None]] = {
    "put": (lambda table: table.put(PUT), PUT),
    "put of one field": (
        lambda table: table.put({**KEY, "note": "new"}),
        {**BEFORE, "note": "new"},
    ),
    "put that deletes": (lambda table: table.put({**KEY, "note": None}), {**BEFORE, "note": None}),
    "replace": (lambda table: table.replace({**KEY, "hits": 7}), {**KEY, "note": None, "hits": 7}),
    "delete": (lambda table: table.delete(KEY), None),
    "batch": (lambda table: put_in_batch(table, PUT), PUT),
    "second part of a batch": (lambda table: put_in_waiting_batch(table, PUT), PUT),
    "load": (lambda table: load(table, PUT), PUT),
    "increment": (lambda table: table.increment(KEY, hits=4), {**BEFORE, "hits": 5}),
    "append": (lambda table: table.append(KEY, note="!"), {**BEFORE, "note": "before!"}),
    "check and put": (lambda table: table.check_and_put(PUT, hits=1), PUT),
}


@contextmanager
def open_client_that_sleeps(url: str, sleep: Callable[[], None]) -> Iterator[Table]:
    """Open a client that sleeps before its next call to the engine's table."""
    with open_client("logs", url, ManualClock()) as table:
        stores = {id(table.store): table.store}
        if (secondary := table.follower._route.secondary) is not None:
            stores[id(secondary.store)] = secondary.store
        trackers = [table.follower._source]
        if table.follower._target is not None:
            trackers.append(table.follower._target[1])
        for tracker in trackers:
            set_clock(tracker.lease, table.lease.clock)
        is_asleep = False

        def wrap(store: Any, name: str) -> None:
            call = getattr(store, name)

            def call_later(*arguments: Any, **words: Any) -> Any:
                nonlocal is_asleep
                if not is_asleep:
                    is_asleep = True
                    sleep()
                    advance_clock(table, 90.0)
                return call(*arguments, **words)

            setattr(store, name, call_later)

        for store in stores.values():
            # Clients of an embedded engine share locks; those of a cluster do not.
            clock: Any = store.row_clock
            clock.lock_rows = lambda _: nullcontext()
            clock.lock_all_rows = nullcontext
            for name in ("mutate", "load_blocks", "increment", "append", "check_and_mutate"):
                wrap(store, name)
        yield table


def take_steps(move: Move, first: int, last: int) -> None:
    """Take some steps of a move."""
    for name in NAMES[first:last]:
        STEPS[name](move)


def read_both(move: Move) -> list[dict[str, Any] | None]:
    """Return the row with the key in each table of a move."""
    return [tracker.get_state().getter.get_rows([KEY])[0] for tracker in (move.source, move.target)]


def check_write_that_slept(write: str, first: int, last: int, url: str) -> None:
    """Write as a client that sleeps while some steps are taken, and read both tables.

    A write to a table that was dropped meanwhile fails. One that depends on the current values may
    fail, and says that it may be lost.
    """
    do, expected = WRITES[write]
    with rowkey.open(OLD, url, max_stale=STALE_S) as awake, Move("logs", url) as move:
        awake.put(BEFORE)
        take_steps(move, 0, first)
        with open_client_that_sleeps(url, lambda: take_steps(move, first, last)) as asleep:
            try:
                do(asleep)
            except RowkeyError as refusal:
                is_pinned = write in ("increment", "append", "check and put")
                may_be_lost = isinstance(refusal, Conflict) and "may be lost" in str(refusal)
                assert (is_pinned and may_be_lost) or "finish" in NAMES[first:last], refusal  # noqa: PT017
                return
            assert expected == awake.get(KEY)
            assert expected == asleep.get(KEY)
            if "finish" not in NAMES[:last] and NAMES[first:last] != ["announce"]:
                assert [expected, expected] == read_both(move)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(("first", "last"), SLEEPS)
def test_a_write_by_a_suspended_client_is_in_the_active_table(
    write: str, first: int, last: int, tmp_path: Path
) -> None:
    """A write that returns is seen by all clients, whatever steps were taken while it slept."""
    check_write_that_slept(write, first, last, f"memory:{tmp_path}")


@pytest.mark.parametrize("write", ["put", "batch", "load"])
@pytest.mark.parametrize(("first", "last"), [(0, 2), (0, 3), (1, 2)])
def test_a_write_by_a_suspended_client_is_in_a_target_that_packs_fields(
    write: str, first: int, last: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is copied to the target whole: a change of some fields does not tell its cells."""
    packed = {one: {**FIELDS[one], "pack": "p"} for one in ("note", "hits")}
    design = rowkey.Design("logs", "[host][ts]", fields={**FIELDS, **packed})
    monkeypatch.setattr("move.test_sleeping_clients.NEW", design)
    check_write_that_slept(write, first, last, f"memory:{tmp_path}")


def check_increment_at_a_cut_over(url: str, *, is_told: bool) -> None:
    """Increment a field in a thread that stands still before the change, while a move cuts over.

    Another client increments it in the target, just before the change is copied there.

    Args:
        url: where the table is created.
        is_told: whether the client reads of the cut-over before its lease is over.
    """
    with rowkey.open(OLD, url, max_stale=1.0) as table, pytest.MonkeyPatch.context() as patch:
        table.put(BEFORE)
        with Move.from_table(table, url) if is_told else Move("logs", url) as move:
            move.run(NEW)
            lease, increment = table.lease, table.store.increment
            if is_told:  # its lease lasts: by its clock no time passes
                patch.setattr(lease, "clock", ManualClock())
                patch.setattr(lease, "_read_at_s", 0.0)
            else:
                patch.setattr(lease, "_is_closed", True)
            # The copier's threads need the lock that the increment of this thread has.
            patch.setattr(table.store.row_clock, "lock_rows", lambda _: nullcontext())

            def increment_later(*arguments: Any, **words: Any) -> Any:
                patch.setattr(table.store, "increment", increment)
                move.cut_over()
                try:
                    return increment(*arguments, **words)
                finally:
                    with rowkey.open("logs", url) as other:
                        other.increment(KEY, hits=1)

            patch.setattr(table.store, "increment", increment_later)
            table.increment(KEY, hits=4)
        with rowkey.open("logs", url) as other:
            assert {**BEFORE, "hits": 6} == other.get(KEY)


def test_an_increment_suspended_during_a_cut_over_is_made_in_the_target(tmp_path: Path) -> None:
    """A thread that stood still does not change the source once the target is read."""
    check_increment_at_a_cut_over(f"memory:{tmp_path}", is_told=True)
