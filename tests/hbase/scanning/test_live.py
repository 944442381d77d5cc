"""Scans of a real cluster, compared with the official client, while regions move and split."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from rowkey.cells import Cell, CellType, RowCells, build_sort_key
from rowkey.engines import CellSelection
from rowkey.hbase.client import connect
from rowkey.hbase.errors import TableNotFound
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.scanning import Scanner

if TYPE_CHECKING:
    from cluster import Cluster, Judge
    from rowkey.hbase.client import Client

ROWS = 400


@pytest.fixture(scope="module")
def client(hbase_cluster: Cluster) -> Iterator[Client]:
    """Return a client of the cluster."""
    with connect(hbase_cluster.url) as client:
        yield client


@pytest.fixture
def table(hbase_judge: Judge) -> Iterator[Callable[[Sequence[RowCells], Sequence[bytes]], str]]:
    """Return a function that creates a table of rows and regions for one test."""
    made: list[str] = []

    def make(rows: Sequence[RowCells], splits: Sequence[bytes] = ()) -> str:
        name = f"s{uuid4().hex[:10]}"
        made.append(name)
        hbase_judge.create(name, {"d": {"VERSIONS": "3"}}, splits)
        hbase_judge.mutate(name, rows)
        return name

    yield make
    for name in made:
        hbase_judge.drop(name)


def build_rows(count: int, bytes_each: int = 50) -> list[RowCells]:
    """Return rows of three cells in order."""
    value = b"v" * bytes_each
    return [
        RowCells(b"r%05d" % n, [Cell("d", b"q%d" % q, 7, value + b"%d" % n) for q in range(3)])
        for n in range(count)
    ]


def list_rows(rows: Iterator[RowCells]) -> list[tuple[bytes, list[Cell]]]:
    """Return the rows of a scan as lists."""
    return [(row, list(cells)) for row, cells in rows]


@pytest.mark.parametrize("regions", [12, pytest.param(100, marks=pytest.mark.long)])
def test_scans_of_many_regions_equal_those_of_the_official_client(
    client: Client, hbase_judge: Judge, table: Callable[..., str], regions: int
) -> None:
    """Scans in any direction, range, batch and limit equal the official client's."""
    name = table(
        build_rows(ROWS), [b"r%05d" % n for n in range(3, ROWS, ROWS // regions)][1:regions]
    )
    ends = [b"", b"r00000", b"r00010", b"r00011", b"r00155", b"r00399", b"z"]
    asks = [
        CellSelection(),
        CellSelection(reverse=True),
        CellSelection(batch=2),
        CellSelection(limit=7),
        CellSelection(limit=130, reverse=True),
    ]
    for ask in asks:
        for start in ends:
            for stop, include in ((b"", False), (b"r00200", True), (b"r00100", False)):
                scan = ScanSpec(
                    start, stop, include_start=not include, include_stop=include,
                    reverse=ask.reverse, limit=ask.limit, batch=ask.batch,
                )  # fmt: skip
                wanted = []
                if not scan.is_empty:
                    wanted = hbase_judge.scan(name, ask, (start, not include), (stop, include))
                assert list_rows(iter(wanted)) == list_rows(
                    client.table(name).scan(scan).iter_row_cells()
                )


def test_a_row_larger_than_an_answer_is_joined_from_its_pieces(
    client: Client, table: Callable[..., str]
) -> None:
    """A row larger than an answer comes in pieces and is returned as one row."""
    wide = [Cell("d", b"q%04d" % q, 7, b"v" * 1000) for q in range(600)]
    name = table([RowCells(b"a", wide[:1]), RowCells(b"b", wide), RowCells(b"c", wide[:1])])
    for reverse in (False, True):
        scan = ScanSpec(reverse=reverse, answer_bytes=50_000)
        found = list_rows(client.table(name).scan(scan).iter_row_cells())
        wanted = [(b"a", wide[:1]), (b"b", wide), (b"c", wide[:1])]
        assert (wanted[::-1] if reverse else wanted) == found


def test_raw_scans_return_deletes_and_versions(client: Client, table: Callable[..., str]) -> None:
    """A raw scan returns deletes and hidden cells in cell order."""
    old, new = Cell("d", b"q", 5, b"old"), Cell("d", b"q", 6, b"new")
    gone = Cell("d", b"q", 5, b"", CellType.DELETE)
    name = table([RowCells(b"a", [old, new]), RowCells(b"a", [gone])])
    scan = ScanSpec(raw=True, read=ReadSpec(versions=10))
    wanted = [(b"a", sorted([old, new, gone], key=build_sort_key))]
    assert wanted == list_rows(client.table(name).scan(scan).iter_row_cells())
    assert [(b"a", [new])] == list_rows(
        client.table(name).scan(ScanSpec(read=ReadSpec(versions=9))).iter_row_cells()
    )


EVERY_DAY = {("move", False, None), ("flush and move", True, 2), ("split", False, 2)}
"""The cases that are not marked long."""
CASES = [
    pytest.param(*case, marks=() if case in EVERY_DAY else pytest.mark.long)
    for case in product(("move", "flush and move", "split"), (False, True), (None, 2))
]


@pytest.mark.parametrize(("event", "reverse", "batch"), CASES)
def test_a_scan_loses_no_row_when_its_region_moves_or_splits(
    client: Client, hbase_judge: Judge, table: Callable[..., str],
    event: str, reverse: bool, batch: int | None,
) -> None:  # fmt: skip
    """A region that moves or splits during a scan loses no row and doubles none."""
    rows = build_rows(ROWS)
    name = table(rows, [b"r00200"])
    scan = ScanSpec(answer_rows=20, reverse=reverse, batch=batch)
    found = client.table(name).scan(scan)
    reading = found.iter_row_cells()
    seen = [next(reading) for _ in range(25)]
    if "flush" in event:
        hbase_judge.flush(name)
    if "move" in event:
        servers = sorted(hbase_judge.status().live)
        for region in hbase_judge.regions(name):
            other = next(one for one in servers if one != region.server)
            hbase_judge.move(name, region.start, other)
    else:
        hbase_judge.split(name, b"r00100")
        hbase_judge.split(name, b"r00300")
    seen += reading
    joined: dict[bytes, list[Cell]] = {}
    for row, cells in seen:
        joined.setdefault(row, []).extend(cells)
    wanted = [(row, list(cells)) for row, cells in rows]
    assert (wanted[::-1] if reverse else wanted) == list(joined.items())
    assert batch or len(seen) == len(joined)


def test_the_lease_of_an_idle_scanner_is_renewed(
    client: Client, table: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a pause longer than its lease a scanner continues."""
    rows = build_rows(ROWS)
    name = table(rows)
    found = client.table(name).scan(ScanSpec(answer_rows=50))
    reading = found.iter_row_cells()
    seen = [next(reading)]
    opened = []
    monkeypatch.setattr(Scanner, "_open_region_scanner", lambda *args: opened.append(args))
    time.sleep(8)
    seen += reading
    assert [row for row, _ in rows] == [row for row, _ in seen]
    assert [] == opened


def test_each_of_sixteen_scanners_sends_its_first_request_when_constructed(
    client: Client, table: Callable[..., str]
) -> None:
    name = table(build_rows(ROWS), [b"r%05d" % n for n in range(25, ROWS, 25)])
    client.table(name).scan(ScanSpec(limit=1)).close()
    edges = [b"r%05d" % n for n in range(0, ROWS + 25, 25)]
    began = time.perf_counter()
    all_of_them = [
        client.table(name).scan(ScanSpec(start, stop)) for start, stop in pairwise(edges)
    ]
    sent = time.perf_counter()
    assert edges[:-1] == [one.peek_row_key() for one in all_of_them]
    assert sent - began < 5
    assert ROWS == sum(1 for one in all_of_them for _ in one.iter_row_cells())


def test_scanning_an_unknown_table_fails_in_the_constructor(client: Client) -> None:
    """A scan of an unknown table fails in its constructor."""
    with pytest.raises(TableNotFound):
        client.table("s_no_such_table").scan()
