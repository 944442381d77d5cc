"""The transform `truncate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.array_libraries import np
from rowkey.keys.batches.byte_columns import ByteColumn, FixedByteColumn, copy_slices
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import BindingContext, NumberArgument, Part, Row, Transform
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.traits import Alphabet, Framing, Images, Residue
from rowkey.messages import Message
from rowkey.schema import Bounds, Equal, OneOf, Range, StartsWith

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


class TruncateTransform(Transform):
    """The first n bytes of a value, padded with 00: fixed width, order kept, detail lost."""

    name = "truncate"
    scalars = (NumberArgument("n", 1, 1_024, "bytes that are kept"),)
    vectors: ClassVar = (
        GoldenVector("[truncate(host, 3)]", {"host": "text"}, {"host": "web-1"}, "776562"),
        GoldenVector("[truncate(host, 3)]", {"host": "text"}, {"host": "a"}, "610000"),
        GoldenVector("[truncate(n, 1)]", {"n": "u16"}, {"n": 513}, "02"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__((inputs[0].to_plain(),), arguments, context)
        self.n: int = arguments["n"]
        self.order = self.sole_input.order.weaken()
        self.alphabet = self.sole_input.alphabet.union(Alphabet(b"\0"))

    @property
    def framing(self) -> Framing:
        return Framing.from_width(self.n)

    def encode(self, row: Row) -> bytes:
        return self.sole_input.encode(row)[: self.n].ljust(self.n, b"\0")

    def residue(self, name: str) -> Residue:
        return (
            Residue(Message("residue.after_byte", "the part after byte {count}", count=self.n))
            if name in self.fields
            else Residue()
        )

    def images(self, bounds: Bounds) -> Images:
        """Return the intervals of the whole values, truncated; padding keeps their order."""
        bound = bounds.get(self.fields[0]) if self.fields else None
        match bound:
            case Equal() | OneOf() | None:
                return super().images(bounds)
            case StartsWith(prefix) if self._is_text_input:
                raw = prefix.encode() if isinstance(prefix, str) else prefix
                return Images.from_prefixes(raw[: self.n], raw[: self.n], exact=False)
            case Range(low, high) if self.order.is_ascending:
                return Images.from_prefixes(
                    self._encode_edge(low), self._encode_edge(high), exact=False
                )
        return Images.build_unbounded(exact=False)

    @property
    def _is_text_input(self) -> bool:
        """Whether the input is a text or bytes field, not something computed from one."""
        return isinstance(self.sole_input, FieldPart) and self.sole_input.field.type.is_sequence

    def _encode_edge(self, value: object) -> bytes:
        """Return the bytes of one end of a range; empty for an open end."""
        return b"" if value is None else self.encode({self.fields[0]: value})

    def describe_encoding(self) -> str:
        inner = ", ".join(self.fields) or "a salt"
        return (
            f"the first {self.n} bytes of the value of {inner} by itself (text as UTF-8, "
            "numbers big-endian), padded with 00"
        )

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        spans = self.sole_input.encode_distinct(columns).to_sliced()
        out = np.zeros(len(spans) * self.n, np.uint8)
        lengths = np.minimum(spans.inner_lengths, self.n)
        copy_slices(out, np.arange(len(spans)) * self.n, spans.data, spans.starts, lengths)
        return FixedByteColumn(out.view(f"V{self.n}"))
