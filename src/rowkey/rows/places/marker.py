"""The place `marker`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.rows.contract import CellShape, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.rows.contract import Width
    from rowkey.schema import FieldWords


class Marker(Place):
    """An empty cell under the empty qualifier, so that a row exists whose columns are all absent.

    Source: Phoenix's empty key value does the same.
    """

    name = "marker"

    @classmethod
    def claims(cls, words: FieldWords) -> bool:
        return False

    @classmethod
    def cells(
        cls, fields: Sequence[Field], family: str, widths: Mapping[str, Width]
    ) -> Iterator[CellShape]:
        yield CellShape(family, b"", (), 0.0, optional=False)
