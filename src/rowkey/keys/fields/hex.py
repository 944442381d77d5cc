"""The type `hex`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import Refused
from rowkey.keys.codecs.strings import Exact, HexBytes, Raw
from rowkey.keys.contract import Vector
from rowkey.keys.traits import HEX_DIGITS
from rowkey.keys.types.domains import HexTexts
from rowkey.keys.types.field_type import Encoding
from rowkey.keys.types.strings import TextType, shortened

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import FieldWords, Value

_DIGITS = frozenset("0123456789abcdef")


class Hex(TextType):
    """Text of exactly `width` hexadecimal digits; upper case is taken and made lower."""

    name = "hex"
    options = frozenset({"width"})
    required = frozenset({"width"})
    encodings: ClassVar = {
        "": Encoding("the digits in lower case, ASCII"),
        "bytes": Encoding("two digits a byte; even widths only"),
    }
    vectors: ClassVar = (
        Vector("[h]", {"h": {"type": "hex", "width": 4}}, {"h": "0aFF"}, "30616666"),
        Vector("[h:bytes]", {"h": {"type": "hex", "width": 4}}, {"h": "0aff"}, "0aff"),
    )

    def __init__(self, words: FieldWords) -> None:
        super().__init__(words)
        self.width = words.width or 1

    @property
    def domain(self) -> HexTexts:
        return HexTexts(self.width)

    def hold(self, value: Value) -> str:
        lower = value.lower() if isinstance(value, str) else ""
        if len(lower) != self.width or not _DIGITS.issuperset(lower):
            allowed = f"exactly {self.width} hexadecimal digits"
            raise Refused("", f"{shortened(value)} does not fit", allowed)
        return lower

    def parse(self, text: str) -> str:
        return self.hold(text.strip())

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        if encoding == "bytes":
            if self.width % 2:
                raise Refused("", f"a width of {self.width} is odd", "an even width for :bytes")
            return HexBytes(self.width // 2)
        raw = Raw(self.width, self.width, text=True, alphabet=HEX_DIGITS)
        return Exact(raw, self.width)

    def own(self) -> Codec:
        return self.codec("", ())

    def is_held_plainly(self, array: pa.Array) -> bool:
        return False
