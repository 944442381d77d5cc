import os
import threading
import time
from itertools import count, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.table import Table
from table.worlds import Asked, Row, World, plain, reads, worlds

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 5_000 if IS_LONG else 80
ON_DISK = 500 if IS_LONG else 12


def filled(world: World, url: str) -> Table:
    """The table of a world, every row put, every second one twice: a salt keeps both copies."""
    table = rowkey.open(world.design, url, clock=count(1_700_000_000_000).__next__)
    older = [row | {"size": 9 - row["size"]} for row in world.rows[::2]]
    with table.batch() as batch:
        for row in (*older, *world.rows):
            batch.put(row)
    return table


def check_reads(world: World, table: Table, data: st.DataObject) -> None:
    """A read of any conditions, forwards and backwards, whole, limited, and in pieces."""
    asked = data.draw(reads(world))
    expected = world.sorted([row for row in world.rows if asked.holds(row)])
    assert expected == list(table.scan(asked.where, *asked.values))
    assert len(expected) == table.count(asked.where, *asked.values)
    columns = table.scan(asked.where, *asked.values).to_arrow()
    assert expected == [plain(row) for row in columns.to_pylist()]
    most = data.draw(st.integers(0, len(expected) + 1))
    assert expected[:most] == list(table.scan(asked.where, *asked.values, limit=most))
    check_pieces(table, data, (asked.where, *asked.values), "", expected)
    check_order(world, table, data, asked, expected)


def check_order(
    world: World, table: Table, data: st.DataObject, asked: Asked, rows: list[Row]
) -> None:
    """The order of the key asked for in words, and its reverse."""
    down = data.draw(st.booleans())
    order = ", ".join(
        f"{name} desc" if falls != down else name
        for name, falls in zip(world.names, world.falls, strict=True)
    )
    turned = World(world.design, world.names, tuple(f != down for f in world.falls), world.rows)
    expected = turned.sorted(rows)
    event("reverse" if down else "forward")
    assert expected == list(table.scan(asked.where, *asked.values, order=order))
    check_pieces(table, data, (asked.where, *asked.values), order, expected)


def check_pieces(
    table: Table, data: st.DataObject, asked: tuple[Any, ...], order: str, rows: list[Row]
) -> None:
    """Stopped by a limit or by its reader, a scan gives the first rows; its token gives the rest.

    Where the key does not give the order there is no token, and none is taken.
    """
    sizes = cycle(data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=4)))
    by_limit = data.draw(st.booleans())
    token, found = None, 0
    while found < len(rows) or not found:
        size = next(sizes)
        limit = size if by_limit else None
        scan = table.scan(*asked, order=order, limit=limit, resume=token)
        assert rows[found : found + size] == list(islice(scan, size))
        found += size
        token = scan.token
        if not rows:
            assert token is None
        elif table.explain(*asked, order=order).order_method == "sorted":
            event("sorted: no token")
            assert token is None
            return
    assert (token is not None) == bool(rows)
    if token is not None:
        event("resumed to the end")
        assert [] == list(table.scan(*asked, order=order, resume=token))
        assert 0 == table.scan(*asked, order=order, resume=token).count()


@settings(max_examples=DEEP)
@given(world=worlds(), data=st.data())
@pytest.mark.claims(69)
def test_a_scan_is_the_sorted_rows(world: World, data: st.DataObject) -> None:
    """Whatever spreads the rows: the filtered values, sorted, each once, in both directions."""
    with filled(world, "memory:") as table:
        check_reads(world, table, data)


@settings(max_examples=ON_DISK)
@given(world=worlds(), data=st.data())
def test_a_scan_on_disk_is_the_sorted_rows(world: World, data: st.DataObject) -> None:
    """The same on the embedded engine."""
    with TemporaryDirectory(dir=RAM_FOLDER) as place, filled(world, f"rocks:{place}") as table:
        check_reads(world, table, data)


