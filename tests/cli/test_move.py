"""The command `move` moves a table in use, and says at each step what comes next."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import rowkey
from cli.command import Outcome, run
from rowkey.cells import Cell, CellType, RowCells
from rowkey.engines import CellSelection, ScanRange
from rowkey.move import Move
from rowkey.render import (
    MOVE_PLAN_FIELDS,
    MOVE_STATUS_FIELDS,
    MOVE_SWITCH_FIELDS,
    MOVE_VERIFICATION_FIELDS,
    list_paths,
)

PLACE_OPTION = ("--on", "rocks:data")
SHORT_WATCH = ("--every", "100ms", "--for", "100ms")


@pytest.fixture
def designs_folder(things_folder: Path) -> Path:
    """Return the current folder, with a table of five rows and a new design for it."""
    text = (things_folder / "things.toml").read_text()
    (things_folder / "new.toml").write_text(text.replace("bucket(host, 4)", "bucket(host, ts, 8)"))
    return things_folder


def move(*words: object) -> Outcome:
    """Run a step of the move."""
    return run("move", *words, *PLACE_OPTION)


def scan(name: str) -> list[str]:
    """Return all rows of a table."""
    return sorted(run("scan", name, *PLACE_OPTION, "-f", "jsonl").out.splitlines())


def read_document(fields: dict[str, str], *words: object) -> dict[str, Any]:
    """Return the JSON document of a step, whose fields are all described."""
    document: dict[str, Any] = json.loads(move(*words, "-f", "json").out)
    patterns = [re.escape(path).replace(r"\*", r"[^.]+") for path in fields]
    allowed = re.compile("|".join([*patterns, "verification"]))
    assert [] == [path for path in list_paths(document) if not allowed.fullmatch(path)]
    return document


def test_a_move_takes_four_commands_and_each_names_the_next(designs_folder: Path) -> None:
    """A table is planned, copied, cut over and finished, and each step names the next."""
    del designs_folder
    rows = scan("things")
    assert "Next: rowkey move plan things NEW --on rocks:data\n" == move("status", "things").err
    planned = move("plan", "things.toml", "new.toml")
    assert (0, "things: 5 rows to things_2") == (planned.code, planned.out.split(";")[0])
    assert "Next: rowkey move run things.toml new.toml --on rocks:data\n" == planned.err
    found = move("run", "things.toml", "new.toml", "--rows", "20000/s", "--max-p99", "50ms")
    assert (0, "things: 5 rows are equal in things_2\n") == (found.code, found.out)
    assert "Next: rowkey move cutover things --on rocks:data\n" == found.err
    assert "20,000 rows/s, 99 of 100 writes within 50 ms" in move("status", "things_2").out
    limits = move("throttle", "new.toml", "--rows", "none").out
    assert "things: limits of the copy: 99 of 100 writes within 50 ms\n" == limits
    assert move("pause", "things").out.endswith(", paused\n")
    assert limits == move("resume", "things").out
    assert rows == scan("things") == scan("things.toml") == scan("new.toml") == scan("things_2")
    switched = move("cutover", "things", "--stop-writers", "touch stopped")
    assert (0, True) == (switched.code, "things_2 is read now" in switched.out)
    assert "Next: rowkey move finish things --drop-old --on rocks:data, or " in switched.err
    assert rows == scan("things") == scan("things.toml") == scan("new.toml") == scan("things_2")
    ended = move("finish", "things", "--drop-old", "--yes", "things")
    assert (0, "things: dropped\n") == (ended.code, ended.out)
    assert rows == scan("things") == scan("new.toml") == scan("things_2")
    for name in ("things", "things_2", "new.toml"):
        verified = run("verify", name, *PLACE_OPTION)
        assert (0, "things_2: sound") == (verified.code, verified.out.split(";")[0])
    assert run("verify", *PLACE_OPTION).out.startswith("things_2: sound")
    assert 0 == run("repair", *PLACE_OPTION).code
    repaired = run("repair", "new.toml", *PLACE_OPTION)
    assert (0, "things: the catalog entry agrees with the table\n") == (
        repaired.code,
        repaired.out,
    )
    old = run("repair", "things.toml", *PLACE_OPTION, "--yes")
    assert (2, True) == (old.code, "The rows of things were moved to things_2" in old.err)
    assert 'table  = "things_2"' in run("describe", "things", *PLACE_OPTION).out
    assert "things_2  [bucket" in run("live", "things", *PLACE_OPTION, *SHORT_WATCH).out
    told = move("status", "things").out
    assert ["finished", "things_2"] == [line.split()[-1] for line in told.splitlines()[1:3]]
    assert "finished; things is dropped" in told
    kept = run("drop", "new.toml", *PLACE_OPTION, "--yes", "things")
    assert (2, True) == (kept.code, "things_2 is not dropped: 'things' is not" in kept.err)
    dropped = run("drop", "new.toml", *PLACE_OPTION, "--yes", "things_2")
    assert (0, "things_2: dropped\n") == (dropped.code, dropped.out)


def test_the_json_of_each_move_step_has_the_documented_fields(designs_folder: Path) -> None:
    """Each JSON document has the fields of the reference, and the next command."""
    plan = read_document(MOVE_PLAN_FIELDS, "plan", "things", "new.toml")
    assert (True, 5, True) == (plan["possible"], plan["rows"], plan["exact"])
    found = read_document(MOVE_VERIFICATION_FIELDS, "run", "things", "new.toml")
    assert (True, ["rowkey move cutover things --on rocks:data"]) == (
        found["passed"],
        found["next"],
    )
    sample = read_document(MOVE_VERIFICATION_FIELDS, "verify", "things", "--share", "50%")
    assert (True, 0.5) == (sample["passed"], sample["share"])
    assert "things_2" == read_document(MOVE_SWITCH_FIELDS, "cutover", "things")["read"]
    assert "things" == read_document(MOVE_SWITCH_FIELDS, "rollback", "things")["read"]
    status = read_document(MOVE_STATUS_FIELDS, "status", "things")
    steps = ["announced", "copied", "verified", "verified", "switched", "switched"]
    assert steps == [one["step"] for one in status["history"]]
    ended = read_document(MOVE_STATUS_FIELDS, "finish", "things", "--drop-new", "--yes", "things_2")
    assert ("none", "things") == (ended["step"], ended["read"])
    assert not (designs_folder / "data" / "things_2").exists()


def test_a_row_lost_in_the_new_table_is_listed_and_can_be_repaired(designs_folder: Path) -> None:
    """A row that is lost in the new table is listed with exit code 3, and can be repaired."""
    del designs_folder
    assert 0 == move("run", "things", "new.toml").code
    with Move("things", "rocks:data") as opened:
        store = opened.target.store
        (cursor,) = store.scan([ScanRange()], CellSelection(limit=1))
        with cursor:
            lost = next(iter(cursor))
        deletes = [one._replace(cell_type=CellType.DELETE, value=b"") for one in lost.cells]
        store.mutate([RowCells(lost.row, deletes)])
    found = move("verify", "things")
    assert (3, "things: 1 row of 5 not equal in things_2: 1 missing") == (
        found.code,
        found.out.splitlines()[0],
    )
    assert "missing: host=" in found.out.splitlines()[1]
    assert "Next: rowkey move verify things --repair --on rocks:data\n" == found.err
    refused = move("cutover", "things")
    assert (2, True) == (refused.code, "has not passed a verification" in refused.err)
    repaired = move("verify", "things", "--repair")
    assert (0, "things: 1 row repaired\nthings: 5 rows are equal in things_2\n") == (
        repaired.code,
        repaired.out,
    )


def test_an_interrupted_move_step_is_continued_by_the_same_command(designs_folder: Path) -> None:
    """A step that Ctrl-C ends says so and exits with 130; the same command goes on."""
    del designs_folder
    rows = scan("things")
    for words in (
        ("run", "things", "new.toml"),
        ("cutover", "things"),
        ("finish", "things", "--drop-old", "--yes", "things"),
    ):
        with (
            patch("rowkey.move.move.Move._wait_for_clients", side_effect=KeyboardInterrupt),
            patch("rowkey.move.switch.Switch._wait", side_effect=KeyboardInterrupt),
        ):
            ended = move(*words)
        assert (130, "") == (ended.code, ended.out)
        assert "no row is lost. The same command goes on: rowkey move " in ended.err
        assert rows == scan("things")
        next_step = move("status", "things").err
        assert f"Next: rowkey move {words[0]} things" in next_step
        assert 0 == move(*words).code
        assert rows == scan("things")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "things"), "the new design is missing"),
        (("status", "things", "new.toml"), "move status takes one table"),
        (("throttle", "things"), "the limit is missing"),
        (("throttle", "things", "--rows", "fast"), "'fast' is not a rate"),
        (("throttle", "things", "--rows", "0/s"), "0/s copies nothing"),
        (("verify", "things", "--share", "0%"), "'0%' is not a share"),
        (("run", "things", "--force"), "--force belongs to move cutover"),
        (("finish", "things"), "the table to drop is not given. Give --drop-old after a cutover"),
        (("finish", "things", "--drop-old", "--drop-new"), "two tables to drop are given"),
        (("start", "things"), "Invalid value for 'STEP': 'start' is not one of 'plan', 'run'"),
        (("plan", "new.toml", "things.toml"), "the table comes first, then the new design"),
        (("run", "new.toml", "things.toml"), "the table comes first, then the new design"),
        (("run", "things", "things.toml"), "the target has the design of the table"),
        (("cutover", "things"), "no move of the table things is under way"),
        (("run", "nothing", "new.toml"), "there is no table nothing"),
        (("finish", "things", "--drop-old"), "the old table, things, is the one that clients read"),
        (("finish", "things", "--drop-new"), "things_2 is not dropped: no name was typed"),
        (("cutover", "things", "--stop-writers", "exit 7"), "the command exited with 7"),
    ],
)
def test_a_move_step_with_a_wrong_argument_fails_and_names_the_mistake(
    designs_folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    """A step that is called wrongly, or whose command fails, prints nothing but the error."""
    if arguments[0] in ("throttle", "verify") or arguments[2:] in [
        ("--drop-old",),
        ("--drop-new",),
        ("--stop-writers", "exit 7"),
    ]:
        with Move("things", "rocks:data") as opened:
            opened.start(rowkey.Design.read(designs_folder / "new.toml"))
            opened.record.write_note("move.verification", {"has_passed": True})
    found = move(*arguments)
    assert (4 if "--stop-writers" in arguments else 2, "") == (found.code, found.out)
    assert message in found.err


def test_a_move_step_at_the_wrong_time_names_the_next_command(designs_folder: Path) -> None:
    """A step that comes too late, or a plan during a move, names the table and the next command."""
    text = (designs_folder / "new.toml").read_text()
    (designs_folder / "third.toml").write_text(text.replace("host, ts, 8", "host, ts, 16"))
    assert 0 == move("run", "things", "new.toml").code
    planned = move("plan", "things", "third.toml")
    assert (1, True) == (planned.code, "rowkey move status things says" in planned.out)
    assert "Next: rowkey move cutover things --on rocks:data\n" == planned.err
    other = move("run", "things", "third.toml").err
    assert "give the move up: rowkey move finish things --drop-new." in other
    assert 0 == move("cutover", "things").code
    other = move("run", "things", "third.toml").err
    assert "rowkey move rollback things, then rowkey move finish things --drop-new." in other
    assert "rowkey move finish things --drop-old" in move("run", "things", "new.toml").err
    for _ in range(2):  # a finish may be repeated
        done = move("finish", "things", "--drop-old", "--yes", "things")
        assert (0, "things: dropped\n") == (done.code, done.out)
    assert 2 == move("finish", "things", "--drop-old", "--yes", "things_2").code
    for step in ("rollback", "cutover", "run"):
        late = move(step, "things")
        assert (2, True) == (late.code, "the move of things to things_2 is finished" in late.err)
        assert "rowkey move run things_2 OLD_DESIGN" in late.err


def test_a_move_step_after_a_killed_process_says_why_it_waits(designs_folder: Path) -> None:
    """A step that waits until it knows whether another process works on the move says so."""
    del designs_folder
    assert 0 == move("run", "things", "new.toml").code
    with Move("things", "rocks:data") as opened:
        opened.record.change(
            lambda entry: replace(entry, move=entry.move and entry.move.advance(mover="dead"))
        )
    with patch("rowkey.move.Move.verify", side_effect=KeyboardInterrupt):
        found = move("verify", "things")
    notice = "things: another process works on the move, or it has died"
    assert (130, True) == (found.code, found.err.startswith(notice))


def test_a_move_to_a_design_that_cannot_hold_the_rows_creates_nothing(designs_folder: Path) -> None:
    """A design that cannot hold the rows is refused with exit code 1, and nothing is created."""
    text = (designs_folder / "new.toml").read_text()
    (designs_folder / "new.toml").write_text(
        text.replace("bucket(host, ts, 8)][host][desc(ts)", "bucket(host, 8)][host")
    )
    found = move("plan", "things", "new.toml")
    assert 1 == found.code
    assert "blocking: key: ts identifies rows" in found.out
    assert 2 == move("run", "things", "new.toml").code
    assert "no move is under way" in move("status", "things").out


def write_foreign_cells(table: str, *cells: Cell, row_key: bytes | None = None) -> None:
    """Write cells to the first row of a table, or to another row key, without rowkey."""
    with Move("things", "rocks:data") as opened:
        store = opened.engine.open_table(table)
        (cursor,) = store.scan([ScanRange()], CellSelection(limit=1))
        with cursor:
            row = next(iter(cursor))
        store.mutate([RowCells(row.row if row_key is None else row_key, list(cells))])


def test_cells_of_no_column_are_moved_and_dropped_only_by_consent(designs_folder: Path) -> None:
    """Cells of no column are moved or named by each step, and dropped only by a consent."""
    del designs_folder
    write_foreign_cells("things", Cell("d", b"foreign", 5, b"x"))
    write_foreign_cells("things", Cell("d", b"x", 5, b"y"), row_key=b"\xff")
    planned = move("plan", "things", "new.toml").out
    assert "note: cells: 1 of the cells that were read" in planned
    assert "d:x, and stay behind: the design cannot read the row" in planned
    told = "1 cell of column d:x, such as in row key ff: the design cannot read the row"
    found = move("run", "things", "new.toml")
    assert 0 == found.code
    assert f"things: stays behind: {told}\n" in found.out
    assert "things: 5 rows and 1 undeclared cell are equal in things_2" in found.out
    staying = [{"column": "d:x", "cells": 1, "reason": told.split(": ")[1], "row_key": "ff"}]
    assert f"\nstays     {told}\n" in move("status", "things").out
    assert staying == read_document(MOVE_STATUS_FIELDS, "status", "things")["staying"]
    verified = read_document(MOVE_VERIFICATION_FIELDS, "verify", "things")
    assert ({"source": 1, "target": 1}, staying) == (verified["undeclared"], verified["staying"])
    assert f"things: stays behind: {told}\n" in move("cutover", "things").out
    write_foreign_cells("things", Cell("d", b"late", 5, b"y"))
    finish = ("finish", "things", "--drop-old", "--yes", "things")
    consents = ("--consent", "drop 1 cell of column d:x", "--consent", "drop 2 cells of column d:x")
    refused = move(*finish, *consents)
    assert 2 == refused.code
    assert "things is not dropped: only it has 1 cell of column d:late" in refused.err
    assert "expected 'drop 1 cell of column d:late'. " in refused.err
    assert 0 == move(*finish, *consents, "--consent", "drop 1 cell of column d:late").code
    assert "consented: 2 cells" in move("status", "things").out


def test_a_waiting_step_of_a_paused_copy_says_how_to_go_on(designs_folder: Path) -> None:
    """A run that waits because the copy was paused tells how it goes on."""
    with Move("things", "rocks:data") as opened:
        opened.start(rowkey.Design.read(designs_folder / "new.toml"))
        opened.pause_copy()
    with patch("rowkey.move.move.Move.run", side_effect=KeyboardInterrupt):
        found = move("run", "things")
    assert "The copy is paused.\nNext: rowkey move resume things --on rocks:data" in found.err


def test_a_row_that_cannot_be_decoded_fails_the_verification_of_a_move(
    designs_folder: Path,
) -> None:
    """A row of no design is left out and keeps the verification from passing, with its key."""
    with Move("things", "rocks:data") as opened:
        opened.start(rowkey.Design.read(designs_folder / "new.toml"))
        slot = opened.source.declared_design.layout.slots[0]
        cell = Cell(slot.family, slot.qualifier, 1, b"y")
        opened.source.store.mutate([RowCells(b"\xff", [cell])])
    found = move("run", "things")
    lines = found.out.splitlines()
    assert (3, True) == (found.code, "the copy left out 1 row that a design" in lines[0])
    assert "things: 5 rows compared with things_2, some could not be" == lines[3]
    assert "1 row of things cannot be read; row key ff: " in lines[4]


def test_a_table_is_moved_to_another_engine(designs_folder: Path) -> None:
    """Rows and what changes later are copied and compared; both tables stay apart."""
    words = ("run", "things", "new.toml", "--to", f"rocks:{designs_folder / 'other'}")
    for _ in range(2):
        copied = move(*words)
        assert 0 == copied.code, copied.err
        assert "things on rocks:data: 5 rows are equal in things on rocks:" in copied.out
    document = json.loads(move(*words, "-f", "json").out)
    assert (True, []) == (document["passed"], document["next"])
    assert "no move is under way" in move("status", "things").out
    for place, problem in (("rocks:data", "the table is on this engine"), ("memory:", "are lost")):
        refused = move("run", "things", "new.toml", "--to", place)
        assert (2, True) == (refused.code, problem in refused.err)
    assert 2 == move("verify", "things", "--to", "rocks:other").code
