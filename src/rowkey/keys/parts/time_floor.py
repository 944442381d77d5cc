"""A time rounded down to the start of an interval: the base of `time_bucket` and `time_slice`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn, IntArray
from rowkey.keys.part_interface import BindingContext, NumberArgument, Part, Row, Transform
from rowkey.keys.parts.complement import build_descending_part
from rowkey.keys.parts.field import NumberPart
from rowkey.keys.traits import Framing, Images, find_pinned_values
from rowkey.schema import NANOSECONDS, Bounds, Cluster, Duration, FieldFacts, Range, Scalar, Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch

LENGTH_ARGUMENT = NumberArgument("d", 1, 10**18, "length of the interval, such as 1h", unit="time")


def combine_lengths(first: int, second: int) -> int:
    """Return the length of time within which a time rounded down twice is the same.

    >>> combine_lengths(3600, 60), combine_lengths(5, 1000), combine_lengths(700, 1000)
    (3600, 1000, 100)
    """
    longer = max(first, second)
    return longer if longer % min(first, second) == 0 else gcd(first, second)


class TimeFloorPart(Transform, NumberPart):
    """A time minus its remainder by a length, in the encoding of its argument."""

    scalars = (LENGTH_ARGUMENT,)

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__(inputs, arguments, context)
        source = self.sole_input
        if not isinstance(source, NumberPart) or source.unit_ns is None:
            raise InvalidArgument(
                "", f"{self.name} cannot be applied to {source.title}", "a timestamp or a date"
            )
        self.base = source
        self.length: Duration = arguments["d"]
        self.length_units, remainder = divmod(self.length.nanoseconds, source.unit_ns)
        if remainder or not self.length_units:
            unit = next(f"1{name}" for name, ns in NANOSECONDS.items() if ns == source.unit_ns)
            what = f"{self.length} is not a multiple of the unit of {source.fields[0]}, {unit}"
            raise InvalidArgument("d", what, f"a multiple of {unit}")
        self.grain_units: int = (
            source.grain_units
            if isinstance(source, TimeFloorPart)
            else max((source.resolution_ns or 1) // source.unit_ns, 1)
        )
        """Consecutive units of time that have the same encoding."""
        self.unit_ns = source.unit_ns
        self.inversion_text = source.inversion_text
        self.low, self.high = source.low, source.high
        self.order = source.order.weaken()
        self.alphabet = source.alphabet
        self.number_resolution_ns = combine_lengths(
            self.length.nanoseconds, source.number_resolution_ns or 1
        )
        self.resolution_ns = combine_lengths(self.number_resolution_ns, source.resolution_ns or 1)

    @property
    def framing(self) -> Framing:
        return self.base.framing

    def floor_number(self, number: int) -> int:
        """Return the start of the interval that a number lies in."""
        start: int = number - number % self.length_units
        return start

    def compute_number(self, row: Row) -> int:
        return self.floor_number(self.base.compute_number(row))

    def compute_numbers(self, columns: ColumnBatch) -> IntArray:
        numbers = self.base.compute_numbers(columns)
        floored: IntArray = numbers - numbers % numbers.dtype.type(self.length_units)
        return floored

    def pack(self, number: int) -> bytes:
        return self.base.pack(number)

    def pack_batch(self, numbers: IntArray) -> ByteColumn:
        return self.base.pack_batch(numbers)

    def unpack(self, piece: bytes) -> int:
        return self.base.unpack(piece)

    def to_field_value(self, number: int) -> Value:
        return self.base.to_field_value(number)

    def check(self, piece: bytes) -> None:
        number = self.unpack(piece)
        # The encoding may have rounded the start of the interval down to its own unit.
        first = number + -number % self.length_units
        last = number + self.grain_units - 1
        last -= last % self.length_units
        is_reached = first <= last
        if isinstance(self.base, TimeFloorPart):
            # Rows reach this interval only if an interval of the base starts within it.
            is_reached &= -first % self.base.length_units < last + self.length_units - first
        if not is_reached:
            raise InvalidArgument("", f"the time {piece.hex()} is not a multiple of {self.length}")

    def encode(self, row: Row) -> bytes:
        return self.pack(self.compute_number(row))

    def describe_encoding(self) -> str:
        name = self.fields[0]
        start = f"{name} less its remainder by {self.length_units:,} ({self.length})"
        return f"{start}, encoded as {self.base.describe_encoding()}"

    def format_piece(self, piece: bytes) -> str:
        return self.base.format_piece(piece)

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return self.pack_batch(self.compute_numbers(columns))

    def images(self, bounds: Bounds) -> Images:
        name = self.fields[0]
        bound = bounds.get(name)
        if not isinstance(bound, Range):
            is_pinned = find_pinned_values(bounds, name) is not None
            return super().images(bounds).to_inexact() if is_pinned else super().images(bounds)
        low = None if bound.low is None else self.try_encode({name: bound.low})
        high = None if bound.high is None else self.try_encode({name: bound.high})
        if self.order.is_descending:
            low, high = high, low
        elif not self.order.is_ascending:
            return Images.build_unbounded(exact=False)
        return Images.from_prefixes(low or b"", high or b"", exact=False)

    def normalize_arguments(self) -> Mapping[str, Any]:
        return {"units": self.length_units}

    def to_descending(self) -> Part:
        return type(self)((build_descending_part(self.base),), self.arguments, self.context)

    def to_plain(self) -> Part:
        return type(self)((self.base.to_plain(),), self.arguments, self.context)

    @classmethod
    def suggest_arguments(
        cls, facts: Mapping[str, FieldFacts], cluster: Cluster
    ) -> Iterator[Mapping[str, Scalar]]:
        """Yield a minute, an hour and a day, the lengths that operators use."""
        yield from ({"d": Duration(1, unit)} for unit in ("m", "h", "d"))
