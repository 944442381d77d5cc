"""The type `bytes`."""

from __future__ import annotations

from typing import ClassVar

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_strings import to_byte_column
from rowkey.keys.base_types.domains import BytesDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.strings import BytesBasedField, check_type, convert_value
from rowkey.keys.batches.byte_columns import SlicedByteColumn
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.strings import EscapedCodec, FixedLengthCodec, RawFormat, UnterminatedCodec
from rowkey.keys.golden_vector import GoldenVector
from rowkey.schema import FieldDeclaration, Value


class BytesField(BytesBasedField):
    """Any bytes, sorted byte by byte; text input writes them as hexadecimal digits."""

    name = "bytes"
    is_sequence = True
    options = frozenset({"max_bytes"})
    encodings: ClassVar = {
        "": Encoding("00 written as 00 ff, ended by 00 01"),
        "tail": Encoding("as they are, without an end; last in the key only"),
        "fixed": Encoding("exactly n bytes; any other length is refused", ("n",)),
        "raw": Encoding("as they are, without an end, in any place: keys can be ambiguous"),
    }
    vectors: ClassVar = (
        GoldenVector("[b]", {"b": "bytes"}, {"b": b"a\0b"}, "6100ff620001"),
        GoldenVector("[b]", {"b": "bytes"}, {"b": b""}, "0001"),
        GoldenVector("[b:tail]", {"b": "bytes"}, {"b": b"\0\1"}, "0001"),
        GoldenVector("[b:fixed(2)]", {"b": "bytes"}, {"b": b"\0\1"}, "0001"),
        GoldenVector("[desc(b:tail)]", {"b": "bytes"}, {"b": b"a"}, "9efffe"),
    )

    def __init__(self, declaration: FieldDeclaration) -> None:
        super().__init__(declaration)
        self.max_bytes = declaration.max_bytes

    @property
    def domain(self) -> BytesDomain:
        return BytesDomain(self.max_bytes or 64)

    def to_internal(self, value: Value) -> bytes:
        """Return the internal form of a byte string: bytes."""
        if isinstance(value, bytearray | memoryview):
            value = bytes(value)
        check_type(value, bytes, "bytes")
        if self.max_bytes is not None and len(value) > self.max_bytes:
            raise InvalidArgument(
                "",
                f"a value of {len(value):,} bytes is too long",
                f"at most {self.max_bytes:,} bytes",
                "Shorten the value, or raise max_bytes of the field.",
            )
        return bytes(value)

    def parse(self, text: str) -> bytes:
        return self.to_internal(
            convert_value(bytes.fromhex, text, "a string of hexadecimal digits")
        )

    def format_value(self, value: Value) -> str:
        return bytes(value).hex()

    def build_raw_format(self) -> RawFormat:
        """Return the format of values that are raw bytes already."""
        return RawFormat(0, self.max_bytes, is_text=False)

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        raw = self.build_raw_format()
        if encoding == "fixed":
            return FixedLengthCodec(raw, *arguments)
        if encoding == "tail":
            return UnterminatedCodec(raw, EscapedCodec(raw))
        return UnterminatedCodec(raw) if encoding == "raw" else EscapedCodec(raw)

    def build_plain_codec(self) -> Codec:
        return UnterminatedCodec(self.build_raw_format())

    def build_arrow_type(self) -> pa.DataType:
        return pa.binary()

    def to_internal_batch(self, array: pa.Array) -> SlicedByteColumn:
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            array = pa.array([self.parse(text) for text in array.to_pylist()], pa.binary())
        spans = to_byte_column(array)
        if self.max_bytes is not None and int(spans.inner_lengths.max(initial=0)) > self.max_bytes:
            return super().to_internal_batch(array)
        return spans
