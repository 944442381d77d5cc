"""What a crash leaves in one table only is mended when the step is taken again."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

import rowkey
from move.test_sleeping_clients import BEFORE, KEY, NEW, OLD, PUT, STALE_S, read_both
from rowkey.cells import PURGE_DELAY_ATTRIBUTE
from rowkey.errors import Conflict, InvalidArgument
from rowkey.move import Move
from rowkey.move.copying import CatchUp
from rowkey.move.mover_lock import MoverLock
from rowkey.table import drop_table
from rowkey.table.row_writer import RowWriter
from rowkey.table.table_location import KEEP_ALL_DELETES


def test_a_verification_repairs_what_a_killed_client_wrote_to_one_table(tmp_path: Path) -> None:
    """A client that dies between its two writes does not make the verification fail for good."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table, Move("logs", url) as move:
        table.put(BEFORE)
        assert move.run(NEW).has_passed
        source = move.source.get_state()
        source.apply_changes([source.build_change(RowWriter.build_put, PUT)])
        assert [BEFORE, PUT] == read_both(move)[::-1]
        assert move.verify().has_passed
        assert [PUT, PUT] == read_both(move)


def test_a_catch_up_does_not_rewrite_rows_that_are_in_both_tables(tmp_path: Path) -> None:
    """A row that its client has written to both tables is not written again."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table, Move("logs", url) as move:
        assert move.run(NEW).has_passed
        table.put(BEFORE)
        source, target = move.source.get_state(), move.target.get_state()
        with MoverLock(move.record) as lock:
            catch_up = CatchUp(source, target, lock)
            source.apply_changes([source.build_change(RowWriter.build_put, PUT)])
            with patch.object(target.writer, "send_mutations", wraps=target.writer.send_mutations):
                assert 1 == catch_up.run()
                sent = target.writer.send_mutations.call_args_list  # type: ignore[attr-defined]
            assert [PUT, PUT] == read_both(move)
            with patch.object(target.writer, "send_mutations", side_effect=AssertionError):
                CatchUp(source, target, lock).run()
    assert [1] == [len(one.args[0]) for one in sent]


def test_a_move_announced_by_a_killed_process_is_continued_by_the_next(tmp_path: Path) -> None:
    """A mover that dies right after the announcement is followed by one that does the rest."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table, Move("logs", url) as move:
        table.put(BEFORE)
        with (
            patch.object(Move, "_keep_deletes", side_effect=OSError("killed")),
            pytest.raises(OSError, match="killed"),
        ):
            move.start(NEW)
        move.start(NEW)
        attributes = move.source.store.families_and_attributes[1]
        assert KEEP_ALL_DELETES == attributes[PURGE_DELAY_ATTRIBUTE]


@pytest.mark.parametrize("name", ["logs", "logs_2"])
def test_a_table_is_not_dropped_while_the_finish_of_its_move_is_interrupted(
    name: str, tmp_path: Path
) -> None:
    """The source would be left, and no command would name it; after the end nothing is left."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table:
        table.put(BEFORE)
        with Move("logs", url) as move:
            move.run(NEW)
            move.cut_over()
            with (
                patch.object(Move, "_drop_unread_table", side_effect=OSError("killed")),
                pytest.raises(OSError, match="killed"),
            ):
                move.finish()
            with pytest.raises(InvalidArgument, match="first: rowkey move finish logs"):
                drop_table(name, url)
            assert BEFORE == table.get(KEY)
            move.finish()
            assert ["logs_2"] == drop_table(name, url)
            assert [False, False] == [*map(move.engine.has_table, ("logs", "logs_2"))]


def test_the_source_of_an_interrupted_finish_is_dropped_if_the_target_is_lost(
    tmp_path: Path,
) -> None:
    """The name stands for the table that is there."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S), Move("logs", url) as move:
        move.run(NEW)
        move.cut_over()
        with (
            patch.object(Move, "_drop_unread_table", side_effect=OSError("killed")),
            pytest.raises(OSError, match="killed"),
        ):
            move.finish()
        move.engine.drop_table("logs_2")
        assert ["logs"] == drop_table("logs", url)


def test_an_interrupted_finish_is_completed_by_another_process(tmp_path: Path) -> None:
    """Another mover ends a move whose `finish` was interrupted; no other move begins before."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=STALE_S) as table:
        table.put(BEFORE)
        with Move("logs", url) as move:
            move.run(NEW)
            move.cut_over()
            with (
                patch.object(Move, "_restore_attributes", side_effect=OSError("killed")),
                pytest.raises(OSError, match="killed"),
            ):
                move.finish()
        with Move("logs", url) as other:
            with pytest.raises(Conflict, match="was being finished"):
                other.start(OLD)
            assert "logs" == other.finish()
        assert BEFORE == table.get(KEY)
        assert PURGE_DELAY_ATTRIBUTE not in table.store.families_and_attributes[1]
        with Move("logs", url) as last, pytest.raises(InvalidArgument, match="is finished"):
            last.roll_back()
