"""All tables of a portal: design files and stored tables, joined by their names."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.catalog import CATALOG_TABLE, find_catalog_url, find_differences, open_catalog
from rowkey.errors import InvalidDesign, RowkeyError
from rowkey.move import MoveRecord, read_status
from rowkey.observe import look_up_entry
from rowkey.render import build_move_status_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.catalog import CatalogEntry, Difference
    from rowkey.design import Design
    from rowkey.engines import Engine
    from rowkey.portal.design_check import CheckedDesign
    from rowkey.portal.portal import Portal


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of the engine.

    Args:
        name: its name.
        entry: its catalog entry; None if rowkey does not know its design.
        origin: where the entry was found, or why there is none.
        region_count: its regions; None if the engine does not say.
        move: how far the move of its rows is, as `rowkey move status` prints it; None without one.
        problem: why it could not be read; empty if it could.
    """

    name: str
    entry: CatalogEntry | None = None
    origin: str = ""
    region_count: int | None = None
    move: Mapping[str, Any] | None = None
    problem: str = ""

    @property
    def generation(self) -> int | None:
        """The number of the generation that rows are written under; None if unknown."""
        return None if self.entry is None else self.entry.active_generation.number

    @property
    def bucket_counts(self) -> list[int]:
        """The bucket counts of the parts of the key that have one."""
        counts = {} if self.entry is None else self.entry.active_generation.counts
        return [counts[place] for place in sorted(counts)]

    @property
    def announced_counts(self) -> list[int]:
        """The bucket counts of the generation that becomes active next; none without one."""
        announced = None if self.entry is None else self.entry.announced_generation
        return [] if announced is None else [count for _, count in sorted(announced.counts.items())]

    @property
    def design(self) -> Design | None:
        """The stored design as it was declared; None if it is unknown to this version."""
        try:
            return None if self.entry is None else self.entry.design
        except InvalidDesign:
            return None


@dataclass(frozen=True, slots=True)
class TableOverview:
    """A table with its design file: one line of the list.

    Args:
        name: the name of the table, or of the file if that is no valid design.
        checked: the design file; None if the folder has none for the table.
        stored: the table of the engine; None if it is not stored.
        differences: in what the file and the stored design differ, where stored rows depend on it.
    """

    name: str
    checked: CheckedDesign | None = None
    stored: StoredTable | None = None
    differences: tuple[Difference, ...] = ()

    @property
    def has_unsafe_differences(self) -> bool:
        """Whether the table cannot be opened by the file."""
        return any(not one.is_safe for one in self.differences)


def list_tables(portal: Portal) -> tuple[list[TableOverview], str]:
    """Return all tables in the order of their names, and why the engine could not be read.

    Args:
        portal: the parts of the portal.
    """
    checked_designs = [portal.checker.check(file) for file in portal.workspace.list_files()]
    stored_tables, problem = read_stored_tables(portal)
    by_name = {stored.name: stored for stored in stored_tables}
    rows = [
        TableOverview(
            checked.table or checked.name,
            checked,
            stored := by_name.get(checked.table),
            find_design_differences(checked, stored),
        )
        for checked in checked_designs
    ]
    named = {checked.table for checked in checked_designs}
    rows += [TableOverview(one.name, stored=one) for one in stored_tables if one.name not in named]
    order = sorted(rows, key=lambda row: (row.name, row.checked.name if row.checked else ""))
    return order, problem


def find_design_differences(
    checked: CheckedDesign, stored: StoredTable | None
) -> tuple[Difference, ...]:
    """Return in what a design file and a stored table differ; nothing if one has no design."""
    remembered = None if stored is None else stored.design
    if checked.design is None or remembered is None:
        return ()
    return tuple(find_differences(checked.design, remembered))


def read_stored_tables(portal: Portal) -> tuple[list[StoredTable], str]:
    """Return the tables of the engine by name, and why it could not be read.

    Without an engine there are no tables and no problem.
    """
    if portal.settings.url is None:
        return [], ""
    try:
        if portal.engines.is_empty:
            return [], ""
        with portal.engines.open() as engine:
            return list(_read_tables(engine, portal.settings.url)), ""
    except RowkeyError as problem:
        return [], str(problem)


def read_stored_table(portal: Portal, name: str) -> StoredTable | None:
    """Return one table of the engine; None if it has no table of this name, or is none.

    Raises:
        Unavailable: the engine cannot be reached.
    """
    if portal.settings.url is None or not name or portal.engines.is_empty:
        return None
    with portal.engines.open() as engine:
        if name == CATALOG_TABLE or name not in engine.list_tables():
            return None
        return _read_table(engine, name, portal.settings.url)


def _read_tables(engine: Engine, url: str) -> Iterator[StoredTable]:
    """Yield the tables of an engine, without that of the catalog."""
    for name in engine.list_tables():
        if name != CATALOG_TABLE:
            yield _read_table(engine, name, url)


def _read_table(engine: Engine, name: str, url: str) -> StoredTable:
    """Return one table; a problem with it is noted, as others may be well."""
    try:
        store = engine.open_table(name)
        lookup = look_up_entry(engine, store, name)
        entry = lookup.entry
        return StoredTable(
            name,
            entry,
            lookup.origin,
            len(store.list_regions()),
            None if entry is None or entry.move is None else _read_move(engine, name, url),
        )
    except RowkeyError as problem:
        return StoredTable(name, problem=str(problem))


def _read_move(engine: Engine, name: str, url: str) -> dict[str, Any]:
    """Return how far the move of a table is, as `rowkey move status -f json` prints it."""
    attributes = engine.open_table(name).families_and_attributes[1]
    where = find_catalog_url(name, attributes, engine)
    with closing(open_catalog(where, engine, url)) as catalog:
        return build_move_status_document(read_status(MoveRecord(catalog, name)), url)
