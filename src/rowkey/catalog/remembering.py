"""How a table comes into the catalog, and which changes of its design follow it there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.catalog.drift import counted, differences, standing
from rowkey.catalog.entry import Entry
from rowkey.catalog.stores import KINDS
from rowkey.design import Design
from rowkey.errors import Conflict, DriftError, Unsupported, did_you_mean
from rowkey.schema import print_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.catalog.contract import Catalog
    from rowkey.engines import Engine
    from rowkey.errors import Mistake

TRIES = 1_000
"""Times that a change is tried again because somebody else wrote the entry meanwhile."""


def open_catalog(url: str, engine: Engine | None = None, where: str = "") -> Catalog:
    """The catalog at a URL.

    `memory:`, `file:PATH` for a directory, `table:URL` of an engine, or
    `zookeeper://zk1,zk2:2181/rowkey`.

    Args:
        url: its URL; with an engine also `table` alone, for a table of that engine.
        engine: where the tables are that it is to remember.
        where: the URL of the engine, for messages.

    Raises:
        Unsupported: there is no such kind, or it cannot be reached.

    >>> open_catalog("memory:").tables()
    []
    """
    scheme, colon, rest = url.partition(":")
    kind = KINDS.get(scheme.replace("-", "_")) if colon or engine is not None else None
    if kind is None:
        listed = ", ".join(f"{name}:" for name in KINDS)
        what = f"{url!r} names no kind of catalog"
        raise Unsupported("catalog", what, listed, did_you_mean(scheme, KINDS))
    if not colon and engine is not None:
        return kind.beside(engine, where)
    return kind.open(rest)


def remember(
    catalog: Catalog,
    design: Design,
    *,
    opened_ms: int,
    splits: Sequence[bytes] = (),
    may_be_new: bool = True,
) -> Entry:
    """Remember a design: of a new table all of it, of one that is known the safe changes.

    Safe is what leaves stored rows as they are and lets new ones stand beside them, as the traits
    of types, parts and places tell. Counts stay those of the table.

    Args:
        catalog: where it is remembered.
        design: the design.
        opened_ms: now, milliseconds since 1970; noted of a new table.
        splits: the row keys the regions of a new table begin with, ascending.
        may_be_new: whether a table that is not known is remembered; one that has rows is not, for
            nobody knows under which counts they stand.

    Returns:
        The entry as it stands now.

    Raises:
        DriftError: with the changes that are not safe; nothing is changed.
        Unsupported: the table is not known, and must be.
        Conflict: others change the entry faster than it can be read.
    """
    for _ in range(TRIES):
        entry = catalog.read(design.table)
        if entry is None and not may_be_new:
            raise Unsupported(f"table {design.table}", "the catalog does not know it any more")
        new = Entry.of(design, splits, opened_ms) if entry is None else evolved(entry, design)
        if new is entry:
            return new
        try:
            version = catalog.write(design.table, new, None if entry is None else entry.version)
        except Conflict:
            continue
        return replace(new, version=version)
    raise Conflict(f"table {design.table}", f"{TRIES:,} changes were overtaken")


def evolved(entry: Entry, design: Design) -> Entry:
    """An entry with the changes that a design makes; the entry itself if there are none.

    Args:
        entry: what is remembered.
        design: what is declared now.

    Raises:
        DriftError: with the changes that are not safe.
    """
    remembered = entry.design
    unsafe = [one.mistake for one in differences(design, remembered) if not one.is_safe]
    if not any(mistake.path.startswith("key") for mistake in unsafe):
        # What the layout says of the key is told above, part by part.
        placed = remembered.layout.evolves(standing(design, remembered).layout)
        told = tuple(unsafe)
        unsafe += [one for one in placed if one.path != "key" and not _is_told(one.path, told)]
    if unsafe:
        raise DriftError(design.table, unsafe)
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    words["key"] = print_key(counted(design, remembered))
    declaration = Design(**words).dumps(defaults=False)
    return entry if declaration == entry.declaration else replace(entry, declaration=declaration)


def _is_told(path: str, told: Sequence[Mistake]) -> bool:
    """Whether a word at a path, or below it, is among those that are told already."""
    return any(one.path == path or one.path.startswith(f"{path}.") for one in told)
