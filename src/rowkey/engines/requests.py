"""What an engine is asked: which table to make, which rows and columns, under which condition."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.cells import LATEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.cells import Family


def now_ms() -> int:
    """Milliseconds since 1970 by this machine's clock."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What an engine knows of a table.

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
class Span:
    """Rows from `start`, inclusive, to `stop`, exclusive; an empty `stop` is the end of the table.

    Going in reverse gives the same rows, the last one first.
    """

    start: bytes = b""
    stop: bytes = b""


@dataclass(frozen=True, slots=True)
class Ask:
    """Which cells of a row are wanted.

    Args:
        columns: qualifiers by family, none listed for the whole family; None for all families.
        time_range: timestamps from the first, inclusive, to the second, exclusive, in ms.
        versions: most versions of a column, 1 or more; never more than the family keeps.
        qualifiers: only qualifiers from the first, inclusive, to the second, exclusive; an empty
            second is no end.
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
    qualifiers: tuple[bytes, bytes] = (b"", b"")
    raw: bool = False
    reverse: bool = False
    limit: int | None = None
    batch: int | None = None


ALL = Ask()
"""Every column's newest version."""


@dataclass(frozen=True, slots=True)
class Check:
    """What must hold of a row before it is changed.

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
