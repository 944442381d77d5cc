"""No change loses part of a row that has a place under each of two bucket counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.errors import Conflict, RowError
from rowkey.table import row_getter
from rowkey.table.row_writer import select_deletes
from table.linear_history import build_design

if TYPE_CHECKING:
    from rowkey.engines import CellSelection
    from rowkey.table import Table

ROWS = range(12)
"""Rows of which some have another place among eight buckets than among four."""
ENGINES = ("memory", "rocks", "shared memory")
"""The last one as if it were a cluster's, which other clients change at the same time."""


@contextmanager
def open_table(engine: str, patch: pytest.MonkeyPatch, key: str = "") -> Iterator[Table]:
    """Open an empty table with four buckets."""
    name = engine.removeprefix("shared ")
    made = rowkey.Design("t", key, fields={"id": "u64", "s": "text"}) if key else build_design()
    with TemporaryDirectory(dir=RAM_FOLDER) as place:
        with rowkey.open(made, f"{name}:{place}", max_stale=0.1) as table:
            if name != engine:
                patch.setattr(type(table.store), "is_shared", True)
            yield table
        patch.undo()


def move_to_eight(table: Table) -> None:
    """Put rows under four buckets, then read and write them under eight."""
    for row in ROWS:
        table.put({"id": row, "a": 1, "b": 1, "n": 100})
    table.set_buckets(8)


