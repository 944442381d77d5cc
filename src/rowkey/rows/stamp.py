"""A time that is the timestamp of an event's cells, in whole milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST
from rowkey.errors import Refused, RowError
from rowkey.schema import NANOSECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pyarrow as pa

    from rowkey.keys import Field
    from rowkey.schema import Value

MS = NANOSECONDS["ms"]


class Stamp:
    """Gives the timestamp of an event's cells from a time field, and the field from it.

    Args:
        field: a field of times.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        tick = field.type.tick or MS
        # Either a unit of the field is whole milliseconds, or a millisecond whole units.
        self.ms, self.units = max(tick // MS, 1), max(MS // tick, 1)

    def of(self, row: Mapping[str, Any]) -> int:
        """The timestamp of a row's cells, in milliseconds since 1970.

        Raises:
            RowError: the row has no such time, or no cell can have it for a timestamp.
        """
        value = row.get(self.field.name)
        if value is None:
            what = "the timestamp of the row's cells is missing"
            raise RowError(self.field.name, what, self.field.type.name)
        return self._checked(int(self.field.hold(value)))

    def _checked(self, number: int) -> int:
        milliseconds, rest = divmod(number * self.ms, self.units)
        if rest:
            raise self._finer(number)
        if not 0 <= milliseconds < LATEST:
            raise self._outside(milliseconds)
        return milliseconds

    def _finer(self, number: int) -> RowError:
        shown = self.field.type.show(self.field.type.release(number))
        what = f"{shown} is finer than the timestamp of a cell"
        return RowError(self.field.name, what, "whole milliseconds")

    def _outside(self, milliseconds: int) -> RowError:
        what = f"{milliseconds} ms is no timestamp of a cell"
        return RowError(self.field.name, what, f"0..{LATEST - 1}, in milliseconds since 1970")

    def read(self, milliseconds: int) -> Value:
        """The time that a timestamp stands for.

        Raises:
            Refused: the field has no such value.
        """
        number, rest = divmod(milliseconds * self.units, self.ms)
        low, high = self.field.type.numbers
        if rest or not low <= number <= high:
            raise Refused("", f"{milliseconds} ms is no {self.field.type.name}")
        return self.field.type.release(number)

    def of_batch(self, array: pa.Array) -> np.ndarray[Any, Any]:
        """The timestamps of many rows.

        Raises:
            RowError: a row has no such time, or no cell can have it for a timestamp.
        """
        import numpy as np

        from rowkey.keys import batch_column
        from rowkey.rows.batches.arrays import refuse_nulls

        column = batch_column(self.field, array)
        numbers = np.asarray(column.values, np.int64)
        if column.codes is not None:
            refuse_nulls(self.field.name, column.codes >= 0)
            numbers = numbers.take(column.codes)
        if (odd := numbers % self.units != 0).any():
            raise self._finer(int(numbers[odd.argmax()]))
        for extreme in (int(numbers.min()), int(numbers.max())) if len(numbers) else ():
            self._checked(extreme)
        return numbers * self.ms // self.units

    def read_batch(self, milliseconds: np.ndarray[Any, Any]) -> pa.Array:
        """The times that many timestamps stand for, as an Arrow column.

        Raises:
            Refused: one stands for none.
        """
        low, high = self.field.type.numbers
        if (milliseconds % self.ms != 0).any():
            raise Refused("", f"a timestamp is no {self.field.type.name}")
        for extreme in (milliseconds.min(), milliseconds.max()) if len(milliseconds) else ():
            if not low <= int(extreme) * self.units // self.ms <= high:
                raise Refused("", f"{extreme} ms is no {self.field.type.name}")
        return self.field.type.from_numbers(milliseconds // self.ms * self.units)
