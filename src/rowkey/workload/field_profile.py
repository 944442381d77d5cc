"""What events show of each of their fields, whatever the row key is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.schema import FieldFacts
from rowkey.workload.column_summary import ColumnSummary, find_dependencies
from rowkey.workload.reservoir import Reservoir

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.workload.event_batch import EventBatch


class FieldProfile:
    """The facts of each field of some events, and a uniform sample of the events.

    It is made in one pass, in bounded memory. Designs with different row keys share it.

    Args:
        fields: the fields to look at, by name.
        seed: where randomness begins.
        first_event: the number of the first event among those of the whole sample, from 0.

    Attributes:
        max_batch_events: the events of the largest batch that was added.
    """

    def __init__(self, fields: Mapping[str, Field], *, seed: int = 0, first_event: int = 0) -> None:
        self.fields = dict(fields)
        self.seed = seed
        self.max_batch_events = 0
        self._reservoir = Reservoir(seed=seed, first_event=first_event)
        self._columns = {name: ColumnSummary(field) for name, field in self.fields.items()}
        self._facts: Mapping[str, FieldFacts] | None = None
        self._rows: pa.RecordBatch | None = None
        self._values: dict[str, list[Any]] = {}

    def add(self, events: EventBatch) -> None:
        """Add the next events."""
        self._forget_results()
        self.max_batch_events = max(self.max_batch_events, len(events))
        self._reservoir.offer(events.rows)
        for column in self._columns.values():
            column.add(events.get_column(column.field))

    def merge(self, later: FieldProfile) -> None:
        """Add the profile of later events of the same sample."""
        self._forget_results()
        self.max_batch_events = max(self.max_batch_events, later.max_batch_events)
        self._reservoir.merge(later._reservoir)
        for name, column in self._columns.items():
            column.merge(later._columns[name])

    def _forget_results(self) -> None:
        """Drop what was computed from fewer events."""
        self._facts = self._rows = None
        self._values = {}

    def is_equal_for(self, fields: Mapping[str, Field], time: Field | None, seed: int) -> bool:
        """Return whether the same rows of a file, read with other fields, have this profile.

        Args:
            fields: the fields with which the rows are read.
            time: the field of the events' times, which cannot be null; None if there is none.
            seed: where randomness begins.
        """
        has_same_events = time is None or not time.nullable
        return (
            has_same_events
            and seed == self.seed
            and _list_identities(fields) == (_list_identities(self.fields))
        )

    @property
    def event_count(self) -> int:
        """Return how many events there are."""
        return self._reservoir.event_count

    @property
    def facts(self) -> Mapping[str, FieldFacts]:
        """Return the measured facts of each field, however few the events."""
        if self._facts is None:
            self._facts = self._measure_facts()
        return self._facts

    def _measure_facts(self) -> dict[str, FieldFacts]:
        if not self.event_count:
            return {}
        determining_fields = find_dependencies(self.rows, list(self.fields))
        return {
            name: column.build_facts(
                self.rows.column(name), determining_fields[name], is_exact=self._reservoir.is_exact
            )
            for name, column in self._columns.items()
        }

    @property
    def row_numbers(self) -> np.ndarray[Any, Any]:
        """Return the number of each of `rows` among all events, from 0."""
        return self._reservoir.collect_positions()

    @property
    def rows(self) -> pa.RecordBatch:
        """Return a uniform sample of the events, in the order of their arrival."""
        if self._rows is None:
            self._rows = self._reservoir.collect_rows()
        return self._rows

    def list_values(self, name: str) -> list[Any]:
        """Return the distinct values of a field in the sampled events; empty without the field."""
        if name not in self._values:
            has_field = name in self.rows.schema.names
            self._values[name] = self._read_values(name) if has_field else []
        return self._values[name]

    def _read_values(self, name: str) -> list[Any]:
        """Return the distinct values of a field."""
        from rowkey.keys import build_field_column

        column, field = self.rows.column(name).unique().drop_null(), self.fields[name]
        # Python's own times know no nanoseconds.
        if field.type.has_integer_form:
            return build_field_column(field, column).to_list()
        return list(column.to_pylist())


def _list_identities(fields: Mapping[str, Field]) -> list[tuple[object, ...]]:
    """Return what decides the values of each field, which its heavy values do not."""
    return [
        (name, one.nullable, one.declaration.model_copy(update={"heavy": ()}))
        for name, one in fields.items()
    ]
