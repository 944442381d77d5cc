"""Cells in columns that no design declares are moved along, or named and dropped by consent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from example_counts import IS_LONG
from move.foreign_cells import delete_cells, read_foreign, read_rows, write_foreign
from move.twins import (
    DESIGNS,
    IDENTITY,
    MADE_EARLIER_MS,
    Twins,
    build_row,
    get_identity,
    open_twins,
)
from rowkey import Design
from rowkey.cells import Cell, CellType, RowCells
from rowkey.engines import get_time_ms
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.move import Move, RowCopier, VerificationResult, repair_differences, verify_move
from rowkey.move.lost_cells import copy_rows_again, find_lost_cells
from rowkey.move.move_record import MAX_HISTORY
from rowkey.move.row_images import RowImageReader
from rowkey.table import StayReason, drop_table, rename_design
from table.clients import ManualClock, open_client, set_buckets

if TYPE_CHECKING:
    from rowkey.move import RowDifference
    from rowkey.table import Table

AT = MADE_EARLIER_MS
NOT_SALTED = [name for name in DESIGNS if name != "salted"]
KEY_HOLDS_ALL = [name for name in NOT_SALTED if name != "by_digest"]


def skip_pause(_seconds: float) -> None:
    """Wait for nothing."""


def put(family: str, name: bytes, timestamp: int, value: bytes = b"v") -> Cell:
    """Return a foreign cell."""
    return Cell(family, name, timestamp, value)


def write_changes(twins: Twins, changes: list[tuple[str, int, Any]]) -> None:
    """Write to the source: rows, deletes, and cells of another program."""
    for kind, number, value in changes:
        row = build_row(number)
        if kind == "foreign":
            write_foreign(twins.source, row, value)
        else:
            (twins.write if kind == "put" else twins.delete)(row, value, "s")


def copy(twins: Twins) -> RowCopier:
    """Copy all rows of the source."""
    copier = RowCopier(*twins.states, None)
    copier.run()
    return copier


# What is moved along

foreign_cells = st.builds(
    put,
    st.just("d"),
    st.sampled_from([b"x", b"y", b"note ", b"\x80\x0b", b"p "]),
    st.integers(AT, AT + 5),
    st.binary(max_size=3),
)
foreign_deletes = st.builds(
    lambda name, at, kind: Cell("d", name, at, cell_type=kind),
    st.sampled_from([b"x", b"y"]),
    st.integers(AT, AT + 5),
    st.sampled_from([CellType.DELETE, CellType.DELETE_COLUMN]),
)
row_numbers = st.integers(0, 3)
changes = st.one_of(
    st.tuples(st.just("put"), row_numbers, st.integers(AT, AT + 5)),
    st.tuples(st.just("delete"), row_numbers, st.integers(AT, AT + 5)),
    st.tuples(st.just("foreign"), row_numbers, foreign_cells | foreign_deletes),
)


@settings(max_examples=60 if IS_LONG else 20)
@given(
    st.sampled_from(KEY_HOLDS_ALL),
    st.sampled_from(KEY_HOLDS_ALL),
    st.lists(changes, min_size=1, max_size=12),
)
def test_each_undeclared_cell_is_copied_or_counted_with_a_reason(
    source: str, target: str, written: list[tuple[str, int, Any]]
) -> None:
    """Each visible undeclared cell is in the copy with all versions, or counted with a reason."""
    with open_twins(source, target) as twins:
        write_changes(twins, written)
        copy(twins)
        result = verify_move(*twins.states, pause=skip_pause)
        mine, other = (read_foreign(state, IDENTITY) for state in twins.states)
        newest = {place[:3] for place in mine}
    assert result.has_passed, result.differences
    counted = {reason: one.cell_count for reason, one in result.source.staying.items()}
    if source_shares_rows(source) == source_shares_rows(target):
        assert mine == other
        assert ({}, len(newest)) == (counted, result.source.carried.cell_count)
    else:
        assert {} == other
        assert counted == ({StayReason.DELETES: len(newest)} if newest else {})


@settings(max_examples=30 if IS_LONG else 12)
@given(
    st.sampled_from(
        [("by_digest", "by_number"), ("by_number", "by_digest"), ("salted", "by_user")]
    ),
    st.lists(changes, min_size=1, max_size=12),
)
def test_with_a_digest_or_salt_in_the_key_undeclared_cells_are_only_counted(
    names: tuple[str, str], written: list[tuple[str, int, Any]]
) -> None:
    """With a digest or a salt in the key each undeclared cell is counted, and a copy passes."""
    with open_twins(*names) as twins:
        write_changes(twins, written)
        copy(twins)
        result = verify_move(*twins.states, pause=skip_pause)
        stored = [
            one.column
            for row_key, cells in read_rows(twins.states[0])
            for one in twins.source.design.layout.event_reader.split_cells(row_key, cells)[1]
        ]
    assert result.has_passed, result.differences
    counted = [one.cell_count for one in result.source.staying.values()]
    assert len(stored) == result.source.carried.cell_count + sum(counted)


def test_undeclared_cells_under_several_bucket_counts_are_merged() -> None:
    """Cells that other programs wrote under either row key of a row are merged in the copy."""
    with (
        open_client(DESIGNS["by_user"], "memory:", ManualClock()) as source,
        rowkey.open(DESIGNS["by_number"], "memory:") as target,
    ):
        twins = Twins(source, target)
        for number in range(40):
            twins.write(build_row(number), AT, "s")
            write_foreign(source, build_row(number), put("d", b"x", AT, b"old"))
        set_buckets(source, 8)
        for number in range(20, 60):
            write_foreign(source, build_row(number), put("d", b"x", AT + 1, b"new"))
        copy(twins)
        result = verify_move(*twins.states, pause=skip_pause)
        assert result.has_passed, result.differences
        assert (40, 60, {}) == (
            result.source.rows,
            result.source.carried.cell_count,
            result.source.staying,
        )
        newest = {
            at[0][2]: value for at, value in sorted(read_foreign(twins.states[1], IDENTITY).items())
        }
        assert newest == {number: b"old" if number < 20 else b"new" for number in range(60)}


def source_shares_rows(name: str) -> bool:
    """Return whether rows of a design hold several events."""
    return DESIGNS[name].layout.has_shared_rows


OTHER_FAMILY: dict[str, Any] = {"families": {"d": {"versions": 3}, "f": {}}}
FIELDS = {"id": "u64", "note": {"type": "text", "nullable": True}, "host": "text"}


def build_design(key: str = "[id][host]", **words: Any) -> Design:
    """Return a design of three fields."""
    return Design("t", key, **{"fields": FIELDS, **OTHER_FAMILY, **words})


def place(name: str, **options: Any) -> dict[str, Any]:
    """Return the fields with other options of one."""
    return {**FIELDS, name: {"type": "text", "nullable": True, **options}}


SHARED = {"fields": {**FIELDS, "host": {"type": "text", "at": "qualifier"}}}
STAYING: dict[StayReason, tuple[Design, Design, Cell]] = {
    StayReason.FAMILY: (build_design(), build_design(families={"d": {}}), put("f", b"x", 1)),
    StayReason.COLUMN: (
        build_design(),
        build_design(fields=place("note", family="f")),
        put("f", b"note", 1),
    ),
    StayReason.DELETES: (
        build_design(),
        build_design(fields=place("note", family="f")),
        put("f", b"x", 1),
    ),
    StayReason.EVENT: (
        build_design("[id]", **SHARED),
        build_design("[bucket(id, 2)][id]", **SHARED),
        put("d", b"no prefix", 1),
    ),
    StayReason.IDENTITY: (
        build_design("[digest(host, 4)][id]"),
        build_design("[id][host]"),
        put("d", b"x", 1),
    ),
    StayReason.ROW: (build_design(), build_design("[bucket(id, 2)][id][host]"), put("d", b"x", 1)),
}


@pytest.mark.parametrize("reason", STAYING)
def test_each_undeclared_cell_that_cannot_be_moved_is_named_with_its_reason(
    reason: StayReason,
) -> None:
    """A move names each cell that it cannot move along, by column and reason, before and after."""
    old, new, cell = STAYING[reason]
    url = f"memory:{token_hex(4)}"
    row = {"id": 1, "host": "h", "note": "n"}
    with (
        rowkey.open(old, url, max_stale=0.01) as table,
        Move("t", url, pause=skip_pause) as move,
    ):
        is_event = reason not in (StayReason.EVENT, StayReason.ROW, StayReason.IDENTITY)
        table.put(row)
        key = (
            b"\xff"
            if reason is StayReason.ROW
            else old.key.encode({**row, "id": 1 + (not is_event)})
        )
        table.store.mutate([RowCells(key, [cell])])
        planned = [str(one) for one in move.plan(new).findings]
        assert any(reason.value in one for one in planned), planned
        found = move.run(new)
        assert found.has_passed
        (staying,) = found.staying
        column = f"{cell.family}:{cell.qualifier.decode()}"
        assert (column, 1, reason.value) == (staying.column, staying.cell_count, staying.reason)
        assert [staying] == list(move.status.staying)
        move.cut_over()
        with pytest.raises(InvalidArgument, match=f"only it has 1 cell of column {column}"):
            move.finish()
        assert "t" == move.finish(consents=[f"drop 1 cell of column {column}"])


# Planted damage

Damage = tuple[str, "Callable[[Table, int], None]"]
ROWS = 60


def write_both(twins: Twins, count: int) -> None:
    """Write rows of which some have undeclared cells, and some have only such."""
    for number in range(count):
        row = build_row(number)
        if number % 3 != 2:
            twins.write(row, AT)
            twins.write(row, AT + 10)
        if number % 3:
            cells = [put("d", b"x", AT + at, b"x%d %d" % (number, at)) for at in (20, 10)]
            for table in (twins.source, twins.target):
                write_foreign(table, row, *cells, put("d", b"y", AT, b"y%d" % number))


def write_note(table: Table, number: int, at: int, value: bytes) -> None:
    """Write a version of the cell of the note of a row."""
    (slot,) = (one for one in table.design.layout.slots if one.field_names == ("note",))
    write_foreign(table, build_row(number), put(slot.family, slot.qualifier, AT + at, value))


def delete_version(table: Table, number: int, name: bytes, at: int) -> None:
    """Delete one version of a cell."""
    marker = Cell("d", name, AT + at, cell_type=CellType.DELETE)
    write_foreign(table, build_row(number), marker)


def delete_declared(table: Table, number: int) -> None:
    """Delete all declared cells of a row."""
    columns = [(slot.family, slot.qualifier) for slot in table.design.layout.slots]
    delete_cells(table, build_row(number), *columns)


def lose_row(table: Table, number: int) -> None:
    """Delete all cells of a row."""
    delete_declared(table, number)
    delete_cells(table, build_row(number), ("d", b"x"), ("d", b"y"))


def change(table: Table, number: int, name: bytes, at: int, value: bytes) -> None:
    """Write one foreign cell of a row."""
    write_foreign(table, build_row(number), put("d", name, AT + at, value))


def change_both(table: Table, number: int, x: bytes, y: bytes) -> None:
    """Write both foreign cells of a row."""
    change(table, number, b"x", 20, x)
    change(table, number, b"y", 0, y)


# Rows 3n have declared cells, 3n + 1 both, 3n + 2 only undeclared ones.
DAMAGES: dict[str, tuple[int, str, Callable[[Table, int], None]]] = {
    "a lost row": (0, "missing", lose_row),
    "a lost row with undeclared cells": (1, "missing", lose_row),
    "a lost row of undeclared cells": (2, "missing", lose_row),
    "a lost cell": (3, "different", lambda t, n: delete_cells(t, build_row(n), ("d", b"note"))),
    "a changed value": (6, "different", lambda t, n: write_note(t, n, 10, b"other")),
    "a later timestamp": (9, "different", lambda t, n: write_note(t, n, 11, b"note 9")),
    "a stale version": (12, "different", lambda t, n: write_note(t, n, 5, b"stale")),
    "a lost version": (15, "different", lambda t, n: delete_version(t, n, b"note", 0)),
    "an extra row": (ROWS, "extra", lambda t, n: write_note(t, n, 0, b"extra")),
    "an extra row of undeclared cells": (
        ROWS + 1,
        "extra",
        lambda t, n: change(t, n, b"x", 0, b"extra"),
    ),
    "a row of undeclared cells that gets a declared one": (
        5,
        "different",
        lambda t, n: write_note(t, n, 0, b"extra"),
    ),
    "lost declared cells": (4, "different", delete_declared),
    "a lost undeclared cell": (
        7,
        "different",
        lambda t, n: delete_cells(t, build_row(n), ("d", b"y")),
    ),
    "a changed undeclared cell": (8, "different", lambda t, n: change(t, n, b"y", 0, b"other")),
    "an undeclared cell with a later timestamp": (
        10,
        "different",
        lambda t, n: change(t, n, b"y", 1, b"y10"),
    ),
    "an added undeclared cell": (11, "different", lambda t, n: change(t, n, b"z", 0, b"")),
    "an undeclared cell beside declared ones": (
        18,
        "different",
        lambda t, n: change(t, n, b"x", 0, b"x"),
    ),
    "a stale version of an undeclared cell": (
        13,
        "different",
        lambda t, n: change(t, n, b"x", 15, b"stale"),
    ),
    "a lost version of an undeclared cell": (
        14,
        "different",
        lambda t, n: delete_version(t, n, b"x", 10),
    ),
    "swapped undeclared cells": (
        16,
        "different",
        lambda t, n: change_both(t, n, b"y%d" % n, b"x%d 20" % n),
    ),
    "undeclared cells of another row": (
        17,
        "different",
        lambda t, n: change_both(t, n, b"x20 20", b"y20"),
    ),
}


def plant_damage(twins: Twins) -> None:
    """Plant 21 damages in the second of two equal tables, and require that each is found."""
    write_both(twins, ROWS)
    before = verify_move(*twins.states, pause=skip_pause)
    assert before.has_passed, before.differences
    assert (40, 80) == (before.source.rows, before.source.carried.cell_count)
    for number, _, plant in DAMAGES.values():
        plant(twins.target, number)
    find_damage(twins)


def find_damage(twins: Twins) -> list[RowDifference]:
    """Return the rows that differ; fail unless they are the damaged ones."""
    result = verify_move(*twins.states, pause=skip_pause)
    found = {get_identity(one.identity): one.kind for one in result.differences}
    expected = {get_identity(build_row(n)): kind for n, kind, _ in DAMAGES.values()}
    assert expected == found
    return result.differences


@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_each_damage_of_the_target_is_found_and_repaired(engine: str, tmp_path: Path) -> None:
    """Each of 21 damages is found with its row, also of undeclared cells, and repaired."""
    url = "memory:" if engine == "memory" else f"rocks:{tmp_path / 'tables'}"
    with open_twins("by_user", "by_number", url) as twins:
        plant_damage(twins)
        twins.target.store.compact(major=True)  # lost cells leave no delete behind
        outcomes = Counter(
            one.outcome.value for one in repair_differences(*twins.states, find_damage(twins))
        )
        assert {"repaired": len(DAMAGES)} == outcomes
        after = verify_move(*twins.states, pause=skip_pause)
        assert after.has_passed, after.differences
        assert (40, 80) == (after.target.rows, after.target.carried.cell_count)


# Foreign writers during a move

OLD = build_design()
NEW = build_design("[bucket(id, 4)][host][desc(id)]")


@contextmanager
def open_move(url: str = "", name: str = "t") -> Iterator[tuple[Table, Move]]:
    """Open a table of three rows, the last of undeclared cells only, and its move."""
    url, is_shared = url or f"memory:{token_hex(4)}", url.startswith("hbase:")
    try:
        with (
            rowkey.open(rename_design(OLD, name), url, max_stale=1 if is_shared else 0.01) as table,
            Move(name, url) if is_shared else Move.from_table(table, url) as move,
        ):
            for number in range(3):
                row = {"id": number, "host": "h", "note": "n"}
                if number < 2:
                    table.put(row)
                write_foreign(table, row, put("d", b"x", number + 1), put("f", b"", number + 1))
            yield table, move
    finally:
        if is_shared:
            drop_table(name, url)


def read_all(state: Any) -> dict[Any, bytes]:
    """Return the undeclared cells of a table by row, column and timestamp."""
    return read_foreign(state, ("id", "host"))


def require_equal(move: Move) -> None:
    """Fail unless both tables have the same undeclared cells, and the verification passes."""
    result = move.verify()
    assert result.has_passed, result.differences
    assert read_all(move.source.get_state()) == read_all(move.target.get_state())


def check_foreign_writers(url: str, name: str) -> None:
    """Write to the old table without rowkey at each step of a move: nothing is lost in silence."""
    with open_move(url, name) as (table, move):
        old = table.get_state()
        row = {"id": 1, "host": "h"}
        assert move.run(NEW).has_passed
        now = get_time_ms()
        late = [put("d", b"x", now, b"later"), put("d", b"\x80", now), put("d", b"note", now, b"l")]
        write_foreign(table, row, *late)
        marker = Cell("f", b"", now, cell_type=CellType.DELETE_COLUMN)
        write_foreign(table, {"id": 0, "host": "h"}, marker)
        require_equal(move)
        assert 7 == len(read_all(move.target.get_state()))
        table.delete(id=1, host="h")
        require_equal(move)
        left = [at[1:3] for at in read_all(move.target.get_state()) if at[0][0] == 1]
        assert [("f", b"")] == left  # row deletes spare a family without fields, in both tables
        write_foreign(table, {"id": 7, "host": "h"}, put("d", b"x", now + 1))
        move.cut_over()
        write_foreign_to(old, {"id": 7, "host": "h"}, put("d", b"x", now + 2, b"after"))
        write_foreign_to(old, {"id": 8, "host": "h"}, put("d", b"note", now + 2, b"after"))
        with pytest.raises(InvalidArgument, match="drop 1 cell of column d:note"):
            move.finish(consents=["drop 1 cell of column d:x"])
        write_foreign_to(old, {"id": 9, "host": "h"}, put("d", b"x", now + 2, b"after"))
        consents = ["drop 1 cell of column d:x", "drop 1 cell of column d:note"]
        with pytest.raises(InvalidArgument, match="drop 2 cells of column d:x"):
            move.finish(consents=consents)
        asked = []

        def ask(consent: str, cells: Any) -> str:
            asked.append((consent, [one.cell_count for one in cells]))
            return consent

        kept = move.target.get_state()
        move.finish(consents=consents, ask=ask)
        assert [("drop 2 cells of column d:x", [2])] == asked
        assert {0, 1, 2, 7} == {at[0][0] for at in read_all(kept)}


def write_foreign_to(state: Any, row: dict[str, Any], cell: Cell) -> None:
    """Write a cell to a table that is not read any more."""
    key = state.active_design.key.encode(row)
    state.writer.store.mutate([RowCells(key, [cell])])


@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_cells_of_other_programs_are_dropped_only_by_consent(engine: str, tmp_path: Path) -> None:
    """What they write before the cutover is moved; what comes later is dropped by consent."""
    check_foreign_writers(f"{engine}:{tmp_path / 'tables'}", "t")


def test_finish_after_a_roll_back_drops_cells_of_the_new_table_only_by_consent() -> None:
    """After a roll back, cells that only the new table has are dropped by consent."""
    with open_move() as (_, move):
        assert move.run(NEW).has_passed
        move.cut_over()
        move.roll_back()
        write_foreign_to(move.target.get_state(), {"id": 9, "host": "h"}, put("d", b"x", 1))
        with pytest.raises(InvalidArgument, match="t_2 is not dropped: only it has 1 cell"):
            move.finish(drop="t_2")
        assert "t_2" == move.finish(consents=["drop 1 cell of column d:x"])


@pytest.mark.parametrize("is_copied", [False, True])
def test_abandoning_a_move_drops_foreign_cells_only_by_consent(is_copied: bool) -> None:
    """What other programs wrote to a table that no client has read is dropped by consent."""
    with open_move() as (table, move):
        (move.run if is_copied else move.start)(NEW)
        new = move.target.get_state()
        write_foreign_to(new, {"id": 1, "host": "h"}, put("d", b"y", 9))
        write_foreign_to(new, {"id": 9, "host": "h"}, put("d", b"note", get_time_ms(), b"later"))
        new.writer.store.mutate([RowCells(b"?", [put("d", b"x", 1)])])
        table.put({"id": 5, "host": "h", "note": "of both"})
        with pytest.raises(InvalidArgument, match="t_2 is not dropped: only it has 1 cell"):
            move.finish(drop="t_2")
        columns = ("d:note", "d:x", "d:y")
        assert "t_2" == move.finish(consents=[f"drop 1 cell of column {one}" for one in columns])


def test_abandoning_a_move_drops_an_unreachable_table_only_by_consent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A move is given up, in spite of a table that cannot be compared, by a sentence of its own."""
    with open_move() as (_, move):
        assert move.run(NEW).has_passed

        def fail(*_: Any) -> None:
            raise Unavailable("table t_2", "region server gone", remedy="Start it.")

        monkeypatch.setattr(move.target.store, "scan", fail)
        consent = "drop t_2 without a comparison"
        with pytest.raises(Unavailable, match=f"region server gone.*--consent '{consent}'"):
            move.finish()
        assert "t_2" == move.finish(consents=[consent])


