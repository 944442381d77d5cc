"""The transform `reverse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.contract import Context, Part, Pick, Row, Transform, Vector
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.types.strings import TextType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.keys.traits import Framing, Residue
    from rowkey.schema import Value


class Reverse(Transform):
    """Back to front: what changes fastest comes first, so that counted-up values spread.

    Order is lost: a range of values is no range of keys any more. Of fixed width, the bytes are
    reversed; of text, its characters; of a domain name with `by=label`, its labels, so that the
    hosts of one domain stand together.
    """

    name = "reverse"
    options = (Pick("by", ("all", "label"), "everything, or the labels of a domain name"),)
    vectors: ClassVar = (
        Vector("[reverse(host)]", {"host": "text"}, {"host": "abc"}, "63626100"),
        Vector("[reverse(n)]", {"n": "u32"}, {"n": 1}, "01000000"),
        Vector("[reverse(b)]", {"b": "bytes"}, {"b": b"\0a"}, "6100ff0001"),
        Vector(
            "[reverse(host, by=label)]",
            {"host": "text"},
            {"host": "www.example.com"},
            b"com.example.www\0".hex(),
        ),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__(inputs, arguments, context)
        self.by_label = arguments["by"] == "label"
        self.alphabet = self.only.alphabet
        self.cardinality = self.only.cardinality
        self.turns_bytes = self.only.framing.width is not None and not self.by_label
        if not self.turns_bytes:
            self._check()

    def _check(self) -> None:
        source = self.only
        if not isinstance(source, FieldPart) or not source.field.type.is_sequence:
            what = f"reverse cannot turn {source.title}"
            raise Refused("", what, "text, bytes or a fixed width")
        if self.by_label and not isinstance(source.field.type, TextType):
            raise Refused("by", "labels are of text", "a field of type text")

    @property
    def framing(self) -> Framing:
        return self.only.framing

    def residue(self, name: str) -> Residue:
        return self.only.residue(name)

    def back_to_front(self, held: Any) -> Any:
        """Text or bytes back to front; doing it twice gives them back."""
        return ".".join(reversed(held.split("."))) if self.by_label else held[::-1]

    def encode(self, row: Row) -> bytes:
        source = self.only
        if self.turns_bytes:
            return source.encode(row)[::-1]
        assert isinstance(source, FieldPart)
        return source.packed(self.back_to_front(source.field.hold(row[source.field.name])))

    def measure(self, data: bytes, at: int) -> int:
        return super().measure(data, at) if self.turns_bytes else self.only.measure(data, at)

    def read(self, piece: bytes) -> dict[str, Value]:
        source = self.only
        if self.turns_bytes:
            return source.read(piece[::-1])
        assert isinstance(source, FieldPart)
        held = self.back_to_front(source.codec.unpack(piece))
        return {source.field.name: source.field.type.release(held)}

    def check(self, piece: bytes) -> None:
        if self.turns_bytes:
            self.only.check(piece[::-1])
        else:
            super().check(piece)

    def words(self) -> str:
        what = "labels" if self.by_label else "bytes" if self.turns_bytes else "characters"
        return f"its {what} in reverse order: {self.only.words()}"

    def show(self, piece: bytes) -> str:
        return self.only.show(piece[::-1]) if self.turns_bytes else super().show(piece)

    def batch(self, columns: Columns) -> Pieces:
        import numpy as np

        from rowkey.keys.batches.pieces import Fixed

        if not self.turns_bytes:
            return super().batch(columns)
        pieces = self.only.pieces(columns)
        width = self.framing.least
        fixed = pieces if isinstance(pieces, Fixed) else pieces.spans().gathered(width)
        turned = np.ascontiguousarray(fixed.matrix()[:, ::-1])
        return Fixed(turned.view(f"V{width}").reshape(len(fixed)))
