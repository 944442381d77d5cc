"""Rows of many events, and large scans: pages, blocks, limits, tokens, threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.cells import Cell, RowCells
from rowkey.errors import Closed, ReadError, RowkeyError
from rowkey.table.scans.prefetch import read_ahead

if TYPE_CHECKING:
    from rowkey.table import Table

EVENTS = 256
WIDE_FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": {"type": "timestamp_ms", "at": "qualifier"},
    "v": "u32",
    "note": {"type": "text", "nullable": True},
}
TALL_FIELDS: dict[str, Any] = {"host": "text", "n": "u32", "v": "u32"}
HOSTS, EACH, BUCKETS = 50, 25, 4
BLOCK_SIZES = (
    "rowkey.table.scans.blocks.BLOCK_ROWS",
    "rowkey.table.scans.blocks.MIN_BLOCK_ROWS",
    "rowkey.table.scans.scan_state.MIN_ROWS_FOR_BLOCKS",
    "rowkey.plan.limited_reads.MAX_DECODED_ROWS",
    "rowkey.engines.pairs.blocks.FIRST_BLOCK_ROWS",
    "rowkey.engines.pairs.pair_reader.MAX_CHUNK_CELLS",
    "rowkey.engines.rocksdb.cursor.FIRST_CHUNK_CELLS",
    "rowkey.engines.pairs.pair_source.LATER_READ_PAIRS",
)
MIN_BLOCK = 32
"""Rows of the smallest block in these tests."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks a 16th as large, so that few rows are several blocks of each bucket."""
    for path in BLOCK_SIZES:
        module, _, name = path.rpartition(".")
        monkeypatch.setattr(path, getattr(import_module(module), name) // 16)


@pytest.fixture(params=[pytest.param("memory", marks=pytest.mark.long), "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL of a table, on each embedded engine."""
    return "memory:" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


@pytest.fixture
def wide_table(url: str) -> Iterator[Table]:
    """A table with two rows of many events, every third with one cell more."""
    with fill_table(rowkey.Design("t", "[host]", fields=WIDE_FIELDS), url, make_events()) as table:
        yield table


def fill_table(design: rowkey.Design, url: str, given: list[dict[str, Any]]) -> Table:
    """Create a table with some rows."""
    table = rowkey.open(design, url)
    schema = pa.schema(
        [(name, field.type.build_arrow_type()) for name, field in design.fields.items()]
    )
    table.load(pa.RecordBatch.from_pylist(given, schema))
    return table


@pytest.fixture(scope="module", params=[pytest.param("memory", marks=pytest.mark.long), "rocks"])
def tall_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A URL on each embedded engine of a table with a row per event, in some buckets."""
    url = f"{request.param}:{tmp_path_factory.mktemp('tall') / 'data'}"
    design = rowkey.Design("t", f"[bucket(host, {BUCKETS})][host][n]", fields=TALL_FIELDS)
    fill_table(design, url, make_rows()).close()
    return url


@pytest.fixture
def tall_table(tall_url: str) -> Iterator[Table]:
    """The table with a row per event, which tests only read."""
    with rowkey.open("t", tall_url) as table:
        yield table


@cache
def make_events() -> list[dict[str, Any]]:
    """Return the events of the wide rows, in order."""
    return [
        {"host": host, "ts": at, "v": at % 7, "note": None if at % 3 else "x"}
        for host in ("a", "b")
        for at in range(EVENTS)
    ]


@cache
def make_rows() -> list[dict[str, Any]]:
    """Return the rows of the tall table, in order."""
    return [{"host": f"h{h:02}", "n": n, "v": h ^ n} for h in range(HOSTS) for n in range(EACH)]


def count_region_reads(table: Table) -> int:
    """Return how many rows the regions have counted as read."""
    return sum(region.reads for region in table.regions())


def test_wide_rows_are_read_whole_and_in_order(wide_table: Table) -> None:
    """Wide rows are read as rows, columns and counts, in part, backwards and after deletes."""
    every = make_events()
    assert every == list(wide_table.scan())
    assert [row["ts"] for row in every] == wide_table.scan().to_arrow()["ts"].cast(
        pa.int64()
    ).to_pylist()
    assert len(every) == wide_table.count()
    assert every[125:194] == list(wide_table.scan("host = 'a' and ts >= 125 and ts < 194"))
    assert every[::-1] == list(wide_table.scan(order="host desc, ts desc"))
    wide_table.delete(host="a", ts=EVENTS - 1)
    wide_table.delete(host="b", ts=0)
    assert [row for row in every if (row["host"], row["ts"]) not in {("a", EVENTS - 1), ("b", 0)}
            ] == list(wide_table.scan())  # fmt: skip


def test_a_scan_token_resumes_within_a_wide_row(wide_table: Table) -> None:
    """Limited scans joined by tokens give all events, and a token begins within its row."""
    found: list[Any] = []
    token = None
    for _ in range(9):
        scan = wide_table.scan(limit=64, resume=token)
        found += list(scan)
        token = scan.token
    assert make_events() == found
    scan = wide_table.scan("host = 'a'", limit=230)
    assert make_events()[:230] == list(scan)
    rest = wide_table.scan("host = 'a'", resume=scan.token)
    asked: list[Any] = []
    rest.reader = _CountingStore(rest.reader, asked)  # type: ignore[assignment]
    assert make_events()[230:EVENTS] == list(rest)
    opening = wide_table.design.layout.qualifier_prefix
    assert opening is not None
    assert [opening.encode(make_events()[229])] == [ask.qualifier_range[0] for ask in asked]


class _CountingStore:
    """A store that notes the scans that it runs."""

    def __init__(self, reader: Any, asked: list[Any]) -> None:
        self.reader, self.asked = reader, asked

    def scan(self, spans: Any, ask: Any) -> Any:
        self.asked.append(ask)
        return self.reader.scan(spans, ask)


def test_an_event_with_cells_in_two_families_is_read_whole(url: str) -> None:
    """Rows with cells of an event in two families are read as a whole."""
    fields = WIDE_FIELDS | {"note": {"type": "text", "nullable": True, "family": "e"}}
    design = rowkey.Design("t", "[host]", fields=fields, families={"d": {}, "e": {}})
    with fill_table(design, url, make_events()) as table:
        assert not table.scan().is_paged
        assert make_events() == list(table.scan())
        assert make_events()[:10] == list(table.scan(limit=10))


def test_batches_are_returned_before_the_table_is_read_completely(tall_table: Table) -> None:
    """Batches are returned in order before the table is read completely."""
    batches = (scan := tall_table.scan()).batches(60)
    first = next(batches)
    assert make_rows()[:60] == first.to_pylist()
    if tall_table.engine.name == "rocks":
        assert count_region_reads(tall_table) < HOSTS * EACH
    rest = tall_table.scan(resume=scan.token).to_arrow()
    assert make_rows()[60:] == rest.to_pylist()
    assert make_rows() == [
        row for batch in tall_table.scan().batches(45) for row in batch.to_pylist()
    ]
    assert {45} == {batch.num_rows for batch in islice(tall_table.scan().batches(45), 5)}
    with pytest.raises(ReadError, match="1 or more"):
        tall_table.scan().batches(0)


@pytest.mark.parametrize("limit", [1, 25, 60, 160])
def test_a_limited_scan_reads_few_more_rows_than_its_limit(tall_table: Table, limit: int) -> None:
    """A limited scan reads its rows and one of each range, or twice that by blocks."""
    before = count_region_reads(tall_table)
    assert make_rows()[:limit] == list(tall_table.scan(limit=limit))
    assert count_region_reads(tall_table) - before <= (
        limit + BUCKETS if limit < BUCKETS * MIN_BLOCK else 2 * limit + BUCKETS * MIN_BLOCK
    )
    before = count_region_reads(tall_table)
    assert make_rows()[:limit] == tall_table.scan(limit=limit).to_arrow().to_pylist()
    assert count_region_reads(tall_table) - before <= 2 * limit + BUCKETS * MIN_BLOCK


def test_a_resumed_scan_reads_no_earlier_row_again(tall_table: Table) -> None:
    """A resumed scan reads no earlier row, by rows and by blocks."""
    read = HOSTS * EACH - 60
    scan = tall_table.scan(limit=read)
    assert make_rows()[:read] == list(scan)
    before = count_region_reads(tall_table)
    assert make_rows()[read:] == list(tall_table.scan(resume=scan.token))
    assert 60 == count_region_reads(tall_table) - before
    back = tall_table.scan(order="host desc, n desc", limit=read)
    assert make_rows()[: -read - 1 : -1] == list(back)
    before = count_region_reads(tall_table)
    rest = tall_table.scan(order="host desc, n desc", resume=back.token)
    assert make_rows()[:60][::-1] == list(rest)
    assert 60 == count_region_reads(tall_table) - before


@pytest.mark.parametrize("threads", [2, pytest.param(64, marks=pytest.mark.long)])
def test_a_scan_with_threads_returns_the_same_rows(tall_table: Table, threads: int) -> None:
    """Threads give the same rows, columns, order, limits and counts, and end with the scan."""
    before = count_region_reads(tall_table)
    assert make_rows() == list(tall_table.scan(threads=threads))
    assert HOSTS * EACH == count_region_reads(tall_table) - before
    assert make_rows()[::-1] == list(tall_table.scan(order="host desc, n desc", threads=threads))
    assert make_rows()[:560] == tall_table.scan(limit=560, threads=threads).to_arrow().to_pylist()
    ones = [row for row in make_rows() if row["v"] == 1]
    assert ones == list(tall_table.scan("v = 1", threads=threads))
    next(iter(tall_table.scan(threads=threads)))
    assert not [one for one in threading.enumerate() if one.name.startswith("rowkey-scan")]


@pytest.mark.parametrize("threads", [0, -1, 257, True, 1.5, "2"])
def test_a_number_of_threads_must_be_from_1_to_256(tall_table: Table, threads: Any) -> None:
    """A number of threads must be a whole number from 1 to 256."""
    with pytest.raises(ReadError, match="from 1 to 256"):
        tall_table.scan(threads=threads)


def test_an_error_while_reading_ahead_is_raised_at_its_row() -> None:
    """An error while reading ahead is raised at the position of its row."""
    from contextlib import ExitStack

    def breaking() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    with ExitStack() as opened:
        whole, broken = read_ahead([iter([1, 2, 3]), breaking()], 2, opened)
        assert [1, 2, 3] == list(whole)
        assert 1 == next(broken)
        with pytest.raises(ValueError, match="broken"):
            next(broken)


def test_a_declared_read_accepts_another_limit_and_an_earlier_token(url: str) -> None:
    read = {"name": "all", "where": "host = ?", "limit": 5}
    design = rowkey.Design("t", "[host][n]", fields=TALL_FIELDS, reads=[read])
    with rowkey.open(design, url) as table:
        for row in make_rows()[:12]:
            table.put(row)
        scan = table.read("all", "h00")
        assert make_rows()[:5] == list(scan)
        assert make_rows()[5:12] == list(table.read("all", "h00", limit=100, resume=scan.token))


@pytest.mark.parametrize("limit", [1, 2, 5, 16, 17])
def test_rows_of_other_programs_do_not_count_for_a_limit(url: str, limit: int) -> None:
    """A limit counts rows of the design only, also after rows of another program."""
    design = rowkey.Design("t", "[host][n]", fields=TALL_FIELDS)
    mine = make_rows()[3:20]
    with fill_table(design, url, mine) as table:
        for row in make_rows()[:3]:
            cell = Cell("d", b"strange", 5, b"")
            table.store.mutate([RowCells(design.key.encode(row), [cell])])
        assert mine[:limit] == list(table.scan(limit=limit))
        assert mine[:limit] == table.scan(limit=limit).to_arrow().to_pylist()
        assert mine[0] == table.scan().first()
        assert 17 == table.count()


def test_the_first_row_of_a_scan_costs_one_row(tall_table: Table) -> None:
    """The first row of a scan costs one row, and the token after the row is stable."""
    scan = tall_table.scan()
    before = count_region_reads(tall_table)
    assert make_rows()[0] == scan.first()
    assert count_region_reads(tall_table) - before <= BUCKETS
    assert scan.token is None
    assert HOSTS * EACH == scan.count()
    assert scan.token is None


@pytest.mark.parametrize("limit", [25, 560])
def test_pages_of_any_size_continue_from_the_tokens_of_each_other(
    tall_table: Table, limit: int
) -> None:
    """Pages as columns or rows of any size continue from each other's tokens."""
    found: list[dict[str, Any]] = []
    token = None
    for _ in range(2):
        scan = tall_table.scan(limit=limit, resume=token)
        found += scan.to_arrow().to_pylist()
        token = scan.token
    assert make_rows()[: 2 * limit] == found
    again = tall_table.scan(limit=limit)
    assert make_rows()[:limit] == list(again)
    next(iter(again))
    one = tall_table.scan(resume=again.token, limit=1)
    assert [make_rows()[1]] == list(one)


@pytest.mark.parametrize("limit", [None, 250])
@pytest.mark.parametrize("as_columns", [False, True])
def test_a_scan_of_a_closed_table_returns_all_rows_or_raises(
    tall_table: Table, limit: int | None, as_columns: bool
) -> None:
    """A scan whose table is closed returns all rows or raises, and never too few."""
    scan = tall_table.scan(limit=limit)
    found: Iterator[Any] = scan.batches(10) if as_columns else iter(scan)
    size = 10 if as_columns else 1
    next(found)
    tall_table.close()
    ends = []
    with suppress(Closed):
        ends.append(1 + sum(1 for _ in found))
    assert ends in ([], [(limit or HOSTS * EACH) // size])
    is_small = as_columns and limit is not None  # all of it was read for the first batch
    assert ends == [] or is_small or tall_table.engine.name == "memory"


def test_a_scan_of_a_closed_snapshot_returns_all_rows_or_raises(tall_table: Table) -> None:
    snapshot = tall_table.snapshot()
    found = iter(tall_table.scan(reader=snapshot))
    next(found)
    snapshot.close()
    if tall_table.engine.name == "rocks":
        with pytest.raises(Closed, match="closed while it was read"):
            list(found)
    else:
        assert HOSTS * EACH - 1 == len(list(found))


WRONG: list[Any] = [
    (lambda t: t.batch("x"), "rows: 'x'"),
    (lambda t: t.batch(1.5), "rows: 1.5"),
    (lambda t: t.batch(True), "rows: True"),
    (lambda t: t.scan(5), "where: 5"),
    (lambda t: t.scan(order=5), "order: 5"),
    (lambda t: t.explain(5), "where: 5"),
    (lambda t: t.explain(limit="x"), "limit: 'x'"),
    (lambda t: t.scan(reader=5), "reader: 5"),
    (lambda t: t.get_many(5), "rows: 5"),
    (lambda t: t.load(5), "rows: 5"),
    (lambda t: t.read(5), "argument name: the design declares no read '5'"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message for _, message in WRONG])
def test_an_invalid_scan_argument_is_refused_with_its_name_and_value(
    call: Any, message: str
) -> None:
    """The error of an invalid argument has its name and value."""
    with (
        rowkey.open(rowkey.Design("t", "[host][n]", fields=TALL_FIELDS), "memory:") as table,
        pytest.raises(RowkeyError, match=message),
    ):
        call(table)


def test_a_dictionary_class_can_be_the_row_class(url: str) -> None:
    """A row class that is a dictionary is instantiated like any other."""

    class RowDict(dict[str, Any]):
        """A row class that is a dictionary."""

    with fill_table(
        rowkey.Design("t", "[host][n]", fields=TALL_FIELDS), url, make_rows()[:3]
    ) as table:
        assert {RowDict} == {type(row) for row in table.scan(into=RowDict)}
        assert RowDict is type(table.get(make_rows()[0], into=RowDict))


@pytest.mark.parametrize("order", ["", "host desc, n desc"])
def test_short_and_long_ranges_are_read_to_their_end(url: str, order: str) -> None:
    """Ranges of many blocks and of few rows are both read to their end."""
    threads = 3 if (url == "memory:") == bool(order) else 1
    design = rowkey.Design("t", "[mod(n, 3)][host][n]", fields=TALL_FIELDS)
    given = [{"host": "b", "n": 3 * n, "v": n} for n in range(750)]
    given += [{"host": "b", "n": 3 * n + 1, "v": n} for n in range(188, 375)]
    given += [{"host": host, "n": 2, "v": 1} for host in "ab"]
    expected = sorted(given, key=itemgetter("host", "n"), reverse=bool(order))
    with fill_table(design, url, given) as table:
        scan = table.scan(order=order, threads=threads)
        assert expected == list(scan)
        assert expected == scan.to_arrow().to_pylist()
        assert len(expected) == scan.count()
        limited = table.scan(order=order, threads=threads, limit=812)
        assert expected[:812] == list(limited)
        assert expected[812:] == list(table.scan(order=order, resume=limited.token))


def test_events_of_other_hosts_in_the_same_bucket_are_not_returned(url: str) -> None:
    """Where the key keeps only a bucket of the host, other hosts' events are not returned."""
    fields = WIDE_FIELDS | {"level": {"type": "choice", "of": ["a", "b"]}}
    design = rowkey.Design("t", "[bucket(host, 2)][level]", fields=fields)
    found = rowkey.derive_properties(design)
    assert (False, {"host"}) == (found.is_unique, set(found.losses))
    with rowkey.open(design, url) as table:
        hosts = [f"h{n}" for n in range(6)]
        for host in hosts:
            table.put({"host": host, "ts": 1, "v": 1, "level": "a"})
        there = {row["host"] for row in table.scan()}
        assert there < set(hosts)
        for host in (*hosts, "zz"):
            row = table.get(host=host, ts=1, level="a")
            assert (None if host not in there else host) == (row and row["host"])