@settings(max_examples=40 if IS_LONG else 14)
@given(
    st.sampled_from(KEY_HOLDS_ALL),
    st.sampled_from(KEY_HOLDS_ALL),
    st.lists(changes, max_size=8),
    st.lists(changes, max_size=8),
    st.sets(row_numbers),
    st.booleans(),
)
def test_cells_that_only_the_copy_has_are_counted_at_any_point_of_the_copy(
    source: str,
    target: str,
    earlier: list[tuple[str, int, Any]],
    later: list[tuple[str, int, Any]],
    lone: set[int],
    is_copied: bool,
) -> None:
    """Cells of other writers count, but none that the source has deleted or overwritten since."""
    with open_twins(source, target) as twins:
        for written in (earlier, later):
            write_changes(twins, written)
            if is_copied and written is earlier:
                copy(twins)
        for number in lone:
            twins.write(build_row(100 + number), AT, "t")
        result = verify_move(*twins.states, extra_only=True, pause=skip_pause)
        copy_rows_again(*twins.states, (one.identity for one in result.differences))
        found = find_lost_cells(twins.states, result, drops_source=False)
        slots = [{*slot.field_names} for slot in twins.target.design.layout.slots]
    cells_of_row = sum(not one.isdisjoint(["note", "amount"]) for one in slots)
    assert len(lone) * cells_of_row == sum(one.cell_count for one in found)


