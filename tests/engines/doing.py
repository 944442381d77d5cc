"""Short functions for the steps of engine tests: put, delete, read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.engines import CellSelection, ScanRange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.engines import Reader, Store

ALL_TIMES = (0, LATEST)


def put(
    store: Store,
    row: bytes,
    qualifier: bytes = b"q",
    at: int = LATEST,
    value: bytes = b"v",
    *,
    family: str = "d",
    ttl_ms: int | None = None,
) -> None:
    """Put one cell."""
    store.mutate([RowCells(row, [Cell(family, qualifier, at, value, ttl_ms=ttl_ms)])])


def delete(
    store: Store,
    row: bytes,
    kind: CellType,
    at: int = LATEST,
    qualifier: bytes = b"",
    *,
    family: str = "d",
) -> None:
    """Put one delete."""
    store.mutate([RowCells(row, [Cell(family, qualifier, at, cell_type=kind)])])


def read_counts(cells: Sequence[Cell]) -> list[int]:
    """The numbers that counters hold."""
    return [int.from_bytes(cell.value, "big", signed=True) for cell in cells]


def read_times(reader: Reader, row: bytes, **asked: Any) -> list[int]:
    """The timestamps of what a get gives."""
    return [cell.timestamp for cell in reader.get([row], CellSelection(**asked))[0].cells]


def read_values(reader: Reader, row: bytes, **asked: Any) -> list[bytes]:
    """The values of what a get gives."""
    return [cell.value for cell in reader.get([row], CellSelection(**asked))[0].cells]


def read_columns(reader: Reader, row: bytes, **asked: Any) -> list[tuple[str, bytes]]:
    """The family and qualifier of what a get gives."""
    return [cell[:2] for cell in reader.get([row], CellSelection(**asked))[0].cells]


def scan_keys(reader: Reader, start: bytes = b"", stop: bytes = b"", **asked: Any) -> list[bytes]:
    """The row keys of what a scan gives, with `batch` as often as there are pieces."""
    return [row.row for row in scan_pieces(reader, start, stop, **asked)]


def scan_pieces(
    reader: Reader, start: bytes = b"", stop: bytes = b"", **asked: Any
) -> list[RowCells]:
    """What a scan of one range gives."""
    (cursor,) = reader.scan([ScanRange(start, stop)], CellSelection(**asked))
    with cursor:
        return list(cursor)


def compact_to_one_file(store: Store) -> None:
    """Flush, then compact all to one file."""
    store.flush()
    store.compact(major=True)
