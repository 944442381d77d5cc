"""The steps of a move at moments at which they are not expected, in one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from secrets import token_hex
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.catalog import MOVE_ATTRIBUTES
from rowkey.cells import PURGE_DELAY_ATTRIBUTE
from rowkey.errors import Conflict, InvalidArgument, InvalidDesign, Unavailable
from rowkey.move import Move, transfer_table
from rowkey.move.copying import LimitFollower
from rowkey.move.mover_lock import MoverLock
from rowkey.move.switch import SWITCH_STALE_S
from rowkey.table import drop_table
from rowkey.table.row_writer import RowWriter

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "note": "text"}
OLD = rowkey.Design("logs", "[ts][host]", fields=FIELDS)
NEW = rowkey.Design("logs", "[host][ts]", fields=FIELDS)
OTHER = rowkey.Design("logs", "[bucket(host, 4)][host][ts]", fields=FIELDS)
STALE_S = 0.01


@contextmanager
def open_move(stale_s: float = STALE_S) -> Iterator[tuple[Table, Move]]:
    """Open a new table of one row, and its move."""
    url = f"memory:{token_hex(4)}"
    with rowkey.open(OLD, url, max_stale=stale_s) as table:
        table.put({"host": "a", "ts": 1, "note": "x"})
        with Move("logs", url) as move:
            yield table, move


def interrupt(*_arguments: object, **_options: object) -> None:
    """Interrupt a step."""
    raise KeyboardInterrupt


def test_a_start_with_another_design_does_not_use_an_interrupted_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A start that was interrupted leaves a table; a start with another design does not use it."""
    with open_move() as (_, move):
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr("rowkey.move.move_record.MoveRecord.remove_notes", interrupt)
            move.start(NEW)
        with pytest.raises(InvalidDesign, match=r"has a table logs_2 already.*Drop logs_2"):
            move.start(OTHER)
        assert ["logs_2"] == drop_table("logs_2", move.url)
        move.run(OTHER)
        assert str(OTHER.key) == str(move.target.declared_design.key)


def test_a_run_continues_an_interrupted_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run goes on where the start was interrupted, also if it is not given the design."""
    with open_move() as (_, move):
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr("rowkey.move.move.Move._keep_deletes", interrupt)
            move.start(NEW)
        move.run()
        attributes = move.source.store.families_and_attributes[1]
        assert PURGE_DELAY_ATTRIBUTE in attributes
        assert MOVE_ATTRIBUTES & attributes.keys()


def test_an_interrupted_switch_leaves_the_lease_time_of_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After an interrupted cutover and a finish, clients have the lease time of before."""
    monkeypatch.setattr("rowkey.move.move.Move._wait_for_clients", lambda *_: None)
    monkeypatch.setattr("rowkey.move.switch.Switch._wait", lambda *_: None)
    with open_move(stale_s=7.0) as (_, move):
        move.run(NEW)
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr("rowkey.move.switch.Switch._catch_up_before", interrupt)
            move.cut_over()
        assert SWITCH_STALE_S == move.record.read_entry().max_stale_s
        assert "logs_2" == move.finish()
        assert 7.0 == move.record.read_entry().max_stale_s


def test_a_rate_lowered_by_slow_writes_stays_until_a_limit_is_changed() -> None:
    with open_move() as (_, move):
        move.start(NEW)
        move.throttle(rows_per_s=1_000.0, max_p99_ms=10.0)
        with MoverLock(move.record) as lock:
            follower = LimitFollower(move.record, lock)
            list(follower.limit.iterate_slices(range(100)))
            for _ in range(20):
                follower.limit.record_call(1.0)
            lowered = follower.limit.effective_rows_per_s
            assert lowered is not None
            assert lowered <= 500.0
            follower.read_at_s = 0.0
            follower.update()
            assert lowered == follower.limit.effective_rows_per_s
            move.throttle(rows_per_s=2_000.0)
            follower.read_at_s = 0.0
            follower.update()
            assert 2_000.0 == follower.limit.effective_rows_per_s


@pytest.mark.parametrize("limit", [-1.0, 0.0, float("nan"), float("inf")])
def test_an_impossible_copy_limit_is_refused_when_it_is_set(limit: float) -> None:
    """A throttle with an impossible limit is refused, rather than the copy that reads it."""
    with open_move() as (_, move):
        move.start(NEW)
        with pytest.raises(InvalidArgument, match="a number above 0"):
            move.throttle(rows_per_s=limit)
        with pytest.raises(InvalidArgument, match="a number above 0"):
            move.throttle(rows_per_s=None, max_p99_ms=limit)


