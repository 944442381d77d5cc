"""A read with a limit returns exactly its first rows and asks a cluster for few more."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain, count, product
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rowkey
from hbase.scanning.wires import ImmediateRenewer
from hbase.scanning.world import World
from rowkey.cells import Cell
from rowkey.engines import ScanRange
from rowkey.engines.contract import Reader
from rowkey.engines.hbase.cursor import HBaseCursor
from rowkey.engines.hbase.store import to_hbase_scan
from rowkey.hbase.scanning import LeaseRenewer, Scanner
from rowkey.regions import Boundaries
from rowkey.simulate.read_simulator import ReadSimulator
from rowkey.table import drop_table
from rowkey.table.scans import blocks, scan_state

if TYPE_CHECKING:
    from rowkey.engines import CellSelection, Cursor
    from rowkey.table import Scan, Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
KEYS = {"[n]": 1, "[bucket(n, 4)][n]": 4, "[salt(3)][n]": 3}
"""Row keys, and the ranges of a read of the whole table."""
FIELDS: dict[str, Any] = {"n": "u8", "v": "i32"}


@pytest.fixture(autouse=True)
def _renew_without_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        LeaseRenewer, "get_for_caller", classmethod(lambda cls, caller: ImmediateRenewer())
    )


class WorldReader(Reader):
    """Reads a simulated cluster as the engine of HBase does."""

    def __init__(self, world: World) -> None:
        self.world = world

    def get(self, rows: Sequence[bytes], selection: CellSelection | None = None) -> Any:
        raise NotImplementedError

    def scan(
        self, ranges: Sequence[ScanRange], selection: CellSelection | None = None
    ) -> list[Cursor]:
        """Open a cursor for each range."""
        assert selection is not None
        world = self.world
        scans = [to_hbase_scan(one, selection) for one in ranges]
        return [
            HBaseCursor(Scanner(world.caller, "t", one, world.settings), lambda _: ["d"], raw=False)
            for one in scans
        ]

    def close(self) -> None:
        return None


def build_world(table: Table, other_keys: Iterable[bytes] = (), **options: Any) -> World:
    """Return a simulated cluster with the table's rows and with rows of another program."""
    (cursor,) = table.store.scan([ScanRange()])
    rows = {row.row: list(row.cells) for row in cursor}
    family = next(iter(chain.from_iterable(rows.values()))).family if rows else "d"
    for key in other_keys:
        rows[key] = [Cell(family, b"another program", 1, b"x")]
    return World(rows, **options)


def scan_world(world: World, table: Table, *arguments: Any, **options: Any) -> Scan:
    """Return a scan of a table that reads the simulated cluster."""
    scan = table.scan(*arguments, **options)
    scan.reader = WorldReader(world)
    return scan


def read_pages(world: World, table: Table, *arguments: Any, **options: Any) -> list[Any]:
    """Return all rows of a read, each page by a scan of its own that resumes the last one."""
    rows: list[Any] = []
    token = None
    while True:
        page = scan_world(world, table, *arguments, resume=token, **options)
        found = list(page)
        rows += found
        token = page.token
        if len(found) < options["limit"]:
            return rows


def read_limited(
    world: World,
    table: Table,
    way: str,
    *arguments: Any,
    block_rows: int = blocks.BLOCK_ROWS,
    **options: Any,
) -> Any:
    """Return the rows of a read with a limit, decoded one by one or by blocks."""
    scan = scan_world(world, table, *arguments, **options)
    with pytest.MonkeyPatch.context() as patch:
        if way != "rows":
            patch.setattr(scan_state, "MIN_ROWS_FOR_BLOCKS", 0)
            patch.setattr(blocks, "BLOCK_ROWS", block_rows)
            patch.setattr(blocks, "MIN_BLOCK_ROWS", min(block_rows, blocks.MIN_BLOCK_ROWS))
        return scan.to_arrow().to_pylist() if way == "columns" else list(scan)


