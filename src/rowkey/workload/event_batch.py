"""Events in the order of their arrival, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa

if TYPE_CHECKING:
    from rowkey.keys import ColumnBatch, Field, FieldColumn, Key

MAX_BATCH_BYTES = 1 << 25
"""Bytes of the events, with their row keys, that are handed on at once."""


@dataclass(slots=True)
class EventBatch:
    """Events in the order of their arrival.

    Args:
        rows: a column for each field that was asked for.
        clock_ms: when each happened or arrived, in milliseconds since 1970; None if nothing tells.
        row_numbers: the number of each among the rows of its file, from 1; None where it has no
            file.
    """

    rows: pa.RecordBatch
    clock_ms: np.ndarray[Any, Any] | None
    row_numbers: np.ndarray[Any, Any] | None = None
    _columns: dict[str, FieldColumn] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def get_column(self, declared_field: Field) -> FieldColumn:
        """Return the values of a field, ready to be encoded; computed once.

        Raises:
            RowError: the events lack the field, or it has no such value.
        """
        from rowkey.keys import build_field_column, build_missing_column_error

        column = self._columns.get(declared_field.name)
        if column is None or column.declared_field.type is not declared_field.type:
            index = self.rows.schema.get_field_index(declared_field.name)
            if index < 0:
                raise build_missing_column_error(declared_field.name, self.rows)
            column = build_field_column(declared_field, self.rows.column(index))
            self._columns[declared_field.name] = column
        return column

    def get_key_columns(self, key: Key) -> ColumnBatch:
        """Return the fields of a row key, ready to be encoded as if every salt were 0.

        Raises:
            RowError: the events lack a field, or it has no such value.
        """
        from rowkey.keys import ColumnBatch

        columns = {name: self.get_column(one) for name, one in key.fields.items()}
        return ColumnBatch(columns, len(self), np.zeros(len(self), np.int64))

    def select_fields(self, names: Sequence[str]) -> EventBatch:
        """Return the events with some of their fields."""
        return EventBatch(self.rows.select(names), self.clock_ms, self.row_numbers)

    def slice(self, start: int, stop: int) -> EventBatch:
        """Return the events from index `start` up to `stop`."""
        rows = self.rows.slice(start, stop - start)
        clock = None if self.clock_ms is None else self.clock_ms[start:stop]
        numbers = None if self.row_numbers is None else self.row_numbers[start:stop]
        return EventBatch(rows, clock, numbers)


def split_events(events: EventBatch, event_bytes: int) -> Iterator[EventBatch]:
    """Return events in batches of at most a bounded number of bytes.

    Args:
        event_bytes: bytes that each of them takes, with its row key.
    """
    max_events = compute_max_events(event_bytes)
    if len(events) <= max_events:
        yield events
        return
    for start in range(0, len(events), max_events):
        yield events.slice(start, min(start + max_events, len(events)))


def compute_max_events(event_bytes: int) -> int:
    """Return how many events are handed on at once.

    Args:
        event_bytes: bytes that each of them takes, with its row key.
    """
    return max(MAX_BATCH_BYTES // max(event_bytes, 1), 1)
