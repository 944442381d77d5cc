"""Requests to an engine: tables to create, rows and cells to select, conditions to check."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.cells import LATEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.cells import Family


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table as an engine knows it.

    Args:
        name: `qualifier` or `namespace:qualifier`.
        families: its column families.
        splits: the row keys its regions begin with, ascending; none makes one region.
        attributes: words kept with the table, such as MAX_FILESIZE or a copy of the catalog's.
    """

    name: str
    families: tuple[Family, ...]
    splits: tuple[bytes, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScanRange:
    """Rows from `start`, inclusive, to `stop`, exclusive; an empty `stop` is the end of the table.

    Going in reverse gives the same rows, the last one first.
    """

    start: bytes = b""
    stop: bytes = b""


@dataclass(frozen=True, slots=True)
class CellSelection:
    """The cells of a row that a read selects.

    Args:
        columns: qualifiers by family, none listed for the whole family; None for all families.
        time_range: timestamps from the first, inclusive, to the second, exclusive, in ms.
        versions: most versions of a column, 1 or more; never more than the family keeps.
        qualifier_range: only qualifiers from the first, inclusive, to the second, exclusive; an
            empty second is no end.
        raw: deletes and what they hide as well, as far as it is still stored.
        reverse: rows in descending order; the cells of a row keep theirs.
        limit: most rows of each range, or None.
        batch: most cells of one piece of a row, or None for whole rows. Of one family, forward and
            without a limit, an embedded engine then holds no more of a row than some thousand
            cells, however wide it is.
    """

    columns: Mapping[str, tuple[bytes, ...]] | None = None
    time_range: tuple[int, int] = (0, LATEST)
    versions: int = 1
    qualifier_range: tuple[bytes, bytes] = (b"", b"")
    raw: bool = False
    reverse: bool = False
    limit: int | None = None
    batch: int | None = None


NEWEST_CELLS = CellSelection()
"""Selects the newest version of every column."""


@dataclass(frozen=True, slots=True)
class CellCondition:
    """A condition on a column that must hold before its row is changed.

    Args:
        family: the column's family.
        qualifier: its qualifier.
        operator: one of = != < <= > >=, read as *cell OP value*.
        value: compared bytewise with the newest cell; None with `=` holds where there is no cell or
            an empty one, with `!=` where there is one that is not empty. A column that is absent
            meets no other check, `!=` included.

    Source: CheckAndMutate; HRegion.matches.
    """

    family: str
    qualifier: bytes
    operator: str = "="
    value: bytes | None = None
