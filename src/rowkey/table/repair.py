"""Verify and repair tables and catalogs: find damage, repair files, save rows elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rowkey.array_libraries import pa
from rowkey.catalog import (
    CATALOG_ATTRIBUTE,
    COUNTS_ATTRIBUTE,
    Catalog,
    CatalogDictionary,
    CatalogEntry,
    find_mismatch,
    open_catalog,
    restore_entry,
)
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.design import Design
from rowkey.engines import (
    ENGINES,
    NEWEST_CELLS,
    CellInspection,
    CellSelection,
    Engine,
    Examination,
    RepairResult,
    SalvageResult,
    TableSpec,
    get_time_ms,
    open_engine,
)
from rowkey.errors import (
    Conflict,
    CorruptionError,
    InvalidArgument,
    NotSupported,
    OneMistakeError,
    RowError,
    RowkeyError,
    Unavailable,
)
from rowkey.messages import format_value
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import ReportProgress, ignore_progress
from rowkey.rows import (
    Layout,
    UndeclaredCells,
    decode_event_columns,
    select_decodable_rows,
    split_undeclared_rows,
)
from rowkey.table.lifecycle import check_arguments
from rowkey.table.moves.moved_table import find_replacement, find_used_table
from rowkey.table.scans.scan_items import align_to_events
from rowkey.table.scans.scan_ranges import PAGE_CELLS
from rowkey.table.scans.undecodable_rows import UndecodableRows
from rowkey.table.table_location import (
    TableLocation,
    build_lost_error,
    build_missing_error,
    check_table_name,
)
from rowkey.table.table_spec import build_table_spec, has_rows

if TYPE_CHECKING:
    """Called with how many cells are done, and of about how many."""


_MISSING_CODES_NOTE = (
    "its rows cannot be decoded without its catalog entry, which has the ids of `code`: "
    "restore the entry in the new catalog from a backup"
)


@runtime_checkable
class Repairable(Protocol):
    """An engine whose tables can be verified and repaired."""

    def examine(
        self, name: str, progress: ReportProgress = ..., inspect_cells: CellInspection | None = None
    ) -> Examination:
        """Read every block of every file of a table, and return what is damaged."""

    def repair(self, name: str) -> RepairResult:
        """Repair the files of a table in place."""

    def save_into(
        self, target: Engine, name: str, *, keep_incomplete: bool, progress: ReportProgress
    ) -> SalvageResult:
        """Save all readable rows of a table into a table of another engine."""


@dataclass(slots=True)
class VerifiedTable(Examination):
    """The damage that was found in one table, and what other programs have written.

    Args:
        undeclared: its cells in columns that its design does not declare, as they are stored: of
            copies under several salts or bucket counts each counts. None if the table is damaged
            or has no design.
        undecodable_rows: its rows whose key or values the design cannot decode.
    """

    undeclared: UndeclaredCells | None = None
    undecodable_rows: UndecodableRows = field(default_factory=UndecodableRows)


@explain_shortage
def verify_tables(
    url: str, tables: Sequence[str] = (), progress: ReportProgress | None = None
) -> Iterator[VerifiedTable]:
    """Read every block of every file of tables, and yield what is damaged; change nothing.

    Args:
        url: the URL of the engine, open in no process.
        tables: their names; all if there are none.
        progress: called with how many cells of a table are read, and of about how many.

    Raises:
        InvalidArgument: there is no such engine or table.
        NotSupported: rowkey cannot read the files of this engine.
        Unavailable: another process has it open, or the disk cannot be read.
    """
    for given in tables:
        check_table_name(given)
    with open_engine(url, create=False) as engine:
        readable = _require_repairable(engine, url)
        errors_by_table = _find_lost_tables(engine, url)
        for given in tables or sorted({*engine.list_tables(), *errors_by_table}):
            name = _find_replacement(engine, given, url)
            if engine.has_table(name):
                with _open_present_catalog(engine, url) as catalog:
                    cells = _CellSummary(catalog)
                    examination = readable.examine(name, progress or ignore_progress, cells.inspect)
                _note_opening_problem(engine, url, examination)
                values = {one.name: getattr(examination, one.name) for one in fields(examination)}
                yield VerifiedTable(
                    **values, undeclared=cells.undeclared, undecodable_rows=cells.undecodable_rows
                )
            elif name in errors_by_table:
                yield VerifiedTable(name, problems=[errors_by_table[name]], is_readable=False)
            else:
                raise build_missing_error(url, name, engine)


@explain_shortage
def repair_tables(url: str, tables: Sequence[str]) -> Iterator[RepairResult]:
    """Repair the files of tables in place: descriptors, and logs up to the first damage.

    Args:
        url: the URL of the engine, open in no process.
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
    progress: ReportProgress | None = None,
) -> Iterator[SalvageResult]:
    """Save all readable rows of tables into tables of the same names at a new URL.

    The old tables are not changed. Their catalog entries are saved as well.

    Args:
        url: the URL of the engine, open in no process.
        target_url: the new URL, of the same engine.
        keep_incomplete: whether to save rows that lack cells, or may have older values.
        progress: called with how many cells of a table are read or saved, and of about how many.

    Raises:
        CorruptionError: the description of a table cannot be read.
        InvalidArgument: the new URL has such a table, or is of another engine.
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
                    progress=progress or ignore_progress,
                )
                notes = _save_entry(engine, target, target_url, name)
                yield replace(saved, notes=[*saved.notes, *notes])


class _CellSummary:
    """Counts what other programs have written to a table, by the design in its attributes.

    Args:
        catalog: has the values of fields that keys hold as ids; None if it is not known.
    """

    def __init__(self, catalog: Catalog | None) -> None:
        self._catalog = catalog
        self.undeclared: UndeclaredCells | None = None
        """The undeclared cells; None if the table has no design."""
        self.undecodable_rows = UndecodableRows()
        self._last_undecodable: bytes | None = None

    def inspect(
        self, spec: TableSpec, read_blocks: Callable[[CellSelection], Iterator[pa.RecordBatch]]
    ) -> None:
        """Read and count the cells; see `VerifiedTable`."""
        try:
            design = restore_entry(spec.name, spec.attributes, spec.splits).design
        except RowkeyError:
            return  # a table of another program, or of a later version
        can_decode = not design.key.has_coded_fields
        if self._catalog is not None and not can_decode:
            with suppress(OneMistakeError):  # of an entry that is gone or damaged, a problem tells
                dictionary = CatalogDictionary(self._catalog, spec.name, design.fields)
                design, can_decode = design.copy_with_dictionary(dictionary), True
        layout = design.layout
        prefix = layout.qualifier_prefix
        if prefix is None or len(spec.families) > 1:
            blocks = read_blocks(NEWEST_CELLS)
        else:
            blocks = align_to_events(read_blocks(CellSelection(batch=PAGE_CELLS)), prefix)
        summary, last_row = UndeclaredCells(), None
        for block in blocks:
            decodable = self._select_decodable_rows(layout, block) if can_decode else block
            # Events of a row that share it are told apart by a key that can be decoded.
            counted = block if prefix is None else decodable
            for row, prefixes, cells in split_undeclared_rows(layout, counted):
                summary.add_row(row, cells, prefixes, is_rest=row == last_row)
                if any(one.event_prefix is None for one in cells):
                    last_row = row
        self.undeclared = summary

    def _select_decodable_rows(self, layout: Layout, block: pa.RecordBatch) -> pa.RecordBatch:
        """Return the cells of a block whose rows can be decoded; note the other rows."""
        try:
            decode_event_columns(layout, block)
        except RowError:
            return select_decodable_rows(layout, block, self._add_undecodable_row)
        return block

    def _add_undecodable_row(self, row_key: bytes, problem: RowError) -> None:
        """Add a row that cannot be decoded, once for all its parts."""
        if row_key != self._last_undecodable:
            self.undecodable_rows.add(row_key, problem)
        self._last_undecodable = row_key


def _find_replacement(engine: Engine, name: str, url: str) -> str:
    """Return the table that has taken the place of a dropped one; the name itself if none has."""
    with (
        suppress(CorruptionError, Unavailable),
        closing(open_catalog(engine.catalog_url, engine, url)) as catalog,
    ):
        return find_replacement(engine, catalog, name)
    return name


def _note_opening_problem(engine: Engine, url: str, examination: Examination) -> None:
    """Add why a table whose files are sound cannot be opened to its examination.

    The table is opened as a table in memory with the same attributes, so that no file is changed.
    """
    spec = examination.spec
    # A table of another program has no entry; the catalog that a design declares is not known here.
    if spec is None or not spec.attributes or CATALOG_ATTRIBUTE in spec.attributes:
        return
    folder = engine.catalog_url.removeprefix("file:")
    catalog_url = engine.catalog_url if os.path.lexists(folder) else None  # none is made
    try:
        with open_engine("memory:") as model:
            store = model.create_table(spec)
            if examination.cell_count:
                store.mutate([RowCells(b"\0", [Cell(spec.families[0].name, b"", LATEST)])])
            with TableLocation(model, spec.name, url, catalog=catalog_url) as location:
                _add_move_target(engine, model, location)
                location.check_openable(get_time_ms)
                examination.notes += _find_note_problems(location)
    except OneMistakeError as problem:
        examination.problems.append(problem)


def _add_move_target(engine: Engine, model: Engine, location: TableLocation) -> None:
    """Create the table to which rows are being moved in a model too, unless it is missing."""
    entry = location.catalog.read(location.table_name)
    if entry is None or entry.move is None or not engine.has_table(entry.move.target):
        return
    target = location.catalog.read(entry.move.target)
    if target is not None:
        model.create_table(build_table_spec(target.design, ()))


def _find_note_problems(location: TableLocation) -> Iterator[str]:
    """Yield why the notes of a table, which only moves and imports need, cannot be read."""
    try:
        location.catalog.read_notes(location.table_name)
    except OneMistakeError as problem:
        yield str(problem)


def _find_lost_tables(engine: Engine, url: str) -> dict[str, CorruptionError]:
    """Return the error of each table that has a catalog entry but is missing on the engine."""
    errors_by_table: dict[str, CorruptionError] = {}
    with _open_present_catalog(engine, url) as catalog:
        if catalog is None:
            return {}
        for name in catalog.list_tables():
            if engine.has_table(name):
                continue
            try:
                entry = catalog.read(name)
            except CorruptionError as problem:
                errors_by_table[name] = problem
            else:
                if (
                    entry is not None
                    and entry.is_created
                    and find_used_table(catalog, name, entry) == name
                ):
                    errors_by_table[name] = build_lost_error(url, engine.catalog_url, name, entry)
    return errors_by_table


@contextmanager
def _open_present_catalog(engine: Engine, url: str) -> Iterator[Catalog | None]:
    """Open the catalog of an engine; None if it is a folder that is missing, as none is made."""
    scheme, _, where = engine.catalog_url.partition(":")
    if scheme == "file" and not Path(where).is_dir():
        yield None
        return
    with closing(open_catalog(engine.catalog_url, engine, url)) as catalog:
        yield catalog


def _require_same_scheme(engine: Engine, target_url: str) -> None:
    """Raise unless a URL is of the same engine as another.

    Raises:
        InvalidArgument: it is of another engine.
    """
    scheme = target_url.partition(":")[0]
    if scheme != engine.scheme:
        what = f"{format_value(target_url)} is the URL of another engine"
        raise InvalidArgument("into", what, f"{engine.scheme}:PATH")


def _require_repairable(engine: Engine, url: str) -> Repairable:
    """Return an engine as one whose tables can be verified and repaired.

    Raises:
        NotSupported: rowkey cannot read its files.
    """
    if isinstance(engine, Repairable):
        return engine
    able = " or ".join(f"{one.scheme}:PATH" for one in ENGINES.values() if hasattr(one, "repair"))
    what = "rowkey cannot verify or repair the files of this engine"
    remedy = "A cluster checks and repairs its files itself; see HBase's hbck."
    raise NotSupported(url, what, able, remedy)


def _save_entry(engine: Engine, target: Engine, target_url: str, name: str) -> list[str]:
    """Copy the catalog entry of a saved table to the catalog of the new engine.

    A table whose design declares another catalog has its entry there. An entry that is lost is
    rebuilt from the table's attributes, unless the key of stored rows has ids of `code`: without
    the lost ids the rows would be read with other values.

    Returns:
        What went wrong, as sentences for the user.
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
        notes.append(f"its catalog entry cannot be read: {problem}")
    try:
        if entry is None:
            starts = [region.start for region in store.list_regions()][1:]
            entry = restore_entry(name, attributes, starts)
        if _has_missing_codes(entry) and has_rows(store):
            notes.append(_MISSING_CODES_NOTE)
            return notes
    except RowkeyError as problem:
        notes.append(f"no entry was written to the new catalog: {problem}")
        return notes
    try:
        with closing(open_catalog(target.catalog_url, target, target_url)) as catalog:
            catalog.write(name, entry, None)
    except Conflict as problem:
        notes.append(f"its existing entry in the new catalog was not replaced: {problem}")
    return notes


