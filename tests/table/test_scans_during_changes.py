"""Scans during a change of the number of buckets, on an engine without snapshots.

On a cluster, rows that are read late are seen as they are then. Here a table in memory is treated
as shared; a cursor shows the rows of its opening, so only new cursors show a change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.cells import Cell, RowCells
from rowkey.errors import Unavailable
from table.clients import ManualClock, open_client, set_buckets
from table.live_cursors import share_table

if TYPE_CHECKING:
    from rowkey.table import Scan, Table

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "size": "u32"}
Row = dict[str, Any]


def make_rows(count: int) -> list[Row]:
    """Return rows in the order of host and time."""
    found = [{"host": f"w{n % 5}", "ts": n, "size": 1} for n in range(count)]
    return sorted(found, key=get_identity)


def get_identity(row: Row) -> tuple[Any, ...]:
    """Return the values that identify a row."""
    return row["host"], row["ts"]


def fill_shared_table(key: str, count: int, monkeypatch: pytest.MonkeyPatch) -> Table:
    """Create a table on an engine that is treated as shared, like a cluster."""
    table = open_client(rowkey.Design("t", key, fields=FIELDS), "memory:", ManualClock())
    monkeypatch.setattr(table.engine, "is_shared", True)
    # Small blocks, so that many are read.
    monkeypatch.setattr("rowkey.table.scans.blocks.BLOCK_ROWS", 25)
    monkeypatch.setattr("rowkey.table.scans.blocks.MIN_BLOCK_ROWS", 25)
    monkeypatch.setattr("rowkey.table.scans.scan_state.MIN_ROWS_FOR_BLOCKS", 128)
    schema = pa.schema(
        [(name, f.type.build_arrow_type()) for name, f in table.design.fields.items()]
    )
    table.load(pa.RecordBatch.from_pylist(make_rows(count), schema))
    return table


def rewrite_under_new_count(table: Table, given: list[Row], *, deletes: bool = True) -> None:
    """Change the number of buckets, and rewrite rows under the new count with size 2."""
    set_buckets(table, 7)
    with table.batch() as batch:
        for row in given:
            if deletes:
                batch.delete(row)
            batch.put(row | {"size": 2})


def list_sizes(found: list[Row]) -> list[int]:
    """Return the sizes of rows: 1 from before the change, 2 from after the change."""
    return [row["size"] for row in found]


def read_by_rows(scan: Scan, then: Callable[[], None]) -> list[Row]:
    """Iterate over a scan, with a change after the twentieth row."""
    found = []
    for number, row in enumerate(scan):
        found.append(row)
        if number == 20:
            then()
    return found


def read_by_columns(scan: Scan, then: Callable[[], None]) -> list[Row]:
    """Read batches of a scan, with a change after the first batch."""
    found: list[Row] = []
    for number, batch in enumerate(scan.batches(60)):
        found += batch.to_pylist()
        if number == 0:
            then()
    return [{**row, "ts": round(row["ts"].timestamp() * 1_000)} for row in found]


@pytest.mark.parametrize(
    ("key", "order"),
    [
        ("[bucket(host, ts, 3)][host][ts]", ""),
        ("[salt(3)][host][ts]", "host desc, ts desc"),
        *(
            pytest.param(key, order, marks=pytest.mark.long)
            for key, order in [
                ("[bucket(host, ts, 3)][host][ts]", "host desc, ts desc"),
                ("[mod(ts, 4)][host][ts]", ""),
                ("[mod(ts, 4)][host][ts]", "host desc, ts desc"),
                ("[salt(3)][host][ts]", ""),
            ]
        ),
    ],
)
def test_a_scan_returns_rows_moved_by_a_bucket_change_once_in_order(
    key: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that move during a scan are returned once each and in order."""
    given = make_rows(250)
    for read, limit in ((read_by_rows, None), (read_by_rows, 235), (read_by_columns, None)):
        with fill_shared_table(key, 250, monkeypatch) as table:
            scan = table.scan(order=order, limit=limit)
            found = read(scan, partial(rewrite_under_new_count, table, given))
            expected = sorted(given, key=get_identity, reverse=bool(order))[:limit]
            assert list(map(get_identity, expected)) == list(map(get_identity, found))
            assert list_sizes(found) == sorted(list_sizes(found))
            assert {1, 2} == set(list_sizes(found))
            assert scan.state is table.get_state()
            again = list(scan)
            assert (list(map(get_identity, expected)), {2}) == (
                list(map(get_identity, again)),
                {*list_sizes(again)},
            )


