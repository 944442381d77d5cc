"""The type `decimal`."""

from __future__ import annotations

import re
from decimal import Context, Inexact, InvalidOperation, localcontext
from decimal import Decimal as Number
from typing import Any, ClassVar

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_values import list_values
from rowkey.keys.base_types.domains import DecimalDomain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.base_types.strings import build_type_error
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.numbers import BigEndianCodec, build_twos_complement_codec
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.traits import Compatibility
from rowkey.messages import format_value, pluralize
from rowkey.schema import FieldDeclaration, Value

_EXACT_CONTEXT = Context(prec=120)
"""Keeps all digits of any value up to 10^61; the default context rounds at 28."""
MAX_TEXT_LENGTH = 1_000
"""Characters of a decimal number written as text; longer texts are refused."""
_NUMBER_PATTERN = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


class DecimalField(FieldType):
    """Decimal numbers of `precision` digits, `scale` of them after the point; never rounded."""

    name = "decimal"
    options = frozenset({"precision", "scale"})
    required_options = frozenset({"precision"})
    encodings: ClassVar = {
        "": Encoding("the scaled integer in 4, 8 or 16 bytes, the sign bit flipped"),
    }
    vectors: ClassVar = (
        GoldenVector(
            "[d]",
            {"d": {"type": "decimal", "precision": 9, "scale": 2}},
            {"d": Number("1.50")},
            "80000096",
        ),
        GoldenVector(
            "[d]",
            {"d": {"type": "decimal", "precision": 18, "scale": 2}},
            {"d": Number("-0.01")},
            "7fffffffffffffff",
        ),
        GoldenVector(
            "[d]",
            {"d": {"type": "decimal", "precision": 38, "scale": 0}},
            {"d": 1},
            "80000000000000000000000000000001",
        ),
    )

    def __init__(self, declaration: FieldDeclaration) -> None:
        super().__init__(declaration)
        self.precision = declaration.precision or 1
        self.scale = declaration.scale or 0
        if self.scale > self.precision:
            raise InvalidArgument(
                "scale",
                f"the scale {self.scale} is greater than the precision",
                f"0..{self.precision}",
            )
        self.width = 4 if self.precision <= 9 else 8 if self.precision <= 18 else 16
        self.max_unscaled = 10**self.precision - 1

    @property
    def domain(self) -> DecimalDomain:
        return DecimalDomain(self.precision, self.scale)

    def to_internal(self, value: Value) -> int:
        """Return the internal form of a decimal number: the unscaled integer."""
        if isinstance(value, bool) or not isinstance(value, Number | int):
            raise build_type_error(value, "a decimal or a whole number")
        if isinstance(value, int) and abs(value) > self.max_unscaled:
            raise InvalidArgument(
                "", f"{format_value(value)} has too many digits", f"at most {self.precision} digits"
            )
        scaled = self._to_unscaled(Number(value))
        if abs(scaled) > self.max_unscaled:
            raise InvalidArgument(
                "", f"{value} has too many digits", f"at most {self.precision} digits"
            )
        return scaled

    def _to_unscaled(self, value: Number) -> int:
        """Return the value times 10^scale, as an integer because decimals round at 28 digits.

        Raises:
            InvalidArgument: the value is infinite or NaN, or has too many digits.
        """
        if not value.is_finite() or value.adjusted() > 60:
            raise InvalidArgument(
                "", f"{value} cannot be stored", f"a number of at most {self.precision} digits"
            )
        with localcontext(_EXACT_CONTEXT) as exact:
            scaled = value.scaleb(self.scale)
            if exact.flags[Inexact] or scaled != scaled.to_integral_value():
                raise InvalidArgument(
                    "",
                    f"{value} has too many digits after the point",
                    f"at most {pluralize(self.scale, 'digit')} there",
                )
        return int(scaled)

    def from_internal(self, internal: Any) -> Number:
        return Number(int(internal)).scaleb(-self.scale, _EXACT_CONTEXT)

    def parse(self, text: str) -> Number:
        digits = text.strip()
        if len(digits) > MAX_TEXT_LENGTH:
            what = f"{text[:60]!r}… has {len(digits):,} characters"
            raise InvalidArgument("", what, f"at most {MAX_TEXT_LENGTH:,} characters")
        if not _NUMBER_PATTERN.fullmatch(digits):
            raise InvalidArgument(
                "", f"{text[:60]!r} is not a decimal number", "digits, such as 12.5"
            )
        try:
            number = Number(digits)
        except InvalidOperation:  # the exponent has too many digits
            raise InvalidArgument(
                "", f"{text[:60]!r} is not a decimal number", "digits, such as 12.5"
            ) from None
        return self.from_internal(self.to_internal(number))

    def check_compatibility(self, new: FieldType) -> Compatibility:
        """Return what happens to stored values: precision may grow, another scale changes bytes."""
        if not isinstance(new, DecimalField) or new.scale != self.scale:
            return Compatibility.BREAKS
        if new.precision == self.precision:
            return Compatibility.SAME
        return Compatibility.WIDER if self.precision < new.precision else Compatibility.BREAKS

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return BigEndianCodec(
            self.width, -self.max_unscaled, self.max_unscaled, bias=1 << 8 * self.width - 1
        )

    def build_plain_codec(self) -> Codec:
        return build_twos_complement_codec(self.width, -self.max_unscaled, self.max_unscaled)

    def build_arrow_type(self) -> pa.DataType:
        return pa.decimal128(self.precision, self.scale)

    def to_internal_batch(self, array: pa.Array) -> Any:
        values = list_values(array)
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            values = list(map(self.parse, values))
        unscaled = [self.to_internal(value) for value in values]
        return np.array(unscaled, np.int64 if self.width <= 8 else object)
