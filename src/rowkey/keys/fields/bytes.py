"""The type `bytes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import Refused
from rowkey.keys.codecs.strings import Escaped, Exact, Raw, Unended
from rowkey.keys.contract import Vector
from rowkey.keys.types.domains import Blobs
from rowkey.keys.types.field_type import Encoding
from rowkey.keys.types.strings import BytesType, from_standard, must_be

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.batches.pieces import Spans
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import FieldWords, Value


class Bytes(BytesType):
    """Any bytes; they sort as they are. In text they are written as hexadecimal digits."""

    name = "bytes"
    is_sequence = True
    options = frozenset({"max_bytes"})
    encodings: ClassVar = {
        "": Encoding("00 written as 00 ff, ended by 00 01"),
        "tail": Encoding("as they are, without an end; last in the key only"),
        "fixed": Encoding("exactly n bytes; any other length is refused", ("n",)),
        "raw": Encoding("as they are, without an end anywhere: declared ambiguous"),
    }
    vectors: ClassVar = (
        Vector("[b]", {"b": "bytes"}, {"b": b"a\0b"}, "6100ff620001"),
        Vector("[b]", {"b": "bytes"}, {"b": b""}, "0001"),
        Vector("[b:tail]", {"b": "bytes"}, {"b": b"\0\1"}, "0001"),
        Vector("[b:fixed(2)]", {"b": "bytes"}, {"b": b"\0\1"}, "0001"),
        Vector("[desc(b:tail)]", {"b": "bytes"}, {"b": b"a"}, "9efffe"),
    )

    def __init__(self, words: FieldWords) -> None:
        super().__init__(words)
        self.most = words.max_bytes

    @property
    def domain(self) -> Blobs:
        return Blobs(self.most or 64)

    def hold(self, value: Value) -> bytes:
        if isinstance(value, bytearray | memoryview):
            value = bytes(value)
        must_be(value, bytes, "bytes")
        if self.most is not None and len(value) > self.most:
            raise Refused("", f"{len(value)} bytes are too long", f"at most {self.most}")
        return bytes(value)

    def parse(self, text: str) -> bytes:
        return self.hold(from_standard(bytes.fromhex, text, "a string of hexadecimal digits"))

    def show(self, value: Value) -> str:
        return bytes(value).hex()

    def raw(self) -> Raw:
        """Bytes are raw already."""
        return Raw(0, self.most, text=False)

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        raw = self.raw()
        if encoding == "fixed":
            return Exact(raw, *arguments)
        if encoding == "tail":
            return Unended(raw, Escaped(raw))
        return Unended(raw) if encoding == "raw" else Escaped(raw)

    def own(self) -> Codec:
        return Unended(self.raw())

    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.binary()

    def physical(self, array: pa.Array) -> Spans:
        import pyarrow as pa

        from rowkey.keys.types.spans import spans_of

        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            array = pa.array([self.parse(text) for text in array.to_pylist()], pa.binary())
        spans = spans_of(array)
        if self.most is not None and int(spans.inner.max(initial=0)) > self.most:
            return super().physical(array)
        return spans
