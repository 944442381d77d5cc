"""The type `text`."""

from __future__ import annotations

import unicodedata
from typing import ClassVar

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import TextDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.strings import TextBasedField, check_type
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.strings import PaddedCodec, RawFormat, TerminatedCodec, UnterminatedCodec
from rowkey.keys.part_interface import GoldenVector
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
        """The values that a text can have."""
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
        """Return the value of a text written as text."""
        return self.to_internal(text)

    def build_raw_format(self) -> RawFormat:
        """Return the format that turns text into UTF-8."""
        return RawFormat(0, self.max_bytes, is_text=True)

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        """Return the codec of an encoding of a text."""
        raw = self.build_raw_format()
        if encoding == "fixed":
            return PaddedCodec(raw, *arguments)
        if encoding == "tail":
            return UnterminatedCodec(raw, TerminatedCodec(raw))
        return UnterminatedCodec(raw) if encoding == "raw" else TerminatedCodec(raw)

    def build_plain_codec(self) -> Codec:
        """Return the codec whose bytes `digest` and `truncate` use for a text."""
        return UnterminatedCodec(self.build_raw_format())

    def is_internal_form(self, array: pa.Array) -> bool:
        """Return whether every text of an Arrow column is an internal form already."""
        from rowkey.keys.base_types.arrow_strings import to_byte_column

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
