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
from table.worlds import DrawnRead, Row, World, draw_reads, draw_worlds, to_plain_row

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 1_000 if IS_LONG else 12
ON_DISK = 100 if IS_LONG else 3


def fill_table(world: World, url: str) -> Table:
    """Create a table with every row, and every second row put twice with another size."""
    table = rowkey.open(world.design, url, clock=count(1_700_000_000_000).__next__)
    older = [row | {"size": 9 - row["size"]} for row in world.rows[::2]]
    with table.batch() as batch:
        for row in (*older, *world.rows):
            batch.put(row)
    return table


def check_reads(world: World, table: Table, data: st.DataObject) -> None:
    """Check a random read forwards, backwards, as columns, limited, and resumed."""
    asked = data.draw(draw_reads(world))
    expected = world.sort_rows([row for row in world.rows if asked.matches(row)])
    assert expected == list(table.scan(asked.where, *asked.values))
    assert len(expected) == table.count(asked.where, *asked.values)
    columns = table.scan(asked.where, *asked.values).to_arrow()
    assert expected == [to_plain_row(row) for row in columns.to_pylist()]
    most = data.draw(st.integers(0, len(expected) + 1))
    assert expected[:most] == list(table.scan(asked.where, *asked.values, limit=most))
    check_pieces(table, data, (asked.where, *asked.values), "", expected)
    check_order(world, table, data, asked, expected)


def check_order(
    world: World, table: Table, data: st.DataObject, asked: DrawnRead, rows: list[Row]
) -> None:
    """Check a read with an explicit order of the key, and with its reverse."""
    down = data.draw(st.booleans())
    order = ", ".join(
        f"{name} desc" if falls != down else name
        for name, falls in zip(world.names, world.falls, strict=True)
    )
    turned = World(world.design, world.names, tuple(f != down for f in world.falls), world.rows)
    expected = turned.sort_rows(rows)
    event("reverse" if down else "forward")
    assert expected == list(table.scan(asked.where, *asked.values, order=order))
    check_pieces(table, data, (asked.where, *asked.values), order, expected)


def check_pieces(
    table: Table, data: st.DataObject, asked: tuple[Any, ...], order: str, rows: list[Row]
) -> None:
    """Check that an interrupted scan gives the first rows, and its token the rest.

    A scan that is sorted in memory has no token.
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
@given(world=draw_worlds(), data=st.data())
@pytest.mark.claims(69)
def test_a_scan_of_any_spread_key_returns_the_sorted_rows(
    world: World, data: st.DataObject
) -> None:
    """A scan of any spread key returns the matching rows in order, each once."""
    with fill_table(world, "memory:") as table:
        check_reads(world, table, data)


@settings(max_examples=ON_DISK)
@given(world=draw_worlds(), data=st.data())
def test_a_scan_on_disk_of_any_spread_key_returns_the_sorted_rows(
    world: World, data: st.DataObject
) -> None:
    """A scan on the embedded engine returns the matching rows in order, each once."""
    with TemporaryDirectory(dir=RAM_FOLDER) as place, fill_table(world, f"rocks:{place}") as table:
        check_reads(world, table, data)


@given(world=draw_worlds(), sizes=st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_a_scan_resumed_from_tokens_loses_and_repeats_no_row(
    world: World, sizes: list[int]
) -> None:
    """A scan resumed from tokens any number of times loses and repeats no row."""
    with fill_table(world, "memory:") as table:
        found: list[Row] = []
        token = None
        for size in [*sizes, len(world.rows) + 1]:
            scan = table.scan(limit=size, resume=token)
            found += list(scan)
            token = scan.token
        assert world.sort_rows(list(world.rows)) == found


@pytest.fixture(params=["memory", "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL of a table, on each embedded engine."""
    return "memory:" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


FIELDS = {"host": "text", "ts": "timestamp_ms", "size": "u32"}
STANDING_ROWS = [{"host": f"h{n % 7}", "ts": n, "size": 0} for n in range(0, 1_000, 2)]
ORDERS = ("", "host desc, ts desc")
ROUNDS = 3 if IS_LONG else 1
RowIdentity = tuple[str, int]


def get_identity(row: Row) -> RowIdentity:
    """Return the values that identify a row."""
    return row["host"], row["ts"]


class Writer(threading.Thread):
    """Puts and deletes own rows, and replaces the standing rows, while others read.

    Args:
        table: a table with `STANDING_ROWS`.
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
            self.table.put(STANDING_ROWS[n % len(STANDING_ROWS)] | {"size": n})
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
    """Put the rows that exist before the writer begins."""
    with table.batch() as batch:
        for row in STANDING_ROWS:
            batch.put(row)


def check_scanned_rows(found: list[RowIdentity], *, falls: bool, is_whole: bool = True) -> None:
    """Check that a scan has no duplicate, is in order, and has all standing rows.

    Args:
        found: the identities of the rows that were read.
        falls: whether they come in the reverse order.
        is_whole: whether the scan was complete, or gave only the first rows.
    """
    assert sorted(set(found), reverse=falls) == found
    standing = sorted(map(get_identity, STANDING_ROWS), reverse=falls)
    if not is_whole:
        standing = [one for one in standing if one == choose_first(one, found[-1], falls=falls)]
    assert set(standing) <= set(found)


def choose_first(one: RowIdentity, other: RowIdentity, *, falls: bool) -> RowIdentity:
    """Return the first of two rows in scan order."""
    return max(one, other) if falls else min(one, other)


@pytest.mark.parametrize(
    ("engine", "spread"),
    [
        ("memory", "[salt(16)]"),
        ("rocks", "[bucket(host, ts, 256)]"),
        pytest.param("rocks", "[salt(16)]", marks=pytest.mark.long),
        pytest.param("rocks", "[bucket(host, 16)]", marks=pytest.mark.long),
        pytest.param("rocks", "", marks=pytest.mark.long),
    ],
)
def test_a_scan_during_writes_returns_each_unchanged_row_once_in_order(
    engine: str, spread: str, tmp_path: Path
) -> None:
    """A scan during writes returns each standing row once and in order."""
    url = f"{engine}:{tmp_path / 'data'}"
    with rowkey.open(rowkey.Design("t", f"{spread}[host][ts]", fields=FIELDS), url) as table:
        put_standing(table)
        writer = Writer(table)
        with writer:
            for order in ORDERS * ROUNDS:
                falls = order.endswith("desc")
                check_scanned_rows(scan_rows(table, order), falls=falls)
                first = scan_rows(table, order, 100)
                assert 100 == len(first)
                check_scanned_rows(first, falls=falls, is_whole=False)
                check_scanned_rows(scan_in_pieces(table, order), falls=falls)
        assert writer.rounds > 1


def scan_rows(table: Table, order: str, limit: int | None = None) -> list[RowIdentity]:
    """Return the rows of one scan."""
    return [get_identity(row) for row in table.scan(order=order, limit=limit)]


def scan_in_pieces(table: Table, order: str) -> list[RowIdentity]:
    """Return the rows of a scan that is resumed from its tokens."""
    found: list[RowIdentity] = []
    token = None
    for size in cycle((1, 37, 300)):
        scan = table.scan(order=order, limit=size, resume=token)
        some = list(map(get_identity, scan))
        found += some
        token = scan.token
        if len(some) < size:
            return found
    raise AssertionError
