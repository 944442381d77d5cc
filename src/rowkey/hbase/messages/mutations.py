"""How changes of a row are sent: `MutationProto`, with their cells in the cell block."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rowkey.cells import LATEST, Kind, check_row
from rowkey.errors import Refused, shown
from rowkey.hbase.messages.contract import Repeating
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.names import region_specifier
from rowkey.hbase.wire.proto import Malformed, blob, flag, message, sint64, text, uint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.cells import Cell

APPEND, INCREMENT, PUT, DELETE = range(4)
"""Sorts of mutations. Source: MutationProto.MutationType of Client.proto."""


FSYNC_WAL = 4
"""Source: MutationProto.Durability of Client.proto; by default a log is flushed, not synced."""


def mutation_message(
    row: bytes,
    sort: int,
    count: int,
    *,
    ttl_ms: int | None = None,
    timestamp: int | None = None,
    nonce: int = 0,
    sync: bool = False,
) -> bytes:
    """The message `MutationProto`.

    Args:
        row: key of the row.
        sort: APPEND, INCREMENT, PUT or DELETE.
        count: how many cells of the cell block are its.
        ttl_ms: time to live of all of them, in ms, or None.
        timestamp: of a delete without cells, which is of the whole row.
        nonce: number by which a server knows it when it comes again; 0 for none.
        sync: whether it is on the disks before it is acknowledged, whatever the table says.

    Source: Client.proto of HBase 2.6: 1 row, 2 mutate_type, 4 timestamp, 5 attribute,
        6 durability, 8 associated_cell_count, 9 nonce; Mutation.setTTL for the attribute `_ttl`.

    >>> mutation_message(b"r1", PUT, 1).hex()
    '0a02723110024001'
    """
    return b"".join(
        (
            blob(1, row),
            uint(2, sort),
            sint64(4, timestamp),
            b"" if ttl_ms is None else message(5, text(1, "_ttl"), blob(2, _eight(ttl_ms))),
            uint(6, FSYNC_WAL if sync else None),
            uint(8, count),
            uint(9, nonce or None),
        )
    )


def _eight(number: int) -> bytes:
    return number.to_bytes(8, "big", signed=True)


def written(row: bytes, cells: Sequence[Cell], *, sync: bool = False) -> bytes:
    """The message of cells that are of one sort."""
    first = cells[0]
    sort = PUT if first.kind == Kind.PUT else DELETE
    return mutation_message(row, sort, len(cells), ttl_ms=first.ttl_ms, sync=sync)


def repeating(cells: Sequence[Cell]) -> Repeating:
    """What may come of writing cells twice: a second delete of the newest finds the one before.

    Source: Kind.DELETE with LATEST is HBase's Delete.addColumn without a timestamp.
    """
    newest = any(cell.kind == Kind.DELETE and cell.timestamp == LATEST for cell in cells)
    return Repeating.COUNTS if newest else Repeating.HARMLESS


def is_mixed(cells: Sequence[Cell]) -> bool:
    """Whether cells are of several sorts, so that one mutation cannot hold them."""
    first = _sort(cells[0])
    return any(_sort(cell) != first for cell in cells)


def runs(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Cells in their order, cut where the sort changes: each run is one mutation."""
    for _, run in groupby(cells, _sort):
        yield list(run)


def _sort(cell: Cell) -> tuple[bool, int | None]:
    """What all cells of one mutation have in common."""
    return cell.kind == Kind.PUT, cell.ttl_ms


def check_cells(row: bytes, cells: Sequence[Cell]) -> None:
    """Raise unless this can be a change of a row; the table's families are not looked at."""
    check_row(row)
    if not cells:
        raise Refused("cells", "there is none", "1 or more", "DeleteRow deletes a whole row.")


def check_one_sort(cells: Sequence[Cell]) -> None:
    """Raise unless one mutation can hold these cells."""
    if is_mixed(cells):
        what = "puts and deletes, or several times to live, stand together"
        raise Refused("cells", what, "cells of one sort", "MutateRow takes them all.")


def check_nonce(word: str, given: object) -> None:
    """Raise unless this can be a nonce."""
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < 2**63:
        raise Refused(word, f"{shown(given)} is out of range", "0..2^63-1; 0 for none")


def mutate_request(
    region: bytes, mutation: bytes, *, condition: bytes = b"", nonce_group: int = 0
) -> bytes:
    """The message `MutateRequest`.

    Source: Client.proto of HBase 2.6: 1 region, 2 mutation, 3 condition, 4 nonce_group.
    """
    return b"".join(
        (
            message(1, region_specifier(region)),
            message(2, mutation),
            message(3, condition) if condition else b"",
            uint(4, nonce_group or None),
        )
    )


def atomic_action(
    region: bytes,
    row: bytes,
    cells: Sequence[Cell],
    condition: bytes = b"",
    *,
    sync: bool = False,
) -> tuple[bytes, bytes]:
    """The message `RegionAction` that changes a row by cells of several sorts, all or none.

    Args:
        region: full name of the region.
        row: key of the row.
        cells: in the order in which they are to be applied.
        condition: the message `Condition` that must be true, or b"".
        sync: whether they are on the disks before they are acknowledged.

    Returns:
        The message, and the cells beside it.

    Source: Client.proto of HBase 2.6: 1 region, 2 atomic, 3 action, 4 condition.
    """
    actions = (
        message(3, uint(1, index), message(2, written(row, run, sync=sync)))
        for index, run in enumerate(runs(cells), 1)
    )
    said = message(4, condition) if condition else b""
    whole = message(1, region_specifier(region)) + flag(2, True) + b"".join(actions) + said
    return whole, encode_cells(row, cells)


def check_columns(columns: Sequence[tuple[str, bytes]]) -> None:
    """Raise unless these columns can be changed together by what they hold.

    Raises:
        Refused: there is none, or one is named twice: a server takes its value before the call for
            both.

    Source: HRegion.reckonDeltasByStore.
    """
    if not columns:
        raise Refused("columns", "none is named", "1 or more")
    if len(set(columns)) < len(columns):
        raise Refused("columns", "one is named twice", "each once", "Add the amounts up first.")


def cells_in_order(columns: Sequence[tuple[str, bytes]], cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of columns in the order they were asked; a server tells them in its own.

    Raises:
        Malformed: one is missing.
    """
    told = {(cell.family, cell.qualifier): cell for cell in cells}
    if not told.keys() >= set(columns):
        raise Malformed(f"an answer about {len(told)} columns", f"all {len(columns)}")
    return [told[column] for column in columns]
