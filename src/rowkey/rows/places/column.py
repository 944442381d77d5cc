"""The place `column`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.rows.contract import CellShape, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.rows.contract import Width
    from rowkey.schema import FieldWords


class Column(Place):
    """A cell of its own, under the field's name unless `qualifier` says another."""

    name = "column"

    @classmethod
    def claims(cls, words: FieldWords) -> bool:
        return words.at is None and words.pack is None

    @classmethod
    def cells(
        cls, fields: Sequence[Field], family: str, widths: Mapping[str, Width]
    ) -> Iterator[CellShape]:
        for field in fields:
            name = field.name if field.words.qualifier is None else field.words.qualifier
            yield CellShape(
                field.words.family or family,
                name.encode(),
                (field.name,),
                widths[field.name].mean,
                field.nullable,
                widths[field.name].share,
            )
