"""Moves of one table to and fro between several designs, in a thread, while a test uses it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import TYPE_CHECKING

import rowkey
from move.foreign_cells import read_foreign, write_foreign
from rowkey.cells import Cell
from rowkey.move import Move
from table.linear_history import FIELDS

if TYPE_CHECKING:
    from rowkey.table import Table

FIRST_FOREIGN, FOREIGN_ROWS = 1 << 50, 20
"""Rows that have a cell of another program, and no other."""
OTHER_FAMILY = {**FIELDS, "a": {"type": "u64", "nullable": True, "family": "e"}}


def build_designs(name: str) -> list[rowkey.Design]:
    """Return designs with the fields of `linear_history`, each with another key or other cells."""
    return [
        rowkey.Design(name, "[id]", fields=OTHER_FAMILY, families={"d": {}, "e": {}}),
        rowkey.Design(name, "[bucket(id, 7)][desc(id)]", fields=FIELDS, splits="per_bucket"),
        rowkey.Design(name, "[bucket(id, 4)][id]", fields=FIELDS, splits="per_bucket"),
    ]


class MoverLoop:
    """Moves a table to one design after the other; every second move is rolled back in between.

    Args:
        table: the open table.
        url: the URL of its engine.
        is_on: whether the table is moved.
    """

    def __init__(self, table: Table, url: str, *, is_on: bool = True) -> None:
        self.table, self.url = table, url
        self.finished = self.rolled_back = 0
        self._is_stopped = not is_on
        self._pool = ThreadPoolExecutor(1)
        self._future: Future[None] = self._pool.submit(self._run)

    def check(self) -> None:
        """Raise the error of the mover if it has ended with one."""
        if self._future.done():
            self._future.result()

    def close(self) -> None:
        """Wait for the last move to end, and raise its error."""
        self._is_stopped = True
        self._pool.shutdown()
        self._future.result()

    def _run(self) -> None:
        """Move the table until the loop is stopped, with cells that no design declares."""
        for number in range(FOREIGN_ROWS):
            row = {"id": FIRST_FOREIGN + number}
            write_foreign(self.table, row, Cell("d", b"x", 1, b"%d" % number))
        foreign = read_foreign(self.table.get_state(), ("id",))
        for design in cycle(build_designs(self.table.design.table)):
            if self._is_stopped:
                return
            with Move.from_table(self.table, self.url) as move:
                found = move.run(design)
                assert found.has_passed, found
                move.cut_over()
                if self.finished % 2 == 0:
                    move.roll_back()
                    self.rolled_back += 1
                    move.cut_over()
                move.finish()
            assert foreign == read_foreign(self.table.get_state(), ("id",))
            self.finished += 1
