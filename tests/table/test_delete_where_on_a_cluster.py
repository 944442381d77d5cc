"""Deletes by conditions on a real HBase, in companions, under two bucket counts and salts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.table import drop_table
from table.companion_tables import KEYS, SHARED_ROWS, read_all_cells, read_all_tables, write_designs

if TYPE_CHECKING:
    from rowkey.table import Table
    from table.companion_tables import Row


CONDITIONS: dict[str, Callable[[Row], bool]] = {
    "user = 'b' and amount in (1, 4)": lambda row: row["user"] == "b" and row["amount"] in (1, 4),
    "number between 50 and 70": lambda row: row["number"] >= 50,
    "amount = 3 and at = 1": lambda row: row["amount"] == 3 and row["at"] == 1,
}


@pytest.mark.parametrize("keys", [KEYS, SHARED_ROWS])
def test_matching_rows_are_deleted_in_every_companion_on_a_cluster(
    hbase_url: str, tmp_path: Path, keys: dict[str, str]
) -> None:
    design = write_designs(tmp_path, f"d{token_hex(4)}.", keys)
    try:
        with rowkey.open(design, hbase_url, max_stale=1) as table:
            for n in range(60):
                if n == 30:
                    next(iter(table.companions.values())).set_buckets(5)
                table.put({"user": "abc"[n % 3], "at": n % 4, "number": n, "amount": n % 6})
            rows = next(iter(read_all_tables(table).values()))
            for where, is_deleted in CONDITIONS.items():
                expected = {place: row for place, row in rows.items() if not is_deleted(row)}
                preview = table.delete_where(where, dry_run=True)
                done = table.delete_where(where)
                assert len(rows) - len(expected) == preview.row_count == done.row_count
                assert [expected] * 3 == list(read_all_tables(table).values())
                rows = expected
            first, *copies = read_all_cells(table)
            assert [first] * 2 == copies
    finally:
        drop_table(design, hbase_url)


@pytest.fixture(params=["[bucket(id, 4)][id]", "[salt(3)][id]"])
def table(request: pytest.FixtureRequest, hbase_url: str) -> Iterator[Table]:
    """Return a table of drafts on a cluster, of buckets or salts."""
    fields: dict[str, Any] = {"id": "u32", "state": "text", "text": "text"}
    design = rowkey.Design(f"d{token_hex(4)}", request.param, fields=fields)
    try:
        with rowkey.open(design, hbase_url, max_stale=1) as opened:
            with opened.batch() as batch:
                for n in range(2_000):
                    batch.put({"id": n, "state": "draft", "text": f"text {n}"})
            yield opened
    finally:
        drop_table(design, hbase_url)


def test_rows_that_are_put_during_a_delete_stay_on_a_cluster(table: Table, hbase_url: str) -> None:
    """A client writes new rows, and deleted ones again, while all drafts are deleted."""
    has_ended, new = Event(), dict[int, str]()

    def write() -> None:
        with rowkey.open(table.design.table, hbase_url) as other:
            for n in count():
                if has_ended.is_set():
                    return
                other.put({"id": 2_000 + n, "state": "new", "text": f"text {n}"})
                other.put({"id": n % 2_000, "state": "again", "text": f"again {n % 2_000}"})
                new[2_000 + n] = f"text {n}"

    thread = Thread(target=write)
    thread.start()
    try:
        done = table.delete_where("id < 2000")
    finally:
        has_ended.set()
        thread.join()
    assert 2_000 == done.row_count
    rows = {row["id"]: row for row in table.scan()}
    assert new == {place: row["text"] for place, row in rows.items() if place >= 2_000}
    again = [row for place, row in rows.items() if place < 2_000]
    assert [
        {"id": row["id"], "state": "again", "text": f"again {row['id']}"} for row in again
    ] == again
