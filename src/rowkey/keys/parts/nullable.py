"""A part that may be null: a marker byte before the value, never complemented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import (
    ByteColumn,
    FixedByteColumn,
    SlicedByteColumn,
    concatenate_columns,
)
from rowkey.keys.part_interface import Part, Row, RowEncoder
from rowkey.keys.parts.complement import build_descending_part
from rowkey.keys.traits import (
    Alphabet,
    Compatibility,
    Determinant,
    Framing,
    Images,
    PrefixInterval,
    Residue,
    find_pinned_values,
)
from rowkey.schema import Bounds, Equal, OneOf, Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch

NULL_MARKER, PRESENT_MARKER = b"\x00", b"\x01"


class NullablePart(Part):
    """00 for null, 01 and the value otherwise: nulls come first, ascending and descending."""

    name = "nullable"
    has_null_encoding = True

    def __init__(self, inner: Part) -> None:
        assert len(inner.fields) == 1, "a null is the null of one field"
        self.inner = inner
        self.fields = inner.fields
        self.field_name = inner.fields[0]
        self.order = inner.order
        self.determined_by = inner.determined_by
        self.alphabet = inner.alphabet.union(Alphabet(NULL_MARKER + PRESENT_MARKER))
        self.cardinality = None if inner.cardinality is None else inner.cardinality + 1
        self.resolution_ns = inner.resolution_ns
        self.time_remainder = inner.time_remainder

    @property
    def framing(self) -> Framing:
        max_bytes = (
            None if self.inner.framing.max_bytes is None else self.inner.framing.max_bytes + 1
        )
        return Framing(1, max_bytes, self.inner.framing.is_self_delimiting)

    @property
    def first_byte_alphabet(self) -> Alphabet:
        return Alphabet(NULL_MARKER + PRESENT_MARKER)

    def encode(self, row: Row) -> bytes:
        return (
            NULL_MARKER
            if row.get(self.field_name) is None
            else PRESENT_MARKER + self.inner.encode(row)
        )

    def compile_encoder(self) -> RowEncoder:
        name, inner = self.field_name, self.inner.compile_encoder()
        return lambda row: NULL_MARKER if row.get(name) is None else PRESENT_MARKER + inner(row)

    def residue(self, name: str) -> Residue:
        return self.inner.residue(name)

    def images(self, bounds: Bounds) -> Images:
        """Return the images after the marker; a null may also be left out at the end of a key.

        Where nulls are read too, an encoding without an end becomes an interval of all strings that
        begin with it, which is not exact.
        """
        if self.field_name not in bounds:
            return Images.build_unbounded(exact=True)
        values = find_pinned_values(bounds, self.field_name)
        if values is None or None not in values:
            return self.inner.images(bounds).add_prefix(PRESENT_MARKER)
        present_values = tuple(value for value in values if value is not None)
        if not present_values:
            return Images(None, (PrefixInterval(b"", NULL_MARKER),), exact=True)
        present = self.inner.images({**bounds, self.field_name: OneOf(present_values)}).add_prefix(
            PRESENT_MARKER
        )
        if present.points is None:
            return Images(
                None, (PrefixInterval(b"", NULL_MARKER), *present.intervals), present.exact
            )
        intervals = tuple(PrefixInterval(point, point) for point in present.points)
        exact = present.exact and self.inner.framing.is_self_delimiting
        return Images(None, (PrefixInterval(b"", NULL_MARKER), *intervals), exact)

    def find_end(self, data: bytes, at: int) -> int:
        marker = data[at : at + 1]
        if marker == NULL_MARKER:
            return at + 1
        if marker != PRESENT_MARKER:
            raise InvalidArgument(
                "",
                f"the null marker is {f'the byte {marker.hex()}' if marker else 'missing'}",
                "00 for null or 01 for a value",
            )
        return self.inner.find_end(data, at + 1)

    def decode(self, piece: bytes) -> dict[str, Value]:
        if piece[:1] == PRESENT_MARKER:
            return self.inner.decode(piece[1:])
        return {self.field_name: None} if self.inner.residue(self.field_name).is_empty else {}

    def check(self, piece: bytes) -> None:
        if piece[:1] == PRESENT_MARKER:
            self.inner.check(piece[1:])

    def describe_encoding(self) -> str:
        return (
            "00 for null, nothing at the end of a key; otherwise 01, then "
            f"{self.inner.describe_encoding()}"
        )

    def format_piece(self, piece: bytes) -> str:
        return self.inner.format_piece(piece[1:]) if piece[:1] == PRESENT_MARKER else "null"

    def check_compatibility(self, new: Part) -> Compatibility:
        return (
            self.inner.check_compatibility(new.inner)
            if isinstance(new, NullablePart)
            else Compatibility.BREAKS
        )

    @property
    def children(self) -> tuple[Part, ...]:
        return (self.inner,)

    def to_descending(self) -> Part:
        return NullablePart(build_descending_part(self.inner))

    def find_nulls(self, columns: ColumnBatch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which rows have a null."""
        nulls = columns.find_nulls(self.field_name)
        return np.zeros(len(columns), np.bool_) if nulls is None else nulls

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        column = columns.columns[self.field_name]
        if column.codes is None:
            return concatenate_columns(
                [
                    FixedByteColumn.from_repeated(PRESENT_MARKER, len(columns)),
                    self.inner.encode_batch(columns),
                ]
            )
        if self.determined_by is Determinant.DICTIONARY:
            # Ids are assigned in row order, not in the order of the column's dictionary.
            return super().encode_batch(columns)
        if (key := (id(self),)) not in column.cache:
            values = column.to_distinct_rows()
            encoded = concatenate_columns(
                [
                    FixedByteColumn.from_repeated(PRESENT_MARKER, len(values)),
                    self.inner.encode_batch(values),
                ]
            )
            column.cache[key] = SlicedByteColumn.from_list([*encoded.tolist(), NULL_MARKER])
        pieces: ByteColumn = column.cache[key].take(column.codes)
        return pieces

    def __repr__(self) -> str:
        return f"nullable({self.inner!r})"


def is_null_requested(bounds: Bounds, name: str) -> bool:
    """Return whether a read selects rows in which a field is null."""
    match bounds.get(name):
        case Equal(None):
            return True
        case OneOf(values):
            return None in values
    return False
