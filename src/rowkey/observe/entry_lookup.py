"""Look up the design of a table by the table's name; nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass

from rowkey.catalog import (
    GENERATION_ATTRIBUTE,
    CatalogEntry,
    find_catalog_url,
    find_part_counts,
    open_catalog,
    restore_entry,
)
from rowkey.cells import find_table_name_mistakes
from rowkey.design import Design
from rowkey.engines import Engine, Store
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.messages import suggest_name
from rowkey.table import find_replacement

DESIGN_SUFFIX = ".toml"
"""The suffix of design files, which other commands accept in place of a table's name."""
STALE_ENTRY_DOUBT = (
    "but the table has no rowkey attributes, so it may be another table of this name"
)


@dataclass(frozen=True, slots=True)
class EntryLookup:
    """The catalog entry of a table, and where it was found or why it was not.

    Args:
        entry: its catalog entry; None if there is none.
        origin: where the entry was found, as a phrase; or why there is none.
    """

    entry: CatalogEntry | None
    origin: str

    @property
    def design(self) -> Design | None:
        """The design of the table with its current bucket counts; None if unknown."""
        if self.entry is None:
            return None
        design, counts = self.entry.design, self.entry.active_generation.counts
        return design if counts == find_part_counts(design) else design.copy_with_counts(counts)


def find_table_name(engine: Engine, name: str) -> str:
    """Return the name of the table that is used under a name: of one that was moved, the new one.

    Without a catalog that can be read, that is the name itself.
    """
    with (
        suppress(InvalidArgument, Unavailable),
        closing(open_catalog(engine.catalog_url, engine)) as catalog,
    ):
        return find_replacement(engine, catalog, name)
    return name


def find_table(engine: Engine, name: str, url: str) -> Store:
    """Return the store of an existing table; raise if the table does not exist.

    Raises:
        InvalidArgument: it does not exist; the message lists the tables that do.
    """
    if any(find_table_name_mistakes(name)) or not engine.has_table(name):
        tables = engine.list_tables()
        expected = f"one of {', '.join(tables)}" if tables else ""
        raise InvalidArgument(
            url, f"there is no table {name}", expected, _suggest_table(name, tables)
        )
    return engine.open_table(name)


def _suggest_table(name: str, table_names: Collection[str]) -> str:
    if not table_names:
        return "There are no tables yet. Create one by rowkey create."
    if name.endswith(DESIGN_SUFFIX):
        table = name.rpartition("/")[2].removesuffix(DESIGN_SUFFIX)
        hint = f": {table}" if table in table_names else ""
        return f"Give the table's name, not the file of its design{hint}."
    return suggest_name(name, table_names)


def look_up_entry(engine: Engine, store: Store, name: str) -> EntryLookup:
    """Return the entry of a table from its catalog, else from its HBase attributes."""
    attributes = store.families_and_attributes[1]
    try:
        where = find_catalog_url(name, attributes, engine)
    except InvalidArgument as refusal:
        return _look_up_attributes(name, attributes, store, refusal.mistake.problem)
    try:
        with closing(open_catalog(where, engine)) as catalog:
            entry = catalog.read(name)
    except (InvalidArgument, Unavailable) as problem:
        why = f"its catalog {where} cannot be read ({problem.mistake.problem})"
        return _look_up_attributes(name, attributes, store, why)
    if entry is not None:
        doubt = "" if GENERATION_ATTRIBUTE in attributes else f"; {STALE_ENTRY_DOUBT}"
        return EntryLookup(entry, f"from its catalog, {where}{doubt}")
    return _look_up_attributes(name, attributes, store, "no catalog has an entry for the table")


def _look_up_attributes(
    name: str, attributes: Mapping[str, str], store: Store, reason: str
) -> EntryLookup:
    """Return the entry that a table's attributes hold; without one, why there is none."""
    if GENERATION_ATTRIBUTE not in attributes:
        return EntryLookup(
            None,
            f"{reason}, and it has no rowkey attributes with a design: rowkey did not create it",
        )
    starts = [region.start for region in store.list_regions()][1:]
    try:
        return EntryLookup(
            restore_entry(name, attributes, starts), "from the attributes of the table"
        )
    except Unavailable as problem:
        return EntryLookup(
            None, f"{reason}, and its attributes are broken: {problem.mistake.problem}"
        )
