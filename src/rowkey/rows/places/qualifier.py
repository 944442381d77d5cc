"""The place `qualifier`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.rows.contract import CellShape, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.rows.contract import Width
    from rowkey.schema import FieldWords


class Qualifier(Place):
    """Before the qualifier of every cell of the event: many events share one wide row."""

    name = "qualifier"

    @classmethod
    def claims(cls, words: FieldWords) -> bool:
        return words.at == "qualifier"

    @classmethod
    def cells(
        cls, fields: Sequence[Field], family: str, widths: Mapping[str, Width]
    ) -> Iterator[CellShape]:
        return iter(())

    @classmethod
    def qualifier_bytes(cls, fields: Sequence[Field], widths: Mapping[str, Width]) -> float:
        return sum(widths[field.name].mean * widths[field.name].share for field in fields)
