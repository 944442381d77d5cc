"""The placement `timestamp`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rowkey.keys import Field
from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.placement_interface import CellEstimate, Placement, ValueSize
from rowkey.schema import FieldDeclaration


class TimestampPlacement(Placement):
    """In the timestamp of every cell of the event: TTL counts from it, versions are history."""

    name = "timestamp"

    @classmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
        """Return whether a field declares `at = "timestamp"`."""
        return declaration.at == "timestamp"

    @classmethod
    def estimate_cells(
        cls, fields: Sequence[Field], family: str, value_sizes: Mapping[str, ValueSize]
    ) -> Iterator[CellEstimate]:
        """Return no cells: the field is in the timestamps of other cells."""
        return iter(())

    @classmethod
    def build_timestamps(cls, fields: Sequence[Field]) -> Iterator[CellTimestamp]:
        """Yield the codec of the field that is stored in cell timestamps."""
        return map(CellTimestamp, fields)
