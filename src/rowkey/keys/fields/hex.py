"""The type `hex`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import HexDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.strings import TextBasedField, format_short_value
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.strings import FixedLengthCodec, HexCodec, RawFormat
from rowkey.keys.part_interface import GoldenVector
from rowkey.keys.traits import HEX_DIGITS
from rowkey.messages import pluralize
from rowkey.schema import FieldDeclaration, Value

_HEX_CHARACTERS = b"0123456789abcdef"


class HexField(TextBasedField):
    """Text of exactly `width` hexadecimal digits; upper case is accepted and made lower case."""

    name = "hex"
    options = frozenset({"width"})
    required_options = frozenset({"width"})
    encodings: ClassVar = {
        "": Encoding("the digits in lower case, ASCII"),
        "bytes": Encoding("two digits a byte; even widths only"),
    }
    vectors: ClassVar = (
        GoldenVector("[h]", {"h": {"type": "hex", "width": 4}}, {"h": "0aFF"}, "30616666"),
        GoldenVector("[h:bytes]", {"h": {"type": "hex", "width": 4}}, {"h": "0aff"}, "0aff"),
    )

    def __init__(self, declaration: FieldDeclaration) -> None:
        super().__init__(declaration)
        self.width = declaration.width or 1

    @property
    def domain(self) -> HexDomain:
        """The values that a hexadecimal text can have."""
        return HexDomain(self.width)

    def to_internal(self, value: Value) -> str:
        """Return the internal form of a hexadecimal text: the digits in lower case."""
        lower = value.lower() if isinstance(value, str) else ""
        if len(lower) != self.width or lower.encode("utf-8", "replace").translate(
            None, _HEX_CHARACTERS
        ):
            what = f"{format_short_value(value)} is not a hexadecimal number of {self.width} digits"
            allowed = f"text of exactly {pluralize(self.width, 'hexadecimal digit')}"
            raise InvalidArgument("", what, allowed)
        return lower

    def parse(self, text: str) -> str:
        """Return the value of a hexadecimal text written as text."""
        return self.to_internal(text.strip())

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        """Return the codec of an encoding of a hexadecimal text."""
        if encoding == "bytes":
            if self.width % 2:
                raise InvalidArgument(
                    "",
                    f":bytes stores two digits a byte, but the width {self.width} is odd",
                    "an even width",
                )
            return HexCodec(self.width // 2)
        raw = RawFormat(self.width, self.width, is_text=True, alphabet=HEX_DIGITS)
        return FixedLengthCodec(raw, self.width)

    def build_plain_codec(self) -> Codec:
        """Return the codec whose bytes `digest` and `truncate` use for a hexadecimal text."""
        return self.build_codec("", ())

    def is_internal_form(self, array: pa.Array) -> bool:
        """Return whether every text of an Arrow column is an internal form already."""
        return False
