"""Rows that a verification found different are made equal, and read again to confirm it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from example_counts import IS_LONG
from move.test_verification import AT, changes, engines, skip_pause
from move.twins import DESIGNS, build_row, open_twins
from rowkey.cells import Cell, CellType, RowCells
from rowkey.errors import InvalidArgument
from rowkey.move import RepairOutcome, repair_differences, verify_move
from rowkey.move.row_images import RowImageReader


@given(
    st.sampled_from([*DESIGNS]),
    st.sampled_from([*DESIGNS]),
    st.lists(changes, max_size=12),
    st.sampled_from(["source", "target"]),
)
@settings(max_examples=15 if IS_LONG else 8)
def test_both_tables_are_equal_after_a_repair_of_differences(
    source: str, target: str, written: list[tuple[dict[str, Any], str, bool]], primary: str
) -> None:
    """After the repair clients read in both tables what the primary one had."""
    with open_twins(source, target) as twins:
        for number, (row, sides, is_delete) in enumerate(written):
            if is_delete:
                twins.delete(row, AT + number, sides)
            else:
                twins.write({"note": None, "amount": None} | row, AT + number, sides)
        primary_table = twins.source if primary == "source" else twins.target
        before = [row for row in primary_table.scan() if row["note"] or row["amount"]]
        result = verify_move(*twins.states, pause=skip_pause)
        repairs = list(repair_differences(*twins.states, result.differences, primary=primary))
        outcomes = [one.outcome for one in repairs]
        assert {RepairOutcome.REPAIRED, RepairOutcome.HIDDEN} >= {*outcomes}
        left = verify_move(*twins.states, pause=skip_pause).differences
        assert outcomes.count(RepairOutcome.HIDDEN) == len(left)
        # A delete of the follower can hide older versions for good, never what clients read.
        for table in (twins.source, twins.target):
            rows = [row for row in table.scan() if row["note"] or row["amount"]]
            assert sorted(map(repr, map(_sort_fields, before))) == sorted(
                map(repr, map(_sort_fields, rows))
            )


def _sort_fields(row: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the fields of a row in the order of their names."""
    return sorted(row.items())


@engines
def test_a_row_hidden_by_a_delete_in_the_target_gets_a_later_timestamp(
    engine: str, tmp_path: Path
) -> None:
    """A missing row that a delete of the target hides gets the next timestamp in both tables."""
    url = "memory:" if engine == "memory" else f"rocks:{tmp_path / 'tables'}"
    with open_twins("by_user", "by_number", url) as twins:
        twins.write(build_row(1), AT)
        twins.delete(build_row(1), AT + 500, "t")
        result = verify_move(*twins.states, pause=skip_pause)
        (repair,) = repair_differences(*twins.states, result.differences)
        assert "repaired" == str(repair)
        assert verify_move(*twins.states, pause=skip_pause).has_passed
        (row,) = twins.target.scan()
        assert build_row(1) == row
        key = DESIGNS["by_user"].key.encode(build_row(1))
        (found,) = twins.source.store.get([key])
        assert {AT + 501} == {cell.timestamp for cell in found.cells if cell.value}


def test_a_difference_that_cannot_be_repaired_is_reported_with_the_hiding_delete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If the write does not help, the row is reported with the delete that hides it."""
    with open_twins("by_user", "by_number") as twins:
        twins.write(build_row(1), AT, "s")
        key = DESIGNS["by_number"].key.encode(build_row(1))
        delete = Cell("d", b"", AT + 9, cell_type=CellType.DELETE_FAMILY)
        twins.target.store.mutate([RowCells(key, [delete])])
        result = verify_move(*twins.states, pause=skip_pause)
        monkeypatch.setattr("rowkey.table.row_writer.RowWriter.send_mutations", _write_nothing)
        (repair,) = repair_differences(*twins.states, result.differences)
    assert f"hidden by a delete of {AT + 9}" == str(repair)


def _write_nothing(*_arguments: object, **_options: object) -> None:
    """Lose a write."""


def test_a_difference_that_clients_removed_is_not_repaired() -> None:
    """A difference that clients have removed is not repaired again."""
    with open_twins("by_user", "by_number") as twins:
        twins.write(build_row(1), AT, "s")
        result = verify_move(*twins.states, pause=skip_pause)
        twins.write(build_row(1), AT, "t")
        (repair,) = repair_differences(*twins.states, result.differences)
        assert RepairOutcome.EQUAL is repair.outcome
        with pytest.raises(InvalidArgument, match="source or target"):
            list(repair_differences(*twins.states, [], primary="both"))


def test_a_change_by_a_client_during_a_repair_is_not_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a client of another process writes to both tables meanwhile is not deleted again."""
    fields = {
        "id": "u8",
        "note": {"type": "text", "nullable": True},
        "amount": {"type": "i64", "nullable": True},
        "at": {"type": "timestamp_ms", "at": "timestamp"},
    }
    with (
        rowkey.open(rowkey.Design("a", "[id]", fields=fields), "memory:") as source,
        rowkey.open(rowkey.Design("b", "[bucket(id, 4)][id]", fields=fields), "memory:") as target,
    ):
        states = source.get_state(), target.get_state()
        source.put({"id": 1, "note": "x", "amount": None, "at": AT})
        result = verify_move(*states, pause=skip_pause)
        read_raw_cells = RowImageReader.read_raw_cells

        def write_first(self: RowImageReader, values: Any) -> list[Cell]:
            for table in (source, target):
                table.put({"id": 1, "amount": 7, "at": AT + 5})
            return read_raw_cells(self, values)

        monkeypatch.setattr(RowImageReader, "read_raw_cells", write_first)
        (repair,) = repair_differences(*states, result.differences)
        assert RepairOutcome.REPAIRED is repair.outcome
        assert [7, 7] == [table.get(id=1)["amount"] for table in (source, target)]
