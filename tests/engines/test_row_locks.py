"""Row locks: the order of waiting changes, and timeouts."""

from __future__ import annotations

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from threading import Event, Lock, Thread

import pytest

from rowkey.engines.ordering import row_locks
from rowkey.engines.ordering.row_locks import RowLocks
from rowkey.errors import Unavailable

ROWS = [b"%d" % number for number in range(6)]


@pytest.fixture
def locks() -> RowLocks:
    """Return row locks that no thread holds."""
    return RowLocks()


@pytest.fixture
def holders() -> Iterator[ExitStack]:
    """Return a list of threads that end after the test."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def switch_threads_often() -> Iterator[None]:
    """Make Python switch threads every microsecond."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def lock_rows(locks: RowLocks, rows: list[bytes] | None) -> AbstractContextManager[None]:
    """Return a block for which some rows are locked, or all of them."""
    return locks.lock_all_rows() if rows is None else locks.lock_rows(rows)


class Holder(Thread):
    """A thread that locks some rows, or all, and holds them until a test releases it."""

    def __init__(
        self,
        locks: RowLocks,
        rows: list[bytes] | None,
        order: list[str],
        holders: ExitStack,
        name: str = "",
    ) -> None:
        label = name or ("all" if rows is None else b" ".join(rows).decode())
        super().__init__(daemon=True, name=label)
        self.locks, self.rows, self.order = locks, rows, order
        self.acquired, self.released = Event(), Event()
        holders.callback(self.join, 10)
        holders.callback(self.released.set)
        self.start()

    def run(self) -> None:
        with lock_rows(self.locks, self.rows):
            self.order.append(self.name)
            self.acquired.set()
            self.released.wait(30)

    def wait_until_locked(self) -> Holder:
        assert self.acquired.wait(10)
        return self


class LockChecker:
    """Counts in rows that are locked, without a lock of its own."""

    def __init__(self) -> None:
        self.guard = Lock()
        self.unguarded: Counter[bytes] = Counter()
        self.expected: Counter[bytes] = Counter()

    def visit(self, rows: list[bytes]) -> None:
        """Change some rows that the caller has locked."""
        before = {row: self.unguarded[row] for row in rows}
        time.sleep(0)
        for row in rows:
            self.unguarded[row] = before[row] + 1
        with self.guard:
            self.expected.update(rows)


def wait_for_waiting(locks: RowLocks, count: int) -> None:
    """Wait until as many requests wait for others."""
    for _ in range(20_000):
        with locks.mutex:
            if sum(bool(request.blockers) for request in locks._requests) == count:
                return
        time.sleep(0.001)
    raise AssertionError(count)


def is_free(locks: RowLocks) -> bool:
    """Return whether no thread has rows locked or waits for a lock."""
    return not (locks._row_requests or locks._requests or locks._requests_for_all)


def join_all(threads: list[Thread]) -> None:
    """Wait until threads end."""
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("others", [[b"row"], [b"another", b"row"], None])
def test_a_row_lock_excludes_changes_batches_and_loads(
    locks: RowLocks, holders: ExitStack, others: list[bytes] | None
) -> None:
    """Changes of the row, batches with it and loads wait for the lock, and the lock for them."""
    order: list[str] = []
    first = Holder(locks, [b"row"], order, holders).wait_until_locked()
    with locks.lock_rows([b"elsewhere"]):
        assert order == ["row"]
    second = Holder(locks, others, order, holders, name="second")
    wait_for_waiting(locks, 1)
    assert order == ["row"]
    first.released.set()
    assert second.acquired.wait(10)
    third = Holder(locks, [b"row"], order, holders, name="third")
    wait_for_waiting(locks, 1)
    assert order == ["row", "second"]
    second.released.set()
    assert third.acquired.wait(10)


def test_a_change_of_free_rows_comes_after_a_load_that_waits(
    locks: RowLocks, holders: ExitStack
) -> None:
    """Changes of free rows come after a load that waits."""
    order: list[str] = []
    first = Holder(locks, [b"first"], order, holders).wait_until_locked()
    load = Holder(locks, None, order, holders)
    wait_for_waiting(locks, 1)
    others = [Holder(locks, [b"%d" % n], order, holders) for n in range(4)]
    wait_for_waiting(locks, 5)
    first.released.set()
    assert load.acquired.wait(10)
    assert not any(other.acquired.is_set() for other in others)
    load.released.set()
    assert all(other.acquired.wait(10) for other in others)
    assert ["first", "all"] == order[:2]


