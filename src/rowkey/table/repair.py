"""Verify and repair tables and catalogs: find damage, repair files, save rows elsewhere."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rowkey.catalog import (
    CATALOG_ATTRIBUTE,
    COUNTS_ATTRIBUTE,
    find_mismatch,
    open_catalog,
    restore_entry,
)
from rowkey.engines import ENGINES, Examination, open_engine
from rowkey.errors import (
    Conflict,
    CorruptionError,
    InvalidArgument,
    NotSupported,
    RowkeyError,
    Unavailable,
)
from rowkey.messages import format_value
from rowkey.open_file_limit import explain_shortage
from rowkey.table.lifecycle import check_arguments
from rowkey.table.table_location import TableLocation, build_lost_error, build_missing_error
from rowkey.table.table_spec import has_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rowkey.catalog import CatalogEntry
    from rowkey.design import Design
    from rowkey.engines import Engine, RepairResult, SalvageResult

    CellProgress = Callable[[int, int], None]
    """Told how many cells are done, and of about how many."""


_MISSING_CODES_NOTE = (
    "the table cannot be decoded without its catalog, which has the ids of `code`: "
    "put its entry from a copy into the new catalog"
)


@runtime_checkable
class Repairable(Protocol):
    """An engine whose tables can be verified and repaired."""

    def examine(self, name: str, progress: CellProgress = ...) -> Examination:
        """Read every block of every file of a table."""

    def repair(self, name: str) -> RepairResult:
        """Mend a table where it lies."""

    def save_into(
        self, target: Engine, name: str, *, keep_incomplete: bool, progress: CellProgress
    ) -> SalvageResult:
        """Save what can be read of a table into another place."""


@explain_shortage
def verify_tables(
    url: str, tables: Sequence[str] = (), progress: CellProgress | None = None
) -> Iterator[Examination]:
    """Read every block of every file of tables, and yield what is damaged; change nothing.

    Args:
        url: where the tables live, open in no process.
        tables: their names; all if there are none.
        progress: called with how many cells of a table are read, and of about how many.

    Raises:
        InvalidArgument: there is no such place or table, or its files are not ours to read.
        Unavailable: another process has it open, or the disk cannot be read.
    """
    with open_engine(url, create=False) as engine:
        readable = _require_repairable(engine, url)
        lost = _find_lost_tables(engine, url)
        for name in tables or sorted({*engine.list_tables(), *lost}):
            if engine.has_table(name):
                yield readable.examine(name, progress or _ignore_progress)
            elif name in lost:
                yield Examination(name, problems=[lost[name]], is_readable=False)
            else:
                raise build_missing_error(url, name, engine)


@explain_shortage
def repair_tables(url: str, tables: Sequence[str]) -> Iterator[RepairResult]:
    """Mend tables where they lie: their descriptors, and their logs up to the first damage.

    Args:
        url: where the tables live, open in no process.
        tables: their names.

    Raises:
        CorruptionError: one is damaged elsewhere; nothing of it was changed.
    """
    with open_engine(url, create=False) as engine:
        repairable = _require_repairable(engine, url)
        for name in tables:
            yield repairable.repair(name)


@explain_shortage
def save_tables(
    url: str,
    target_url: str,
    tables: Sequence[str],
    *,
    keep_incomplete: bool = False,
    progress: CellProgress | None = None,
) -> Iterator[SalvageResult]:
    """Save what can be read of tables into tables of their names in a new place.

    Where they lie nothing is changed. What their catalog remembers is saved as well.

    Args:
        url: where the tables live, open in no process.
        target_url: the new place, of the same kind.
        tables: their names.
        keep_incomplete: whether rows are saved that lack cells, or may be older than they were.
        progress: called with how many cells of a table are read or saved, and of about how many.

    Raises:
        CorruptionError: not even what a table is can be read.
        InvalidArgument: the new place has such a table, or is of another kind.
    """
    with open_engine(url, create=False) as engine:
        source = _require_repairable(engine, url)
        _require_same_scheme(engine, target_url)
        with open_engine(target_url) as target:
            for name in tables:
                saved = source.save_into(
                    target,
                    name,
                    keep_incomplete=keep_incomplete,
                    progress=progress or _ignore_progress,
                )
                notes = _save_entry(engine, target, target_url, name)
                yield replace(saved, notes=[*saved.notes, *notes])


def _find_lost_tables(engine: Engine, url: str) -> dict[str, CorruptionError]:
    """Return the error of each table that the catalog of a place remembers and that is gone."""
    scheme, _, where = engine.catalog_url.partition(":")
    if scheme == "file" and not Path(where).is_dir():
        return {}
    lost = {}
    with closing(open_catalog(engine.catalog_url, engine, url)) as catalog:
        for name in catalog.list_tables():
            if engine.has_table(name):
                continue
            try:
                entry = catalog.read(name)
            except CorruptionError as problem:
                lost[name] = problem
            else:
                if entry is not None and entry.is_created:
                    lost[name] = build_lost_error(url, engine.catalog_url, name, entry)
    return lost


def _ignore_progress(done: int, total: int) -> None:
    """Report nothing."""


def _require_same_scheme(engine: Engine, target_url: str) -> None:
    """Raise unless a URL is of the same kind as an engine.

    Raises:
        InvalidArgument: it is not.
    """
    scheme = target_url.partition(":")[0]
    if scheme != engine.scheme:
        raise InvalidArgument(
            "into", f"{format_value(target_url)} is of another kind", f"{engine.scheme}:PATH"
        )


def _require_repairable(engine: Engine, url: str) -> Repairable:
    """Return an engine whose files are ours to read.

    Raises:
        NotSupported: it has none.
    """
    if isinstance(engine, Repairable):
        return engine
    able = " or ".join(f"{one.scheme}:PATH" for one in ENGINES.values() if hasattr(one, "repair"))
    what = "its files are not rowkey's to read or mend"
    raise NotSupported(url, what, able, "A cluster checks and mends its files itself.")


def _save_entry(engine: Engine, target: Engine, target_url: str, name: str) -> list[str]:
    """Have the catalog of a new place remember a saved table as the old one did.

    A table whose design declares another catalog is remembered there. Of one that its catalog has
    lost, what the table tells itself is remembered; but for one with rows whose key holds ids of
    `code`: without those that were given out, its rows would be read with other values.

    Returns:
        What went wrong with it, for people.
    """
    store = target.open_table(name)
    attributes = store.families_and_attributes[1]
    if CATALOG_ATTRIBUTE in attributes:
        return []
    entry, notes = None, []
    try:
        with closing(open_catalog(engine.catalog_url, engine)) as catalog:
            entry = catalog.read(name)
    except RowkeyError as problem:
        notes.append(f"its entry in the catalog cannot be read: {problem}")
    try:
        if entry is None:
            starts = [region.start for region in store.list_regions()][1:]
            entry = restore_entry(name, attributes, starts)
        if _lacks_codes(entry) and has_rows(store):
            notes.append(_MISSING_CODES_NOTE)
            return notes
    except RowkeyError as problem:
        notes.append(f"the new catalog knows nothing of it: {problem}")
        return notes
    try:
        with closing(open_catalog(target.catalog_url, target, target_url)) as catalog:
            catalog.write(name, entry, None)
    except Conflict as problem:
        notes.append(f"its entry in the new catalog was left as it is: {problem}")
    return notes


def _lacks_codes(entry: CatalogEntry) -> bool:
    """Return whether a key holds ids of `code`, and its entry has none."""
    return entry.design.key.has_coded_fields and not (entry.codes and all(entry.codes.values()))


@dataclass(frozen=True, slots=True)
class CatalogRepair:
    """A catalog whose entry of a table is lost or out of date, and the entry it should have.

    Args:
        table: the table's name.
        catalog_url: the catalog's URL.
        problem: what it does not know, or knows of a table that is not there.
        correct_entry: what it is to know; None if it is to forget the table, or cannot be
            repaired.
        obstacle: why it cannot be repaired; empty if it can.
        is_repaired: whether it was.
    """

    table: str
    catalog_url: str
    problem: str
    correct_entry: CatalogEntry | None = None
    obstacle: str = ""
    is_repaired: bool = False

    def __str__(self) -> str:
        """Return what is wrong, and what would be done about it or was done."""
        return self._next_step if self.is_repaired else f"{self.problem}. {self._next_step}"

    @property
    def _next_step(self) -> str:
        """Return what was done, or what the user can do next."""
        if self.obstacle:
            return f"It cannot be put back: {self.obstacle}"
        if self.correct_entry is None:
            return "forgotten" if self.is_repaired else "To be forgotten, if no other place has it."
        *_, last = self.correct_entry.generations
        summary = f"{len(last.splits) + 1} regions, generation {last.number}"
        counts = self.correct_entry.table_attributes.get(COUNTS_ATTRIBUTE)
        summary += f", counts {counts}" if counts else ""
        return f"put back: {summary}" if self.is_repaired else f"To be put back: {summary}."


@explain_shortage
def repair_catalog(design: Design, url: str, *, apply: bool = False) -> CatalogRepair | None:
    """Find what the catalog has lost of a table, and put it back from the table's attributes.

    A table keeps its design, the number of its generation and its counts among its own words.
    With where its regions begin that is what the catalog had; but for the ids of `code`, so a
    table whose key has one is not mended once it has rows, and for when a number of buckets was
    announced, which is not known from then on. An entry without a table, as an
    interrupted create leaves it, is forgotten.

    Args:
        design: of the table; it is opened with it afterwards, as ever.
        url: where the table lives.
        apply: whether the catalog is changed; otherwise it is only looked at.

    Returns:
        What is wrong with it, repaired or not; None if nothing is.

    Raises:
        InvalidArgument: there is no such table, and nothing is remembered of it.
        Unavailable: the engine or the catalog cannot be reached.
        Conflict: another client changed the catalog meanwhile.
    """
    check_arguments(design, url, None)
    with (
        open_engine(url, create=False) as engine,
        TableLocation(engine, design, url) as place,
    ):
        entry = place.catalog.read(place.table_name)
        if not place.is_made and entry is None:
            raise build_missing_error(url, place.table_name, engine)
        found = _find_catalog_mismatch(place, entry)
        if found is None or not apply or found.obstacle:
            return found
        version = None if entry is None else entry.version
        if found.correct_entry is None:
            place.catalog.remove(place.table_name, version)
        else:
            place.catalog.write(place.table_name, found.correct_entry, version)
        return replace(found, is_repaired=True)


def _find_catalog_mismatch(
    location: TableLocation, entry: CatalogEntry | None
) -> CatalogRepair | None:
    """Return what is wrong with the entry of a table, or None."""
    if not location.is_made:
        what = f"the catalog knows {location.table_name}, but the engine has no such table"
        return CatalogRepair(location.table_name, location.catalog_url, what)
    what = find_mismatch(location.table_name, entry, location.attributes)
    if not what:
        return None
    try:
        return CatalogRepair(
            location.table_name, location.catalog_url, what, location.rebuild_entry(entry)
        )
    except Unavailable as problem:
        return CatalogRepair(location.table_name, location.catalog_url, what, obstacle=str(problem))
