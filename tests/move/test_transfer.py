"""Tests of copies of a table to another engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.errors import InvalidDesign
from rowkey.move import RowCopier, transfer_table

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {"id": "u64", "note": {"type": "text", "nullable": True}, "hits": "i64"}
OLD = rowkey.Design("notes", "[id]", fields=FIELDS, families={"d": {"keep_deleted": "TRUE"}})
NEW = rowkey.Design("notes", "[bucket(id, 4)][desc(id)]", fields=FIELDS, splits="per_bucket")
ROWS = 300


def fill(table: Table) -> None:
    """Write rows of which every seventh is deleted again."""
    with table.batch() as batch:
        for number in range(ROWS):
            batch.put({"id": number, "note": f"n{number}", "hits": number})
    for number in range(0, ROWS, 7):
        table.delete(id=number)


def read_rows(table: Table) -> list[Any]:
    """Return all rows by their identifier."""
    return sorted(table.scan(), key=lambda row: row["id"])


def test_a_table_is_copied_to_another_engine_and_updated_by_a_second_call(tmp_path: Path) -> None:
    """All rows are copied to a table with another key; a further call copies the changes since."""
    with rowkey.open(OLD, f"rocks:{tmp_path}") as old, rowkey.open(NEW, "memory:new") as new:
        fill(old)
        found = transfer_table(old, new)
        assert found.has_passed
        assert read_rows(old) == read_rows(new)
        old.delete(id=3)
        old.put({"id": 0, "note": None, "hits": 9})
        old.increment({"id": 5}, hits=1)
        assert transfer_table(old, new).has_passed
        assert read_rows(old) == read_rows(new)
        assert new.get(id=5)["hits"] == 6


def test_an_interrupted_transfer_is_completed_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that was interrupted is completed by the next call."""
    with rowkey.open(OLD, f"rocks:{tmp_path}") as old, rowkey.open(NEW, "memory:stopped") as new:
        fill(old)
        with monkeypatch.context() as patch:
            patch.setattr(RowCopier, "_copy_chunk", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                transfer_table(old, new)
        assert transfer_table(old, new).has_passed
        assert read_rows(old) == read_rows(new)


def test_a_transfer_to_a_table_with_other_fields_is_refused(tmp_path: Path) -> None:
    """A table with other fields is not filled."""
    other = rowkey.Design("notes", "[id]", fields={"id": "u64", "hits": "i64"})
    with rowkey.open(OLD, f"rocks:{tmp_path}") as old, rowkey.open(other, "memory:other") as new:
        fill(old)
        with pytest.raises(InvalidDesign, match="note"):
            transfer_table(old, new)
        assert new.count() == 0


def test_a_transfer_fills_a_target_whose_splits_came_from_a_sample() -> None:
    """The target is a table already, so it does not matter what its splits were made from."""
    sampled = rowkey.Design("notes", "[id]", fields=FIELDS, splits="sample")
    with (
        rowkey.open(OLD, "memory:whole") as old,
        rowkey.open(sampled, "memory:sampled", splits=[b"\1"]) as new,
    ):
        fill(old)
        assert transfer_table(old, new).has_passed
