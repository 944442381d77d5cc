"""Short functions that put, delete and read in tests of engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.engines import CellSelection, ScanRange

if TYPE_CHECKING:
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
    """Return the numbers in counters."""
    return [int.from_bytes(cell.value, "big", signed=True) for cell in cells]


def read_times(reader: Reader, row: bytes, **asked: Any) -> list[int]:
    """Return the timestamps that a get returns."""
    return [cell.timestamp for cell in reader.get([row], CellSelection(**asked))[0].cells]


def read_values(reader: Reader, row: bytes, **asked: Any) -> list[bytes]:
    """Return the values that a get returns."""
    return [cell.value for cell in reader.get([row], CellSelection(**asked))[0].cells]


def read_columns(reader: Reader, row: bytes, **asked: Any) -> list[tuple[str, bytes]]:
    """Return the families and qualifiers that a get returns."""
    return [cell[:2] for cell in reader.get([row], CellSelection(**asked))[0].cells]


def scan_keys(reader: Reader, start: bytes = b"", stop: bytes = b"", **asked: Any) -> list[bytes]:
    """Return the row keys that a scan returns, with `batch` one for each piece."""
    return [row.row for row in scan_pieces(reader, start, stop, **asked)]


def scan_pieces(
    reader: Reader, start: bytes = b"", stop: bytes = b"", **asked: Any
) -> list[RowCells]:
    """Return the rows or pieces of a scan of one range."""
    (cursor,) = reader.scan([ScanRange(start, stop)], CellSelection(**asked))
    with cursor:
        return list(cursor)


def compact_to_one_file(store: Store) -> None:
    """Flush, then compact all files to one."""
    store.flush()
    store.compact(major=True)
