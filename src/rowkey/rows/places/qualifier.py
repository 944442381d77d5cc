"""The place `qualifier`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.rows.contract import CellShape, Place
from rowkey.rows.opening import Opening

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.rows.contract import Width
    from rowkey.schema import FieldWords


class Qualifier(Place):
    """Before the qualifier of every cell of the event: many events share one wide row.

    A value stands there in the default encoding it would have in a key, text with its end, so that
    no two events have the same bytes.
    """

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
        return Opening((), fields).mean_bytes(widths)

    @classmethod
    def opening(cls, fields: Sequence[Field]) -> tuple[Field, ...]:
        return tuple(fields)
