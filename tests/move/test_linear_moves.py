"""The operations of several threads on a row fit one order while the row is moved to and fro."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from move.mover_loop import MoverLoop
from table.linear_history import Histories, require_linearizable, switch_threads_often
from table.test_linearizable import open_tables

if TYPE_CHECKING:
    from rowkey.table import Table

MOVES = 1
"""Moves of a short run, after one that was rolled back."""
MANY_MOVES = 40


def play_during_moves(tables: Sequence[Table], url: str, moves: int) -> MoverLoop:
    """Change and read a few rows while they are moved; fail if no order explains what was seen."""
    histories = Histories(list(tables), seed=1)
    with ExitStack() as held:
        held.enter_context(switch_threads_often())
        loop = MoverLoop(tables[0], url)
        held.callback(loop.close)
        while loop.finished < moves:
            loop.check()
            require_linearizable(histories.play())
    return loop


@pytest.mark.parametrize("engine", ["memory", pytest.param("rocks", marks=pytest.mark.long)])
def test_operations_of_eight_threads_are_linearizable_during_moves(engine: str) -> None:
    """All that eight threads see of a row of an embedded engine fits one order during moves."""
    with open_tables(engine) as (url, tables):
        loop = play_during_moves(tables, url, MOVES)
    assert loop.rolled_back


@pytest.mark.long
@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_operations_of_eight_threads_are_linearizable_during_forty_moves(engine: str) -> None:
    """All that eight threads see of a row fits one order during forty moves."""
    with open_tables(engine) as (url, tables):
        assert play_during_moves(tables, url, MANY_MOVES).rolled_back


@pytest.mark.long
def test_operations_of_eight_threads_on_hbase_are_linearizable_during_moves(hbase_url: str) -> None:
    """All that eight threads of one process see of a row of HBase fits one order during moves."""
    with open_tables("hbase", hbase_url) as (url, tables):
        assert play_during_moves(tables, url, MOVES).rolled_back