def test_a_process_waiting_for_a_move_that_ends_gets_a_conflict_error() -> None:
    """A process that waits for the lock of a move is told that the move has ended."""
    with open_move() as (_, move):
        move.run(NEW)
        move.record.change(
            lambda entry: replace(entry, move=entry.move and entry.move.advance(mover="other"))
        )

        def end_move(_: float) -> None:
            move.record.change(lambda entry: replace(entry, move=None))

        move.pause = end_move
        with pytest.raises(Conflict, match="has ended this move"):
            move.verify()


@pytest.mark.parametrize("is_cut_over", [False, True])
def test_after_an_interrupted_finish_only_finish_is_accepted(
    monkeypatch: pytest.MonkeyPatch, *, is_cut_over: bool
) -> None:
    """After an interrupted finish every step but finish is refused, and finish ends the move."""
    with open_move() as (table, move):
        move.run(NEW)
        if is_cut_over:
            move.cut_over()
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr("rowkey.move.move.Move._drop_unread_table", interrupt)
            move.finish()
        for step in (move.run, move.verify, move.cut_over, move.roll_back, move.pause_copy):
            with pytest.raises(Conflict, match="Finish it first"):
                step()
        assert ("logs" if is_cut_over else "logs_2") == move.finish()
        assert 1 == table.count()


def test_finish_does_not_drop_the_only_copy_of_the_rows() -> None:
    """If the table that is read is missing, a finish keeps the other one."""
    with open_move() as (_, move):
        move.run(NEW)
        move.cut_over()
        move.engine.drop_table("logs_2")
        with pytest.raises(Unavailable, match="logs has the only rows"):
            move.finish()
        assert move.engine.has_table("logs")


def test_a_table_that_is_being_moved_is_not_transferred() -> None:
    """A table whose rows are being moved is not transferred, as both keep notes of a copy."""
    with open_move() as (table, move), rowkey.open(NEW, f"memory:{token_hex(4)}") as other:
        move.run(NEW)
        with pytest.raises(Conflict, match="being moved to logs_2"):
            transfer_table(table, other)
        assert ("copied", 0) == (move.status.step, other.count())
        move.cut_over()
        move.finish()
        assert transfer_table(table, other).has_passed


def test_a_verification_waits_while_the_copy_is_paused() -> None:
    """A verification waits with the rows that have changed while the copy is paused."""
    with open_move() as (_, move):
        move.run(NEW)
        move.pause_copy()
        source, row = move.source.get_state(), {"host": "b", "ts": 2, "note": "y"}
        source.apply_changes([source.build_change(RowWriter.build_put, row)])
        is_copying = Event()
        verifier = Thread(target=move.verify, kwargs={"progress": lambda *_: is_copying.set()})
        verifier.start()
        is_copying.wait()
        verifier.join(0.2)
        assert verifier.is_alive()
        move.resume_copy()
        verifier.join()
        assert 2 == sum(one["step"] == "verified" for one in move.status.history)


def test_a_copy_begins_although_a_catch_up_was_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The progress of an interrupted catch-up does not keep the copy from beginning."""
    with open_move() as (_, move):
        move.start(NEW)
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr("rowkey.move.copier.RowCopier._copy_chunk", interrupt)
            move.cut_over(force=True)
        assert move.run().has_passed
        assert "copied" == move.status.step


@pytest.mark.parametrize("is_cut_over", [False, True])
def test_a_repeated_finish_drops_nothing_more(is_cut_over: bool) -> None:
    """A finish after the end of the move drops nothing more, and says which table was dropped."""
    with open_move() as (table, move):
        move.run(NEW)
        if is_cut_over:
            move.cut_over()
        dropped = "logs" if is_cut_over else "logs_2"
        assert [dropped, dropped] == [move.finish(), move.finish(drop=dropped)]
        with pytest.raises(InvalidArgument, match="nothing is not the table that is to be dropped"):
            move.finish(drop="nothing")
        assert 1 == table.count()


def test_a_catalog_given_as_argument_has_the_entries_of_both_tables() -> None:
    """A catalog that is only an argument has the entry of the target too."""
    url, catalog = f"memory:{token_hex(4)}", f"memory:{token_hex(4)}"
    with (
        rowkey.open(OLD, url, catalog=catalog, max_stale=STALE_S) as table,
        Move("logs", url, catalog=catalog) as move,
    ):
        table.put({"host": "a", "ts": 1, "note": "x"})
        assert move.run(NEW).has_passed
        assert ["logs", "logs_2"] == sorted(table.catalog.list_tables())
        move.cut_over()
        assert 1 == table.count()
