"""Rows that many events share, and scans of much: pages, blocks, limits, tokens, threads."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.cells import Cell, RowCells
from rowkey.errors import Closed, ReadError, RowkeyError
from rowkey.table.scans.prefetch import read_ahead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rowkey.table import Table

EVENTS = 3_000
WIDE: dict[str, Any] = {
    "host": "text",
    "ts": {"type": "timestamp_ms", "at": "qualifier"},
    "v": "u32",
    "note": {"type": "text", "nullable": True},
}
TALL: dict[str, Any] = {"host": "text", "n": "u32", "v": "u32"}
HOSTS, EACH = 50, 400


@pytest.fixture(params=["memory", "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a table, on each embedded engine."""
    return "memory:" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


@pytest.fixture
def wide(url: str) -> Iterator[Table]:
    """Two rows of many events, of which every third has one cell more."""
    with filled(rowkey.Design("t", "[host]", fields=WIDE), url, events()) as table:
        yield table


def filled(design: rowkey.Design, url: str, given: list[dict[str, Any]]) -> Table:
    """A new table that holds some rows."""
    table = rowkey.open(design, url)
    schema = pa.schema(
        [(name, field.type.build_arrow_type()) for name, field in design.fields.items()]
    )
    table.load(pa.RecordBatch.from_pylist(given, schema))
    return table


