"""Time fields that are stored in the timestamps of an event's cells.

The timestamps of other rows are those of `engines/ordering/row_clock.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.cells import LATEST
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys import Field
from rowkey.schema import NANOSECONDS, Value

MILLISECOND_NS = NANOSECONDS["ms"]


class CellTimestamp:
    """Converts between a time field and the timestamp of an event's cells.

    Args:
        field: a field of times.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        tick = field.type.unit_ns or MILLISECOND_NS
        # Either a unit of the field is whole milliseconds, or a millisecond whole units.
        self.ms_per_unit, self.units_per_ms = (
            max(tick // MILLISECOND_NS, 1),
            max(MILLISECOND_NS // tick, 1),
        )

    def compute_timestamp(self, row: Mapping[str, Any]) -> int:
        """Return the timestamp of a row's cells, in milliseconds since 1970.

        Raises:
            RowError: the row has no time, or one that is not a valid cell timestamp.
        """
        value = row.get(self.field.name)
        if value is None:
            what = "the row has no value for this field, which is the timestamp of its cells"
            remedy = f"Give a time for {self.field.name}."
            raise RowError(f"field {self.field.name}", what, f"a {self.field.type.name}", remedy)
        return self._to_milliseconds(int(self.field.to_internal(value)))

    def _to_milliseconds(self, number: int) -> int:
        """Return a cell timestamp, in milliseconds since 1970, from a time in the field's unit.

        Raises:
            RowError: the time is not in whole milliseconds, or HBase cannot store it.
        """
        milliseconds, rest = divmod(number * self.ms_per_unit, self.units_per_ms)
        if rest:
            raise self._build_precision_error(number)
        if not 0 <= milliseconds < LATEST:
            raise self._build_range_error(milliseconds)
        return milliseconds

    def _build_precision_error(self, number: int) -> RowError:
        shown = self.field.type.format_value(self.field.type.from_internal(number))
        what = f"{shown} is finer than the timestamp of a cell, which has milliseconds"
        return RowError(f"field {self.field.name}", what, "whole milliseconds", "Round the time.")

    def _build_range_error(self, milliseconds: int) -> RowError:
        what = f"{milliseconds} ms is not a valid timestamp of a cell"
        return RowError(
            f"field {self.field.name}", what, f"0 to {LATEST - 1} milliseconds since 1970"
        )

    def decode_timestamp(self, milliseconds: int) -> Value:
        """Return the time field's value from the timestamp of a cell.

        Raises:
            InvalidArgument: the field has no such value.
        """
        number, rest = divmod(milliseconds * self.units_per_ms, self.ms_per_unit)
        low, high = self.field.type.number_range
        if rest or not low <= number <= high:
            raise self._build_invalid_timestamp_error(milliseconds)
        return self.field.type.from_internal(number)

    def _build_invalid_timestamp_error(self, milliseconds: int) -> InvalidArgument:
        kind = self.field.type.name
        what = f"the cell timestamp {milliseconds} ms stores this field, but is not a valid {kind}"
        multiple = f"a multiple of {self.ms_per_unit:,} ms " if self.ms_per_unit > 1 else "a time "
        return InvalidArgument("", what, f"{multiple}in the range of {kind}")

    def compute_timestamps(self, array: pa.Array) -> np.ndarray[Any, Any]:
        """Return the cell timestamps of many rows from the column of the time field.

        Raises:
            RowError: a row has no time, or one that is not a valid cell timestamp.
        """
        from rowkey.keys import build_field_column, refuse_nulls

        column = build_field_column(self.field, array)
        numbers = np.asarray(column.values, np.int64)
        if column.codes is not None:
            refuse_nulls(self.field.name, column.codes >= 0)
            numbers = numbers.take(column.codes)
        if (odd := numbers % self.units_per_ms != 0).any():
            raise self._build_precision_error(int(numbers[odd.argmax()]))
        for extreme in (int(numbers.min()), int(numbers.max())) if len(numbers) else ():
            self._to_milliseconds(extreme)
        return numbers * self.ms_per_unit // self.units_per_ms

    def decode_timestamps(self, milliseconds: np.ndarray[Any, Any]) -> pa.Array:
        """Return the time field's values from the timestamps of many cells, as an Arrow column.

        Raises:
            InvalidArgument: a timestamp is not a value of the field.
        """
        low, high = self.field.type.number_range
        if (odd := milliseconds % self.ms_per_unit != 0).any():
            raise self._build_invalid_timestamp_error(int(milliseconds[odd.argmax()]))
        for extreme in (milliseconds.min(), milliseconds.max()) if len(milliseconds) else ():
            if not low <= int(extreme) * self.units_per_ms // self.ms_per_unit <= high:
                raise self._build_invalid_timestamp_error(int(extreme))
        return self.field.type.build_number_column(
            milliseconds // self.ms_per_unit * self.units_per_ms
        )
