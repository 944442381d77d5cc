"""The place `marker`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.rows.contract import CellShape, Place, Slot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rowkey.keys import Field, Row
    from rowkey.rows.contract import SlotReader, SlotWriter, Width
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

    @classmethod
    def slots(cls, fields: Sequence[Field], family: str) -> Iterator[Slot]:
        yield _Mark(family, b"", (), optional=False)


class _Mark(Slot):
    """The cell that says that an event is there, and nothing more."""

    def writer(self) -> SlotWriter:
        return _written

    def reader(self) -> SlotReader:
        return _read

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        import pyarrow as pa

        return pa.repeat(pa.scalar(b"", pa.binary()), batch.num_rows)

    def read_batch(self, values: pa.Array, wanted: Collection[str]) -> dict[str, pa.Array]:
        return {}


def _written(_row: Row) -> bytes:
    return b""


def _read(_value: bytes, _event: dict[str, Any]) -> None:
    """A marker says nothing but that it is there."""