@pytest.fixture(scope="module", params=["memory", "rocks"])
def tall_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A place of each embedded engine with a row for each event, over 16 buckets."""
    url = f"{request.param}:{tmp_path_factory.mktemp('tall') / 'data'}"
    design = rowkey.Design("t", "[bucket(host, 16)][host][n]", fields=TALL)
    filled(design, url, rows()).close()
    return url


@pytest.fixture
def tall(tall_url: str) -> Iterator[Table]:
    """The table with a row for each event, which tests only read."""
    with rowkey.open("t", tall_url) as table:
        yield table


@cache
def events() -> list[dict[str, Any]]:
    """The events of the wide rows, in order."""
    return [
        {"host": host, "ts": at, "v": at % 7, "note": None if at % 3 else "x"}
        for host in ("a", "b")
        for at in range(EVENTS)
    ]


@cache
def rows() -> list[dict[str, Any]]:
    """The rows of the tall table, in order."""
    return [{"host": f"h{h:02}", "n": n, "v": h ^ n} for h in range(HOSTS) for n in range(EACH)]


def reads(table: Table) -> int:
    """Rows that the regions have counted as read."""
    return sum(region.reads for region in table.regions())


def test_wide_rows_come_whole_and_in_order(wide: Table) -> None:
    """All events as rows, columns and a count; a stretch of them; backwards; deleted ones not."""
    every = events()
    assert every == list(wide.scan())
    assert [row["ts"] for row in every] == wide.scan().to_arrow()["ts"].cast(pa.int64()).to_pylist()
    assert len(every) == wide.count()
    assert every[1_500:1_777] == list(wide.scan("host = 'a' and ts >= 1500 and ts < 1777"))
    assert every[::-1] == list(wide.scan(order="host desc, ts desc"))
    wide.delete(host="a", ts=EVENTS - 1)
    wide.delete(host="b", ts=0)
    assert [row for row in every if (row["host"], row["ts"]) not in {("a", EVENTS - 1), ("b", 0)}
            ] == list(wide.scan())  # fmt: skip


def test_a_wide_row_goes_on_within(wide: Table) -> None:
    """Pieces of a limit joined by tokens are the whole, and a token leads into its row at once."""
    found: list[Any] = []
    token = None
    for _ in range(9):
        scan = wide.scan(limit=700, resume=token)
        found += list(scan)
        token = scan.token
    assert events() == found
    scan = wide.scan("host = 'a'", limit=2_500)
    assert events()[:2_500] == list(scan)
    rest = wide.scan("host = 'a'", resume=scan.token)
    asked: list[Any] = []
    rest.reader = _Watched(rest.reader, asked)  # type: ignore[assignment]
    assert events()[2_500:EVENTS] == list(rest)
    opening = wide.design.layout.qualifier_prefix
    assert opening is not None
    assert [opening.encode(events()[2_499])] == [ask.qualifier_range[0] for ask in asked]


class _Watched:
    """A reader that notes what it is asked."""

    def __init__(self, reader: Any, asked: list[Any]) -> None:
        self.reader, self.asked = reader, asked

    def scan(self, spans: Any, ask: Any) -> Any:
        self.asked.append(ask)
        return self.reader.scan(spans, ask)


def test_events_in_two_families_come_whole(url: str) -> None:
    """Where the cells of an event do not stand side by side, rows are read as a whole."""
    fields = WIDE | {"note": {"type": "text", "nullable": True, "family": "e"}}
    design = rowkey.Design("t", "[host]", fields=fields, families={"d": {}, "e": {}})
    with filled(design, url, events()) as table:
        assert not table.scan().is_paged
        assert events() == list(table.scan())
        assert events()[:10] == list(table.scan(limit=10))


def test_batches_stream(tall: Table) -> None:
    """Batches come in order while most of the table is unread, and their token goes on."""
    batches = (scan := tall.scan()).batches(1_000)
    first = next(batches)
    assert rows()[:1_000] == first.to_pylist()
    if tall.engine.name == "rocks":
        assert reads(tall) < HOSTS * EACH
    rest = tall.scan(resume=scan.token).to_arrow()
    assert rows()[1_000:] == rest.to_pylist()
    assert rows() == [row for batch in tall.scan().batches(777) for row in batch.to_pylist()]
    assert {777} == {batch.num_rows for batch in islice(tall.scan().batches(777), 5)}
    with pytest.raises(ReadError, match="1 or more"):
        tall.scan().batches(0)


@pytest.mark.parametrize("limit", [1, 100, 1_000, 9_000])
def test_a_limit_reads_little_more(tall: Table, limit: int) -> None:
    """A limit costs its rows, one of each range, and twice that where it is read by blocks."""
    before = reads(tall)
    assert rows()[:limit] == list(tall.scan(limit=limit))
    assert reads(tall) - before <= (limit + 16 if limit < 8_192 else 2 * limit + 16 * 512)
    before = reads(tall)
    assert rows()[:limit] == tall.scan(limit=limit).to_arrow().to_pylist()
    assert reads(tall) - before <= 2 * limit + 16 * 512


def test_what_was_read_is_not_read_again(tall: Table) -> None:
    """Going on from a token reads no row of before, by rows and by blocks."""
    read = HOSTS * EACH - 1_000
    scan = tall.scan(limit=read)
    assert rows()[:read] == list(scan)
    before = reads(tall)
    assert rows()[read:] == list(tall.scan(resume=scan.token))
    assert 1_000 == reads(tall) - before
    back = tall.scan(order="host desc, n desc", limit=read)
    assert rows()[: -read - 1 : -1] == list(back)
    before = reads(tall)
    rest = tall.scan(order="host desc, n desc", resume=back.token)
    assert rows()[:1_000][::-1] == list(rest)
    assert 1_000 == reads(tall) - before


@pytest.mark.parametrize("threads", [2, 64])
def test_threads_change_nothing(tall: Table, threads: int) -> None:
    """Rows, columns, order, limits and counters are the same, and no thread is left."""
    before = reads(tall)
    assert rows() == list(tall.scan(threads=threads))
    assert HOSTS * EACH == reads(tall) - before
    assert rows()[::-1] == list(tall.scan(order="host desc, n desc", threads=threads))
    assert rows()[:9_000] == tall.scan(limit=9_000, threads=threads).to_arrow().to_pylist()
    ones = [row for row in rows() if row["v"] == 1]
    assert ones == list(tall.scan("v = 1", threads=threads))
    next(iter(tall.scan(threads=threads)))
    assert not [one for one in threading.enumerate() if one.name.startswith("rowkey-scan")]


@pytest.mark.parametrize("threads", [0, -1, 257, True, 1.5, "2"])
def test_wrong_numbers_of_threads_are_refused(tall: Table, threads: Any) -> None:
    """A number of threads is a whole one, of 1 to 256."""
    with pytest.raises(ReadError, match="from 1 to 256"):
        tall.scan(threads=threads)


def test_an_error_of_a_thread_comes_out() -> None:
    """What goes wrong while a run is read ahead is raised where its item would have come."""
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


def test_a_declared_read_goes_on(url: str) -> None:
    """A declared read takes another limit and the token of an earlier one."""
    read = {"name": "all", "where": "host = ?", "limit": 5}
    design = rowkey.Design("t", "[host][n]", fields=TALL, reads=[read])
    with rowkey.open(design, url) as table:
        for row in rows()[:12]:
            table.put(row)
        scan = table.read("all", "h00")
        assert rows()[:5] == list(scan)
        assert rows()[5:12] == list(table.read("all", "h00", limit=100, resume=scan.token))


@pytest.mark.parametrize("limit", [1, 2, 5, 16, 17])
def test_rows_of_others_do_not_count(url: str, limit: int) -> None:
    """A limit counts rows of the design, also where rows of somebody else stand before them."""
    design = rowkey.Design("t", "[host][n]", fields=TALL)
    mine = rows()[3:20]
    with filled(design, url, mine) as table:
        for row in rows()[:3]:
            cell = Cell("d", b"strange", 5, b"")
            table.store.mutate([RowCells(design.key.encode(row), [cell])])
        assert mine[:limit] == list(table.scan(limit=limit))
        assert mine[:limit] == table.scan(limit=limit).to_arrow().to_pylist()
        assert mine[0] == table.scan().first()
        assert 17 == table.count()


def test_the_first_row_costs_a_row(tall: Table) -> None:
    """Asked for one row, a scan of everything reads one, and its token stays."""
    scan = tall.scan()
    before = reads(tall)
    assert rows()[0] == scan.first()
    assert reads(tall) - before <= 16
    assert scan.token is None
    assert HOSTS * EACH == scan.count()
    assert scan.token is None


@pytest.mark.parametrize("limit", [100, 9_000])
def test_a_token_stands_behind_what_was_given(tall: Table, limit: int) -> None:
    """Pages taken as columns go on from each other, whatever their size; so do rows."""
    found: list[dict[str, Any]] = []
    token = None
    for _ in range(2):
        scan = tall.scan(limit=limit, resume=token)
        found += scan.to_arrow().to_pylist()
        token = scan.token
    assert rows()[: 2 * limit] == found
    again = tall.scan(limit=limit)
    assert rows()[:limit] == list(again)
    next(iter(again))
    one = tall.scan(resume=again.token, limit=1)
    assert [rows()[1]] == list(one)


@pytest.mark.parametrize("limit", [None, 5_000])
@pytest.mark.parametrize("as_columns", [False, True])
def test_a_scan_of_a_closed_table_is_never_short(
    tall: Table, limit: int | None, as_columns: bool
) -> None:
    """A scan whose table is closed returns all rows or raises, and never too few."""
    scan = tall.scan(limit=limit)
    found: Iterator[Any] = scan.batches(10) if as_columns else iter(scan)
    size = 10 if as_columns else 1
    next(found)
    tall.close()
    ends = []
    with suppress(Closed):
        ends.append(1 + sum(1 for _ in found))
    assert ends in ([], [(limit or HOSTS * EACH) // size])
    is_small = as_columns and limit is not None  # all of it was read for the first batch
    assert ends == [] or is_small or tall.engine.name == "memory"


def test_a_scan_of_a_closed_snapshot_is_never_short(tall: Table) -> None:
    """A scan whose snapshot is closed returns all rows or raises."""
    snapshot = tall.snapshot()
    found = iter(tall.scan(reader=snapshot))
    next(found)
    snapshot.close()
    if tall.engine.name == "rocks":
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
    (lambda t: t.read(5), "read: the design declares no read '5'"),
]


@pytest.mark.parametrize(("call", "says"), WRONG, ids=[says for _, says in WRONG])
def test_arguments_are_checked_when_given(call: Any, says: str) -> None:
    """What is none of an argument's kind is told with its name and value."""
    with (
        rowkey.open(rowkey.Design("t", "[host][n]", fields=TALL), "memory:") as table,
        pytest.raises(RowkeyError, match=says),
    ):
        call(table)


