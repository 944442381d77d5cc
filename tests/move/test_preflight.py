"""A preflight says what a move will do and what speaks against it, and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from move.twins import DESIGNS, FIELDS, MADE_EARLIER_MS, PACKED, WIDE, build_row, write_row
from rowkey import Design
from rowkey.cells import Cell, RowCells
from rowkey.engines import CellSelection, ScanRange, get_time_ms
from rowkey.move import compare_designs, plan_move
from rowkey.render.languages import Translator
from rowkey.table import rename_design
from table.companion_tables import write_designs

if TYPE_CHECKING:
    from rowkey.move import MovePlan
    from rowkey.table import Table

KEY = "[number][user][at]"
SOURCE = DESIGNS["by_user"]


def build_target(key: str = KEY, fields: dict[str, Any] = FIELDS, **words: Any) -> Design:
    """Return a design to move to."""
    return Design("moved", key, fields=fields, **{"families": {"d": {"versions": 3}}} | words)


def find_blocking(target: Design, source: Design = SOURCE, **options: Any) -> dict[str, str]:
    """Return what blocks a move by the designs alone: the problem of each place."""
    found = compare_designs(source, target, **options)
    return {one.path: one.message for one in found if one.severity == "error"}


def find_severities(plan: MovePlan) -> set[tuple[str, str]]:
    """Return the severity and the place of each finding of a plan."""
    return {(one.severity, one.path) for one in plan.findings}


CHANGED_TYPE = {**FIELDS, "amount": {"type": "i32", "nullable": True}}
FEWER_FIELDS = {name: one for name, one in FIELDS.items() if name != "note"}
STAMPED = {**FIELDS, "seen": {"type": "timestamp_ms", "at": "timestamp"}}
PLAIN_SEEN = {**FIELDS, "seen": "timestamp_ms"}


@pytest.mark.parametrize(
    ("target", "path", "problem"),
    [
        (build_target(fields=CHANGED_TYPE), "fields.amount", "type i32"),
        (build_target(fields=FEWER_FIELDS), "fields.note", "only the source"),
        (build_target("[number][user][at][amount]"), "key", "plain column that may change"),
        (build_target("[number][user]"), "key", "at identifies rows, and would be lost"),
        (build_target(splits="sample"), "splits", "depend on a sample"),
        (build_target("[user:raw]['-'][number][at]"), "key[0]", "does not mark"),
        (Design("by_user", KEY, fields=FIELDS), "table", "the table itself"),
    ],
)
def test_each_obstacle_to_a_move_is_named_with_its_place(
    target: Design, path: str, problem: str
) -> None:
    """Each obstacle that the designs show is found, with the place of the design file."""
    assert problem in find_blocking(target)[path]


def test_a_timestamp_field_of_only_one_design_blocks_the_move() -> None:
    """A field that only one design stores as the cell timestamp blocks the move."""
    source = Design("seen", "[user][at][number]", fields=PLAIN_SEEN, writes={"time": "at"})
    found = find_blocking(build_target(fields=STAMPED, writes={"time": "at"}), source)
    assert "the cell timestamp is seen in the target" == found["fields.seen.at"]


def test_a_target_with_given_splits_needs_no_sample() -> None:
    """Boundaries that are given need no sample, and a suitable target is not blocked."""
    assert {} == find_blocking(build_target(splits="sample"), has_splits=True)
    assert {} == find_blocking(build_target())


def test_packing_fewer_versions_or_a_shorter_ttl_in_the_target_are_warnings() -> None:
    """Packed fields, fewer versions, a shorter time to live and a salted source are warnings."""
    target = build_target(
        "[number][user][at]", PACKED, families={"d": {"versions": 2, "ttl": "5d"}}
    )
    source = rename_design(build_target("[salt(4)][user][at][number]"), "source")
    found = compare_designs(source, target)
    assert {"warning"} == {one.severity for one in found}
    assert ["families.d.ttl", "families.d.versions", "fields.note.pack", "key"] == sorted(
        one.path for one in found
    )


def test_a_move_from_a_salted_source_with_a_timestamp_field_is_refused() -> None:
    """What no client could write to both tables is refused before the move is announced."""
    options: dict[str, Any] = {"fields": STAMPED, "writes": {"time": "at"}}
    source, target = build_target("[salt(4)][user][at][number]", **options), build_target(**options)
    assert "cannot be told from a delete of the row" in find_blocking(target, source)["key"]


def test_a_move_to_a_target_with_a_random_salt_is_refused() -> None:
    """Two writes of one millisecond to copies of a row could not be ordered."""
    assert ["key"] == list(find_blocking(build_target("[salt(4)][number][user][at]")))


def read_everything(table: Table) -> list[Any]:
    """Return all cells of a table, its attributes and regions, and the catalog."""
    (cursor,) = table.store.scan([ScanRange()], CellSelection(raw=True, versions=10))
    spec, names = table.store.spec, table.catalog.list_tables()
    entries = [(name, table.catalog.read(name)) for name in names]
    return [list(cursor), spec, entries, table.engine.list_tables()]


@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_a_plan_changes_neither_tables_nor_catalog(engine: str, tmp_path: Path) -> None:
    """All cells, the catalog and the tables of the engine are the same after a plan."""
    url = "memory:" if engine == "memory" else f"rocks:{tmp_path / 'tables'}"
    with rowkey.open(SOURCE, url) as table:
        for number in range(200):
            write_row(table, build_row(number), MADE_EARLIER_MS)
        before = read_everything(table)
        for target in (build_target(), build_target("[time_bucket(at, 1h)][user][number]")):
            plan = plan_move(table, target)
            assert (200, True) == (plan.rows, plan.is_exact)
            assert plan.is_possible
        assert before == read_everything(table)
        assert plan.collisions is not None
        assert ["announce", "copy", "verify", "cutover", "finish"] == [
            step.name for step in plan.steps
        ]
        assert plan.seconds == sum(step.seconds for step in plan.steps)
        cells = (c for row in before[0] for c in row.cells if c.value)
        assert plan.target_bytes > sum(len(cell.value) for cell in cells)
        assert (engine == "rocks") == (plan.free_bytes is not None)


def test_a_plan_reads_only_a_sample_of_a_large_table(tmp_path: Path) -> None:
    """Of a large table only a sample is read, and the number of rows is an estimate."""
    with rowkey.open(SOURCE, f"rocks:{tmp_path / 'tables'}") as table:
        for number in range(500):
            write_row(table, build_row(number), MADE_EARLIER_MS)
        plan = plan_move(table, build_target(), sample_rows=40)
    assert not plan.is_exact
    assert 500 == plan.rows


def test_rows_that_collide_in_the_target_block_the_move() -> None:
    """Two rows with one place are named; without the check it is a warning."""
    with rowkey.open(SOURCE, "memory:") as table:
        for at in (0, 1):
            write_row(table, build_row(1, user="same", at=at), MADE_EARLIER_MS)
        target = build_target("[time_bucket(at, 1h)][user][number]")
        plan = plan_move(table, target)
        unchecked = plan_move(table, target, checks_collisions=False)
    (blocking,) = plan.select_findings("error")
    said = "2 rows would be stored in the place of other rows, and 1 of them would be overwritten"
    assert f"{said}; under" in str(blocking)
    assert "Add the whole field to the key, such as [at]." in str(blocking)
    assert not plan.is_possible
    assert ("warning", "key") in find_severities(unchecked)


def test_a_value_that_is_too_long_for_the_new_design_blocks_the_move() -> None:
    """A value that is too long for the new design is found in the sample."""
    fields = {**FIELDS, "note": {"type": "text", "nullable": True, "max_bytes": 5}}
    with rowkey.open(SOURCE, "memory:") as table:
        write_row(table, build_row(1, note="short"), MADE_EARLIER_MS)
        write_row(table, build_row(2, note="longer"), MADE_EARLIER_MS)
        plan = plan_move(table, build_target(fields=fields))
    (blocking,) = plan.select_findings("error")
    assert "rows" == blocking.path
    assert "1 of the rows that were read cannot be moved: field note" in str(blocking)


def test_an_old_version_that_cannot_be_decoded_blocks_a_move_that_packs() -> None:
    """An older version that the design cannot decode is named if the move decodes it, not else."""
    with rowkey.open(SOURCE, "memory:") as table:
        row = build_row(1)
        table.put({**row, "amount": 5})
        key = table.design.key.encode(row)
        table.store.mutate([RowCells(key, [Cell("d", b"amount", MADE_EARLIER_MS, b"bad")])])
        assert plan_move(table, build_target()).is_possible
        plan = plan_move(table, DESIGNS["packed"])
    (found,) = [one for one in plan.findings if one.path == "rows"]
    assert "error" == found.severity
    assert (
        f"1 of the rows that were read cannot be moved: row key {key.hex()}, column d:amount"
        in (str(found))
    )


def test_a_plan_notes_that_cells_have_a_time_to_live() -> None:
    """An embedded engine keeps the time to live of a cell, and the plan says so."""
    with rowkey.open(SOURCE, "memory:") as table:
        mutation = SOURCE.layout.encode_event(build_row(1), timestamp=get_time_ms())
        cells = [Cell(*cell[:5], ttl_ms=10**9) for cell in mutation.cells]
        table.store.mutate([RowCells(mutation.row, cells)])
        assert ("info", "cells") in find_severities(plan_move(table, build_target()))


def test_an_existing_table_with_the_name_of_the_target_blocks_the_move() -> None:
    """A table with the name of the target is not overwritten."""
    url = "memory:taken"
    with rowkey.open(SOURCE, url) as table, rowkey.open(build_target(), url):
        assert ("error", "table") in find_severities(plan_move(table, build_target()))


def test_a_table_moves_to_a_design_with_the_same_companions_only(tmp_path: Path) -> None:
    """Other companions are refused, and a companion does not move by itself."""
    main = write_designs(tmp_path)
    with rowkey.open(main, "memory:") as table:
        assert ("error", "companions") in find_severities(plan_move(table, build_target()))
        companion = table.companions["orders_by_time"]
        assert ("error", "table") in find_severities(plan_move(companion, build_target()))


def test_collisions_whose_rows_are_deleted_meanwhile_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows that clients delete between the two reads of a collision are named by their number."""
    target = build_target("[truncate(user, 1)][at][number]")
    with rowkey.open(SOURCE, "memory:") as table:
        for user in ("ab", "ac"):
            write_row(table, build_row(1, user=user), MADE_EARLIER_MS)
        monkeypatch.setattr("rowkey.move.collisions._PlaceReader.list_collisions", lambda *_: [])
        plan = plan_move(table, target)
    (finding,) = plan.select_findings("error")
    said = "2 rows would be stored in the place of other rows, and 1 of them would be"
    assert said in finding.message