def _has_missing_codes(entry: CatalogEntry) -> bool:
    """Return whether a table's key has ids of `code` that its catalog entry lacks."""
    return entry.design.key.has_coded_fields and not (entry.codes and all(entry.codes.values()))


@dataclass(frozen=True, slots=True)
class CatalogRepair:
    """A catalog whose entry of a table is lost or out of date, and the entry it should have.

    Args:
        table: the table's name.
        problem: what is wrong with the entry, as a sentence.
        correct_entry: the entry that it should have; None if the entry is to be removed, or cannot
            be rebuilt.
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
        """Return what is wrong with the entry and how it would be repaired, or was."""
        return self._next_step if self.is_repaired else f"{self.problem}. {self._next_step}"

    @property
    def _next_step(self) -> str:
        """How the entry was repaired, would be repaired, or why it cannot be."""
        if self.obstacle:
            return f"The entry cannot be rebuilt: {self.obstacle}"
        if self.correct_entry is None:
            if self.is_repaired:
                return "the entry was removed"
            return "The entry would be removed; check first that no other engine has the table."
        *_, last = self.correct_entry.generations
        summary = f"{len(last.splits) + 1} regions, generation {last.number}"
        counts = self.correct_entry.table_attributes.get(COUNTS_ATTRIBUTE)
        summary += f", counts {counts}" if counts else ""
        if self.is_repaired:
            return f"the entry was rebuilt: {summary}"
        return f"The entry would be rebuilt: {summary}."


@explain_shortage
def repair_catalog(design: Design, url: str, *, apply: bool = False) -> CatalogRepair | None:
    """Find a lost or outdated catalog entry, and rebuild it from the table's attributes.

    The attributes have the design, the generation number and the bucket counts. They do not have
    the ids of `code`, so the entry of a table with such ids and with rows cannot be rebuilt, nor
    the time at which a number of buckets was announced, which is lost. An entry without a table,
    as an interrupted create leaves it, is removed.

    Args:
        url: the URL of the table's engine.
        apply: whether to repair the catalog; otherwise it is only compared.

    Returns:
        What is wrong with the entry, repaired or not; None if nothing is.

    Raises:
        InvalidArgument: there is no such table, and no entry of it.
        Unavailable: the engine or the catalog cannot be reached.
        Conflict: another client changed the catalog meanwhile.
    """
    check_arguments(design, url, None)
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(url, create=False))
        place = stack.enter_context(TableLocation(engine, design, url))
        if not place.is_made:
            used = place.find_moved_table(design)
            if not isinstance(used, str) and used is not design:
                place = stack.enter_context(TableLocation(engine, used, url))
        entry = place.catalog.read(place.table_name)
        if not place.is_made and entry is None:
            raise build_missing_error(url, place.table_name, engine)
        mismatch = _find_catalog_mismatch(place, entry)
        if mismatch is None or not apply or mismatch.obstacle:
            return mismatch
        version = None if entry is None else entry.version
        if mismatch.correct_entry is None:
            place.catalog.remove(place.table_name, version)
        else:
            place.catalog.write(place.table_name, mismatch.correct_entry, version)
        return replace(mismatch, is_repaired=True)


def _find_catalog_mismatch(
    location: TableLocation, entry: CatalogEntry | None
) -> CatalogRepair | None:
    """Return what is wrong with the catalog entry of a table, or None."""
    if not location.is_made:
        what = f"the catalog knows {location.table_name}, but the engine has no such table"
        return CatalogRepair(location.table_name, location.catalog_url, what)
    what = location.find_foreign_files(entry)
    if what:
        entry = None  # nothing in it is about these files
    else:
        what = find_mismatch(location.table_name, entry, location.attributes)
    if not what:
        return None
    try:
        return CatalogRepair(
            location.table_name, location.catalog_url, what, location.rebuild_entry(entry)
        )
    except Unavailable as problem:
        return CatalogRepair(location.table_name, location.catalog_url, what, obstacle=str(problem))