def test_a_load_comes_after_a_change_that_waits_for_an_earlier_load(
    locks: RowLocks, holders: ExitStack
) -> None:
    """A change that waits for one load comes before the next load."""
    first = Holder(locks, None, [], holders).wait_until_locked()
    second = Holder(locks, [b"row"], [], holders)
    wait_for_waiting(locks, 1)
    third = Holder(locks, None, [], holders)
    wait_for_waiting(locks, 2)
    first.released.set()
    assert second.acquired.wait(10)
    assert not third.acquired.is_set()
    second.released.set()
    assert third.acquired.wait(10)


def test_a_waiting_batch_comes_before_later_changes_of_its_rows(
    locks: RowLocks, holders: ExitStack
) -> None:
    """A batch that waits for one row comes before later changes of its other rows."""
    order: list[str] = []
    first = Holder(locks, [b"0"], order, holders).wait_until_locked()
    batch = Holder(locks, ROWS, order, holders, name="batch")
    wait_for_waiting(locks, 1)
    others = [Holder(locks, [row], order, holders) for row in ROWS]
    wait_for_waiting(locks, 1 + len(others))
    with locks.lock_rows([b"no row of the batch"]):
        first.released.set()
        assert batch.acquired.wait(10)
    assert order == ["0", "batch"]
    batch.released.set()
    assert all(other.acquired.wait(10) for other in others)


def test_changes_of_one_row_are_granted_in_order_of_arrival(
    locks: RowLocks, holders: ExitStack
) -> None:
    """Changes of one row come as they arrived."""
    order: list[str] = []
    first = Holder(locks, [b"row"], order, holders).wait_until_locked()
    threads = [first]
    for number in range(12):
        threads.append(Holder(locks, [b"row"], order, holders, name=str(number)))
        wait_for_waiting(locks, number + 1)
    for thread in threads:
        thread.wait_until_locked().released.set()
    assert order == ["row", *map(str, range(12))]


def test_a_waiting_batch_holds_no_lock(locks: RowLocks, holders: ExitStack) -> None:
    """A batch, two changes and a load come in order where they once deadlocked."""
    # The batch had `a` and waited for `b`; the change of `a` waited for the batch, the load for
    # that change, the change of the free row `c` for the load, and then the batch for `c`.
    order: list[str] = []
    first = Holder(locks, [b"b"], order, holders).wait_until_locked()
    others: list[tuple[str, list[bytes] | None]] = [
        ("batch", [b"a", b"b", b"c"]),
        ("change of a", [b"a"]),
        ("load", None),
        ("change of c", [b"c"]),
    ]
    threads = []
    for number, (name, rows) in enumerate(others):
        threads.append(Holder(locks, rows, order, holders, name=name))
        wait_for_waiting(locks, number + 1)
    for thread in (first, *threads):
        thread.wait_until_locked().released.set()
    assert order == ["b", "batch", "change of a", "load", "change of c"]


@pytest.mark.usefixtures("switch_threads_often")
def test_locks_of_batches_changes_and_loads_exclude_each_other(locks: RowLocks) -> None:
    """Eight threads lock rows in all ways and never time out or meet another lock of a row."""
    checker, ended = LockChecker(), list[int]()
    locks.timeout_s = 30

    def change_rows(seed: int) -> None:
        choice = random.Random(seed)
        for _ in range(500):
            kind = choice.choice(["batch", "batch", "change", "load"])
            rows = choice.sample(ROWS, 1 if kind == "change" else choice.randint(2, 4))
            with lock_rows(locks, None if kind == "load" else rows):
                checker.visit(ROWS if kind == "load" else rows)
        ended.append(seed)

    threads = [Thread(target=change_rows, args=(seed,), daemon=True) for seed in range(8)]
    for thread in threads:
        thread.start()
    join_all(threads)
    assert sorted(ended) == list(range(8))
    assert checker.expected == checker.unguarded
    assert is_free(locks)


@pytest.mark.usefixtures("switch_threads_often")
@pytest.mark.parametrize("rows", [None, ROWS], ids=["load", "batch"])
def test_loads_and_batches_do_not_starve_behind_row_locks(
    locks: RowLocks, rows: list[bytes] | None
) -> None:
    """Fifty loads or batches over all rows end while six threads lock rows without a pause."""
    locks.timeout_s = 30
    stopped = Event()

    def keep_changing(seed: int) -> None:
        choice = random.Random(seed)
        while not stopped.is_set():
            with locks.lock_rows(choice.sample(ROWS, 2)):
                time.sleep(0)

    threads = [Thread(target=keep_changing, args=(seed,), daemon=True) for seed in range(6)]
    with ExitStack() as stack:
        stack.callback(join_all, threads)
        stack.callback(stopped.set)
        for thread in threads:
            thread.start()
        for _ in range(50):
            with lock_rows(locks, rows):
                time.sleep(0)
    assert is_free(locks)