def test_cells_written_while_a_consent_is_typed_need_another_consent() -> None:
    """What another program writes to the old table while somebody types is counted again."""
    with open_move() as (table, move):
        old = table.get_state()
        asked: list[tuple[str, list[int]]] = []
        assert move.run(NEW).has_passed
        move.cut_over()
        write_foreign_to(old, {"id": 8, "host": "h"}, put("d", b"x", 1))

        def ask(consent: str, cells: Any) -> str:
            if not asked:
                write_foreign_to(old, {"id": 9, "host": "h"}, put("d", b"x", 1))
                write_foreign_to(old, {"id": 9, "host": "h"}, put("d", b"y", 1))
            asked.append((consent, [one.cell_count for one in cells]))
            return consent

        assert "t" == move.finish(ask=ask)
        assert [
            ("drop 1 cell of column d:x", [1]),
            ("drop 2 cells of column d:x", [2]),
            ("drop 1 cell of column d:y", [1]),
        ] == asked


@pytest.mark.parametrize("old_key", ["[salt(4)][id][host]", "[bucket(id, 4)][id][host]"])
def test_rows_outside_of_all_keys_of_the_old_design_are_dropped_only_by_consent(
    old_key: str,
) -> None:
    """A row of another program after all buckets, or salts, is named, and holds up a finish."""
    url = f"memory:{token_hex(4)}"
    with (
        rowkey.open(build_design(old_key), url, max_stale=0.01) as table,
        Move.from_table(table, url) as move,
    ):
        table.put({"id": 1, "host": "h", "note": "n"})
        assert move.run(NEW).has_passed
        table.store.mutate([RowCells(b"user-17", [put("d", b"x", 1), put("f", b"y", 1)])])
        result = move.verify()
        assert {StayReason.ROW: {"d:x": 1, "f:y": 1}} == {
            reason: one.column_counts for reason, one in result.source.staying.items()
        }
        move.cut_over()
        with pytest.raises(InvalidArgument, match="t is not dropped: only it has 1 cell"):
            move.finish()
        assert "t" == move.finish(
            consents=["drop 1 cell of column d:x", "drop 1 cell of column f:y"]
        )


