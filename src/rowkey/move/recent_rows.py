"""Read what a table got lately, so that a catch-up writes only what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice, pairwise

from rowkey.cells import LATEST, Cell, RowCells
from rowkey.engines import RAW_CELLS, ScanRange, Store

MAX_RECENT_ROWS = 200_000
"""Rows that are remembered, about 100 MB; a catch-up writes further ones again."""
THREADS = 4
"""Regions that are read at the same time on a cluster."""
PIECE_ROWS = 512
"""Rows after which the lock of the mover is checked."""


class RecentRows:
    """The cells of a table whose timestamps are not older than a time, with delete markers.

    Args:
        since_ms: the time, in milliseconds since 1970.
        check: called now and then; an error that it raises ends the read.

    Raises:
        Unavailable: the table does not answer.
    """

    def __init__(self, store: Store, since_ms: int, check: Callable[[], None]) -> None:
        self._rows: dict[bytes, Sequence[Cell]] = {}
        selection = replace(RAW_CELLS, time_range=(since_ms, LATEST))

        def read_range(start: bytes, stop: bytes) -> None:
            (cursor,) = store.scan([ScanRange(start, stop)], selection)
            with cursor:
                rows = iter(cursor)
                while len(self._rows) < MAX_RECENT_ROWS and (piece := [*islice(rows, PIECE_ROWS)]):
                    check()
                    self._rows.update(piece)

        bounds = [*sorted({b"", *store.spec.splits}), b""]
        with ThreadPoolExecutor(THREADS if store.is_shared else 1, "rowkey-recent") as pool:
            futures = [pool.submit(read_range, *one) for one in pairwise(bounds)]
        for one in futures:
            one.result()

    def has_all_cells(self, mutation: RowCells) -> bool:
        """Return whether the table has all cells of a mutation already."""
        cells = self._rows.get(mutation.row)
        if cells is None:
            return False
        return mutation.cells == cells or set(mutation.cells) <= set(cells)
