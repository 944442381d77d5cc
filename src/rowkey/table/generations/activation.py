"""Activate an announced generation of bucket counts once every client knows it.

A client uses a catalog entry for some seconds after it has read it. So once the longest such time
has passed, every client has read of the announced generation, or has stopped until it does. Then
the generation may become active: all clients read and delete in it before any client writes there.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace

from rowkey.catalog import (
    Catalog,
    CatalogEntry,
    Generation,
    build_contention_error,
    find_mismatch,
    has_synced_attributes,
    read_generation_number,
    sync_attributes,
)
from rowkey.engines import Store
from rowkey.errors import Conflict, InvalidArgument, Unavailable

REOPEN_REMEDY = "Open the table again: the error then says how to repair the catalog."
MAX_CATALOG_RETRIES = 1_000
"""Times that an entry is written again because another client wrote it meanwhile."""
MAX_ATTRIBUTE_WRITES = 5
"""Times that the attributes of one entry are written: each write alters a table of HBase. Other
clients may have written older ones in between, but each of them once."""


def write_attributes(table: str, store: Store, entry: CatalogEntry) -> bool:
    """Write a catalog entry to the table's attributes, from which a lost catalog is rebuilt.

    Attributes with a generation that the entry lacks stay: this client is out of date, or its
    catalog has lost some generations. The attributes get a generation before it becomes active in
    the catalog; such a generation stays as well.

    Args:
        table: its name.
        store: the engine's table.
        entry: the table's catalog entry, or the one that is to be written.

    Returns:
        Whether the attributes had to be changed.
    """
    attributes = store.families_and_attributes[1]
    if find_mismatch(table, entry, attributes):
        return False
    announced = entry.announced_generation
    if announced is not None and read_generation_number(table, attributes) == announced.number:
        entry = entry.activate_generation()
    if has_synced_attributes(attributes, entry):
        return False
    store.replace_attributes(sync_attributes(attributes, entry))
    return True


def reconcile_attributes(catalog: Catalog, table: str, store: Store) -> None:
    """Write a table's catalog entry to its attributes until both agree.

    Attributes are replaced without a comparison, so that a slow client may put back older ones.
    Therefore each client reads the catalog again after it wrote, until both agree.

    Raises:
        Unavailable: the catalog does not answer, the attributes may not be written, or the engine
            does not return them as they were written.
        Conflict: other clients change the entry before every attempt to compare it.
    """
    version, write_count = 0, 0
    for _ in range(MAX_CATALOG_RETRIES):
        entry = catalog.read(table)
        if entry is None or not write_attributes(table, store, entry):
            return
        write_count = write_count + 1 if entry.version == version else 1
        version = entry.version
        if write_count == MAX_ATTRIBUTE_WRITES:
            problem = (
                f"its attributes were written {MAX_ATTRIBUTE_WRITES} times, and the engine does "
                "not return them as they were written"
            )
            remedy = "Stop other programs that alter the table, then open the table again."
            raise Unavailable(f"table {table}", problem, remedy=remedy)
    raise build_contention_error(table, MAX_CATALOG_RETRIES)


def activate_announced(
    catalog: Catalog,
    table: str,
    announced: Generation,
    store: Store,
    *,
    must_sync: bool = True,
) -> CatalogEntry:
    """Activate an announced generation; the caller has waited until every client knows it.

    The table's attributes get it first: should the catalog be lost, no client takes the generation
    before it for the only one.

    Args:
        catalog: the catalog of the table.
        table: its name.
        announced: the generation, as it was when the wait began. Another one of its number, from a
            catalog that was restored, is not activated: no client has waited for it.
        store: the engine's table.
        must_sync: whether the attributes must get it. A client that has only waited for the
            generation may lack the right to alter the table; the client that announced it, or one
            that opens the table, writes them later.

    Raises:
        Unavailable: the catalog does not answer, or has no such generation; the table's attributes
            have another one, or must be written and cannot.
        Conflict: other clients change the entry before every attempt to compare it.
    """
    ignoring_failures = nullcontext() if must_sync else suppress(InvalidArgument, Unavailable)
    for _ in range(MAX_CATALOG_RETRIES):
        entry = catalog.read(table)
        if entry is None or not any(map(announced.is_same, entry.generations)):
            what = (
                "the catalog no longer lists the change of the number of buckets that is under way"
            )
            remedy = "See rowkey buckets history, then change the number of buckets again."
            raise Unavailable(f"table {table}", what, remedy=remedy)
        if entry.announced_generation is None or not announced.is_same(entry.announced_generation):
            with ignoring_failures:
                reconcile_attributes(catalog, table, store)
            return entry
        activated = entry.activate_generation()
        if what := find_mismatch(table, activated, store.families_and_attributes[1]):
            raise Unavailable(f"table {table}", what, remedy=REOPEN_REMEDY)
        with ignoring_failures:
            write_attributes(table, store, activated)
        try:
            activated = replace(activated, version=catalog.write(table, activated, entry.version))
        except Conflict:
            continue  # another client has allocated an id, or has activated the generation
        with ignoring_failures:
            reconcile_attributes(catalog, table, store)
        return activated
    raise build_contention_error(table, MAX_CATALOG_RETRIES)
