"""A part that may be null: a marker byte before the value, never complemented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import Refused
from rowkey.keys.contract import Part, Row, Writer
from rowkey.keys.traits import (
    Alphabet,
    Change,
    Framing,
    Images,
    Interval,
    Residue,
    Source,
    pinned_values,
)
from rowkey.schema import Equal, OneOf

if TYPE_CHECKING:
    import numpy as np

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Bounds, Value

NULL, PRESENT = b"\x00", b"\x01"


class Nullable(Part):
    """00 for null, 01 and the value otherwise: nulls come first, ascending and descending."""

    name = "nullable"
    takes_nulls = True

    def __init__(self, inner: Part) -> None:
        assert len(inner.fields) == 1, "a null is the null of one field"
        self.inner = inner
        self.fields = inner.fields
        self.field = inner.fields[0]
        self.order = inner.order
        self.source = inner.source
        self.alphabet = inner.alphabet.union(Alphabet(NULL + PRESENT))
        self.cardinality = None if inner.cardinality is None else inner.cardinality + 1
        self.resolution = inner.resolution
        self.rest = inner.rest

    @property
    def framing(self) -> Framing:
        most = None if self.inner.framing.most is None else self.inner.framing.most + 1
        return Framing(1, most, self.inner.framing.closed)

    @property
    def opens(self) -> Alphabet:
        return Alphabet(NULL + PRESENT)

    def encode(self, row: Row) -> bytes:
        return NULL if row.get(self.field) is None else PRESENT + self.inner.encode(row)

    def writer(self) -> Writer:
        name, inner = self.field, self.inner.writer()
        return lambda row: NULL if row.get(name) is None else PRESENT + inner(row)

    def residue(self, name: str) -> Residue:
        return self.inner.residue(name)

    def images(self, bounds: Bounds) -> Images:
        """The images behind the marker; a null may also be left out at the end of a key.

        Beside a null, bytes without an end stand for all that begin with them: they are not exact.
        """
        if self.field not in bounds:
            return Images.anything(exact=True)
        values = pinned_values(bounds, self.field)
        if values is None or None not in values:
            return self.inner.images(bounds).within(PRESENT)
        others = tuple(value for value in values if value is not None)
        if not others:
            return Images(None, (Interval(b"", NULL),), exact=True)
        present = self.inner.images({**bounds, self.field: OneOf(others)}).within(PRESENT)
        if present.points is None:
            return Images(None, (Interval(b"", NULL), *present.intervals), present.exact)
        spots = tuple(Interval(point, point) for point in present.points)
        exact = present.exact and self.inner.framing.closed
        return Images(None, (Interval(b"", NULL), *spots), exact)

    def measure(self, data: bytes, at: int) -> int:
        marker = data[at : at + 1]
        if marker == NULL:
            return at + 1
        if marker != PRESENT:
            raise Refused("", f"the marker is {marker.hex() or 'missing'}", "00 or 01")
        return self.inner.measure(data, at + 1)

    def read(self, piece: bytes) -> dict[str, Value]:
        if piece[:1] == PRESENT:
            return self.inner.read(piece[1:])
        return {self.field: None} if self.inner.residue(self.field).nothing else {}

    def check(self, piece: bytes) -> None:
        if piece[:1] == PRESENT:
            self.inner.check(piece[1:])

    def words(self) -> str:
        return f"00 for null, nothing at the end of a key; otherwise 01, then {self.inner.words()}"

    def show(self, piece: bytes) -> str:
        return self.inner.show(piece[1:]) if piece[:1] == PRESENT else "null"

    def evolves(self, new: Part) -> Change:
        return self.inner.evolves(new.inner) if isinstance(new, Nullable) else Change.BREAKS

    @property
    def made_of(self) -> tuple[Part, ...]:
        return (self.inner,)

    def descending(self) -> Part:
        return Nullable(self.inner.descending())

    def absent(self, columns: Columns) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Where the field is null."""
        import numpy as np

        nulls = columns.nulls(self.field)
        return np.zeros(len(columns), np.bool_) if nulls is None else nulls

    def batch(self, columns: Columns) -> Pieces:
        from rowkey.keys.batches.pieces import Fixed, Spans, joined

        column = columns.columns[self.field]
        if column.codes is None:
            return joined([Fixed.repeated(PRESENT, len(columns)), self.inner.batch(columns)])
        if self.source is Source.DICTIONARY:
            # Ids go by the first rows, not by where a value stands in the column's own list.
            return super().batch(columns)
        if (key := (id(self),)) not in column.made:
            values = column.distinct()
            marked = joined([Fixed.repeated(PRESENT, len(values)), self.inner.batch(values)])
            column.made[key] = Spans.of([*marked.tolist(), NULL])
        pieces: Pieces = column.made[key].take(column.codes)
        return pieces

    def __repr__(self) -> str:
        return f"nullable({self.inner!r})"


def asks_for_null(bounds: Bounds, name: str) -> bool:
    """Whether a read asks for rows that lack the field."""
    match bounds.get(name):
        case Equal(None):
            return True
        case OneOf(values):
            return None in values
    return False
