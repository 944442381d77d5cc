"""The location of a table: its engine, and the catalog that has its entry."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Self

from rowkey.boottime import read_boottime_s
from rowkey.catalog import (
    CATALOG_ATTRIBUTE,
    DEFAULT_MAX_STALE_S,
    TABLE_ID_ATTRIBUTE,
    Catalog,
    CatalogDictionary,
    CatalogEntry,
    Lease,
    apply_stored_counts,
    build_contention_error,
    find_catalog_url,
    find_mismatch,
    has_synced_attributes,
    is_first_generation,
    open_catalog,
    read_generation_number,
    register_design,
    restore_entry,
    sync_attributes,
)
from rowkey.cells import PURGE_DELAY_ATTRIBUTE, find_table_name_mistakes
from rowkey.design import Design
from rowkey.engines import Engine
from rowkey.errors import (
    Conflict,
    CorruptionError,
    InvalidArgument,
    RowkeyError,
    Unavailable,
)
from rowkey.messages import format_value
from rowkey.progress import ReportProgress
from rowkey.table.companions.companion_tables import ReadOnlyCompanion
from rowkey.table.generations.activation import MAX_CATALOG_RETRIES, reconcile_attributes
from rowkey.table.generations.generation_tracker import GenerationTracker
from rowkey.table.moves.move_follower import MoveFollower
from rowkey.table.moves.moved_table import find_moved_table, find_used_table
from rowkey.table.row_writer import RowNaming
from rowkey.table.table import Table
from rowkey.table.table_spec import (
    build_table_spec,
    check_created_table,
    check_families,
    compute_split_keys,
    has_rows,
)


def check_table_name(name: str) -> None:
    """Raise unless a text can be the name of a table.

    Raises:
        InvalidArgument: it cannot; for a path the message says how to open a design file.
    """
    if any(character in name for character in "/\\"):
        raise InvalidArgument(
            "design",
            f"{format_value(name)} is a path, not the name of a table",
            "a Design or a table's name",
            f"For a design file write rowkey.Design.read({format_value(name)}).",
        )
    for mistake in find_table_name_mistakes(name):
        raise mistake


def build_missing_error(url: str, name: str, engine: Engine) -> InvalidArgument:
    """Return the error of a table that is opened by its name and does not exist."""
    names = ", ".join(engine.list_tables())
    remedy = "" if names else "No table is stored at this URL. Create one by rowkey create."
    if name.endswith(".toml"):
        remedy = f"For a design file write rowkey.Design.read({name!r})."
    return InvalidArgument(url, f"there is no table {name}", names and f"one of {names}", remedy)


def build_lost_error(
    url: str, catalog: str, table: str, entry: CatalogEntry, *, is_own_catalog: bool = True
) -> CorruptionError:
    """Return the error of a table that the catalog has an entry for and the engine lacks.

    An empty table is never created in place of the lost one.

    Args:
        catalog: the catalog's URL.
        table: the table's name.
        is_own_catalog: whether the catalog belongs to the engine, and is not shared with others.
    """
    opened_ms, creation_note = entry.generations[0].opened_ms, ""
    with suppress(ValueError, OverflowError, OSError):
        if opened_ms is not None:
            creation_note = (
                f" (created {datetime.fromtimestamp(opened_ms / 1_000, UTC):%Y-%m-%d %H:%M} UTC)"
            )
    what = f"the table {table}{creation_note} is missing, but the catalog {catalog} has its design"
    removal = f"rowkey repair DESIGN --on {url} --yes"
    remedy = f"Restore the lost table; or if it was dropped, remove its catalog entry: {removal}."
    if not is_own_catalog:
        remedy = f"If it is on another engine, use another table name or catalog. {remedy}"
    return CorruptionError(url, what, remedy=remedy)


KEEP_ALL_DELETES = str(100 * 365 * 86_400_000)
"""The `PURGE_DELAY_ATTRIBUTE` of both tables of a move, in milliseconds: an older cell that is
copied later stays hidden."""
CREATE_PAUSES_S = (0.05, 0.1, 0.2, 0.5)
SHARED_CREATE_PAUSES_S = (*CREATE_PAUSES_S, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Seconds between looks for a table that another client is creating; a cluster is slower."""


