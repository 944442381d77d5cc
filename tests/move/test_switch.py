"""A cut-over takes over what clients and movers that have died, and other writers, left behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

import rowkey
from rowkey.catalog import CatalogEntry, MovePhase
from rowkey.errors import Conflict
from rowkey.move import Move
from rowkey.move.switch import Switch

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {"id": "u64", "note": "text"}
OLD = rowkey.Design("notes", "[id]", fields=FIELDS)
NEW = rowkey.Design("notes", "[bucket(id, 4)][id]", fields=FIELDS)
ROW = {"id": 1, "note": "new"}
MAX_LEASE_WAIT_S = 1.5
"""Seconds for which clients may wait for each other to notice a switch."""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Table, Move]]:
    """Return a table with a row, and its move, which has copied it."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=0.02) as table, Move("notes", url) as move:
        table.put({"id": 1, "note": "old"})
        assert move.run(NEW).has_passed
        yield table, move


def write_source(move: Move) -> None:
    """Write the row to the source only."""
    state = move.source.get_state()
    state.apply_changes([state.build_change(type(state.writer).build_put, ROW)])


def test_a_change_that_reached_only_the_source_is_copied_before_verification(
    opened: tuple[Table, Move],
) -> None:
    """A change that reached the source only, as of a client that died, is no difference."""
    _, move = opened
    write_source(move)
    assert move.verify().has_passed


def test_a_copy_is_verified_once_other_writers_have_stopped(opened: tuple[Table, Move]) -> None:
    """A copy that other writers kept from passing is verified when they have stopped."""
    table, move = opened
    move.record.write_note("move.verification", {"has_passed": False})
    with pytest.raises(Conflict, match="has not passed"):
        move.cut_over()
    move.cut_over(stop_writers=lambda: write_source(move))
    assert ROW == table.get(id=1)


def test_a_switch_of_a_killed_mover_is_repeated_by_the_next(opened: tuple[Table, Move]) -> None:
    """A mover that died while clients waited does not keep the next one from switching."""
    table, move = opened

    def begin(entry: CatalogEntry) -> CatalogEntry:
        assert entry.move is not None
        return replace(entry, move=entry.move.advance(phase=MovePhase.SWITCHING))

    move.record.change(begin)
    assert "notes_2" == move.cut_over().primary
    assert {"id": 1, "note": "old"} == table.get(id=1)


def test_a_switch_lasts_no_longer_for_clients_with_long_leases(tmp_path: Path) -> None:
    """A switch lasts no longer for clients that may go on without the catalog for a minute."""
    url, waits_s = f"memory:{tmp_path}", defaultdict[str, list[float]](list)

    def note_wait(_: Switch, step: str, seconds: float) -> None:
        waits_s[step].append(seconds)

    with (
        rowkey.open(OLD, url) as table,
        patch.object(Move, "_wait_for_clients"),
        patch.object(Switch, "_wait", note_wait),
        Move("notes", url) as move,
    ):
        usual_s = table.tracker.lease.max_stale_s
        move.run(NEW)
        move.cut_over()
        entry = move.record.read_entry()
    assert waits_s["prepare"][0] > usual_s
    assert waits_s["switch"][0] <= MAX_LEASE_WAIT_S
    assert (usual_s, usual_s) == (entry.max_stale_s, entry.longest_stale_s)
