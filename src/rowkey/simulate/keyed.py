"""Rows of a sample that can have a row key: the others are left out, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import RowError
from rowkey.workload import Events, split_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from rowkey.keys import Key
    from rowkey.workload import Sample


class Keyed:
    """A sample without the rows that its row key refuses: too long, empty, out of range.

    Args:
        key: the bound row key.
        sample: the sample; what is left out is noted there.

    Cost: the first pass encodes every row, later ones only if a row was refused.
    """

    def __init__(self, key: Key, sample: Sample) -> None:
        self.key = key
        self.sample = sample
        self._refuses = not key.is_coded

    def events(self) -> Iterator[Events]:
        """The events in the order of the file."""
        if not self._refuses:
            yield from self._split()
            return
        first, refused = 0, False
        for events in self._split():
            if self._fits(events.rows):
                yield events
            else:
                refused = True
                yield from self._fitting(events, first)
            first += len(events)
        self._refuses = refused

    def _split(self) -> Iterator[Events]:
        """The events of the sample, few enough at once for the length of their keys."""
        for events in self.sample.events():
            yield from split_events(events, self.key.least_bytes)

    def _fits(self, rows: pa.RecordBatch) -> bool:
        """Whether every row has a key."""
        import numpy as np

        try:
            self.key.encode_valid_batch(rows, salts=np.zeros(rows.num_rows, np.int64))
        except RowError:
            return False
        return True

    def _fitting(self, events: Events, first: int) -> Iterator[Events]:
        """The rows of one batch that have a key."""
        import numpy as np
        import pyarrow as pa

        from rowkey.keys import Columns

        columns = Columns.of(events.rows, list(self.key.fields.values()))
        kept = np.ones(len(events), np.bool_)
        for index, row in enumerate(columns.rows(list(self.key.fields))):
            try:
                self.key.encode(row, salt=0)
            except RowError as problem:
                kept[index] = False
                what = problem.mistake.what
                self.sample.left_out.note(1, f"event {first + index + 1} has no key: {what}")
        if kept.any():
            clock = None if events.clock_ms is None else events.clock_ms[kept]
            yield Events(events.rows.filter(pa.array(kept)), clock)
