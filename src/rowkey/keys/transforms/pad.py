"""The transform `pad`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused, RowError
from rowkey.keys.contract import Context, Count, Part, Row, Transform, Vector
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.traits import NOTHING, Framing, Residue
from rowkey.keys.types.domains import Integers, Through
from rowkey.keys.types.strings import TextType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.types.domains import Domain
    from rowkey.schema import Value


class Pad(Transform):
    """ASCII text padded with the digit 0 on its left: numbers written as text, made to sort.

    Text that is longer, or begins with 0, is refused: it could not be told from another.
    """

    name = "pad"
    scalars = (Count("n", 1, 1_024, "characters in all"),)
    vectors: ClassVar = (
        Vector("[pad(n, 6)]", {"n": "text"}, {"n": "42"}, b"000042".hex()),
        Vector("[pad(n, 2)]", {"n": "text"}, {"n": "42"}, b"42".hex()),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__(inputs, arguments, context)
        source = self.only
        if not isinstance(source, FieldPart) or not isinstance(source.field.type, TextType):
            raise Refused("", f"pad takes text, not {source.title}", "a field of type text")
        self.field = source.field
        self.n: int = arguments["n"]

    @property
    def framing(self) -> Framing:
        return Framing.fixed(self.n)

    def encode(self, row: Row) -> bytes:
        text = self.field.hold(row[self.field.name])
        if not isinstance(text, str) or not text.isascii():
            raise RowError(self.field.name, f"{text!r} is not ASCII text", "ASCII text")
        if len(text) > self.n or text.startswith("0"):
            raise RowError(
                self.field.name,
                f"{text[:60]!r} cannot be padded",
                f"at most {self.n} characters, the first not 0",
            )
        return text.rjust(self.n, "0").encode()

    def room(self, name: str, domain: Domain) -> Domain:
        return Through(Integers(1, int(10 ** min(self.n, 18)) - 1, 1), str)

    def residue(self, name: str) -> Residue:
        return NOTHING

    def words(self) -> str:
        return f"{self.field.name} in ASCII, padded on its left with the digit 0 to {self.n}"

    def read(self, piece: bytes) -> dict[str, Value]:
        return {self.field.name: piece.decode("ascii", "replace").lstrip("0")}
