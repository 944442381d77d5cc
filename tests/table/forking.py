"""A process that forks repeatedly with a table open, in several arrangements.

`forking.py ENGINE DIRECTORY COUNT ARRANGEMENT...` prints `ok` once every child, and the table
itself, are as they should be after each fork. For `hbase` the directory is the URL of a cluster.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

import pyarrow as pa

import rowkey
from rowkey.errors import Closed, InvalidArgument
from rowkey.pandas_guard import skip_pandas
from rowkey.table import drop_table

KEY = "[bucket(id, 4)][id]"
FIELDS: dict[str, Any] = {"id": "u32", "n": {"type": "i64", "nullable": True}}
DESIGN = rowkey.Design("t", KEY, fields=FIELDS)
ROWS = 9_000  # more than a scan reads at once
LONGEST_S = 30.0
"""Seconds within which each child must end."""


def run_in_fork(work: Callable[[], object], *, leaves: Callable[[int], Any] = os._exit) -> int:
    """Run work in a child process, and return its exit code: 0 unless the work raises."""
    child = os.fork()
    if child == 0:
        signal.alarm(int(LONGEST_S))
        code = 1
        try:
            work()
            code = 0
        except BaseException as problem:  # noqa: BLE001 - the exit code informs the parent
            os.write(2, f"child: {type(problem).__name__}: {problem}\n".encode())
        leaves(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def is_refused(use: Callable[[], object]) -> bool:
    """Return whether a use is refused at once, with the name of the table."""
    started = time.monotonic()
    try:
        use()
    except Closed as refusal:
        is_named = "t was opened before this process was forked" in str(refusal)
        return is_named and time.monotonic() - started < 1
    return False


def use_all(table: rowkey.Table) -> None:
    """Check that every operation of a table is refused."""
    row = {"id": 1, "n": 1}
    uses: list[Callable[[], object]] = [
        lambda: table.put(row),
        lambda: table.replace(row),
        lambda: table.delete(id=1),
        lambda: table.increment({"id": 1}, n=1),
        lambda: table.check_and_put(row, n=None),
        lambda: table.move(row, id=2),
        lambda: table.get(id=1),
        lambda: table.get_many([row]),
        lambda: list(table.scan()),
        lambda: table.scan().to_arrow(),
        table.count,
        table.batch,
        table.regions,
        table.snapshot,
        table.flush,
        table.compact,
        lambda: table.buckets,
        lambda: table.set_buckets(8),
        table.close,
    ]
    if table.engine.name != "hbase":  # the client of a cluster connects again by itself
        uses += [table.store.close, lambda: table.store.get([b"x"])]
    for number, use in enumerate(uses):
        assert is_refused(use), number


@contextmanager
def keep_busy(table: rowkey.Table) -> Iterator[None]:
    """Write and read in threads during a block, so that forks happen while locks are held."""
    stops = threading.Event()

    def write(thread: int) -> None:
        number = 0
        while not stops.is_set():
            number += 1
            table.put({"id": 1_000_000 + thread * 1000 + number % 1000, "n": number})
            if number % 7 == 0:
                for _ in table.scan(limit=50):
                    pass
                time.sleep(0.005)  # threads that seldom wait leave the children little time

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stops.set()
        for thread in threads:
            thread.join()


def check_pool(url: str, turn: int) -> None:
    """Check that pool workers cannot use a table they inherit, and no row is lost."""
    with rowkey.open(DESIGN, url) as table:
        global _INHERITED  # noqa: PLW0603 - as a user's module would have it
        _INHERITED = table
        with multiprocessing.get_context("fork").Pool(2) as workers:
            told = workers.map(_put_one, range(turn * 10, turn * 10 + 4))
        assert ["refused"] * 4 == told, told
        table.put({"id": turn, "n": turn})
        assert turn == table.get(id=turn)["n"]


_INHERITED: Any = None


def _put_one(number: int) -> str:
    try:
        _INHERITED.put({"id": number, "n": 0})
    except Closed:
        return "refused"
    return "written"


def check_writes_of_both(url: str, turn: int) -> None:
    """Kill a parent while it and its child write, and check that acknowledged rows are there."""
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        table = rowkey.open(DESIGN, url)
        child = os.fork()
        if child == 0:
            signal.alarm(int(LONGEST_S))
            use_all(table)
            with rowkey.open(DESIGN, f"{url}-child") as own:
                own.put({"id": turn, "n": turn})
                own.flush()
            os.write(writing, b"c")
            os._exit(0)
        for number in range(100):
            table.put({"id": turn * 1000 + number, "n": number}, sync=number % 50 == 0)
            os.write(writing, b"p")
        os.waitpid(child, 0)
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(writing)
    told = b""
    while some := os.read(reading, 1 << 16):
        told += some
    os.close(reading)
    assert -signal.SIGKILL == os.waitstatus_to_exitcode(os.waitpid(parent, 0)[1])
    assert 1 == told.count(b"c"), told
    with rowkey.open(DESIGN, url) as table:
        written = table.count(f"id between {turn * 1000} and {turn * 1000 + 999}")
        assert told.count(b"p") == written, (told.count(b"p"), written)
    with rowkey.open(DESIGN, f"{url}-child") as own:
        assert turn == own.get(id=turn)["n"]


def check_child_end(url: str, turn: int) -> None:
    """Check that a child ends at once in any way, and leaves its parent's table intact."""
    table = rowkey.open(DESIGN, url)
    if not turn:
        fill_table(table)
    scan = iter(table.scan())
    first = next(scan)
    with _do_nothing() if turn % 2 else keep_busy(table):
        assert 0 == run_in_fork(lambda: use_all(table))
        assert 0 == run_in_fork(lambda: None, leaves=sys.exit)
        assert 0 == run_in_fork(lambda: use_all(table), leaves=sys.exit)
        # What was read before the fork may still be given, but not as all there is.
        assert 0 == run_in_fork(lambda: is_refused(lambda: list(scan)) or sys.exit(1))
        assert 1 == run_in_fork(lambda: _close_at_end(url))
    assert ROWS <= len([first, *scan])
    table.put({"id": 1, "n": turn})
    table.increment({"id": 1}, n=1)
    table.close()
    with rowkey.open(DESIGN, url) as table:
        assert turn + 1 == table.get(id=1)["n"]