class TableLocation:
    """The engine and the catalog of one table, which may not exist yet.

    Args:
        design: the table's design, or its name.
        url: the URL of the engine, for messages.
        max_stale_s: as for `rowkey.open`.
        catalog: as for `rowkey.open`.
        companion_of: the main table with which it is opened as a companion; empty if by itself.
        is_filling: whether it is created as a companion of a table that has rows.
        moved_from: the table whose rows are moved to it, if it is created as a target.
    """

    def __init__(
        self,
        engine: Engine,
        design: Design | str,
        url: str,
        max_stale_s: float | None = None,
        catalog: str | None = None,
        companion_of: str = "",
        *,
        is_filling: bool = False,
        moved_from: str = "",
    ) -> None:
        self.companion_of, self.is_filling = companion_of, is_filling
        self.moved_from = moved_from
        self.engine, self.url, self.max_stale_s = engine, url, max_stale_s
        self.table_name = design if isinstance(design, str) else design.table
        self.declared_catalog = None if isinstance(design, str) else design.declaration.catalog
        self.attributes: Mapping[str, str] = {}
        self.is_made = engine.has_table(self.table_name)
        if self.is_made:
            self.attributes = engine.open_table(self.table_name).families_and_attributes[1]
        self.catalog_url = find_catalog_url(
            self.table_name, self.attributes, engine, catalog, self.declared_catalog
        )
        self.catalog: Catalog = open_catalog(self.catalog_url, engine, url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.catalog.close()

    def find_moved_table(self, design: Design | str) -> Design | str:
        """Return what to open in place of the table if it takes part in a move; see the function.

        Args:
            design: the design or the name that it is opened by.
        """
        attributes = self.attributes if self.is_made else None
        return find_moved_table(design, attributes, self.catalog)

    def require_new(self) -> None:
        """Raise if the table exists."""
        if self.is_made:
            raise InvalidArgument(
                self.url,
                f"the table {self.table_name} exists already",
                remedy="Open it, choose another name, or remove it by rowkey drop.",
            )

    def build_lost_table_error(self, entry: CatalogEntry) -> CorruptionError | InvalidArgument:
        """Return the error of this table having a catalog entry but missing on the engine."""
        used = find_used_table(self.catalog, self.table_name, entry)
        if used != self.table_name:
            what = f"the name {self.table_name} stands for {used}, to which its rows were moved"
            remedy = f"Choose another name, or remove the table: rowkey drop {self.table_name}."
            return InvalidArgument(self.url, what, remedy=remedy)
        is_own = self.declared_catalog is None
        return build_lost_error(
            self.url, self.catalog_url, self.table_name, entry, is_own_catalog=is_own
        )

    def create_table_once(
        self,
        design: Design,
        splits: Sequence[bytes] | None,
        clock: Callable[[], int],
        *,
        may_create: bool,
    ) -> None:
        """Create the table, unless another client creates it at the same time."""
        try:
            self.create_table(design, splits, clock, may_create=may_create)
        except (InvalidArgument, Conflict):
            if not may_create or not self._wait_for_other_creator():
                raise

    def _wait_for_other_creator(self) -> bool:
        """Wait for another client that may be creating the table; return whether it exists then."""
        for pause in SHARED_CREATE_PAUSES_S if self.engine.is_shared else CREATE_PAUSES_S:
            if self.engine.has_table(self.table_name):
                self.is_made = True
                self.attributes = self.engine.open_table(self.table_name).families_and_attributes[1]
                return True
            entry = self.catalog.read(self.table_name)
            if entry is None:  # no client is
                return False
            time.sleep(pause)
        return False

    def create_table(
        self,
        design: Design,
        splits: Sequence[bytes] | None,
        clock: Callable[[], int],
        *,
        may_create: bool,
        progress: ReportProgress | None = None,
    ) -> None:
        """Create the engine's table and its catalog entry; check the created table.

        The catalog is written first: a table without an entry could not be read. An entry that
        exists already is left until the table exists: another client may be creating it.
        """
        previous_entry = self.catalog.read(design.table)
        if (
            previous_entry
            and previous_entry.is_created
            and not self.engine.has_table(self.table_name)
        ):
            raise self.build_lost_table_error(previous_entry)
        if not may_create:
            remedy = "Create the table first: rowkey create."
            raise InvalidArgument(self.url, f"there is no table {design.table}", remedy=remedy)
        keys = compute_split_keys(design) if splits is None else tuple(splits)
        if previous_entry is not None and self.declared_catalog is not None:
            # In the engine's own catalog a crash has left it; here it may be another table's.
            what = f"{self.declared_catalog} has an entry for a table {design.table} already"
            remedy = (
                "If an interrupted create has left the entry, run rowkey repair DESIGN --on URL."
            )
            raise InvalidArgument("catalog", what, "another table name, or another catalog", remedy)
        if self.engine.has_table(self.table_name):
            self.is_made = True
            self.require_new()
        stale_s = DEFAULT_MAX_STALE_S if self.max_stale_s is None else self.max_stale_s
        table_id = secrets.token_hex(8)
        entry = replace(
            CatalogEntry.from_design(design, keys, clock(), stale_s, self.companion_of),
            table_id=table_id,
            is_created=False,
            is_filling=self.is_filling,
            moved_from=self.moved_from,
        )
        version = 0 if previous_entry is not None else self.catalog.write(design.table, entry, None)
        spec = build_table_spec(design, keys)
        self.attributes = {
            **sync_attributes(spec.attributes, entry),
            TABLE_ID_ATTRIBUTE: table_id,
            **({PURGE_DELAY_ATTRIBUTE: KEEP_ALL_DELETES} if self.moved_from else {}),
        }
        spec = replace(spec, attributes=self.attributes)
        try:
            created_table = self.engine.create_table(spec, progress)
        except BaseException:
            if previous_entry is None:
                self._remove_entry(version)
            raise
        self._write_created_entry(entry)
        check_created_table(spec, created_table)

    def _write_created_entry(self, entry: CatalogEntry) -> None:
        """Write the created table's catalog entry, in place of a dropped table's of that name.

        A client that has opened the table meanwhile has rebuilt the entry from its attributes, but
        without its time of creation.
        """
        for _ in range(MAX_CATALOG_RETRIES):
            stored_entry, new_entry = self.catalog.read(self.table_name), entry
            if stored_entry is not None and stored_entry.table_id == entry.table_id:
                first, *later_generations = stored_entry.generations
                if first.opened_ms is not None and stored_entry.is_created:
                    return
                new_entry = replace(
                    stored_entry,
                    generations=(entry.generations[0], *later_generations),
                    is_created=True,
                )
            elif stored_entry is not None:  # ids that another client may have allocated
                new_entry = replace(entry, codes=stored_entry.codes, is_created=True)
            else:
                new_entry = replace(entry, is_created=True)
            with suppress(Conflict):
                self.catalog.write(
                    self.table_name,
                    new_entry,
                    None if stored_entry is None else stored_entry.version,
                )

    def _remove_entry(self, version: int) -> None:
        """Remove the entry of a table that could not be created, unless it exists after all."""
        with suppress(Conflict, Unavailable):
            if not self.engine.has_table(self.table_name):
                self.catalog.remove(self.table_name, version)

    def open_by_name(self, clock: Callable[[], int]) -> Table:
        """Open the table by its name, with the design that the catalog has."""
        if not self.is_made:
            lost_entry = (
                None
                if any(find_table_name_mistakes(self.table_name))
                else self.catalog.read(self.table_name)
            )
            if lost_entry is not None and lost_entry.is_created:
                raise self.build_lost_table_error(lost_entry)
            raise build_missing_error(self.url, self.table_name, self.engine)
        since = read_boottime_s()
        entry = self.read_entry()
        if entry.active_generation.number > read_generation_number(
            self.table_name, self.attributes
        ):
            # The client that changed it died before this. One that may only read leaves it.
            with suppress(RowkeyError):
                reconcile_attributes(
                    self.catalog, self.table_name, self.engine.open_table(self.table_name)
                )
        return self._build_table(entry.design, entry, clock, since)

    def open_by_design(self, design: Design, clock: Callable[[], int]) -> Table:
        """Open the table by its design, once the catalog has the safe changes of the design.

        Raises:
            CatalogMismatch: the design has unsafe changes; nothing is changed.
        """
        since = read_boottime_s()
        self.read_entry()
        entry = register_design(self.catalog, design, opened_ms=clock(), may_be_new=False)
        # The entry has changed, or the client that changed it died before it wrote the attributes,
        # which get a generation before it becomes active.
        if not (
            has_synced_attributes(self.attributes, entry)
            or has_synced_attributes(self.attributes, entry.activate_generation())
        ):
            # A client that may write rows but not alter the table leaves it to others.
            with suppress(InvalidArgument, Unavailable):
                reconcile_attributes(
                    self.catalog, self.table_name, self.engine.open_table(self.table_name)
                )
        return self._build_table(apply_stored_counts(design, entry.design), entry, clock, since)

    def read_entry(self) -> CatalogEntry:
        """Return the catalog entry of a table that exists.

        If the catalog lacks it, and the table never had other counts, it is rebuilt from the
        table's attributes and written.

        Raises:
            Unavailable: the catalog has lost the entry, or generations of it; nothing is changed.
        """
        entry = self.catalog.read(self.table_name)
        self._require_own_files(entry)
        entry = self._correct_entry(entry)
        usable_entry = self._find_usable_entry(entry)
        if usable_entry is entry:
            return usable_entry
        with suppress(Conflict):
            self.catalog.write(self.table_name, usable_entry, None)
        return self.catalog.read(self.table_name) or usable_entry

    def check_openable(self, clock: Callable[[], int]) -> None:
        """Check what opening the table checks, and write nothing to the catalog.

        Raises:
            CorruptionError: the catalog entry is damaged.
            Unavailable: the entry cannot be read, or is lost and cannot be rebuilt.
        """
        entry = self.catalog.read(self.table_name)
        self._require_own_files(entry)
        if self._is_of_other_table(entry):
            entry = None
        usable_entry = self._find_usable_entry(entry)
        if usable_entry is entry:  # a rebuilt one is not in the catalog yet
            self._build_table(entry.design, entry, clock, read_boottime_s())

    def _find_usable_entry(self, entry: CatalogEntry | None) -> CatalogEntry:
        """Return the entry of the table; a new one if it is lost and can be rebuilt.

        Raises:
            Unavailable: the catalog has lost the entry, or generations of it.
        """
        what = find_mismatch(self.table_name, entry, self.attributes)
        if entry is not None and not what:
            return entry
        restore = f"restore its catalog, {self.catalog_url}."
        try:
            rebuilt = self.rebuild_entry(entry)
        except Unavailable as problem:
            if not any(name.startswith("rowkey.") for name in self.attributes):
                what = (
                    f"the table {self.table_name} was not created by rowkey, so its design is "
                    "unknown"
                )
                remedy = (
                    f"Run rowkey describe {self.table_name} --on {self.url}: it prints a design "
                    "file, inferred from the table."
                )
                raise Unavailable(self.url, what, remedy=remedy) from None
            remedy = f"Drop the table, or {restore} Its attributes are not enough: {problem}"
            raise Unavailable(self.url, what, remedy=remedy) from None
        if entry is None and is_first_generation(self.attributes):
            return rebuilt
        remedy = (
            f"Run rowkey repair DESIGN --on {self.url} to rebuild the catalog's entry, or {restore}"
        )
        raise Unavailable(self.url, what, remedy=remedy)

    def _correct_entry(self, entry: CatalogEntry | None) -> CatalogEntry | None:
        """Return the entry, rebuilt from the table's attributes if it is of another table.

        Of several clients that create a table at once, one has written the entry first, and another
        may have created the table. That one writes its entry last, unless it dies; a client that
        opens the table before must not use the first entry. In a catalog that a design declares the
        entry may be that of a table elsewhere; there only one client at a time creates a table.

        Raises:
            Unavailable: the table's attributes are not enough.
            Conflict: other clients change the entry before every attempt to write it.
        """
        for _ in range(MAX_CATALOG_RETRIES):
            if entry is None or not self._is_of_other_table(entry):
                return entry
            rebuilt = replace(self.rebuild_entry(None), codes=entry.codes)
            with suppress(Conflict):
                self.catalog.write(self.table_name, rebuilt, entry.version)
            entry = self.catalog.read(self.table_name)
        raise build_contention_error(self.table_name, MAX_CATALOG_RETRIES)

    def find_foreign_files(self, entry: CatalogEntry | None) -> str:
        """Return that the files of the table are those of another one, as a sentence; "" if not.

        Only rowkey changes the tables of an engine on one machine. On a shared one others may drop
        a table and create it again.
        """
        table_id = self.attributes.get(TABLE_ID_ATTRIBUTE, "")
        if self.engine.is_shared or CATALOG_ATTRIBUTE in self.attributes or entry is None:
            return ""
        if not entry.is_created or "" in (table_id, entry.table_id) or entry.table_id == table_id:
            return ""
        return (
            f"the files of the table {self.table_name} are those of another table, or of an "
            f"earlier one of its name: they have the id {table_id}, but its catalog entry in "
            f"{self.catalog_url} has {entry.table_id}"
        )

    def _require_own_files(self, entry: CatalogEntry | None) -> None:
        """Raise if the files of the table are those of another one that was copied over them.

        Raises:
            CorruptionError: they are.
        """
        if what := self.find_foreign_files(entry):
            remedy = (
                "Put back the table's own files, or restore the table and the catalog from one "
                f"backup; or take these files as they are: rowkey repair DESIGN --on {self.url}."
            )
            raise CorruptionError(self.url, what, remedy=remedy)

    def _is_of_other_table(self, entry: CatalogEntry | None) -> bool:
        """Return whether an entry is of another table, and can be rebuilt from the attributes."""
        table_id = self.attributes.get(TABLE_ID_ATTRIBUTE, "")
        return (
            bool(table_id)
            and entry is not None
            and entry.table_id not in ("", table_id)
            and CATALOG_ATTRIBUTE not in self.attributes
            and is_first_generation(self.attributes)
        )

    def rebuild_entry(self, old_entry: CatalogEntry | None) -> CatalogEntry:
        """Return a catalog entry built from the attributes in the descriptor of the table.

        Raises:
            Unavailable: the table's attributes are not enough.
        """
        store = self.engine.open_table(self.table_name)
        starts = [region.start for region in store.list_regions()][1:]
        entry = restore_entry(self.table_name, self.attributes, starts, old_entry)
        key = entry.design.key
        key.check_decodable()
        if key.has_coded_fields and has_rows(store):
            what = "its rows have ids of code(…) that only its lost catalog entry can decode"
            remedy = "Restore the catalog from a backup."
            raise Unavailable(f"table {self.table_name}", what, remedy=remedy)
        return entry

    def _build_table(
        self, design: Design, entry: CatalogEntry, clock: Callable[[], int], since: float
    ) -> Table:
        """Return the open table of a design, with a lease on its entry from when it was read.

        Raises:
            InvalidArgument: it is opened as a companion of a table, and is none of it.
        """
        if self.companion_of and self.companion_of not in self._list_main_tables(entry):
            of = f"a companion of {entry.companion_of}" if entry.companion_of else "no companion"
            what = f"the table {design.table} exists already and is {of}, so it may have other rows"
            remedy = f"Drop it, or give the companion of {self.companion_of} another name."
            raise InvalidArgument(self.url, what, remedy=remedy)
        follower = MoveFollower(self._build_tracker(design, entry, since), self.open_target)
        if entry.companion_of:
            return ReadOnlyCompanion(
                follower, self.engine, self.catalog, main_table=entry.companion_of
            )
        return Table(follower, self.engine, self.catalog)

    def _list_main_tables(self, entry: CatalogEntry) -> tuple[str, ...]:
        """Return the main table of a companion, and the one to which its rows were moved.

        A move that is being finished has not given the companion the new name yet.
        """
        main = entry.companion_of
        main_entry = self.catalog.read(main) if main else None
        moved = () if main_entry is None else (find_used_table(self.catalog, main, main_entry),)
        return (main, *moved)

    def open_source(self) -> GenerationTracker:
        """Open the table by its name for a mover, which reads and writes it and no other table."""
        since = read_boottime_s()
        entry = self.read_entry()
        return self._build_tracker(entry.design, entry, since)

    def _build_tracker(
        self, design: Design, entry: CatalogEntry, since: float
    ) -> GenerationTracker:
        """Return the state of the table, with a lease on its entry from when it was read."""
        dictionary = CatalogDictionary(self.catalog, design.table, design.fields)
        store = self.engine.open_table(design.table)
        check_families(design, store)
        lease = Lease(self.catalog, design.table, entry, self.max_stale_s, read_at_s=since)
        return GenerationTracker(design, lease, dictionary, self.engine, store)

    def open_target(self, name: str, source: GenerationTracker) -> GenerationTracker:
        """Open the target of a move, whose rows are named and ordered as those of the source.

        Args:
            source: the table whose rows are moved.

        Raises:
            Unavailable: the target or its catalog entry is missing.
        """
        since = read_boottime_s()
        entry = self.catalog.read(name)
        if entry is None or not self.engine.has_table(name):
            what = f"the table {name}, to which the rows of {source.declared_design.table} are "
            what += "moved, is missing"
            remedy = "Restore the table and its catalog entry from a backup."
            raise Unavailable(self.url, what, remedy=remedy)
        design = entry.design
        dictionary = CatalogDictionary(self.catalog, name, design.fields)
        store = self.engine.open_table(name)
        lease = Lease(self.catalog, name, entry, self.max_stale_s, read_at_s=since)
        writer = source.last_state.writer
        naming = RowNaming(writer.naming_key or writer.key, writer.clock)
        return GenerationTracker(design, lease, dictionary, self.engine, store, naming)