def test_a_scan_token_resumes_across_a_bucket_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan is resumed from a token over a change, and from the token after that."""
    given = make_rows(60)
    with fill_shared_table("[bucket(host, ts, 3)][host][ts]", 60, monkeypatch) as table:
        first = table.scan(limit=10)
        assert given[:10] == list(first)
        rest = table.scan(limit=40, resume=first.token)
        found = read_by_rows(rest, lambda: rewrite_under_new_count(table, given))
        assert list(map(get_identity, given[10:50])) == list(map(get_identity, found))
        assert list(map(get_identity, given[50:])) == list(
            map(get_identity, table.scan(resume=rest.token))
        )
        assert list(map(get_identity, given[10:50])) == list(map(get_identity, rest))


def test_counts_and_sorts_during_a_bucket_change_take_each_row_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A count or a sort during a change takes each row once."""
    given = make_rows(400)
    with fill_shared_table("[bucket(host, ts, 3)][host][ts]", 400, monkeypatch) as table:
        times = iter(range(3))
        now = table.get_state

        def once_more() -> Any:
            if next(times, None) == 2:
                rewrite_under_new_count(table, given)
            return now()

        scan = table.scan()
        monkeypatch.setattr(scan, "tracker", SimpleNamespace(get_state=once_more))
        assert (400, None) == (scan.count(), next(times, None))
    with fill_shared_table("[bucket(host, ts, 3)][host][ts]", 400, monkeypatch) as table:
        times, now = iter(range(3)), table.get_state
        scan = table.scan(order="ts")
        monkeypatch.setattr(scan, "tracker", SimpleNamespace(get_state=once_more))
        assert list(range(400)) == [row["ts"] for row in scan]
        assert next(times, None) is None


@pytest.mark.parametrize("read", [read_by_rows, read_by_columns])
def test_undeclared_cells_are_counted_once_across_a_bucket_change(
    read: Callable[[Scan, Callable[[], None]], list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan by blocks that continues in other places counts each undeclared cell once."""
    given = make_rows(400)
    with fill_shared_table("[bucket(host, ts, 3)][host][ts]", 400, monkeypatch) as table:
        for row in given:
            key = table.design.key.encode(row)
            table.store.mutate([RowCells(key, [Cell("d", b"x", 1, b"1")])])
        scan = table.scan(count_undeclared=True)
        assert scan.is_faster_by_blocks
        found = read(scan, partial(rewrite_under_new_count, table, given, deletes=False))
        assert (400, {1, 2}) == (len(found), set(list_sizes(found)))
        summary = scan.undeclared_cells
        assert (400, 400, 0) == (
            summary.cell_count, summary.row_count, summary.undeclared_row_count,
        )  # fmt: skip


def test_an_undecodable_row_of_a_group_that_is_read_again_is_counted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If the bucket count changes before the last read, the last group has been read by then."""
    with fill_shared_table("[bucket(host, ts, 3)][host][ts]", 30, monkeypatch) as table:
        table.store.mutate([RowCells(b"\1zz", [Cell("d", b"size", 1, b"1")])])
        reads: list[int] = []

        def change_before_last() -> None:
            reads.append(len(table.buckets.parts[0].live_counts))
            if len(reads) == 2 * read_count:
                set_buckets(table, 7)

        read_count = 0
        share_table(table, monkeypatch, change_before_last)
        scan = table.scan(limit=40, skip_undecodable=True)
        for _ in range(2):
            assert (make_rows(30), 1) == (list(scan), scan.undecodable_rows.row_count)
            read_count = read_count or len(reads)
        assert {1, 2} == {*reads}


def test_a_scan_fails_if_no_order_covers_both_bucket_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A scan fails if a count within the key changes, as no order covers both counts."""
    given = make_rows(60)
    with (
        fill_shared_table("[host][mod(ts, 3)][ts]", 60, monkeypatch) as table,
        pytest.raises(Unavailable, match="the number of buckets was changed during the scan"),
    ):
        read_by_rows(table.scan(limit=50), lambda: rewrite_under_new_count(table, given))


def test_a_scan_of_one_host_continues_across_a_bucket_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A scan of one host continues in the order of what follows the host in the key."""
    given = make_rows(200)
    host = given[0]["host"]
    key = "[host][mod(ts, 3)][ts]"
    with fill_shared_table(key, 200, monkeypatch) as table:
        scan = table.scan("host = ?", host, order="ts", limit=50)
        expected = [row["ts"] for row in given if row["host"] == host]
        found = read_by_rows(scan, lambda: rewrite_under_new_count(table, given))
        assert expected == [row["ts"] for row in found]
        assert {1, 2} == set(list_sizes(found))
    with (
        fill_shared_table(key, 200, monkeypatch) as table,
        pytest.raises(Unavailable, match="the number of buckets was changed during the scan"),
    ):
        read_by_rows(
            table.scan("host = ?", host, limit=50), lambda: rewrite_under_new_count(table, given)
        )


def test_a_snapshot_scan_ignores_a_bucket_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan of a snapshot or an embedded engine returns the rows as they were when it began."""
    given = make_rows(60)
    with fill_shared_table("[bucket(host, ts, 3)][host][ts]", 60, monkeypatch) as table:
        snapshot = table.snapshot()
        scan = table.scan(reader=snapshot, limit=50)
        found = read_by_rows(scan, lambda: rewrite_under_new_count(table, given))
        snapshot.close()
        assert [1] * 50 == list_sizes(found)
        monkeypatch.setattr(table.engine, "is_shared", False)
        found = read_by_rows(table.scan(limit=50), partial(table.delete, given[-1]))
        assert [2] * 50 == list_sizes(found)