def test_rows_of_a_class_of_dictionaries(url: str) -> None:
    """A class that is a dictionary is made as any other."""

    class Mine(dict[str, Any]):
        """Rows of one's own."""

    with filled(rowkey.Design("t", "[host][n]", fields=TALL), url, rows()[:3]) as table:
        assert {Mine} == {type(row) for row in table.scan(into=Mine)}
        assert Mine is type(table.get(rows()[0], into=Mine))


@pytest.mark.parametrize("order", ["", "host desc, n desc"])
def test_ranges_of_any_length_are_read_to_their_end(url: str, order: str) -> None:
    """One range holds many blocks, another few rows that lie before, between or behind them."""
    threads = 3 if (url == "memory:") == bool(order) else 1
    design = rowkey.Design("t", "[mod(n, 3)][host][n]", fields=TALL)
    given = [{"host": "b", "n": 3 * n, "v": n} for n in range(12_000)]
    given += [{"host": "b", "n": 3 * n + 1, "v": n} for n in range(3_000, 6_000)]
    given += [{"host": host, "n": 2, "v": 1} for host in "ab"]
    expected = sorted(given, key=itemgetter("host", "n"), reverse=bool(order))
    with filled(design, url, given) as table:
        scan = table.scan(order=order, threads=threads)
        assert expected == list(scan)
        assert expected == scan.to_arrow().to_pylist()
        assert len(expected) == scan.count()
        limited = table.scan(order=order, threads=threads, limit=13_000)
        assert expected[:13_000] == list(limited)
        assert expected[13_000:] == list(table.scan(order=order, resume=limited.token))


def test_events_that_a_key_confuses_are_told_apart_on_reading(url: str) -> None:
    """Where the key keeps a bucket alone, another host's event is not given for one's own."""
    fields = WIDE | {"level": {"type": "choice", "of": ["a", "b"]}}
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