def test_changing_the_key_of_a_row_moves_its_undeclared_cells_in_both_tables() -> None:
    """A client that changes a row's key during a move leaves both tables with the same cells."""
    with open_move() as (table, move):
        move.run(NEW)
        assert table.move({"id": 0, "host": "h"}, id=9)
        found = read_all(move.source.get_state())
        assert {("d", b"x"), ("f", b"")} == {at[1:3] for at in found if at[0] == (9, "h")}
        assert (0, "h") not in {at[0] for at in found}
        assert found == read_all(move.target.get_state())


@pytest.mark.parametrize("is_cut_over", [False, True])
def test_a_repair_deletes_undeclared_cells_only_by_consent(is_cut_over: bool) -> None:
    """A repair deletes cells of other writers by consent, or nothing."""
    with open_move() as (_, move):
        assert move.run(NEW).has_passed
        if is_cut_over:
            move.cut_over()
        unread = (move.source if is_cut_over else move.target).get_state()
        name = unread.active_design.table
        write_foreign_to(unread, {"id": 9, "host": "h"}, put("d", b"x", 1))
        before = read_all(unread)
        with pytest.raises(InvalidArgument, match=f"{name} is not repaired: only it has 1 cell"):
            move.verify(repair=True)
        assert before == read_all(unread)
        result = move.verify(repair=True, consents=["drop 1 cell of column d:x"])
        assert (True, {"repaired": 1}) == (result.has_passed, result.repair_counts)
        assert name == move.finish()


