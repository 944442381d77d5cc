"""Register the designs of tables in a catalog, and changes of them that stored rows allow."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.catalog.catalog_entry import CatalogEntry
from rowkey.catalog.contract import Catalog, build_contention_error
from rowkey.catalog.drift import apply_stored_counts, build_counted_terms, find_differences
from rowkey.catalog.stores import CATALOGS
from rowkey.design import Design
from rowkey.errors import CatalogMismatch, Conflict, InvalidArgument, Mistake, Unavailable
from rowkey.messages import suggest_name
from rowkey.rows import find_incompatibilities
from rowkey.schema import format_key

if TYPE_CHECKING:
    from rowkey.engines import Engine

MAX_WRITE_TRIES = 1_000
"""Times that a change is tried again because another client wrote the entry meanwhile."""


def open_catalog(url: str, engine: Engine | None = None, engine_url: str = "") -> Catalog:
    """Open the catalog at a URL.

    `memory:`, `file:PATH` for a directory, `table:URL` of an engine, or
    `zookeeper://zk1,zk2:2181/rowkey`.

    Args:
        url: its URL; with an engine also `table` alone, for a table of that engine.
        engine: the engine that has the tables of the catalog.
        engine_url: the URL of the engine, for messages.

    Raises:
        InvalidArgument: it is not the URL of a catalog.
        Unavailable: the catalog cannot be reached.

    >>> open_catalog("memory:").list_tables()
    []
    """
    scheme, colon, location = url.partition(":")
    kind = CATALOGS.get(scheme.replace("-", "_")) if colon or engine is not None else None
    if kind is None:
        listed = ", ".join(f"{name}:" for name in CATALOGS)
        what, allowed = (
            f"{url!r} is not the URL of a catalog",
            f"a URL that begins with one of {listed}",
        )
        raise InvalidArgument("catalog", what, allowed, suggest_name(scheme, CATALOGS))
    if not colon and engine is not None:
        return kind.open_on_engine(engine, engine_url)
    return kind.open(location)


def register_design(
    catalog: Catalog,
    design: Design,
    *,
    opened_ms: int,
    splits: Sequence[bytes] = (),
    may_be_new: bool = True,
) -> CatalogEntry:
    """Write a new table's design to the catalog, or the safe changes of a known table's design.

    A change is safe if stored rows can be read as before, next to new ones; the traits of types,
    parts and placements tell. Bucket counts stay those of the table.

    Args:
        design: the declared design.
        opened_ms: now, milliseconds since 1970; noted of a new table.
        splits: the row keys the regions of a new table begin with, ascending.
        may_be_new: whether an entry is written for a table that has none; not for one with rows,
            whose bucket counts are then unknown.

    Returns:
        The entry that the catalog has now.

    Raises:
        CatalogMismatch: with the changes that are not safe; nothing is changed.
        Unavailable: the catalog has no entry, and must have one.
        Conflict: other clients change the entry before every attempt to write it.
    """
    for _ in range(MAX_WRITE_TRIES):
        entry = catalog.read(design.table)
        if entry is None and not may_be_new:
            what = "the catalog no longer has an entry for this table"
            remedy = "Open the table again, which builds its entry again if that is possible."
            raise Unavailable(f"table {design.table}", what, remedy=remedy)
        new = (
            CatalogEntry.from_design(design, splits, opened_ms)
            if entry is None
            else evolve_entry(entry, design)
        )
        if new is entry:
            return new
        try:
            version = catalog.write(design.table, new, None if entry is None else entry.version)
        except Conflict:
            continue
        return replace(new, version=version)
    raise build_contention_error(design.table, MAX_WRITE_TRIES)


def evolve_entry(entry: CatalogEntry, design: Design) -> CatalogEntry:
    """Return a catalog entry with the safe changes of its design; the same entry if none.

    Args:
        entry: the table's entry.
        design: the design that is declared now.

    Raises:
        CatalogMismatch: with the changes that are not safe.
    """
    if design.dumps(defaults=False) == entry.declaration:
        return entry
    remembered = entry.design
    is_moving = entry.move is not None or bool(entry.moved_from)
    unsafe = [
        one.mistake for one in find_differences(design, remembered) if is_moving or not one.is_safe
    ]
    if not any(mistake.path.startswith("key") for mistake in unsafe):
        # Differences of the key are reported above, part by part.
        placed = find_incompatibilities(
            remembered.layout, apply_stored_counts(design, remembered).layout
        )
        reported = tuple(unsafe)
        unsafe += [
            one for one in placed if one.path != "key" and not _is_reported(one.path, reported)
        ]
    if entry.companion_of and not _has_columns(remembered) and _has_columns(design):
        what = "it declares columns, but the rows of the table have none: it is an index"
        remedy = (
            "Keep it as it is, and declare the whole copy as one more companion: rowkey repair "
            "DESIGN --on URL --yes creates it and copies the rows."
        )
        raise CatalogMismatch(design.table, [Mistake("fields", what), *unsafe], remedy)
    if [one.path for one in unsafe] == ["companions"] and _has_more_companions(design, entry):
        remedy = (
            "Run rowkey repair DESIGN --on URL --yes: it creates the new companions and copies the "
            "rows. Clients that have the table open must then open it again."
        )
        raise CatalogMismatch(design.table, unsafe, remedy)
    if unsafe and is_moving:
        remedy = (
            "Its rows are being moved, and both tables need the same fields: open it by its name, "
            "and change the design after rowkey move finish."
        )
        raise CatalogMismatch(design.table, unsafe, remedy)
    if unsafe:
        raise CatalogMismatch(design.table, unsafe)
    options = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    options["key"] = format_key(build_counted_terms(design, remembered))
    declaration = Design(**options).dumps(defaults=False)
    return entry if declaration == entry.declaration else replace(entry, declaration=declaration)


def _has_columns(design: Design) -> bool:
    """Return whether a design has fields that do not identify a row."""
    return not design.fields.keys() <= {*design.layout.identity_fields}


def _has_more_companions(design: Design, entry: CatalogEntry) -> bool:
    """Return whether a design declares all companions that a table has, and others."""
    return {*design.declaration.companions} > {*entry.companion_names}


def add_companions(catalog: Catalog, design: Design) -> CatalogEntry:
    """Write the companions that a design declares to the entry of its table, if they are new.

    Clients that use the entry from before stop at the latest when its time is over.

    Args:
        design: the declared design; it may have other changes that are safe.

    Returns:
        The entry that the catalog has now.

    Raises:
        CatalogMismatch: the design has unsafe changes, or lacks companions that the table has.
        Unavailable: the catalog has no entry.
        Conflict: other clients change the entry before every attempt to write it.
    """
    for _ in range(MAX_WRITE_TRIES):
        entry = catalog.read(design.table)
        if entry is not None and (entry.move is not None or entry.moved_from):
            what = "its rows are being moved to another table, or from one"
            remedy = "Finish the move first: rowkey move finish."
            raise Conflict(f"table {design.table}", what, remedy=remedy)
        if entry is not None and _has_more_companions(design, entry):
            with suppress(Conflict):
                catalog.write(design.table, extend_companions(entry, design), entry.version)
            continue
        return register_design(catalog, design, opened_ms=0, may_be_new=False)
    raise build_contention_error(design.table, MAX_WRITE_TRIES)


def extend_companions(entry: CatalogEntry, design: Design) -> CatalogEntry:
    """Return a table's entry with the companions and the safe changes of a design.

    Raises:
        CatalogMismatch: the design has unsafe changes, or lacks companions that the table has.
    """
    options = entry.design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    if _has_more_companions(design, entry):
        options["companions"] = dict(design.declaration.companions)
    return evolve_entry(replace(entry, declaration=Design(**options).dumps(defaults=False)), design)


def mark_filled(catalog: Catalog, table: str, table_id: str) -> None:
    """Note of a companion that it has all rows of its main table, so that it may be read.

    Args:
        table: its name.
        table_id: the identifier of the filled table; another of its name is left as it is.

    Raises:
        Conflict: other clients change the entry before every attempt to write it.
    """
    for _ in range(MAX_WRITE_TRIES):
        entry = catalog.read(table)
        if entry is None or not entry.is_filling or entry.table_id != table_id:
            return
        with suppress(Conflict):
            catalog.write(table, replace(entry, is_filling=False), entry.version)
            return
    raise build_contention_error(table, MAX_WRITE_TRIES)


def _is_reported(path: str, reported: Sequence[Mistake]) -> bool:
    """Return whether an option, or one below it, is among the mistakes reported already."""
    return any(one.path == path or one.path.startswith(f"{path}.") for one in reported)
