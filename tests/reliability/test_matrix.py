"""No fault of a stored object gives a wrong answer without an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import rowkey
from ramdisk import RAM_FOLDER
from reliability.matrix import Outcome, list_cells, try_cells
from reliability.scenarios import OBJECTS
from reliability.scenarios.contract import REFUSED, UNAFFECTED
from reliability.scenarios.embedded_table import (
    DESIGN,
    EmbeddedTable,
    compute_rows,
    compute_states,
    describe_difference,
    make_row,
)
from rowkey.engines import SalvageResult

SERVERS = {"catalog-zookeeper", "meta-row"}
"""Objects of which each try waits for seconds, or for a server: in the whole matrix only."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        yield Path(folder)


def list_wrong(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return all silent wrong answers and crashes, each with what repeats it."""
    return [
        {"object": one.object_name, "fault": one.fault_name, **wrong}
        for one in outcomes
        for wrong in one.wrong
    ]


def choose_cells(cells: Sequence[str]) -> list[str]:
    """Return few cells, spread over all, that have each object and each fault."""
    chosen: dict[str, set[str]] = {}
    for cell in cells[::8]:
        names = set(cell.split()[:2])
        if not names <= set().union(*chosen.values()):
            chosen[cell] = names
    return list(chosen)


def test_some_faults_of_each_object_give_right_answers_or_errors(folder: Path) -> None:
    """Some faults of each object, of all types together, give right answers or errors."""
    cells = [cell for cell in list_cells() if cell.split()[0] not in SERVERS]
    chosen = choose_cells(cells)
    outcomes = try_cells(chosen, lambda cell: range(1), folder, workers=1)
    assert [] == list_wrong(outcomes)
    assert {one.object_name for one in outcomes} == OBJECTS.keys() - SERVERS
    assert {one.fault_name for one in outcomes} == {cell.split()[1] for cell in cells}
    for verdict in (UNAFFECTED, REFUSED):
        assert sum(one.count(verdict) for one in outcomes) > 0


def test_a_deleted_row_or_old_value_counts_as_a_wrong_answer() -> None:
    """A deleted row, a replaced value and a row that comes twice are not the acknowledged ones."""
    rows = compute_rows()
    deleted, (replaced, *_) = make_row(12), compute_states()[0]
    assert "" == describe_difference(filter(None, (row for (row,) in rows.values())), rows)
    for wrong in (replaced, deleted):
        assert wrong is not None
        allowed = {wrong["id"]: rows.get(wrong["id"], [None])}
        assert f"row {wrong['id']} is" in describe_difference([wrong], allowed)
        assert "came twice" in describe_difference([wrong, wrong], {wrong["id"]: [wrong]})


def test_a_row_that_a_repair_silently_lost_counts_as_a_wrong_answer(folder: Path) -> None:
    """A row that a repair has not saved is found, unless the repair says that it is lost."""
    rows = compute_rows()
    with rowkey.open(DESIGN, f"rocks:{folder}") as table:
        for number, (row,) in rows.items():
            if row is not None and number != 7:
                table.put(row)
    key = DESIGN.key.encode({"id": 7})
    for lost_rows, problem in (([], "row 7 is None"), ([(key, key)], ""), ([(None, None)], "")):
        saved = SalvageResult("t", 0, 0, lost_rows, [])
        found = EmbeddedTable().check_saved_rows(folder, saved)
        assert (problem, bool(problem)) == (found[: len(problem)], bool(found))
