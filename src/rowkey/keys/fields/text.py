"""The type `text`."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import Refused
from rowkey.keys.codecs.strings import Padded, Raw, Terminated, Unended
from rowkey.keys.contract import Vector
from rowkey.keys.types.domains import Texts
from rowkey.keys.types.field_type import Encoding
from rowkey.keys.types.strings import TextType, must_be

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import FieldWords, Value


class Text(TextType):
    """Unicode text without U+0000, in UTF-8; it sorts by code point.

    `max_bytes` limits it; `normalize = "nfc"` makes equal what looks equal.
    """

    name = "text"
    options = frozenset({"max_bytes", "normalize"})
    encodings: ClassVar = {
        "": Encoding("UTF-8, ended by 00"),
        "tail": Encoding("UTF-8 without an end; last in the key only"),
        "fixed": Encoding("UTF-8 padded with 00 to n bytes; longer text is refused", ("n",)),
        "raw": Encoding("UTF-8 without an end anywhere: declared ambiguous"),
    }
    vectors: ClassVar = (
        Vector("[host]", {"host": "text"}, {"host": "web-1"}, "7765622d3100"),
        Vector("[host]", {"host": "text"}, {"host": ""}, "00"),
        Vector("[host:tail]", {"host": "text"}, {"host": "é"}, "c3a9"),
        Vector("[host:fixed(4)]", {"host": "text"}, {"host": "ab"}, "61620000"),
        Vector("[desc(host)]", {"host": "text"}, {"host": "foo"}, "999090ff"),
        Vector("[desc(host:tail)]", {"host": "text"}, {"host": "foo"}, "999090ff"),
        Vector(
            "[host]", {"host": {"type": "text", "normalize": "nfc"}}, {"host": "e\u0301"}, "c3a900"
        ),
    )

    def __init__(self, words: FieldWords) -> None:
        super().__init__(words)
        self.most = words.max_bytes
        self.normalizes = words.normalize == "nfc"

    @property
    def domain(self) -> Texts:
        return Texts(self.most or 64)

    def hold(self, value: Value) -> str:
        if type(value) is str and value.isascii() and "\0" not in value:
            if self.most is None or len(value) <= self.most:
                return value
        else:
            must_be(value, str, "text")
            if self.normalizes:
                value = unicodedata.normalize("NFC", value)
        self._check(value)
        return str(value)

    def _check(self, value: str) -> None:
        if "\0" in value:
            raise Refused("", f"{value!r} holds U+0000", "text without it", "Declare it as bytes.")
        try:
            length = len(value.encode())
        except UnicodeEncodeError:
            raise Refused("", f"{value!r} holds a lone surrogate", "Unicode text") from None
        if self.most is not None and length > self.most:
            raise Refused(
                "", f"{value[:40]!r} is {length} bytes", f"at most {self.most}", "Raise max_bytes."
            )

    def parse(self, text: str) -> str:
        return self.hold(text)

    def raw(self) -> Raw:
        """How text becomes raw bytes."""
        return Raw(0, self.most, text=True)

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        raw = self.raw()
        if encoding == "fixed":
            return Padded(raw, *arguments)
        if encoding == "tail":
            return Unended(raw, Terminated(raw))
        return Unended(raw) if encoding == "raw" else Terminated(raw)

    def own(self) -> Codec:
        return Unended(self.raw())

    def is_held_plainly(self, array: pa.Array) -> bool:
        import pyarrow as pa

        from rowkey.keys.types.spans import spans_of

        if self.normalizes or not (
            pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        ):
            return False
        spans = spans_of(array)
        if not len(spans):
            return True
        used = spans.data[spans.starts[0] :]
        fits = self.most is None or int(spans.inner.max()) <= self.most
        return fits and (not len(used) or int(used.min()) > 0)