def moved_rows(table: Table) -> list[int]:
    """Return the rows whose two places differ."""
    found = [row for row in ROWS if len(table.get_state().writer.encode_row_keys({"id": row})) > 1]
    assert found
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failed_conditional_delete_changes_nothing_under_any_bucket_count(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed conditional delete changes nothing, also after the old count is back."""
    with open_table(engine, monkeypatch) as table:
        move_to_eight(table)
        for row in ROWS:
            assert not table.check_and_put({"id": row, "n": None, "b": None}, a=5)
        table.set_buckets(4)
        assert [table.increment({"id": row}, n=1)["n"] for row in ROWS] == [101] * len(ROWS)
        assert {1} == {table.get(id=row)["b"] for row in ROWS}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_conditional_delete_applies_under_both_bucket_counts(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conditional delete deletes in both places, also after the old count is back."""
    with open_table(engine, monkeypatch) as table:
        move_to_eight(table)
        for row in ROWS:
            assert table.check_and_put({"id": row, "n": None, "a": 2}, a=1)
        table.set_buckets(4)
        assert [(2, 1, None)] * len(ROWS) == [
            tuple(table.get(id=row)[name] for name in "abn") for row in ROWS
        ]


def test_a_client_that_dies_during_a_delete_leaves_rows_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows stay whole if a client dies during a delete; increments fail until a compaction."""
    with open_table("shared memory", monkeypatch) as table:
        move_to_eight(table)
        moved, send = moved_rows(table), table.store.mutate
        for row in moved:
            last = table.get_state().writer.encode_row_keys({"id": row})[0]

            def die(
                mutations: Sequence[RowCells], last: bytes = last, *, sync: bool | None = None
            ) -> None:
                if any(one.row == last and select_deletes(one.cells) for one in mutations):
                    raise KeyboardInterrupt
                send(mutations, sync=sync)

            monkeypatch.setattr(table.store, "mutate", die)
            with suppress(KeyboardInterrupt):
                table.delete(id=row)
            monkeypatch.setattr(table.store, "mutate", send)
        assert all(table.get(id=row)["n"] == 100 for row in ROWS)
        table.set_buckets(4)
        for row in moved:
            with pytest.raises(Conflict, match=r"a delete marker hides .* Run a major compaction"):
                table.increment({"id": row}, n=1)
            assert 100 == table.get(id=row)["n"]
        table.compact()
        assert all(table.increment({"id": row}, n=1)["n"] == 101 for row in ROWS)


@pytest.mark.parametrize("key", ["[salt(4)][id]", "[bucket(id, 4)][id]"])
def test_a_replace_with_a_too_large_value_changes_no_place(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replace with a too large value changes neither place."""
    with open_table("shared memory", monkeypatch, key) as table:
        for row in ROWS:
            table.put({"id": row, "s": "old"})
        if "bucket" in key:
            table.set_buckets(8)
        value = "x" * (11 << 20)
        for row in ROWS[:6]:
            with pytest.raises(RowError, match="at most"):
                table.replace({"id": row, "s": value})
        assert [{"id": row, "s": "old"} for row in ROWS] == [table.get(id=row) for row in ROWS]


def test_a_batch_of_deletes_makes_four_engine_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of deletes makes four engine calls, however many rows it has."""
    with open_table("shared memory", monkeypatch) as table:
        move_to_eight(table)
        calls: list[str] = []
        for name in ("get", "mutate", "check_and_mutate"):
            call = getattr(table.store, name)

            def count_call(*given: Any, name: str = name, call: Any = call, **named: Any) -> Any:
                calls.append(name)
                return call(*given, **named)

            monkeypatch.setattr(table.store, name, count_call)
        with table.batch() as batch:
            for row in ROWS:
                batch.delete({"id": row})
        assert ["get", "mutate", "mutate", "mutate"] == calls
        assert [None] * len(ROWS) == table.get_many([{"id": row} for row in ROWS])


def test_changes_of_a_row_in_one_batch_keep_their_order_during_a_bucket_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Puts and deletes of a row in one batch take effect in order, despite copies."""
    with open_table("shared memory", monkeypatch) as table:
        move_to_eight(table)
        with table.batch() as batch:
            for row in ROWS:
                batch.put({"id": row, "a": 2})
                batch.delete({"id": row})
                if row % 2:
                    batch.put({"id": row, "b": 3})
                    batch.put({"id": row, "b": None, "a": 4})
        found = table.get_many([{"id": row} for row in ROWS])
        assert [row % 2 == 1 for row in ROWS] == [one is not None for one in found]
        assert {(4, None, None)} == {(one["a"], one["b"], one["n"]) for one in found if one}


def test_a_conditional_put_is_visible_over_a_value_from_the_future(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A conditional put is visible over an old value from a clock five seconds ahead."""
    with open_table("shared memory", monkeypatch) as table:
        for row in ROWS:
            table.put({"id": row, "a": 1, "b": 1})
            key = table.get_state().writer.encode_row_keys({"id": row})[0]
            ahead = table.store.row_clock.read_time_ms() + 5_000
            column = table.get_state().writer.layout.find_column("a", {"id": row})
            table.store.mutate([RowCells(key, [Cell(*column, ahead, (7).to_bytes(8, "big"))])])
        table.set_buckets(8)
        for row in ROWS:
            assert table.check_and_put({"id": row, "a": 2}, b=1)
            assert 2 == table.get(id=row)["a"]


def test_a_cell_with_an_implausible_timestamp_blocks_no_other_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A conditional put that such a cell would hide is refused; other columns can be changed."""
    with open_table("shared memory", monkeypatch) as table:
        table.put({"id": 1, "a": 1, "b": 1})
        (key,) = table.get_state().writer.encode_row_keys({"id": 1})
        column = table.get_state().writer.layout.find_column("a", {"id": 1})
        table.store.mutate([RowCells(key, [Cell(*column, LATEST - 1, bytes(8))])])
        with pytest.raises(Conflict, match=f"row key {key.hex()}: .*timestamp {LATEST - 1}"):
            table.check_and_put({"id": 1, "a": 2}, b=1)
        table.put({"id": 1, "b": 5})
        assert {"n": 3} == table.increment({"id": 1}, n=3)
        assert {"id": 1, "a": 0, "b": 5, "n": 3, "s": None} == table.get(id=1)
        table.store.mutate([RowCells(key, [Cell(*column, LATEST - 1, cell_type=CellType.DELETE)])])
        table.store.compact(major=True)
        assert table.check_and_put({"id": 1, "a": 2}, b=5)
        assert 2 == table.get(id=1)["a"]


def test_reading_a_row_that_changes_at_each_try_raises_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A get whose other place changes at each try ends with an error that names the row."""
    with open_table("shared memory", monkeypatch) as table:
        move_to_eight(table)
        row, get = moved_rows(table)[0], table.store.get
        clock = iter(range(1, 10_000))

        def get_other(rows: Sequence[bytes], ask: CellSelection) -> list[RowCells]:
            return [RowCells(one, [Cell("d", b"x", next(clock), b"")]) for one, _ in get(rows, ask)]

        monkeypatch.setattr(row_getter, "MAX_READ_ATTEMPTS", 10)
        monkeypatch.setattr(table.store, "get", get_other)
        with pytest.raises(Conflict, match=r"row key [0-9a-f]+: other clients changed the row"):
            table.get(id=row)