def fill_table(table: rowkey.Table) -> None:
    """Load more rows than a scan reads at once."""
    ids, numbers = pa.array(range(10, 10 + ROWS), pa.uint32()), pa.array(range(ROWS), pa.int64())
    table.load(pa.RecordBatch.from_pydict({"id": ids, "n": numbers}))


def _close_at_end(url: str) -> None:
    """Check that leaving the `with` block of a parent in a child is refused, without hanging."""
    with rowkey.open(DESIGN, f"{url}-own") as own:
        assert 1 == run_in_fork(own.close)
        raise InvalidArgument("child", "it ends here")


@contextmanager
def _do_nothing() -> Iterator[None]:
    yield


def check_child_opening(url: str, turn: int) -> None:
    """Check that a child can open another table, and the parent's after it is closed."""

    def work() -> None:
        for number in range(3):
            with rowkey.open(DESIGN, f"{url}-{turn}") as own:
                with own.batch() as batch:
                    for one in range(100):
                        batch.put({"id": one, "n": number})
                own.compact()
                assert 100 == own.count()
                if number == 0:
                    assert 0 == run_in_fork(lambda: use_all(own))

    def work_on_the_same() -> None:
        with rowkey.open(DESIGN, url) as same:
            assert turn == same.get(id=turn)["n"]
            same.put({"id": turn, "n": -turn})
            same.flush()

    table = rowkey.open(DESIGN, url)
    table.put({"id": turn, "n": turn})
    leaves: Any = sys.exit if turn % 2 else os._exit
    assert 0 == run_in_fork(work, leaves=leaves)
    if not url.startswith("memory:"):
        assert 1 == run_in_fork(lambda: rowkey.open(DESIGN, url))  # the parent has it
    table.close()
    if not url.startswith("memory:"):
        assert 0 == run_in_fork(work_on_the_same)
        with rowkey.open(DESIGN, url) as table:
            assert -turn == table.get(id=turn)["n"]


def check_child_on_cluster(url: str, turn: int) -> None:
    """Check that a child on a cluster cannot use the parent's table, and can open its own."""
    design = rowkey.Design(f"forked.{token_hex(4)}.t", KEY, fields=FIELDS)
    row = {"id": turn, "n": turn}

    def work() -> None:
        with rowkey.open(design.table, url) as own:
            assert row == own.get(id=turn)
            own.put({"id": 100, "n": 1})
            assert {"n": 3} == own.increment({"id": 100}, n=2)
            assert [row["id"], 100] == [one["id"] for one in own.scan()]
            own.delete(id=100)
            assert 0 == run_in_fork(lambda: use_all(own))

    table = rowkey.open(design, url)
    table.put(row)
    with keep_busy(table) if turn % 2 else _do_nothing():
        assert 0 == run_in_fork(lambda: use_all(table))
        assert 0 == run_in_fork(lambda: use_all(table), leaves=sys.exit)
    if turn % 2 == 0:
        assert 0 == run_in_fork(work)
        assert 0 == run_in_fork(work, leaves=sys.exit)
        assert 1 == table.count()
    assert {"n": turn + 1} == table.increment({"id": turn}, n=1)
    table.close()
    drop_table(design.table, url)


ARRANGEMENTS = {
    one.__name__: one
    for one in (check_pool, check_writes_of_both, check_child_end, check_child_opening)
}


def main() -> None:
    """Fork as often as the arguments say, in a new process for each arrangement."""
    engine, directory, count, *names = sys.argv[1:]
    for name in names:
        arrange = ARRANGEMENTS.get(name, check_child_on_cluster)
        url = directory if engine == "hbase" else f"{engine}:{directory}/{name}"
        if not (child := os.fork()):
            for turn in range(int(count)):
                arrange(url, turn)
            sys.exit()
        assert 0 == os.waitpid(child, 0)[1], name
    sys.stdout.write("ok\n")


if __name__ == "__main__":
    with skip_pandas():
        main()