def test_a_finish_remembers_the_switch_after_200_more_steps() -> None:
    """After 200 more steps a finish still compares what clients have read, a later move's none."""
    with open_move() as (table, move):
        assert move.run(NEW).has_passed
        move.cut_over()
        move.roll_back()
        for number in range(MAX_HISTORY + 1):
            move.record.add_to_history("verified", number=number)
        write_foreign_to(move.target.get_state(), {"id": 9, "host": "h"}, put("d", b"x", 1))
        with pytest.raises(InvalidArgument, match="t_2 is not dropped"):
            move.finish()
        move.finish(consents=["drop 1 cell of column d:x"])
        with Move.from_table(table, move.url) as later:
            later.start(NEW)  # nothing is copied, so everything differs
            assert "t_2" == later.finish()
            (last,) = (one for one in later.status.history[-1:])
            assert "finished" == last["step"]
            assert "verified" != later.status.history[-2]["step"]


def test_cells_missing_in_every_reading_of_a_changing_row_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a row that never settles, cells count that the other table lacks in each reading."""
    with open_move() as (table, move):
        assert move.run(NEW).has_passed
        move.cut_over()
        row = {"id": 1, "host": "h"}
        states = (move.source.get_state(), move.target.get_state())
        write_foreign_to(states[0], row, put("d", b"y", 1, b"lone"))
        read_images = RowImageReader.read_images

        def change_after(reader: RowImageReader, rows: Any) -> Any:
            found = read_images(reader, rows)  # the old table first
            table.put({**row, "note": token_hex(4)})
            return found

        monkeypatch.setattr(RowImageReader, "read_images", change_after)
        lost = find_lost_cells(states, VerificationResult(unsettled=[row]), drops_source=True)
        assert [("d:y", 1)] == [(one.column, one.cell_count) for one in lost]


def test_two_movers_of_the_same_move_end_with_equal_tables() -> None:
    """Movers that begin the same move together end it with equal tables."""
    with open_move() as (table, move), Move("t", move.url) as other:
        for number in range(300):
            write_foreign(table, {"id": number, "host": "h"}, put("d", b"x", number + 1))
        before = read_all(table.get_state())
        results: list[Any] = []

        def run(mover: Move) -> None:
            try:
                results.append(mover.run(NEW).has_passed)
            except rowkey.errors.Conflict as conflict:
                results.append(str(conflict))

        threads = [Thread(target=run, args=(one,)) for one in (move, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert True in results
        assert all(one is True or "another process" in one for one in results), results
        assert before == read_all(move.target.get_state())
