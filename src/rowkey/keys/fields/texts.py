"""The types of texts: any, of hexadecimal digits, of decimal digits."""

from __future__ import annotations

import unicodedata
from typing import ClassVar

from rowkey.array_libraries import pa, pc
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_strings import to_byte_column
from rowkey.keys.base_types.domains import HexDomain, TextDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.strings import (
    TextBasedField,
    check_type,
    format_short_value,
    unwrap_numpy_scalar,
)
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.strings import (
    FixedLengthCodec,
    HexCodec,
    PaddedCodec,
    RawFormat,
    TerminatedCodec,
    UnterminatedCodec,
)
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.traits import DIGITS, HEX_DIGITS
from rowkey.messages import pluralize
from rowkey.schema import FieldDeclaration, Value


class TextField(TextBasedField):
    """Unicode text without U+0000, in UTF-8; it sorts by code point.

    `max_bytes` limits its length; `normalize = "nfc"` makes texts equal that look the same.
    """

    name = "text"
    options = frozenset({"max_bytes", "normalize"})
    encodings: ClassVar = {
        "": Encoding("UTF-8, ended by 00"),
        "tail": Encoding("UTF-8 without an end; last in the key only"),
        "fixed": Encoding("UTF-8 padded with 00 to n bytes; longer text is refused", ("n",)),
        "raw": Encoding("UTF-8 without an end, in any place: keys can be ambiguous"),
    }
    vectors: ClassVar = (
        GoldenVector("[host]", {"host": "text"}, {"host": "web-1"}, "7765622d3100"),
        GoldenVector("[host]", {"host": "text"}, {"host": ""}, "00"),
        GoldenVector("[host:tail]", {"host": "text"}, {"host": "é"}, "c3a9"),
        GoldenVector("[host:fixed(4)]", {"host": "text"}, {"host": "ab"}, "61620000"),
        GoldenVector("[desc(host)]", {"host": "text"}, {"host": "foo"}, "999090ff"),
        GoldenVector("[desc(host:tail)]", {"host": "text"}, {"host": "foo"}, "999090ff"),
        GoldenVector(
            "[host]", {"host": {"type": "text", "normalize": "nfc"}}, {"host": "e\u0301"}, "c3a900"
        ),
    )

    def __init__(self, declaration: FieldDeclaration) -> None:
        super().__init__(declaration)
        self.max_bytes = declaration.max_bytes
        self.is_nfc = declaration.normalize == "nfc"

    @property
    def domain(self) -> TextDomain:
        return TextDomain(self.max_bytes or 64)

    def to_internal(self, value: Value) -> str:
        """Return the internal form of a text: the normalized text."""
        if type(value) is str and value.isascii() and "\0" not in value:
            if self.max_bytes is None or len(value) <= self.max_bytes:
                return value
        else:
            check_type(value, str, "text")
            if self.is_nfc:
                value = unicodedata.normalize("NFC", value)
        self._check_text(value)
        return str(value)

    def _check_text(self, value: str) -> None:
        """Raise InvalidArgument for text with U+0000, a lone surrogate, or too many bytes."""
        if "\0" in value:
            raise InvalidArgument(
                "",
                f"{value!r} contains U+0000",
                "text without U+0000",
                "Remove the character, or declare the field as bytes.",
            )
        try:
            length = len(value.encode())
        except UnicodeEncodeError:
            raise InvalidArgument(
                "", f"{value!r} contains a lone surrogate", "text that UTF-8 can encode"
            ) from None
        if self.max_bytes is not None and length > self.max_bytes:
            raise InvalidArgument(
                "",
                f"{value[:40]!r} has {length:,} bytes",
                f"at most {self.max_bytes:,} bytes",
                "Shorten the value, or raise max_bytes of the field.",
            )

    def parse(self, text: str) -> str:
        return self.to_internal(text)

    def build_raw_format(self) -> RawFormat:
        """Return the format that turns text into UTF-8."""
        return RawFormat(0, self.max_bytes, is_text=True)

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        raw = self.build_raw_format()
        if encoding == "fixed":
            return PaddedCodec(raw, *arguments)
        if encoding == "tail":
            return UnterminatedCodec(raw, TerminatedCodec(raw))
        return UnterminatedCodec(raw) if encoding == "raw" else TerminatedCodec(raw)

    def build_plain_codec(self) -> Codec:
        return UnterminatedCodec(self.build_raw_format())

    def is_internal_form(self, array: pa.Array) -> bool:
        if self.is_nfc or not (
            pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        ):
            return False
        spans = to_byte_column(array)
        if not len(spans):
            return True
        used = spans.data[spans.starts[0] :]
        fits = self.max_bytes is None or int(spans.inner_lengths.max()) <= self.max_bytes
        return fits and (not len(used) or int(used.min()) > 0)


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
        return self.to_internal(text.strip())

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
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
        return self.build_codec("", ())

    def is_internal_form(self, array: pa.Array) -> bool:
        return False


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
        return FixedLengthCodec(
            RawFormat(self.width, self.width, is_text=True, alphabet=DIGITS), self.width
        )

    def build_plain_codec(self) -> Codec:
        return self.build_codec("", ())

    def is_internal_form(self, array: pa.Array) -> bool:
        if not str(array.type).endswith("string"):
            return False
        lengths = pc.equal(pc.binary_length(array), self.width)
        digits = pc.and_(pc.ascii_is_decimal(array), lengths)
        return bool(pc.all(digits, min_count=0).as_py())
