import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from rowkey.table import Table
from table.worlds import Row, World, plain, reads, worlds

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 5_000 if IS_LONG else int(os.environ.get("DEEP", "1000"))
ON_DISK = 500 if IS_LONG else 100


def filled(world: World, url: str) -> Table:
    """The table of a world, every row put."""
    table = rowkey.open(world.design, url)
    with table.batch() as batch:
        for row in world.rows:
            batch.put(row)
    return table


def check_reads(world: World, table: Table, data: st.DataObject) -> None:
    """A read of any conditions, forwards and backwards, whole, limited, and in two goes."""
    asked = data.draw(reads(world))
    expected = world.sorted([row for row in world.rows if asked.holds(row)])
    assert expected == list(table.scan(asked.where, *asked.values))
    assert len(expected) == table.count(asked.where, *asked.values)
    columns = table.scan(asked.where, *asked.values).to_arrow()
    assert expected == [plain(row) for row in columns.to_pylist()]
    limit = data.draw(st.integers(0, len(expected) + 1))
    limited = table.scan(asked.where, *asked.values, limit=limit)
    assert expected[:limit] == list(limited)
    if limited.token is not None:
        rest = table.scan(asked.where, *asked.values, resume=limited.token)
        assert expected[limit:] == list(rest)
    check_order(world, table, data, asked.where, asked.values, expected)


def check_order(
    world: World,
    table: Table,
    data: st.DataObject,
    where: str,
    values: tuple[object, ...],
    rows: list[Row],
) -> None:
    """The order of the key asked for in words, and its reverse."""
    down = data.draw(st.booleans())
    order = ", ".join(
        f"{name} desc" if falls != down else name
        for name, falls in zip(world.names, world.falls, strict=True)
    )
    turned = World(world.design, world.names, tuple(f != down for f in world.falls), world.rows)
    expected = turned.sorted(rows)
    assert expected == list(table.scan(where, *values, order=order))
    limit = data.draw(st.integers(0, len(rows) + 1))
    assert expected[:limit] == list(table.scan(where, *values, order=order, limit=limit))


@settings(max_examples=DEEP)
@given(world=worlds(), data=st.data())
def test_a_scan_is_the_sorted_rows(world: World, data: st.DataObject) -> None:
    """Whatever spreads the rows: the filtered values, sorted, each once, in both directions."""
    with filled(world, "memory:") as table:
        check_reads(world, table, data)


@settings(max_examples=ON_DISK)
@given(world=worlds(), data=st.data())
def test_a_scan_on_disk_is_the_sorted_rows(world: World, data: st.DataObject) -> None:
    """The same on the embedded engine."""
    with TemporaryDirectory() as place, filled(world, f"rocks:{place}") as table:
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


@pytest.mark.parametrize(
    "spread", ["[salt(16)]", "[bucket(host, 16)]", "[bucket(host, ts, 256)]", ""]
)
def test_a_scan_while_a_writer_runs(url: str, spread: str) -> None:
    """Rows that stood before are all there, each once and in order; the writer's may be or not."""
    fields = {"host": "text", "ts": "timestamp_ms", "size": "u32"}
    design = rowkey.Design("t", f"{spread}[host][ts]", fields=fields)
    with rowkey.open(design, url) as table:
        before = [{"host": f"h{n % 7}", "ts": n, "size": n} for n in range(0, 2_000, 2)]
        with table.batch() as batch:
            for row in before:
                batch.put(row)
        stop = threading.Event()

        def write() -> None:
            n = 1
            while not stop.is_set():
                table.put({"host": f"h{n % 7}", "ts": n % 4_000, "size": n})
                n += 2

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(10):
                found = [(row["host"], row["ts"]) for row in table.scan()]
                assert sorted(set(found)) == found
                assert {(row["host"], row["ts"]) for row in before} <= set(found)
        finally:
            stop.set()
            writer.join()
