"""Values in the qualifier or the timestamp of a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rowkey.keys import Field
from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.placement_interface import CellEstimate, Placement, ValueSize
from rowkey.rows.qualifier_prefix import QualifierPrefix
from rowkey.schema import FieldDeclaration


class QualifierPlacement(Placement):
    """At the start of each qualifier of the event: many events share one wide row.

    A value has the default encoding that it would have in a key, text with its terminator, so that
    no two events have the same bytes.
    """

    name = "qualifier"

    @classmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
        """Return whether a field declares `at = "qualifier"`."""
        return declaration.at == "qualifier"

    @classmethod
    def estimate_cells(
        cls, fields: Sequence[Field], family: str, value_sizes: Mapping[str, ValueSize]
    ) -> Iterator[CellEstimate]:
        """Return no cells: the fields are in the qualifiers of other cells."""
        return iter(())

    @classmethod
    def estimate_qualifier_bytes(
        cls, fields: Sequence[Field], value_sizes: Mapping[str, ValueSize]
    ) -> float:
        """Return the mean bytes that the fields add to each qualifier."""
        return QualifierPrefix((), fields).estimate_mean_bytes(value_sizes)

    @classmethod
    def select_qualifier_fields(cls, fields: Sequence[Field]) -> tuple[Field, ...]:
        """Return all fields of this placement, in their order in the qualifier."""
        return tuple(fields)


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
