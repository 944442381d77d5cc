"""What a portal reads of a stored table, apart from its load."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from rowkey.catalog import CatalogEntry, find_catalog_url, open_catalog
from rowkey.design import Design
from rowkey.engines import Engine
from rowkey.errors import InvalidDesign, RowkeyError, Unavailable
from rowkey.move import Move, MoveRecord, read_status
from rowkey.observe import look_up_entry
from rowkey.render import build_buckets_document, build_move_status_document
from rowkey.table import open_table


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of the engine.

    Args:
        entry: its catalog entry; None if rowkey does not know its design.
        origin: where the entry was found, or why there is none.
        region_count: its regions; None if the engine does not say.
        move: how far the move of its rows is, as `rowkey move status` prints it; None without one.
        problem: why it could not be read; empty if it could.
        design: the stored design as it was declared; None if it is unknown to this version.
    """

    name: str
    entry: CatalogEntry | None = None
    origin: str = ""
    region_count: int | None = None
    move: Mapping[str, Any] | None = None
    problem: str = ""
    design: Design | None = None

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


@dataclass(frozen=True, slots=True)
class TableOperations:
    """What is known of a table for those who change its bucket count or move its rows.

    Args:
        status: how far its move is, as `rowkey move status -f json` prints it.
        buckets: its bucket counts, as `rowkey buckets show -f json` prints them; None if they could
            not be read.
        problem: why they could not be; None if they could.
    """

    status: Mapping[str, Any]
    buckets: Mapping[str, Any] | None
    problem: RowkeyError | None


def read_stored_table(engine: Engine, name: str, url: str) -> StoredTable:
    """Return a table of an engine; a problem with it is noted, as others may be well.

    Raises:
        Unavailable: the engine does not answer.
    """
    try:
        store = engine.open_table(name)
        lookup = look_up_entry(engine, store, name)
        entry = lookup.entry
        design = None
        with suppress(InvalidDesign):
            design = None if entry is None else entry.design
        return StoredTable(
            name,
            entry,
            lookup.origin,
            len(store.list_regions()),
            None if entry is None or entry.move is None else _read_move(engine, name, url),
            design=design,
        )
    except Unavailable:
        raise
    except RowkeyError as problem:
        return StoredTable(name, problem=str(problem))


def _read_move(engine: Engine, name: str, url: str) -> dict[str, Any]:
    """Return how far the move of a table is, as `rowkey move status -f json` prints it."""
    attributes = engine.open_table(name).families_and_attributes[1]
    where = find_catalog_url(name, attributes, engine)
    with closing(open_catalog(where, engine, url)) as catalog:
        return build_move_status_document(read_status(MoveRecord(catalog, name)), url)


def read_operations(engine: Engine, name: str, url: str) -> TableOperations:
    """Return how far the move of a table is, and its bucket counts.

    Args:
        engine: where the table is, or was before its move ended.

    Raises:
        InvalidArgument: there is neither such a table nor a move of one.
        Unavailable: the engine does not answer.
    """
    with Move(name, url, engine=engine) as move:
        status = build_move_status_document(move.status, url)
    try:
        with open_table(name, url, create=False, engine=engine) as table:
            return TableOperations(status, build_buckets_document(table.buckets), None)
    except RowkeyError as problem:
        return TableOperations(status, None, problem)
