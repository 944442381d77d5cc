"""A time cut down to the start of a stretch: what `time_bucket` and `time_slice` share."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.keys.contract import Context, Count, Part, Row, Transform
from rowkey.keys.parts.field import NumberPart
from rowkey.keys.traits import Framing, Images, pinned_values
from rowkey.schema import Range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Ints, Pieces
    from rowkey.schema import Bounds, Cluster, Duration, Facts, Scalar, Value

LENGTH = Count("d", 1, 10**18, "length of a stretch, such as 1h", unit="time")


def coarser(one: int, other: int) -> int:
    """The stretch within which a time cut by one length and then by another stands still.

    >>> coarser(3600, 60), coarser(5, 1000), coarser(700, 1000)
    (3600, 1000, 100)
    """
    longer = max(one, other)
    return longer if longer % min(one, other) == 0 else gcd(one, other)


class Floored(Transform, NumberPart):
    """A time less its remainder by a length, in the encoding of its argument."""

    scalars = (LENGTH,)

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__(inputs, arguments, context)
        source = self.only
        if not isinstance(source, NumberPart) or source.tick is None:
            raise Refused(
                "", f"{self.name} takes a time, not {source.title}", "a timestamp or a date"
            )
        self.base = source
        self.length: Duration = arguments["d"]
        self.units, odd = divmod(self.length.nanoseconds, source.tick)
        if odd or not self.units:
            raise Refused(
                "d",
                f"{self.length} is no multiple of the unit of {source.fields[0]}",
                "whole units",
            )
        self.grain: int = (
            source.grain
            if isinstance(source, Floored)
            else max((source.resolution or 1) // source.tick, 1)
        )
        """Units of time that the encoding does not tell apart."""
        self.tick = source.tick
        self.turned = source.turned
        self.low, self.high = source.low, source.high
        self.order = source.order.weakened()
        self.alphabet = source.alphabet
        self.stands_still = coarser(self.length.nanoseconds, source.stands_still or 1)
        self.resolution = coarser(self.stands_still, source.resolution or 1)

    @property
    def framing(self) -> Framing:
        return self.base.framing

    def floor(self, number: int) -> int:
        """The start of the stretch a number lies in."""
        start: int = number - number % self.units
        return start

    def number(self, row: Row) -> int:
        return self.floor(self.base.number(row))

    def numbers(self, columns: Columns) -> Ints:
        numbers = self.base.numbers(columns)
        floored: Ints = numbers - numbers % numbers.dtype.type(self.units)
        return floored

    def pack(self, number: int) -> bytes:
        return self.base.pack(number)

    def pack_batch(self, numbers: Ints) -> Pieces:
        return self.base.pack_batch(numbers)

    def unpack(self, piece: bytes) -> int:
        return self.base.unpack(piece)

    def value(self, number: int) -> Value:
        return self.base.value(number)

    def check(self, piece: bytes) -> None:
        known = self.unpack(piece)
        # The encoding may have cut the start of the stretch down to its own unit.
        first = known + -known % self.units
        last = known + self.grain - 1
        last -= last % self.units
        is_reached = first <= last
        if isinstance(self.base, Floored):
            # A start of the base's must lie within a stretch for any row to come here.
            is_reached &= -first % self.base.units < last + self.units - first
        if not is_reached:
            raise Refused("", f"{piece.hex()} is no start of {self.length}")

    def encode(self, row: Row) -> bytes:
        return self.pack(self.number(row))

    def words(self) -> str:
        name = self.fields[0]
        start = f"{name} less its remainder by {self.units:,} ({self.length})"
        return f"{start}, encoded as {self.base.words()}"

    def show(self, piece: bytes) -> str:
        return self.base.show(piece)

    def batch(self, columns: Columns) -> Pieces:
        return self.pack_batch(self.numbers(columns))

    def images(self, bounds: Bounds) -> Images:
        name = self.fields[0]
        asked = bounds.get(name)
        if not isinstance(asked, Range):
            listed = pinned_values(bounds, name) is not None
            return super().images(bounds).inexact() if listed else super().images(bounds)
        low = None if asked.low is None else self.image({name: asked.low})
        high = None if asked.high is None else self.image({name: asked.high})
        if self.order.descends:
            low, high = high, low
        elif not self.order.ascends:
            return Images.anything(exact=False)
        return Images.between(low or b"", high or b"", exact=False)

    def told(self) -> Mapping[str, Any]:
        return {"units": self.units}

    def descending(self) -> Part:
        return type(self)((self.base.descending(),), self.arguments, self.context)

    def own(self) -> Part:
        return type(self)((self.base.own(),), self.arguments, self.context)

    @classmethod
    def tries(cls, facts: Mapping[str, Facts], cluster: Cluster) -> Iterator[Mapping[str, Scalar]]:
        """A minute, an hour and a day: what operators think in."""
        from rowkey.schema import Duration

        yield from ({"d": Duration(1, unit)} for unit in ("m", "h", "d"))
