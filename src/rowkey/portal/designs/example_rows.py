"""Example rows of designs: the first ones of their samples, where these lie in the folder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from rowkey.errors import RowError, RowkeyError
from rowkey.keys import ColumnBatch, Row
from rowkey.workload import open_sample

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.portal.designs.workspace import Workspace


EXAMPLE_COUNT = 5
"""Example rows of a design."""
MAX_ROWS_TRIED = 64
"""Rows of a sample that are tried for some that can be encoded."""
MAX_REMEMBERED = 64
"""Samples whose first rows are remembered."""


class ExampleRows:
    """Reads the first rows of samples, and remembers them until the file changes.

    Args:
        workspace: the folder in which samples may lie.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = Lock()
        self._rows: OrderedDict[Hashable, list[Row]] = OrderedDict()

    def read(self, design: Design) -> list[Row]:
        """Return the first rows of the sample that a design declares, with the fields of its key.

        Returns:
            At most five rows that can be encoded; none if the design declares no sample, or one
            that lies outside of the folder or cannot be read.

        Cost: reads one batch of the sample, some tens of thousands of rows at most.
        """
        path = self._workspace.find_sample(design)
        if path is None:
            return []
        state = path.stat()
        fields = tuple(f"{name} {field.declaration!r}" for name, field in design.key.fields.items())
        version = (path, state.st_mtime_ns, state.st_size, repr(design.sample_format), fields)
        with self._lock:
            if version in self._rows:
                self._rows.move_to_end(version)
                return self._rows[version]
        rows = _read_first_rows(design, path)
        with self._lock:
            self._rows[version] = rows
            while len(self._rows) > MAX_REMEMBERED:
                self._rows.popitem(last=False)
        return rows


def _read_first_rows(design: Design, path: Path) -> list[Row]:
    """Return the first rows of a sample that have a key; none if it cannot be read."""
    fields = design.key.fields
    try:
        sample = open_sample(path, fields, None, design.sample_format).match_columns()
        events = next(iter(sample.read_events()), None)
        if events is None:
            return []
        batch = ColumnBatch.from_batch(events.rows.slice(0, MAX_ROWS_TRIED), list(fields.values()))
        rows = (row for row in batch.iterate_rows(list(fields)) if _has_key(design, row))
        return list(islice(rows, EXAMPLE_COUNT))
    except (RowkeyError, OSError):
        return []


def _has_key(design: Design, row: Row) -> bool:
    """Return whether a row can be encoded."""
    try:
        return bool(design.key.encode(row, salt=0))
    except RowError:
        return False
