"""Threads that wait for a row, or for all of them: in turn, and not for ever."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial
from itertools import count
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from rowkey.errors import Unsupported
from rowkey.table import Stamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def stamps() -> Stamps:
    """Stamps by a clock that goes on at every look."""
    return Stamps(count(1_000).__next__)


@pytest.fixture
def running() -> Iterator[ExitStack]:
    """Ends what runs."""
    with ExitStack() as stack:
        yield stack


class Holder(Thread):
    """A thread that has a row until it is told to let go."""

    def __init__(self, stamps: Stamps, row: bytes, done: list[str], running: ExitStack) -> None:
        super().__init__(daemon=True)
        self.stamps, self.row, self.done = stamps, row, done
        self.has, self.lets_go = Event(), Event()
        running.callback(self.join, 10)
        running.callback(self.lets_go.set)
        self.start()

    def run(self) -> None:
        with self.stamps.held(self.row):
            self.has.set()
            self.done.append(self.row.decode())
            self.lets_go.wait(30)
            assert self.stamps.next(self.row) < self.stamps.next(self.row)


def until(is_so: Callable[[], object]) -> None:
    """Wait until other threads have come so far."""
    for _ in range(20_000):
        if is_so():
            return
        time.sleep(0.001)
    raise AssertionError(is_so)


def test_who_wants_all_rows_waits_only_for_those_that_are_had(
    stamps: Stamps, running: ExitStack
) -> None:
    """However many come to have others meanwhile: they come after him."""
    done: list[str] = []
    first = Holder(stamps, b"first", done, running)
    assert first.has.wait(10)

    def load() -> None:
        stamps.above_all(alone=False)
        done.append("all")

    loading = Thread(target=load)
    loading.start()
    until(lambda: stamps.turns.for_all)
    others = [Holder(stamps, b"%d" % n, done, running) for n in range(4)]
    until(lambda: len(stamps.turns.lines) + len(stamps.turns.held) == 5)
    assert [b"first"] == list(stamps.turns.held)
    stamps.next(b"another")  # what is only put does not wait
    first.lets_go.set()
    loading.join(10)
    assert ["first", "all"] == done[:2]
    assert all(other.has.wait(10) for other in others)
    assert {} == stamps.turns.lines


def test_who_lets_go_does_not_come_again_before_others(stamps: Stamps) -> None:
    """A single thread that counts and counts leaves room for a load."""
    done: list[str] = []

    def load() -> None:
        stamps.above_all(alone=False)
        done.append("all")

    for n in range(20):
        loading = Thread(target=load)
        with stamps.held(b"row"):
            loading.start()
            until(lambda: stamps.turns.for_all)
        with stamps.held(b"row" if n % 2 else b"another"):
            assert [] == stamps.turns.for_all
        loading.join(10)
    assert ["all"] * 20 == done


def test_those_who_want_all_rows_do_not_keep_out_who_came_before(
    stamps: Stamps, running: ExitStack
) -> None:
    """However many loads there are, one of them later than he who waits for a row."""
    first = Holder(stamps, b"row", [], running)
    assert first.has.wait(10)
    second = Holder(stamps, b"row", [], running)
    until(lambda: stamps.turns.lines)
    stamps.turns.for_all.append(1_000)
    first.lets_go.set()
    assert second.has.wait(10)


def test_a_row_goes_to_those_who_wait_in_turn(stamps: Stamps, running: ExitStack) -> None:
    """Who came first is first, whether he wants to have it or only a timestamp."""
    done: list[str] = []
    first = Holder(stamps, b"row", done, running)
    assert first.has.wait(10)

    def asking(n: int) -> None:
        if n % 2:
            with stamps.held(b"row"):
                done.append(str(n))
        else:
            (stamps.next if n % 4 else stamps.again)(b"row")
            done.append(str(n))

    def stands(length: int) -> bool:
        return len(stamps.turns.lines.get(b"row", ())) == length

    waiting = [Thread(target=asking, args=(n,)) for n in range(12)]
    for n, thread in enumerate(waiting):
        thread.start()
        until(partial(stands, n + 1))
    first.lets_go.set()
    for thread in waiting:
        thread.join(10)
    held = [n for n in done if n != "row" and int(n) % 2]
    assert [str(n) for n in range(1, 12, 2)] == held
    assert {} == stamps.turns.lines == stamps.turns.held


def test_nobody_waits_for_ever(stamps: Stamps, running: ExitStack) -> None:
    """After a while it is told, and nobody stands in line who has gone."""
    first = Holder(stamps, b"row", [], running)
    assert first.has.wait(10)
    stamps.turns.patience_s = 0.01
    with pytest.raises(
        Unsupported, match=r"row 726f77: other threads .* turn within 0.01 s\. This"
    ):
        stamps.next(b"row")
    with pytest.raises(Unsupported, match=r"row 726f77: other threads"):
        stamps.again(b"row")
    with pytest.raises(Unsupported, match=r"row 726f77: "), stamps.held(b"row"):
        pass
    with pytest.raises(Unsupported, match=r"all rows: .*count in 1 row all.* expected a turn with"):
        stamps.above_all(alone=False)
    assert ({}, []) == (stamps.turns.lines, stamps.turns.for_all)
    first.lets_go.set()
    first.join(10)
    with stamps.held(b"row"):
        assert stamps.next(b"row") < stamps.next(b"row")
    assert stamps.above_all(alone=False)


def test_who_has_a_row_waits_for_nobody_who_waits_for_it(
    stamps: Stamps, running: ExitStack
) -> None:
    """Neither behind those who want all rows nor in the line of another."""
    with stamps.held(b"mine"):
        loading = Thread(target=lambda: stamps.above_all(alone=False))
        loading.start()
        until(lambda: stamps.turns.for_all)
        other = Holder(stamps, b"other", [], running)
        until(lambda: stamps.turns.lines)
        assert stamps.next(b"other") < stamps.next(b"mine")
        with stamps.held(b"another"):
            assert stamps.next(b"another")
    loading.join(10)
    assert other.has.wait(10)


def test_who_has_a_row_is_woken_once_another_is_free(stamps: Stamps, running: ExitStack) -> None:
    """Though it waits in no line, and there is none."""
    other = Holder(stamps, b"other", [], running)
    assert other.has.wait(10)

    def ask() -> None:
        with stamps.held(b"mine"):
            stamps.next(b"other")

    asking = Thread(target=ask, daemon=True)
    asking.start()
    until(lambda: stamps.turns._moved._waiters)  # type: ignore[attr-defined]
    other.lets_go.set()
    asking.join(10)
    assert not asking.is_alive()
