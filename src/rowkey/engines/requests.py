"""Requests to an engine: tables to create, rows and cells to select, conditions to check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rowkey.cells import LATEST, Family


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table as an engine knows it.

    Args:
        name: `qualifier` or `namespace:qualifier`.
        families: its column families.
        splits: the start keys of all regions but the first, ascending.
        attributes: table attributes, such as MAX_FILESIZE or a copy of the catalog entry.
    """

    name: str
    families: tuple[Family, ...]
    splits: tuple[bytes, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScanRange:
    """Rows from `start`, inclusive, to `stop`, exclusive; an empty `stop` is the end of the table.

    A reverse scan returns the same rows, the last one first.
    """

    start: bytes = b""
    stop: bytes = b""


@dataclass(frozen=True, slots=True)
class CellSelection:
    """The cells of a row that a read selects.

    Args:
        columns: qualifiers by family, none listed for the whole family; None for all families.
        time_range: timestamps from the first, inclusive, to the second, exclusive, in ms.
        versions: maximum number of versions of a column, 1 or more.
        qualifier_range: only qualifiers from the first, inclusive, to the second, exclusive; an
            empty second one means no end.
        raw: whether to return deletes and the cells they hide, as far as they are still stored.
        reverse: whether rows come in descending order; the cells of a row keep their order.
        limit: maximum number of rows of each range, or None.
        batch: maximum number of cells of one part of a row, or None for whole rows. In reads of
            one family, forward and without a limit, an embedded engine then keeps only some
            thousand cells of a row in memory.
        expected_rows: rows of each range, or parts of rows with `batch`, after which the reader
            probably stops, so that a cluster is not asked for many more; None if it wants all.
    """

    columns: Mapping[str, tuple[bytes, ...]] | None = None
    time_range: tuple[int, int] = (0, LATEST)
    versions: int = 1
    qualifier_range: tuple[bytes, bytes] = (b"", b"")
    raw: bool = False
    reverse: bool = False
    limit: int | None = None
    batch: int | None = None
    expected_rows: int | None = None


NEWEST_CELLS = CellSelection()
"""Selects the newest version of every column."""
MAX_VERSIONS = 2**31 - 1
"""The most versions of a column that a read may ask for. Source: Java's int."""
RAW_CELLS = CellSelection(raw=True, versions=MAX_VERSIONS)
"""Selects all that is stored of a row: every version, and delete markers."""


@dataclass(frozen=True, slots=True)
class CellCondition:
    """A condition on a column that must hold before its row is changed.

    Args:
        family: the column's family.
        qualifier: its qualifier.
        operator: one of = != < <= > >=, read as *cell OP value*.
        value: compared bytewise with the newest cell. None with `=` requires that there is no cell
            or an empty one, with `!=` that there is one that is not empty. If the column is
            absent, every other condition is false, `!=` included.

    Source: CheckAndMutate; HRegion.matches.
    """

    family: str
    qualifier: bytes
    operator: str = "="
    value: bytes | None = None
