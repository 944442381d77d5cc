"""The transform `mod`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import BindingContext, Part, Row, RowEncoder
from rowkey.keys.parts.field import NumberPart
from rowkey.keys.parts.numbered_prefix import (
    COUNT_ARGUMENT,
    FORM_OPTION,
    MAX_NUMBERS,
    WIDTH_OPTION,
    NumberedPrefix,
)
from rowkey.keys.traits import Images, find_pinned_values
from rowkey.schema import Bounds, Cluster, FieldFacts, Range

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


class ModTransform(NumberedPrefix):
    """The remainder of a number or a time divided by n, such as `timestamp % n` in many guides.

    A time is counted in the unit of its type. Times at regular steps reach only n / gcd(step, n)
    of the numbers: whole hours in seconds reach 1 of 16. A bucket has no such pattern.
    """

    name = "mod"
    term_limits = (1, 1)
    scalars = (COUNT_ARGUMENT,)
    options = (FORM_OPTION, WIDTH_OPTION)
    is_remainder = True
    vectors: ClassVar = (
        GoldenVector("[mod(ts, 16)]", {"ts": "timestamp_s"}, {"ts": 1609459201}, "01"),
        GoldenVector("[mod(n, 16)]", {"n": "i32"}, {"n": -1}, "0f"),
        GoldenVector(
            "[mod(ts, 100, as=decimal)]", {"ts": "timestamp_s"}, {"ts": 1609459201}, "3031"
        ),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__(inputs, arguments, context)
        source = self.sole_input
        if not isinstance(source, NumberPart):
            raise InvalidArgument(
                "", f"mod cannot be applied to {source.title}", "an integer, a timestamp or a date"
            )
        self.number_part = source
        self.resolution_ns = source.number_resolution_ns

    def encode(self, row: Row) -> bytes:
        return self.number_table[self.number_part.compute_number(row) % self.n]

    def compile_encoder(self) -> RowEncoder:
        number, table, n = self.number_part.compute_number, self.number_table, self.n
        return lambda row: table[number(row) % n]

    def images(self, bounds: Bounds) -> Images:
        """Return the remainders of a range of numbers; all n where the range is longer."""
        name = self.fields[0]
        bound = bounds.get(name)
        if find_pinned_values(bounds, name) is not None:
            pinned = self.find_pinned_images(bounds)
            return self.build_all_images(exact=False) if pinned is None else pinned.to_inexact()
        if isinstance(bound, Range) and bound.low is not None and bound.high is not None:
            low = self.number_part.compute_number({name: bound.low})
            high = self.number_part.compute_number({name: bound.high})
            if high - low + 1 < self.n:
                numbers = range(low, high + 1)
                return Images.from_points(
                    (self.number_table[n % self.n] for n in numbers), exact=False
                )
        return self.build_all_images(exact=bound is None)

    def count_reachable(self, step: int) -> int:
        """Return n / gcd(step, n): the remainders that multiples of a step reach."""
        return self.n // gcd(step, self.n)

    def describe_encoding(self) -> str:
        unit = "in its own unit, never negative"
        return f"{self.fields[0]} modulo {self.n} {unit}, in {self.describe_form()}"

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        numbers = self.number_part.compute_numbers(columns)
        return self.encode_numbers(numbers % numbers.dtype.type(self.n))

    @classmethod
    def suggest_arguments(
        cls, facts: Mapping[str, FieldFacts], cluster: Cluster
    ) -> Iterator[Mapping[str, int]]:
        """Yield counts that are suggested for `bucket` too, so that the two can be compared."""
        for factor in (1, 2):
            if (n := factor * cluster.servers) <= MAX_NUMBERS:
                yield {"n": n}
