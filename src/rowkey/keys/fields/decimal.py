"""The type `decimal`."""

from __future__ import annotations

from decimal import Context, Inexact, InvalidOperation, localcontext
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused, shown
from rowkey.keys.codecs.numbers import BigEndian, twos_complement
from rowkey.keys.contract import Vector
from rowkey.keys.traits import Change
from rowkey.keys.types.domains import Decimals
from rowkey.keys.types.field_type import Encoding, FieldType
from rowkey.keys.types.strings import of_another_sort
from rowkey.keys.types.values import list_values

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import FieldWords, Value

_EXACT = Context(prec=120)
"""Keeps all digits of any value up to 10^61; the default context rounds at 28."""


class Decimal(FieldType):
    """Decimal numbers of `precision` digits, `scale` of them after the point; never rounded."""

    name = "decimal"
    options = frozenset({"precision", "scale"})
    required = frozenset({"precision"})
    encodings: ClassVar = {
        "": Encoding("the scaled integer in 4, 8 or 16 bytes, the sign bit flipped"),
    }
    vectors: ClassVar = (
        Vector(
            "[d]",
            {"d": {"type": "decimal", "precision": 9, "scale": 2}},
            {"d": Number("1.50")},
            "80000096",
        ),
        Vector(
            "[d]",
            {"d": {"type": "decimal", "precision": 18, "scale": 2}},
            {"d": Number("-0.01")},
            "7fffffffffffffff",
        ),
        Vector(
            "[d]",
            {"d": {"type": "decimal", "precision": 38, "scale": 0}},
            {"d": 1},
            "80000000000000000000000000000001",
        ),
    )

    def __init__(self, words: FieldWords) -> None:
        super().__init__(words)
        self.precision = words.precision or 1
        self.scale = words.scale or 0
        if self.scale > self.precision:
            raise Refused("scale", f"{self.scale} is above the precision", f"0..{self.precision}")
        self.width = 4 if self.precision <= 9 else 8 if self.precision <= 18 else 16
        self.top = 10**self.precision - 1

    @property
    def domain(self) -> Decimals:
        return Decimals(self.precision, self.scale)

    def hold(self, value: Value) -> int:
        if isinstance(value, bool) or not isinstance(value, Number | int):
            raise of_another_sort(value, "a decimal or a whole number")
        if isinstance(value, int) and abs(value) > self.top:
            raise Refused("", f"{shown(value)} has too many digits", f"{self.precision} at most")
        scaled = self._scaled(Number(value))
        if abs(scaled) > self.top:
            raise Refused("", f"{value} has too many digits", f"{self.precision} at most")
        return scaled

    def _scaled(self, value: Number) -> int:
        """The value in units of its last digit; an integer, for decimals round at 28 digits."""
        if not value.is_finite() or value.adjusted() > 60:
            raise Refused("", f"{value} is out of range", f"{self.precision} digits at most")
        with localcontext(_EXACT) as exact:
            scaled = value.scaleb(self.scale)
            if exact.flags[Inexact] or scaled != scaled.to_integral_value():
                raise Refused(
                    "", f"{value} has more digits after the point", f"{self.scale} at most"
                )
        return int(scaled)

    def release(self, held: Any) -> Number:
        return Number(int(held)).scaleb(-self.scale, _EXACT)

    def parse(self, text: str) -> Number:
        try:
            number = Number(text.strip()[:100])
        except InvalidOperation:
            raise Refused("", f"{text[:60]!r} is not a decimal number") from None
        return self.release(self.hold(number))

    def evolves(self, new: FieldType) -> Change:
        """More digits before the point are more values; digits after it are other bytes."""
        if not isinstance(new, Decimal) or new.scale != self.scale:
            return Change.BREAKS
        if new.precision == self.precision:
            return Change.SAME
        return Change.WIDER if self.precision < new.precision else Change.BREAKS

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return BigEndian(self.width, -self.top, self.top, bias=1 << 8 * self.width - 1)

    def own(self) -> Codec:
        return twos_complement(self.width, -self.top, self.top)

    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.decimal128(self.precision, self.scale)

    def physical(self, array: pa.Array) -> Any:
        import numpy as np
        import pyarrow as pa

        values = list_values(array)
        if pa.types.is_string(array.type):
            values = list(map(self.parse, values))
        held = [self.hold(value) for value in values]
        return np.array(held, np.int64 if self.width <= 8 else object)
