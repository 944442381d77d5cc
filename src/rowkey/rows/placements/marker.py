"""The placement `marker`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rowkey.array_libraries import pa
from rowkey.keys import Field, Row
from rowkey.rows.placement_interface import (
    CellEstimate,
    CellSlot,
    Placement,
    SlotReader,
    SlotWriter,
    ValueSize,
)
from rowkey.schema import FieldDeclaration


class MarkerPlacement(Placement):
    """An empty cell with an empty qualifier, so that a row exists if all its columns are absent.

    Source: Phoenix's empty key value does the same.
    """

    name = "marker"

    @classmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
        """Return False: no field is stored in a marker."""
        return False

    @classmethod
    def estimate_cells(
        cls, fields: Sequence[Field], family: str, value_sizes: Mapping[str, ValueSize]
    ) -> Iterator[CellEstimate]:
        """Yield the empty cell that every event has."""
        yield CellEstimate(family, b"", (), 0.0, optional=False)

    @classmethod
    def build_slots(cls, fields: Sequence[Field], family: str) -> Iterator[CellSlot]:
        """Yield the column of the empty cell."""
        yield _MarkerSlot(family, b"", (), optional=False)


class _MarkerSlot(CellSlot):
    """The empty cell that shows that an event exists."""

    def encode_values(self, values: Row) -> bytes:
        """Return the empty value."""
        return b""

    def compile_writer(self) -> SlotWriter:
        """Return a function that gives the empty value for every row."""
        return _write_marker

    def compile_reader(self) -> SlotReader:
        """Return a function that adds nothing to an event."""
        return _read_marker

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        """Return an empty value for each row of a batch."""
        return pa.repeat(pa.scalar(b"", pa.binary()), batch.num_rows)

    def read_batch(self, values: pa.Array, field_names: Collection[str]) -> dict[str, pa.Array]:
        """Return no column: a marker has no field."""
        return {}


def _write_marker(_row: Row) -> bytes:
    """Return the empty value of a marker."""
    return b""


def _read_marker(_value: bytes, _event: dict[str, Any]) -> None:
    """Add nothing to an event: a marker has no value."""
