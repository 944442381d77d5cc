"""Scans amid which the number of buckets changes, where an engine shows a table as it becomes.

A cluster does so: what is read late is seen as it is then. Here a table in memory is taken for one;
its cursors show what was there when they were opened, so that only what is opened anew is seen.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.errors import Unavailable
from table.clients import Time, client, set_buckets

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.table import Scan, Table

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "size": "u32"}
Row = dict[str, Any]


def rows(count: int) -> list[Row]:
    """Rows in the order of host and time."""
    found = [{"host": f"w{n % 5}", "ts": n, "size": 1} for n in range(count)]
    return sorted(found, key=place)


def place(row: Row) -> tuple[Any, ...]:
    """Where a row stands."""
    return row["host"], row["ts"]


def filled(key: str, count: int, monkeypatch: pytest.MonkeyPatch) -> Table:
    """A table that is taken for one on a cluster."""
    table = client(rowkey.Design("t", key, fields=FIELDS), "memory:", Time())
    monkeypatch.setattr(table.engine, "is_shared", True)
    # Small blocks, so that many are read.
    monkeypatch.setattr("rowkey.table.scans.blocks.BLOCK_ROWS", 25)
    monkeypatch.setattr("rowkey.table.scans.blocks.MIN_BLOCK_ROWS", 25)
    monkeypatch.setattr("rowkey.table.scans.scan.MIN_ROWS_FOR_BLOCKS", 128)
    schema = pa.schema(
        [(name, f.type.build_arrow_type()) for name, f in table.design.fields.items()]
    )
    table.load(pa.RecordBatch.from_pylist(rows(count), schema))
    return table


def change(table: Table, given: list[Row]) -> None:
    """Change the number of buckets, and have every row written anew under it, as another time."""
    set_buckets(table, 7)
    with table.batch() as batch:
        for row in given:
            batch.delete(row)
            batch.put(row | {"size": 2})


def sizes(found: list[Row]) -> list[int]:
    """The sizes of rows: 1 of those of before the change, 2 of those that were seen after it."""
    return [row["size"] for row in found]


def read_by_rows(scan: Scan, then: Callable[[], None]) -> list[Row]:
    """Iterate, with a change behind the twentieth row."""
    found = []
    for number, row in enumerate(scan):
        found.append(row)
        if number == 20:
            then()
    return found


def read_by_columns(scan: Scan, then: Callable[[], None]) -> list[Row]:
    """Columns, with a change behind the first batch."""
    found: list[Row] = []
    for number, batch in enumerate(scan.batches(125)):
        found += batch.to_pylist()
        if number == 0:
            then()
    return [{**row, "ts": round(row["ts"].timestamp() * 1_000)} for row in found]


@pytest.mark.parametrize("order", ["", "host desc, ts desc"])
@pytest.mark.parametrize(
    "key", ["[bucket(host, ts, 3)][host][ts]", "[mod(ts, 4)][host][ts]", "[salt(3)][host][ts]"]
)
def test_a_scan_continues_after_a_change(
    key: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that move during a scan are returned once each and in order."""
    given = rows(500)
    for read, limit in ((read_by_rows, None), (read_by_rows, 475), (read_by_columns, None)):
        with filled(key, 500, monkeypatch) as table:
            scan = table.scan(order=order, limit=limit)
            found = read(scan, partial(change, table, given))
            expected = sorted(given, key=place, reverse=bool(order))[:limit]
            assert list(map(place, expected)) == list(map(place, found))
            assert sizes(found) == sorted(sizes(found))
            assert {1, 2} == set(sizes(found))
            assert scan.state is table.get_state()
            again = list(scan)
            assert (list(map(place, expected)), {2}) == (list(map(place, again)), {*sizes(again)})


def test_a_token_resumes_over_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan is resumed from a token over a change, and from the token after that."""
    given = rows(60)
    with filled("[bucket(host, ts, 3)][host][ts]", 60, monkeypatch) as table:
        first = table.scan(limit=10)
        assert given[:10] == list(first)
        rest = table.scan(limit=40, resume=first.token)
        found = read_by_rows(rest, lambda: change(table, given))
        assert list(map(place, given[10:50])) == list(map(place, found))
        assert list(map(place, given[50:])) == list(map(place, table.scan(resume=rest.token)))
        assert list(map(place, given[10:50])) == list(map(place, rest))


def test_counts_and_sorts_survive_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count or a sort during a change takes each row once."""
    given = rows(1_000)
    with filled("[bucket(host, ts, 3)][host][ts]", 1_000, monkeypatch) as table:
        times = iter(range(3))
        now = table.get_state

        def once_more() -> Any:
            if next(times, None) == 2:
                change(table, given)
            return now()

        scan = table.scan()
        scan.get_state = once_more
        assert (1_000, None) == (scan.count(), next(times, None))
    with filled("[bucket(host, ts, 3)][host][ts]", 1_000, monkeypatch) as table:
        times, now = iter(range(3)), table.get_state
        scan = table.scan(order="ts")
        scan.get_state = once_more
        assert list(range(1_000)) == [row["ts"] for row in scan]
        assert next(times, None) is None


def test_a_scan_without_one_order_fails_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan whose count stands within the key fails if the count changes."""
    given = rows(60)
    with (
        filled("[host][mod(ts, 3)][ts]", 60, monkeypatch) as table,
        pytest.raises(Unavailable, match="number of buckets was changed while it was read"),
    ):
        read_by_rows(table.scan(limit=50), lambda: change(table, given))


def test_a_scan_of_one_host_continues_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan of one host continues in the order of what follows the host in the key."""
    given = rows(200)
    host = given[0]["host"]
    key = "[host][mod(ts, 3)][ts]"
    with filled(key, 200, monkeypatch) as table:
        scan = table.scan("host = ?", host, order="ts", limit=50)
        expected = [row["ts"] for row in given if row["host"] == host]
        found = read_by_rows(scan, lambda: change(table, given))
        assert expected == [row["ts"] for row in found]
        assert {1, 2} == set(sizes(found))
    with (
        filled(key, 200, monkeypatch) as table,
        pytest.raises(Unavailable, match="number of buckets was changed while it was read"),
    ):
        read_by_rows(table.scan("host = ?", host, limit=50), lambda: change(table, given))


def test_a_snapshot_scan_ignores_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot, or an embedded engine, shows the rows of the start of the scan."""
    given = rows(60)
    with filled("[bucket(host, ts, 3)][host][ts]", 60, monkeypatch) as table:
        snapshot = table.snapshot()
        scan = table.scan(reader=snapshot, limit=50)
        found = read_by_rows(scan, lambda: change(table, given))
        snapshot.close()
        assert [1] * 50 == sizes(found)
        monkeypatch.setattr(table.engine, "is_shared", False)
        found = read_by_rows(table.scan(limit=50), partial(table.delete, given[-1]))
        assert [2] * 50 == sizes(found)