def test_a_plan_counts_the_undeclared_cells() -> None:
    """Cells that the design does not have are named: those that are moved, and the others."""
    with rowkey.open(SOURCE, "memory:") as table:
        write_row(table, build_row(1), MADE_EARLIER_MS)
        key = SOURCE.key.encode(build_row(1))
        table.store.mutate([RowCells(key, [Cell("d", b"x\1", MADE_EARLIER_MS, b"v")])])
        plan = plan_move(table, build_target())
        assert not plan.select_findings("warning")
        moved = next(one for one in plan.findings if one.path == "cells").message
        packed = plan_move(table, build_target("[user][at]", WIDE))
        (finding,) = packed.select_findings("warning")
    problem = finding.message
    start = r"1 of the cells that were read are in no column of the design, such as d:x\x01, and "
    assert f"{start}are moved along unchanged" == moved
    assert f"{start}stay behind: deletes of rows would delete" in problem
    translate = Translator("zh").translate_message
    assert "有 1 个不属于设计中的任何列，例如 d:x" in translate(moved)
    assert "它们会留在旧表：删除行时" in translate(problem)


def test_a_plan_warns_of_a_family_that_keeps_fewer_versions_of_undeclared_cells() -> None:
    """A family without fields that keeps fewer versions in the target is named."""
    families = {"d": {"versions": 3}, "f": {"versions": 3}}
    source = Design("t", KEY, fields=FIELDS, families=families)
    found = compare_designs(
        source, build_target("[at][user][number]", families={"d": {"versions": 3}, "f": {}})
    )
    (warning,) = [one for one in found if one.severity == "warning"]
    assert "the target declares 1 for undeclared cells and others" in warning.message
    assert "families.f.versions" == warning.path


def test_a_plan_stops_sampling_large_rows_at_its_byte_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A plan reads some rows more than its bytes, however many rows it may read."""
    monkeypatch.setattr("rowkey.move.preflight.SAMPLE_BYTES", 5_000)
    monkeypatch.setattr("rowkey.move.preflight.PIECE_ROWS", 2)
    with rowkey.open(SOURCE, "memory:") as table:
        for number in range(40):
            write_row(table, build_row(number, note="n" * 1_000), MADE_EARLIER_MS)
        plan = plan_move(table, build_target())
        assert (40, False) == (plan.rows, plan.is_exact)
        monkeypatch.setattr("rowkey.move.preflight.SAMPLE_BYTES", 500_000)
        assert (40, True) == ((whole := plan_move(table, build_target())).rows, whole.is_exact)
    assert 40 * 1_000 < plan.target_bytes < 1.1 * whole.target_bytes
