"""Rows that many events share, and scans of much: pages, blocks, limits, tokens, threads."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.errors import ReadError
from rowkey.table.scans.ahead import read_ahead

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
    schema = pa.schema([(name, field.type.arrow()) for name, field in design.fields.items()])
    table.load(pa.RecordBatch.from_pylist(given, schema))
    return table


@pytest.fixture
def tall(url: str) -> Iterator[Table]:
    """A row for each event, over 16 buckets."""
    design = rowkey.Design("t", "[bucket(host, 16)][host][n]", fields=TALL)
    with filled(design, url, rows()) as table:
        yield table


def events() -> list[dict[str, Any]]:
    """The events of the wide rows, in order."""
    return [
        {"host": host, "ts": at, "v": at % 7, "note": None if at % 3 else "x"}
        for host in ("a", "b")
        for at in range(EVENTS)
    ]


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
    opening = wide.design.layout.opening
    assert opening is not None
    assert [opening.write(events()[2_499])] == [ask.qualifiers[0] for ask in asked]


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
        assert reads(tall) <= HOSTS * EACH
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
    scan = tall.scan(limit=19_000)
    assert rows()[:19_000] == list(scan)
    before = reads(tall)
    assert rows()[19_000:] == list(tall.scan(resume=scan.token))
    assert 1_000 == reads(tall) - before
    back = tall.scan(order="host desc, n desc", limit=19_000)
    assert rows()[:-19_001:-1] == list(back)
    before = reads(tall)
    rest = tall.scan(order="host desc, n desc", resume=back.token)
    assert rows()[:1_000][::-1] == list(rest)
    assert 1_000 == reads(tall) - before


@pytest.mark.parametrize("threads", [2, 5, 64])
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
    with pytest.raises(ReadError, match=r"1\.\.256"):
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
