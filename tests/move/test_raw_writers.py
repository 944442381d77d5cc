"""A table is moved while programs write it that know nothing of rowkey."""

from __future__ import annotations

import os
import time
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest

import rowkey
from move.mover_loop import build_designs
from move.raw_writers import RawWriters
from rowkey.errors import Conflict
from rowkey.move import Move
from rowkey.table import drop_table
from table.linear_history import FIELDS

if TYPE_CHECKING:
    from cluster import Cluster

CHANGES = 20_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 300
"""Changes that are acknowledged before a step and after it."""


def pause_shortly(seconds: float) -> None:
    """Wait less long for rows that are changed all the time to settle."""
    time.sleep(min(seconds, 0.02))


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 3])
def test_writes_of_the_official_client_before_the_cut_over_are_in_the_new_table(
    number: int, hbase_url: str, hbase_cluster: Cluster
) -> None:
    """All puts, deletes and increments acknowledged before the cut-over are in the new table."""
    name = f"raw.{token_hex(4)}"
    old = rowkey.Design(name, "[id]", fields=FIELDS)
    packed = {one: {**FIELDS[one], "pack": "p"} for one in ("a", "b")}
    new = [
        *build_designs(name),
        rowkey.Design(name, "[bucket(id, 3)][id]", fields={**FIELDS, **packed}),
    ][number]
    try:
        with (
            rowkey.open(old, hbase_url, max_stale=1) as table,
            Move(name, hbase_url, pause=pause_shortly) as move,
        ):
            writers = RawWriters(hbase_cluster, table.design)
            try:
                writers.wait_for(CHANGES)
                if not move.run(new).has_passed:  # rows are changed while they are compared
                    with pytest.raises(Conflict, match="has not passed"):
                        move.cut_over()
                writers.wait_for(CHANGES)
                result = move.cut_over(stop_writers=writers.stop)
            finally:
                writers.stop()
            assert result.primary != name
            found = table.get_many([{"id": row} for row in writers.rows])
            expected = {row: (one.register, one.counter) for row, one in writers.rows.items()}
            values = [None if row is None else (row["a"], row["n"]) for row in found]
            assert not writers.failed
            assert expected == {
                row: one or (None, None) for row, one in zip(writers.rows, values, strict=True)
            }
            assert move.verify().has_passed
            move.finish()
            assert values == [
                None if row is None else (row["a"], row["n"])
                for row in table.get_many([{"id": row} for row in writers.rows])
            ]
            print(number, writers.counts, f"{result.window_s:.2f} s, {result.caught_up} rows")
    finally:
        drop_table(name, hbase_url)
