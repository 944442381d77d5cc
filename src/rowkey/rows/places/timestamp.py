"""The place `timestamp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.rows.contract import CellShape, Place
from rowkey.rows.stamp import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.rows.contract import Width
    from rowkey.schema import FieldWords


class Timestamp(Place):
    """The timestamp of every cell of the event: TTL counts from it, versions become history."""

    name = "timestamp"

    @classmethod
    def claims(cls, words: FieldWords) -> bool:
        return words.at == "timestamp"

    @classmethod
    def cells(
        cls, fields: Sequence[Field], family: str, widths: Mapping[str, Width]
    ) -> Iterator[CellShape]:
        return iter(())

    @classmethod
    def stamps(cls, fields: Sequence[Field]) -> Iterator[Stamp]:
        return map(Stamp, fields)