@settings(max_examples=1_000 if IS_LONG else 24, deadline=None)
@given(
    key=st.sampled_from([*KEYS]),
    numbers=st.lists(st.integers(0, 80), unique=True, max_size=60),
    other_share=st.integers(0, 3),
    condition=st.sampled_from([None, 0, 1]),
    is_descending=st.booleans(),
    limit=st.integers(1, 70),
    splits=st.sets(st.binary(min_size=1, max_size=2), max_size=3),
    way=st.sampled_from(["rows", "columns", "blocks", "pages"]),
    size=st.integers(1, 40),
)
def test_a_limited_read_returns_exactly_the_first_matching_rows(
    key: str,
    numbers: list[int],
    other_share: int,
    condition: int | None,
    is_descending: bool,
    limit: int,
    splits: set[bytes],
    way: str,
    size: int,
) -> None:
    """A limited read returns the first matching rows, whatever rows lie between them."""
    design = rowkey.Design("t", key, fields=FIELDS)
    event(f"{KEYS[key]} ranges, {way}")
    others = numbers[: len(numbers) * other_share // 3]
    rows = [{"n": n, "v": n % 3} for n in numbers[len(others) :]]
    with rowkey.open(design, "memory:", clock=count(1).__next__) as table:
        with table.batch() as batch:
            for row in rows:
                batch.put(row)
        other_keys = [design.key.encode({"n": n}, salt=n % 3) for n in others]
        world = build_world(table, other_keys, splits=sorted(splits), size=size)
        where = () if condition is None else ("v = ?", condition)
        order = "n desc" if is_descending else "n"
        expected = sorted(
            (row for row in rows if condition in (None, row["v"])),
            key=lambda row: row["n"],
            reverse=is_descending,
        )
        options = {"order": order, "limit": limit}
        if way == "pages":
            assert expected == read_pages(world, table, *where, **options)
        else:
            assert expected[:limit] == read_limited(
                world, table, way, *where, block_rows=1, **options
            )
        assert [] == world.broken


@pytest.mark.parametrize("order", ["n", "n desc"])
@pytest.mark.parametrize(
    ("key", "limit", "requested"),
    [("[n]", 10, [10]), ("[n]", 1, [1]), ("[bucket(n, 4)][n]", 10, [8] * 4)],
)
@pytest.mark.parametrize("way", ["rows", "columns"])
def test_a_limited_read_requests_the_limit_of_a_single_range(
    way: str, key: str, order: str, limit: int, requested: list[int]
) -> None:
    """One range is asked for the limit, each of several for more than its share of the limit."""
    with rowkey.open(rowkey.Design("t", key, fields=FIELDS), "memory:") as table:
        for n in range(200):
            table.put({"n": n, "v": n})
        world = build_world(table)
        rows = read_limited(world, table, way, order=order, limit=limit)
    expected = range(limit) if order == "n" else range(199, 199 - limit, -1)
    assert [*expected] == [row["n"] for row in rows]
    assert requested == world.requested_rows
    assert {} == world.scanners


def test_requests_of_a_limited_read_double_until_enough_rows_match() -> None:
    """A condition that few rows meet doubles the requests until the limit is reached."""
    with rowkey.open(rowkey.Design("t", "[n]", fields=FIELDS), "memory:") as table:
        for n in range(200):
            table.put({"n": n, "v": n % 50})
        world = build_world(table)
        rows = list(scan_world(world, table, "v = ?", 49, limit=2))
    assert [49, 99] == [row["n"] for row in rows]
    assert [2, 4, 8, 16, 32, 64] == world.requested_rows
    assert ["open", "open", *["next"] * 4, "close"] == world.asked


@pytest.mark.parametrize("limit", [None, 5])
def test_sorted_and_unlimited_reads_request_full_answers(limit: int | None) -> None:
    """A read that needs all rows asks for as many as an answer may have."""
    with rowkey.open(rowkey.Design("t", "[n]", fields=FIELDS), "memory:") as table:
        for n in range(50):
            table.put({"n": n, "v": 50 - n})
        world = build_world(table)
        options = {} if limit is None else {"order": "v", "limit": limit}
        assert (limit or 50) == len(list(scan_world(world, table, **options)))
    assert [world.settings.scan_answer_rows] == world.requested_rows


PAGE_REQUESTS = {
    "": {1: [1], 60: [1], 64: [2], 160: [3, 6]},
    "host desc": {1: [2], 60: [2], 160: [2, 4]},
}
"""Pages of 64 cells, or whole rows, that a limit of events requests, by order."""


@pytest.mark.parametrize("order", [*PAGE_REQUESTS])
def test_a_limit_of_events_requests_pages_of_64_cells(order: str) -> None:
    """A limit of events asks for pages of 64 cells, or for whole rows in reverse."""
    fields = {"host": "u8", "n": {"type": "u8", "at": "qualifier"}, "v": "i32"}
    with rowkey.open(rowkey.Design("t", "[host]", fields=fields), "memory:") as table:
        with table.batch() as batch:
            for host, n in product(range(5), range(150)):
                batch.put({"host": host, "n": n, "v": n})
        world = build_world(table)
        expected = sorted(product(range(5), range(150)), reverse=bool(order))
        for limit, requested in PAGE_REQUESTS[order].items():
            world.requested_rows.clear()
            rows = list(scan_world(world, table, order=order, limit=limit))
            assert expected[:limit] == [(row["host"], row["n"]) for row in rows]
            assert requested == world.requested_rows


@pytest.mark.xdist_group("hbase_cluster")
@pytest.mark.parametrize(
    ("key", "ranges"), [("[host][desc(ts)]", 1), ("[bucket(ts, 4)][host][desc(ts)]", 4)]
)
@pytest.mark.parametrize("limit", [10, 100])
def test_a_limited_read_costs_what_simulate_predicts(
    key: str, ranges: int, limit: int, hbase_url: str
) -> None:
    """A limited read costs what `simulate` says: of several ranges about twice the limit."""
    design = rowkey.Design(
        f"limited_{token_hex(4)}",
        key,
        fields={"host": "text", "ts": "timestamp_s", "v": "u32"},
        reads=[{"name": "latest", "where": "host = ?", "order": "ts desc", "limit": limit}],
    )
    rows = [{"host": f"web-{n % 4}", "ts": 1_700_000_000 + n, "v": n} for n in range(2_000)]
    events = pa.Table.from_pylist(rows).to_batches()[0]
    keys = [design.key.encode(row) for row in rows]
    simulator = ReadSimulator(design, Boundaries(()), events, keys, len(rows), 20)
    predicted = simulator.measure_read(design.reads[0]).read_rows
    try:
        with rowkey.open(design, hbase_url) as table:
            with table.batch() as batch:
                for row in rows:
                    batch.put(row)
            before = sum(region.reads for region in table.regions())
            assert limit == len(list(table.read("latest", "web-1")))
            counted = sum(region.reads for region in table.regions()) - before
    finally:
        drop_table(design.table, hbase_url)
    assert limit <= counted <= (limit if ranges == 1 else 2 * limit + 3 * ranges)
    assert predicted == pytest.approx(counted, rel=0.05, abs=ranges > 1)
