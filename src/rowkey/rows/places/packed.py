"""The place `packed`."""

from __future__ import annotations

from itertools import groupby
from math import prod
from typing import TYPE_CHECKING

from rowkey.rows.contract import CellShape, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.rows.contract import Width
    from rowkey.schema import FieldWords

LABEL_BYTES = 2
"""What a packed value adds to its own bytes: its number in the cell, and its type and length.
Source: the msgpack specification, a map of small integers to short values."""


class Packed(Place):
    """One cell shared by several fields: the key and its overhead are paid once.

    How often such a cell is written is told as if its fields were absent independently.
    """

    name = "packed"

    @classmethod
    def claims(cls, words: FieldWords) -> bool:
        return words.pack is not None

    @classmethod
    def cells(
        cls, fields: Sequence[Field], family: str, widths: Mapping[str, Width]
    ) -> Iterator[CellShape]:
        def cell(field: Field) -> tuple[str, str]:
            return field.words.family or family, field.words.pack or ""

        for (where, label), shared in groupby(sorted(fields, key=cell), key=cell):
            together = list(shared)
            names = tuple(field.name for field in together)
            held = [widths[name] for name in names]
            share = 1 - prod(1 - width.share for width in held)
            size = sum((width.mean + LABEL_BYTES) * width.share for width in held)
            optional = all(field.nullable for field in together)
            mean = 1 + size / share if share else 1.0
            yield CellShape(where, label.encode(), names, mean, optional, share)
