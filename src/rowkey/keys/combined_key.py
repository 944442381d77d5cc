"""A key for reading rows that were written with different bucket counts.

While a table changes its bucket count, each count has its own key for writing. The combined key
reads them all: its parts accept the bytes that they have under any of the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rowkey.keys.batches.byte_columns import ByteColumn
from rowkey.keys.key import Key
from rowkey.keys.part_interface import Part, Row, RowEncoder
from rowkey.keys.traits import Framing, Images, Residue
from rowkey.schema import Bounds

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


class CombinedPart(Part):
    """A bucket or salt of a table whose rows were written with several counts.

    Args:
        variants: the part under each count, all of one width; the first one encodes.
    """

    name = "recounted"

    def __init__(self, variants: tuple[Part, ...]) -> None:
        self._variants = variants
        self.current_variant = variants[0]
        self.widest_variant = max(variants, key=lambda variant: variant.cardinality or 0)
        self.fields = self.current_variant.fields
        self.determined_by = self.current_variant.determined_by
        self.has_null_encoding = self.current_variant.has_null_encoding
        self.alphabet = self.widest_variant.alphabet
        self.cardinality = self.widest_variant.cardinality
        self.resolution_ns = self.current_variant.resolution_ns

    @property
    def variants(self) -> tuple[Part, ...]:
        """The parts under each count that stored rows may have."""
        return self._variants

    @property
    def children(self) -> tuple[Part, ...]:
        return (self.widest_variant,)

    @property
    def title(self) -> str:
        return self.current_variant.title

    @property
    def framing(self) -> Framing:
        return self.widest_variant.framing

    def encode(self, row: Row) -> bytes:
        return self.current_variant.encode(row)

    def compile_encoder(self) -> RowEncoder:
        return self.current_variant.compile_encoder()

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return self.current_variant.encode_batch(columns)

    def residue(self, name: str) -> Residue:
        return self.current_variant.residue(name)

    def images(self, bounds: Bounds) -> Images:
        """Return the byte ranges that bounds allow in this part, for all bucket counts together."""
        variant_images = [variant.images(bounds) for variant in self.variants]
        points = {point for images in variant_images for point in images.points or ()}
        assert all(images.points is not None for images in variant_images), "numbers are listed"
        return Images.from_points(points, exact=all(images.exact for images in variant_images))

    def check(self, piece: bytes) -> None:
        self.widest_variant.check(piece)

    def check_batch(self, pieces: ByteColumn) -> None:
        self.widest_variant.check_batch(pieces)

    def format_piece(self, piece: bytes) -> str:
        return self.widest_variant.format_piece(piece)

    def describe_encoding(self) -> str:
        return " or ".join(variant.describe_encoding() for variant in self.variants)

    def __repr__(self) -> str:
        return f"recounted({', '.join(map(repr, self.variants))})"


def combine_keys(keys: Sequence[Key]) -> Key:
    """Return one key that reads rows written with different bucket or salt counts.

    Args:
        keys: keys of the same fields and parts; the first one encodes.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import Equal
    >>> fields = {"id": "u64"}
    >>> key = combine_keys([bind_key(f"[bucket(id, {n})][id]", fields) for n in (32, 16)])
    >>> [point.hex() for point in key.parts[0].images({"id": Equal(5)}).points]
    ['0a', '1a']
    >>> key.decode(bytes.fromhex("0a0000000000000005")) == {"id": 5}
    True
    """
    first = keys[0]
    parts = []
    for variants in zip(*(key.parts for key in keys), strict=True):
        distinct = tuple({repr(variant): variant for variant in variants}.values())
        parts.append(distinct[0] if len(distinct) == 1 else CombinedPart(distinct))
    return Key(first.terms, first.declared_fields, tuple(parts), first.dictionary, tuple(keys))
