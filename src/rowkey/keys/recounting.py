"""A key whose rows stand under several counts: what reads a table amid a change of its buckets.

Each count is a key of its own, which writes. Here they are one key for reading: its parts take the
bytes that they have under any of the counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.keys.contract import Part
from rowkey.keys.key import Key
from rowkey.keys.traits import Images

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.keys.contract import Row, Writer
    from rowkey.keys.traits import Framing, Residue
    from rowkey.schema import Bounds


class Recounted(Part):
    """One of so many numbers, where rows of several counts stand side by side.

    Args:
        forms: the part under each count, all of one width; the first one writes.
    """

    name = "recounted"

    def __init__(self, forms: tuple[Part, ...]) -> None:
        self._forms = forms
        self.now = forms[0]
        self.widest = max(forms, key=lambda one: one.cardinality or 0)
        self.fields = self.now.fields
        self.source = self.now.source
        self.takes_nulls = self.now.takes_nulls
        self.alphabet = self.widest.alphabet
        self.cardinality = self.widest.cardinality
        self.resolution = self.now.resolution

    @property
    def forms(self) -> tuple[Part, ...]:
        return self._forms

    @property
    def made_of(self) -> tuple[Part, ...]:
        return (self.widest,)

    @property
    def title(self) -> str:
        return self.now.title

    @property
    def framing(self) -> Framing:
        return self.widest.framing

    def encode(self, row: Row) -> bytes:
        return self.now.encode(row)

    def writer(self) -> Writer:
        return self.now.writer()

    def batch(self, columns: Columns) -> Pieces:
        return self.now.batch(columns)

    def residue(self, name: str) -> Residue:
        return self.now.residue(name)

    def images(self, bounds: Bounds) -> Images:
        """The bytes of all counts together."""
        found = [form.images(bounds) for form in self.forms]
        points = {point for images in found for point in images.points or ()}
        assert all(images.points is not None for images in found), "numbers are listed"
        return Images.listed(points, exact=all(images.exact for images in found))

    def check(self, piece: bytes) -> None:
        self.widest.check(piece)

    def check_batch(self, pieces: Pieces) -> None:
        self.widest.check_batch(pieces)

    def show(self, piece: bytes) -> str:
        return self.widest.show(piece)

    def words(self) -> str:
        return " or ".join(form.words() for form in self.forms)

    def __repr__(self) -> str:
        return f"recounted({', '.join(map(repr, self.forms))})"


def recounted(keys: Sequence[Key]) -> Key:
    """One key for rows that were written by several, which differ in their counts alone.

    Args:
        keys: of the same fields and parts; the first one writes.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import Equal
    >>> fields = {"id": "u64"}
    >>> key = recounted([bind_key(f"[bucket(id, {n})][id]", fields) for n in (32, 16)])
    >>> [point.hex() for point in key.parts[0].images({"id": Equal(5)}).points]
    ['0a', '1a']
    >>> key.decode(bytes.fromhex("0a0000000000000005")) == {"id": 5}
    True
    """
    first = keys[0]
    parts = []
    for forms in zip(*(key.parts for key in keys), strict=True):
        different = tuple({repr(form): form for form in forms}.values())
        parts.append(different[0] if len(different) == 1 else Recounted(different))
    return Key(first.terms, first.all_fields, tuple(parts), first.seed, first.dictionary)