@given(world=worlds(), sizes=st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_a_scan_in_pieces_is_the_scan(world: World, sizes: list[int]) -> None:
    """However often a scan stops and goes on from its token, no row is lost or given twice."""
    with filled(world, "memory:") as table:
        found: list[Row] = []
        token = None
        for size in [*sizes, len(world.rows) + 1]:
            scan = table.scan(limit=size, resume=token)
            found += list(scan)
            token = scan.token
        assert world.sorted(list(world.rows)) == found


@pytest.fixture(params=["memory", "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a table, on each embedded engine."""
    return "memory:" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


FIELDS = {"host": "text", "ts": "timestamp_ms", "size": "u32"}
STANDING = [{"host": f"h{n % 7}", "ts": n, "size": 0} for n in range(0, 1_000, 2)]
ORDERS = ("", "host desc, ts desc")
ROUNDS = 3 if IS_LONG else 1
SPREADS = ("[salt(16)]", "[bucket(host, 16)]", "[bucket(host, ts, 256)]", "")
Place = tuple[str, int]


def place_of(row: Row) -> Place:
    """What tells a row from others."""
    return row["host"], row["ts"]


class Writer(threading.Thread):
    """Writes while others read: rows of its own, put and deleted, and the standing ones anew.

    Args:
        table: where `STANDING` is.
    """

    def __init__(self, table: Table) -> None:
        super().__init__()
        self.table = table
        self.is_over = threading.Event()
        self.rounds = 0

    def run(self) -> None:
        for n in count(1, 2):
            if self.is_over.is_set():
                return
            own = {"host": f"h{n % 7}", "ts": n % 2_001 | 1, "size": n}
            self.table.put(own)
            self.table.put(STANDING[n % len(STANDING)] | {"size": n})
            if n % 3 == 0:
                self.table.delete(own)
            self.rounds += 1
            time.sleep(0.0003)  # a thread that never waits leaves little time to the other

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.join()


def put_standing(table: Table) -> None:
    """Put what stands before the writer begins."""
    with table.batch() as batch:
        for row in STANDING:
            batch.put(row)


def hold_to_the_law(found: list[Place], *, falls: bool, is_whole: bool = True) -> None:
    """Nothing twice, nothing out of order, and nothing that stood before is missing.

    Args:
        found: the rows that were read.
        falls: whether they come in the reverse order.
        is_whole: whether they are all, or the first ones of all.
    """
    assert sorted(set(found), reverse=falls) == found
    standing = sorted(map(place_of, STANDING), reverse=falls)
    if not is_whole:
        standing = [one for one in standing if one == former(one, found[-1], falls=falls)]
    assert set(standing) <= set(found)


def former(one: Place, other: Place, *, falls: bool) -> Place:
    """Which of two comes first."""
    return max(one, other) if falls else min(one, other)


@pytest.mark.parametrize("spread", SPREADS)
def test_a_scan_while_a_writer_runs(url: str, spread: str) -> None:
    """Whole, limited, or in pieces: what stood is there once, in order; the writer's may be."""
    with rowkey.open(rowkey.Design("t", f"{spread}[host][ts]", fields=FIELDS), url) as table:
        put_standing(table)
        writer = Writer(table)
        with writer:
            for order in ORDERS * ROUNDS:
                falls = order.endswith("desc")
                hold_to_the_law(read(table, order), falls=falls)
                first = read(table, order, 100)
                assert 100 == len(first)
                hold_to_the_law(first, falls=falls, is_whole=False)
                hold_to_the_law(in_pieces(table, order), falls=falls)
        assert writer.rounds > 1


def read(table: Table, order: str, limit: int | None = None) -> list[Place]:
    """What a scan gives in one go."""
    return [place_of(row) for row in table.scan(order=order, limit=limit)]


def in_pieces(table: Table, order: str) -> list[Place]:
    """A scan that goes on from its token again and again, each time in the table as it then is."""
    found: list[Place] = []
    token = None
    for size in cycle((1, 37, 300)):
        scan = table.scan(order=order, limit=size, resume=token)
        some = list(map(place_of, scan))
        found += some
        token = scan.token
        if len(some) < size:
            return found
    raise AssertionError
