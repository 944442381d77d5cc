"""Threads that wait for a row, or for all of them: in turn, and not forever."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from rowkey.engines.ordering.row_locks import RowLocks
from rowkey.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def locks() -> RowLocks:
    """Locks that nobody holds."""
    return RowLocks()


@pytest.fixture
def running() -> Iterator[ExitStack]:
    """Ends what runs."""
    with ExitStack() as stack:
        yield stack


class Holder(Thread):
    """A thread that has some rows, or all, until it is told to let go."""

    def __init__(
        self,
        locks: RowLocks,
        rows: list[bytes] | None,
        done: list[str],
        running: ExitStack,
        *,
        exclusive: bool = True,
        name: str = "",
    ) -> None:
        super().__init__(daemon=True)
        self.locks, self.rows, self.done, self.exclusive = locks, rows, done, exclusive
        self.told = name or ("all" if rows is None else b" ".join(rows).decode())
        self.has, self.lets_go = Event(), Event()
        running.callback(self.join, 10)
        running.callback(self.lets_go.set)
        self.start()

    def run(self) -> None:
        rows = self.rows
        locked = (
            self.locks.all_locked()
            if rows is None
            else self.locks.locked(rows, exclusive=self.exclusive)
        )
        with locked:
            self.has.set()
            self.done.append(self.told)
            self.lets_go.wait(30)


def until(is_so: Callable[[], object]) -> None:
    """Wait until other threads have come so far."""
    for _ in range(20_000):
        if is_so():
            return
        time.sleep(0.001)
    raise AssertionError(is_so)


def is_free(locks: RowLocks) -> bool:
    """Whether nobody holds anything, or waits."""
    return not (
        locks._exclusive or locks._shared or locks._loads or locks._lines or locks._load_waiters
    )


def test_changes_that_depend_on_nothing_come_together(locks: RowLocks, running: ExitStack) -> None:
    """Two of one row, a batch of many, and a load."""
    holders = [
        Holder(locks, rows, [], running, exclusive=False)
        for rows in ([b"a"], [b"a"], [b"c", b"a", b"b", b"a"], None, None)
    ]
    assert all(one.has.wait(10) for one in holders)
    for one in holders:
        one.lets_go.set()
        one.join(10)
    assert is_free(locks)


@pytest.mark.parametrize("others", [[b"row"], [b"another", b"row"], None])
def test_a_change_that_depends_on_a_row_comes_alone(
    locks: RowLocks, running: ExitStack, others: list[bytes] | None
) -> None:
    """Puts of the row, batches with it and loads wait for it, and it for them."""
    done: list[str] = []
    first = Holder(locks, [b"row"], done, running)
    assert first.has.wait(10)
    second = Holder(locks, others, done, running, exclusive=False, name="second")
    with locks.locked([b"elsewhere"], exclusive=False):
        assert not second.has.wait(0.05)
    first.lets_go.set()
    assert second.has.wait(10)
    third = Holder(locks, [b"row"], done, running, name="third")
    assert not third.has.wait(0.05)
    second.lets_go.set()
    assert third.has.wait(10)


def test_a_load_waits_only_for_those_that_came_before(locks: RowLocks, running: ExitStack) -> None:
    """However many come to have other rows meanwhile: they come after it."""
    done: list[str] = []
    first = Holder(locks, [b"first"], done, running)
    assert first.has.wait(10)
    loading = Holder(locks, None, done, running)
    until(lambda: locks._load_waiters)
    others = [Holder(locks, [b"%d" % n], done, running) for n in range(4)]
    until(lambda: len(locks._lines) == 4)
    with locks.locked([b"another"], exclusive=False):  # what is only put does not wait
        pass
    first.lets_go.set()
    assert loading.has.wait(10)
    assert not any(other.has.is_set() for other in others)
    loading.lets_go.set()
    assert all(other.has.wait(10) for other in others)
    assert ["first", "all"] == done[:2]


def test_loads_do_not_keep_out_who_came_before(locks: RowLocks, running: ExitStack) -> None:
    """However many loads there are, one of them later than the one that waits for a row."""
    first = Holder(locks, None, [], running)
    assert first.has.wait(10)
    second = Holder(locks, [b"row"], [], running)
    until(lambda: locks._lines)
    third = Holder(locks, None, [], running)
    assert not third.has.wait(0.05)
    first.lets_go.set()
    assert second.has.wait(10)
    second.lets_go.set()
    assert third.has.wait(10)


def test_a_row_goes_to_those_who_wait_in_turn(locks: RowLocks, running: ExitStack) -> None:
    """Who came first is first, whether it is to come alone or not."""
    done: list[str] = []
    first = Holder(locks, [b"row"], done, running)
    assert first.has.wait(10)

    def change(number: int) -> None:
        with locks.locked([b"row"], exclusive=bool(number % 2)):
            done.append(str(number))

    def stands(length: int) -> bool:
        return len(locks._lines.get(b"row", ())) == length

    waiting = [Thread(target=change, args=(number,)) for number in range(12)]
    for number, thread in enumerate(waiting):
        thread.start()
        until(partial(stands, number + 1))
    first.lets_go.set()
    for thread in waiting:
        thread.join(10)
    alone = [number for number in done if number != "row" and int(number) % 2]
    assert [str(number) for number in range(1, 12, 2)] == alone
    assert is_free(locks)


def test_batches_never_wait_for_each_other(locks: RowLocks) -> None:
    """Rows are locked in one order, whatever order they are given in."""
    rows = [b"%d" % number for number in range(20)]

    def work(turn: int) -> None:
        for number in range(100):
            start = (turn * 7 + number) % 20
            with locks.locked(rows[start:] + rows[:start], exclusive=number % 3 == 0):
                pass

    threads = [Thread(target=work, args=(turn,), daemon=True) for turn in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert is_free(locks)


def test_nobody_waits_forever(locks: RowLocks, running: ExitStack) -> None:
    """After a while it is told, and nobody stands in line who has gone."""
    first = Holder(locks, [b"row"], [], running)
    assert first.has.wait(10)
    locks.longest_wait_s = 0.01
    for exclusive in (False, True):
        with (
            pytest.raises(Unsupported, match=r"row 726f77: other threads .* turn within 0.01 s\."),
            locks.locked([b"a", b"row"], exclusive=exclusive),
        ):
            pass
    with pytest.raises(Unsupported, match=r"all rows: other threads"), locks.all_locked():
        pass
    first.lets_go.set()
    first.join(10)
    assert is_free(locks)
    with locks.locked([b"row"], exclusive=True), locks.locked([b"a"], exclusive=True):
        pass