def expect_timeout(locks: RowLocks, rows: list[bytes] | None, problem: str) -> None:
    """Check the error of a thread that waits too long for some rows, or for all."""
    sentence = f"{problem}. This change was not made. Try again, with fewer threads"
    with pytest.raises(Unavailable, match=re.escape(sentence)):  # noqa: SIM117
        with lock_rows(locks, rows):
            pass


def test_waiting_too_long_for_a_row_lock_raises_an_error_with_the_row(
    locks: RowLocks, holders: ExitStack
) -> None:
    """A thread that waits too long gets an error with the locked row, and leaves no request."""
    first = Holder(locks, [b"row"], [], holders).wait_until_locked()
    locks.timeout_s = 0.01
    problem = (
        "row 0x726f77: the row could not be locked within 0.01 s: another thread holds its lock"
    )
    expect_timeout(locks, [b"a", b"row", b"z"], problem)
    problem = (
        "all rows: the rows could not be locked within 0.01 s: another thread holds the lock of "
        "a row"
    )
    expect_timeout(locks, None, problem)
    first.released.set()
    first.join(10)
    assert is_free(locks)
    with locks.lock_all_rows(), locks.lock_rows([]):
        pass


def test_the_error_of_a_lock_timeout_says_what_blocks(locks: RowLocks, holders: ExitStack) -> None:
    """The error of a timeout says whether a lock or an earlier waiting change blocks."""
    first = Holder(locks, [b"a"], [], holders).wait_until_locked()
    batch = Holder(locks, [b"a", b"b"], [], holders)
    wait_for_waiting(locks, 1)
    locks.timeout_s = 0.01
    locked = "could not be locked within 0.01 s:"
    expect_timeout(
        locks, [b"b", b"c"], f"row 0x62: the row {locked} an earlier change waits for it"
    )
    problem = f"row 0x61: the row {locked} another thread holds its lock"
    expect_timeout(locks, [b"a", b"b"], problem)
    problem = f"all rows: the rows {locked} another thread holds the lock of a row"
    expect_timeout(locks, None, problem)
    first.released.set()
    assert batch.acquired.wait(10)


def test_a_lock_timeout_grants_the_changes_waiting_behind_it(
    locks: RowLocks, holders: ExitStack
) -> None:
    """A change that waits only for a batch is granted when the batch gives up."""
    first = Holder(locks, [b"a"], [], holders).wait_until_locked()
    batch_lock = locks.lock_rows([b"a", b"b"])
    batch = Thread(target=pytest.raises, args=(Unavailable, batch_lock.__enter__), daemon=True)
    locks.timeout_s = 0.5
    batch.start()
    wait_for_waiting(locks, 1)
    locks.timeout_s = 30
    with locks.lock_rows([b"b"]):
        assert not first.released.is_set()
    batch.join(10)


def test_a_thread_interrupted_while_waiting_leaves_no_lock_request(
    locks: RowLocks, holders: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    class InterruptedEvent(Event):
        def wait(self, timeout: float | None = None) -> bool:
            raise KeyboardInterrupt

    first = Holder(locks, [b"a"], [], holders).wait_until_locked()
    monkeypatch.setattr(row_locks, "Event", InterruptedEvent)
    with pytest.raises(KeyboardInterrupt), locks.lock_rows([b"a", b"b"]):
        pass
    wait_for_waiting(locks, 0)
    first.released.set()
    first.join(10)
    assert is_free(locks)


def test_a_lock_released_just_before_the_timeout_is_granted(
    locks: RowLocks, holders: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread whose wait times out has its rows if they were released just before."""

    class LateEvent(Event):
        def wait(self, timeout: float | None = None) -> bool:
            first.released.set()
            first.join(10)
            return False

    first = Holder(locks, [b"a"], [], holders).wait_until_locked()
    monkeypatch.setattr(row_locks, "Event", LateEvent)
    with locks.lock_rows([b"a"]):
        assert not is_free(locks)
    assert is_free(locks)
