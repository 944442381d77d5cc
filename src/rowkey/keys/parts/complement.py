"""A part with every bit inverted: what `desc` makes of parts that know no better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.keys.contract import Part, Row, Writer
from rowkey.keys.traits import Alphabet, Change, Framing, Images, Order, Residue, complement

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Bounds, Value


class Complement(Part):
    """Every bit of another part inverted, its end included."""

    name = "complement"

    def __init__(self, base: Part) -> None:
        self.base = base
        self.fields = base.fields
        self.order = base.order.reversed() if base.framing.closed else Order.NONE
        self.source = base.source
        self.alphabet = base.alphabet.complement()
        self.cardinality = base.cardinality
        self.resolution = base.resolution
        self.rest = base.rest
        self.takes_nulls = base.takes_nulls

    @property
    def framing(self) -> Framing:
        return self.base.framing

    @property
    def opens(self) -> Alphabet:
        return self.base.opens.complement()

    def encode(self, row: Row) -> bytes:
        return complement(self.base.encode(row))

    def writer(self) -> Writer:
        base = self.base.writer()
        return lambda row: complement(base(row))

    def residue(self, name: str) -> Residue:
        return self.base.residue(name)

    def images(self, bounds: Bounds) -> Images:
        return self.base.images(bounds).complement()

    def measure(self, data: bytes, at: int) -> int:
        return at + self.base.measure(complement(data[at:]), 0)

    def read(self, piece: bytes) -> dict[str, Value]:
        return self.base.read(complement(piece))

    def check(self, piece: bytes) -> None:
        self.base.check(complement(piece))

    def words(self) -> str:
        return f"every bit inverted of: {self.base.words()}"

    def show(self, piece: bytes) -> str:
        return self.base.show(complement(piece))

    def batch(self, columns: Columns) -> Pieces:
        return self.base.pieces(columns).complement()

    def evolves(self, new: Part) -> Change:
        return self.base.evolves(new.base) if isinstance(new, Complement) else Change.BREAKS

    def descending(self) -> Part:
        return self.base

    def own(self) -> Part:
        return self.base.own()

    def __repr__(self) -> str:
        return f"complement({self.base!r})"
