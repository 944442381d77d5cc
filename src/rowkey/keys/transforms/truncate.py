"""The transform `truncate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.keys.contract import Context, Count, Part, Row, Transform, Vector
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.traits import Alphabet, Framing, Images, Residue
from rowkey.schema import Equal, OneOf, Range, StartsWith

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Bounds


class Truncate(Transform):
    """The first n bytes of a value, padded with 00: fixed width, order kept, detail lost."""

    name = "truncate"
    scalars = (Count("n", 1, 1_024, "bytes that are kept"),)
    vectors: ClassVar = (
        Vector("[truncate(host, 3)]", {"host": "text"}, {"host": "web-1"}, "776562"),
        Vector("[truncate(host, 3)]", {"host": "text"}, {"host": "a"}, "610000"),
        Vector("[truncate(n, 1)]", {"n": "u16"}, {"n": 513}, "02"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__((inputs[0].own(),), arguments, context)
        self.n: int = arguments["n"]
        self.order = self.only.order.weakened()
        self.alphabet = self.only.alphabet.union(Alphabet(b"\0"))

    @property
    def framing(self) -> Framing:
        return Framing.fixed(self.n)

    def encode(self, row: Row) -> bytes:
        return self.only.encode(row)[: self.n].ljust(self.n, b"\0")

    def residue(self, name: str) -> Residue:
        return (
            Residue(f"all behind the first {self.n} byte{'s' * (self.n != 1)}")
            if name in self.fields
            else Residue()
        )

    def images(self, bounds: Bounds) -> Images:
        """The intervals of the whole values, cut: padding never leaves the order."""
        asked = bounds.get(self.fields[0]) if self.fields else None
        match asked:
            case Equal() | OneOf() | None:
                return super().images(bounds)
            case StartsWith(prefix) if self._is_of_text:
                raw = prefix.encode() if isinstance(prefix, str) else prefix
                return Images.between(raw[: self.n], raw[: self.n], exact=False)
            case Range(low, high) if self.order.ascends:
                return Images.between(self._edge(low), self._edge(high), exact=False)
        return Images.anything(exact=False)

    @property
    def _is_of_text(self) -> bool:
        """Whether what is cut is text or bytes themselves, not something computed of them."""
        return isinstance(self.only, FieldPart) and self.only.field.type.is_sequence

    def _edge(self, value: object) -> bytes:
        return b"" if value is None else self.encode({self.fields[0]: value})

    def words(self) -> str:
        inner = ", ".join(self.fields) or "a salt"
        return (
            f"the first {self.n} bytes of the value of {inner} by itself (text as UTF-8, "
            "numbers big-endian), padded with 00"
        )

    def batch(self, columns: Columns) -> Pieces:
        import numpy as np

        from rowkey.keys.batches.pieces import Fixed, copy_spans

        spans = self.only.pieces(columns).spans()
        out = np.zeros(len(spans) * self.n, np.uint8)
        kept = np.minimum(spans.inner, self.n)
        copy_spans(out, np.arange(len(spans)) * self.n, spans.data, spans.starts, kept)
        return Fixed(out.view(f"V{self.n}"))
