"""The type `digits`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.array_libraries import pa, pc
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import TextDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.strings import (
    TextBasedField,
    format_short_value,
    unwrap_numpy_scalar,
)
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.strings import FixedLengthCodec, RawFormat
from rowkey.keys.part_interface import GoldenVector
from rowkey.keys.traits import DIGITS
from rowkey.messages import pluralize
from rowkey.schema import FieldDeclaration, Value


class DigitsField(TextBasedField):
    """Text of exactly `width` decimal digits; whole numbers are accepted and padded with zeros."""

    name = "digits"
    options = frozenset({"width"})
    required_options = frozenset({"width"})
    encodings: ClassVar = {"": Encoding("the digits in ASCII")}
    vectors: ClassVar = (
        GoldenVector("[n]", {"n": {"type": "digits", "width": 4}}, {"n": "0042"}, "30303432"),
        GoldenVector("[n]", {"n": {"type": "digits", "width": 4}}, {"n": 42}, "30303432"),
        GoldenVector(
            "[reverse(n)]", {"n": {"type": "digits", "width": 4}}, {"n": "1234"}, "34333231"
        ),
    )

    def __init__(self, declaration: FieldDeclaration) -> None:
        super().__init__(declaration)
        self.width = declaration.width or 1

    @property
    def domain(self) -> TextDomain:
        """The values that a text of digits can have."""
        return TextDomain(self.width, "0123456789", self.width)

    def to_internal(self, value: Value) -> str:
        """Return the internal form of a text of digits: the digits, padded with zeros."""
        value = unwrap_numpy_scalar(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            digits = str(value).rjust(self.width, "0") if value < 10**self.width else ""
        else:
            digits = value if isinstance(value, str) and value.isascii() else ""
        if len(digits) != self.width or not digits.isdigit():
            count = pluralize(self.width, "decimal digit")
            what = f"{format_short_value(value)} is not a text of {count}"
            allowed = f"a text of exactly {count}, or an int of at most {self.width} digits"
            raise InvalidArgument("", what, allowed)
        return digits

    def parse(self, text: str) -> str:
        """Return the digits of a text without spaces around them; `width` digits are needed."""
        return self.to_internal(text.strip())

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        """Return the codec of an encoding of a text of digits."""
        return FixedLengthCodec(
            RawFormat(self.width, self.width, is_text=True, alphabet=DIGITS), self.width
        )

    def build_plain_codec(self) -> Codec:
        """Return the codec whose bytes `digest` and `truncate` use for a text of digits."""
        return self.build_codec("", ())

    def is_internal_form(self, array: pa.Array) -> bool:
        """Return whether every text of an Arrow column is an internal form already."""
        if not str(array.type).endswith("string"):
            return False
        lengths = pc.equal(pc.binary_length(array), self.width)
        digits = pc.and_(pc.ascii_is_decimal(array), lengths)
        return bool(pc.all(digits, min_count=0).as_py())
