"""The type `digits`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import Refused
from rowkey.keys.codecs.strings import Exact, Raw
from rowkey.keys.contract import Vector
from rowkey.keys.traits import DIGITS
from rowkey.keys.types.domains import Texts
from rowkey.keys.types.field_type import Encoding
from rowkey.keys.types.strings import TextType, shortened

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import FieldWords, Value


class Digits(TextType):
    """Text of exactly `width` decimal digits; whole numbers are taken and padded with zeros."""

    name = "digits"
    options = frozenset({"width"})
    required = frozenset({"width"})
    encodings: ClassVar = {"": Encoding("the digits in ASCII")}
    vectors: ClassVar = (
        Vector("[n]", {"n": {"type": "digits", "width": 4}}, {"n": "0042"}, "30303432"),
        Vector("[n]", {"n": {"type": "digits", "width": 4}}, {"n": 42}, "30303432"),
        Vector("[reverse(n)]", {"n": {"type": "digits", "width": 4}}, {"n": "1234"}, "34333231"),
    )

    def __init__(self, words: FieldWords) -> None:
        super().__init__(words)
        self.width = words.width or 1

    @property
    def domain(self) -> Texts:
        return Texts(self.width, "0123456789", self.width)

    def hold(self, value: Value) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            value = str(value).rjust(self.width, "0") if value < 10**self.width else "too long"
        right = isinstance(value, str) and value.isascii() and value.isdigit()
        if not right or len(value) != self.width:
            raise Refused("", f"{shortened(value)} does not fit", f"exactly {self.width} digits")
        return str(value)

    def parse(self, text: str) -> str:
        return self.hold(text.strip())

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return Exact(Raw(self.width, self.width, text=True, alphabet=DIGITS), self.width)

    def own(self) -> Codec:
        return self.codec("", ())

    def is_held_plainly(self, array: pa.Array) -> bool:
        import pyarrow.compute as pc

        if not str(array.type).endswith("string"):
            return False
        lengths = pc.equal(pc.binary_length(array), self.width)
        digits = pc.and_(pc.ascii_is_decimal(array), lengths)
        return bool(pc.all(digits, min_count=0).as_py())
