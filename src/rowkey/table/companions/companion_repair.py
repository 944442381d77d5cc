"""Repair of companions: after a crash they may differ from their main table, whose rows count.

A companion that is new or was lost is filled first, while clients write.

A put that a crash cut off may have reached companions only, a delete the main table only. So each
row of the main table is compared with its copies, cell by cell with timestamps, and each row of a
companion must be in the main table. A row of an index has one cell in place of all, whose timestamp
may be that of a later change. Cells in columns that the design does not declare are of other
programs, which write each table by itself: they stay as they are, and are counted.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.catalog import add_companions, extend_companions, mark_filled
from rowkey.cells import COLUMN_DELETES, Cell, CellType, RowCells
from rowkey.design import Design, is_index
from rowkey.engines import get_time_ms, open_engine
from rowkey.errors import Conflict, DesignRefused
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import Progress, ReportProgress, ignore_progress
from rowkey.rows import UndeclaredCells
from rowkey.table.client_wait import compute_wait_s
from rowkey.table.companions.companion_opener import CompanionOpener
from rowkey.table.companions.companion_tables import TableWithCompanions
from rowkey.table.generations.activation import reconcile_attributes
from rowkey.table.generations.generation_tracker import GenerationState
from rowkey.table.lifecycle import open_table
from rowkey.table.table import Table
from rowkey.table.table_location import TableLocation

if TYPE_CHECKING:
    Column = tuple[str, bytes]
    """The family and the qualifier of a cell, without the qualifier's prefix."""

MAX_WRITE_S = 600.0
"""Seconds after which a write of another process counts as ended. A put that is on its way from
the companions to the main table looks like one that a crash cut off; a call to a cluster fails
earlier than this."""
COMPARED_ROWS = 500
"""Rows that are read and compared together. Source: a get of some hundred rows is one call."""


@dataclass(slots=True)
class CompanionRepair:
    """What was different in a companion, and is equal now if it was repaired.

    Args:
        companion: the name of the companion.
        checked: rows of the main table and of the companion that were compared.
        written: rows that it lacked, or had with other cells.
        deleted: rows that the main table lacks.
        recent: rows that differ and were changed so lately that their write may go on.
        is_missing: whether the table was missing, or has never been filled.
        is_repaired: whether the differences were repaired.
        undeclared: cells of the companion in columns that its design does not declare; they are
            not compared.
        main_undeclared: the same of the main table.
    """

    companion: str
    checked: int = 0
    written: int = 0
    deleted: int = 0
    recent: int = 0
    is_missing: bool = False
    is_repaired: bool = False
    undeclared: UndeclaredCells = field(default_factory=UndeclaredCells)
    main_undeclared: UndeclaredCells = field(default_factory=UndeclaredCells)

    @property
    def has_differences(self) -> bool:
        """Whether the companion differed from the main table."""
        return bool(self.written or self.deleted or self.recent or self.is_missing)


@explain_shortage
def repair_companions(
    design: Design,
    url: str,
    *,
    apply: bool = False,
    min_age_s: float | None = None,
    progress: ReportProgress | None = None,
) -> list[CompanionRepair]:
    """Compare the rows of a table with those of its companions; make the companions equal.

    The rows of the main table count. After an interruption the same call compares all rows again.

    A companion whose table is missing, or which the table did not have so far, is created and
    filled, while clients write. A client that opened the table before must open it again: it raises
    `Unavailable` within the table's `max_stale`, for which the call waits. From then on every
    change reaches the new companion, and it is read once it has all rows. Of each column the newest
    version is copied.

    Args:
        design: the design of the main table.
        url: the URL of the engine.
        apply: whether to write; otherwise the rows are only compared.
        min_age_s: seconds since the last change of a row after which its write counts as ended; if
            None, 10 minutes on a cluster, and 0 on an engine that only this process has open.
        progress: called with how many rows are compared.

    Returns:
        The result of each companion.

    Raises:
        InvalidArgument: the table does not exist, or one with the name of a companion is of others.
        CatalogMismatch: the design is not that of the table.
        DesignRefused: the regions of a missing companion depend on a sample; nothing is changed.
        RowError: a row has no row key in a new companion, which then remains unread.
        Unavailable: an engine or a catalog cannot be reached.

    Cost: a scan of each table, and a get of each row in all tables; memory for a few blocks. To
    fill, a scan and a get more, and up to `max_stale` and a tenth of waiting.
    """
    missing = _find_missing(design, url)
    if missing and not apply:
        return _count_missing_rows(design, url, missing)
    if missing:
        _create_missing(design, url)
    with open_table(design, url, create=False) as table:
        assert isinstance(table, TableWithCompanions), "the design declares companions"
        if min_age_s is None:
            min_age_s = MAX_WRITE_S if table.engine.is_shared else 0
        comparison = _Comparison(table, min_age_s, progress, apply=apply)
        if missing:
            comparison.fill_companions()
        comparison.compare_main_rows()
        comparison.compare_companion_rows()
    for one in comparison.results.values():
        one.is_missing, one.is_repaired = one.companion in missing, apply
    return list(comparison.results.values())


def _find_missing(design: Design, url: str) -> set[str]:
    """Return the declared companions that have not all rows: missing, new or not yet filled."""
    with open_engine(url, create=False) as engine, ExitStack() as stack:
        if not engine.has_table(design.table):
            return set()
        location = stack.enter_context(TableLocation(engine, design, url))
        entries = {name: location.catalog.read(name) for name in (design.table, *design.companions)}
        main = entries[design.table]
        known = main.companion_names if main is not None else design.companions
        return {
            name
            for name in design.companions
            if name not in known
            or not engine.has_table(name)
            or ((entry := entries[name]) is not None and entry.is_filling)
        }


def _create_missing(design: Design, url: str) -> None:
    """Create missing companions, and wait until all clients of the table write them.

    A companion that was lost is created after the wait: then no client reads it as it was before.

    Raises:
        DesignRefused: the regions of one depend on a sample; nothing is changed.
        Conflict: the table is to have more companions, and its rows are being moved.
    """
    companions = design.read_companions()
    with open_engine(url, create=False) as engine, ExitStack() as stack:
        for name, one in companions.items():
            if not engine.has_table(name) and (one.splits.needs_sample or one.splits.needs_count):
                what = "the boundaries of its regions depend on a sample, which is not given"
                remedy = (
                    f"Declare splits in the design of {name} as a list of row keys: "
                    "rowkey splits DESIGN --sample FILE prints them."
                )
                raise DesignRefused(f"companions.{name}", what, remedy=remedy)
        opener = CompanionOpener(stack, engine, design.table, url)
        location = stack.enter_context(TableLocation(engine, design, url))
        known_entry = location.read_entry()
        extend_companions(known_entry, design)  # refuses a wrong design before anything is created
        known = known_entry.companion_names
        new = {name: one for name, one in companions.items() if name not in known}
        if new and (known_entry.move is not None or known_entry.moved_from):
            what = f"its rows are being moved, so it cannot get the companions {', '.join(new)} now"
            raise Conflict(f"table {design.table}", what, remedy="Finish the move first.")
        opener.create_missing(new, get_time_ms, are_filling=True)
        entry = add_companions(location.catalog, design)
        if new:
            store = engine.open_table(design.table)
            reconcile_attributes(location.catalog, design.table, store)
        if engine.is_shared:
            time.sleep(compute_wait_s(entry, engine))
        opener.create_missing(companions, get_time_ms, are_filling=True)


def _count_missing_rows(
    design: Design, url: str, missing: Collection[str]
) -> list[CompanionRepair]:
    """Return the results of companions of which some are missing, so that none can be compared."""
    with (
        open_engine(url, create=False) as engine,
        TableLocation(engine, design.table, url, catalog=design.declaration.catalog) as place,
    ):
        table = place.open_by_name(get_time_ms)
        with closing(table.lease), closing(table.store):
            scan = table.scan(count_undeclared=True)
            count = scan.count()
    results = [
        CompanionRepair(name, count, count, is_missing=True)
        if name in missing
        else CompanionRepair(name)
        for name in design.companions
    ]
    for one in results:
        one.main_undeclared = scan.undeclared_cells
    return results


class _Comparison:
    """Compares the rows of a table with those of its companions, and repairs them if requested.

    Args:
        min_age_s: seconds since the last change of a row after which its write counts as ended.
        progress: called with how many rows are compared.
        apply: whether to write.
    """

    def __init__(
        self,
        table: TableWithCompanions,
        min_age_s: float,
        progress: ReportProgress | None,
        *,
        apply: bool,
    ) -> None:
        self.table, self.min_age_s, self.apply = table, min_age_s, apply
        self.progress = progress or ignore_progress
        self.row_count = 0
        self.results = {name: CompanionRepair(name) for name in table.companions}

    def fill_companions(self) -> None:
        """Copy the rows of the main table to each companion that lacks rows; then it may be read.

        A cell is copied with its timestamp. So it hides nothing that clients write meanwhile, and
        a delete that they make hides it, in whatever order both arrive.
        """
        filling = {
            name: number
            for number, (name, one) in enumerate(self.table.companions.items(), 1)
            if one.lease.last_entry.is_filling
        }
        for rows in self._scan_rows(self.table, UndeclaredCells()):
            states = self.table.get_states()
            cells = _read_cells(states[0], rows)
            for name, number in filling.items():
                states[number].assign_ids(rows)
                expected = [_list_copies(states, number, some, ()) for some in cells]
                copies = _build_missing_copies(states[number], rows, expected)
                states[number].writer.send_mutations(copies, sync=True)
                self.results[name].written += len(copies)
        for name in filling:
            companion = self.table.companions[name]
            entry = companion.lease.last_entry
            mark_filled(companion.catalog, name, entry.table_id)
            reconcile_attributes(companion.catalog, name, companion.store)
            companion.lease.renew_entry()

    def compare_main_rows(self) -> None:
        """Compare each row of the main table with its copies."""
        undeclared = UndeclaredCells()
        for result in self.results.values():
            result.main_undeclared = undeclared
        for rows in self._scan_rows(self.table, undeclared):
            for result in self.results.values():
                result.checked += len(rows)
            states = self.table.get_states()
            main, *others = (_read_cells(state, rows) for state in states)
            for values, mine, *copies in zip(rows, main, *others, strict=True):
                if any(
                    some != _list_copies(states, number, mine, some)
                    for number, some in enumerate(copies, 1)
                ):
                    self._compare_row(values)

    def compare_companion_rows(self) -> None:
        """Find the rows of each companion that the main table lacks."""
        for name, result in self.results.items():
            for rows in self._scan_rows(self.table.companions[name], result.undeclared):
                result.checked += len(rows)
                found = _read_cells(self.table.get_state(), rows)
                for values, cells in zip(rows, found, strict=True):
                    if not cells:
                        self._compare_row(values, only=name)

    def _scan_rows(
        self, table: Table, undeclared: UndeclaredCells
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield the identities of all rows of a table, some at a time, and count other cells."""
        names = self.table.writer.identity_fields
        scan = table.scan(count_undeclared=True)
        self.progress(Progress("comparing", self.row_count, unit="rows"))
        rows = ({name: row[name] for name in names} for row in scan)
        while some := list(islice(rows, COMPARED_ROWS)):
            yield some
            self.row_count += len(some)
            self.progress(Progress("comparing", self.row_count, unit="rows"))
        undeclared.merge(scan.undeclared_cells)

    def _compare_row(self, values: Mapping[str, Any], only: str = "") -> None:
        """Compare one row of all tables; if they differ, repair it and count it.

        Args:
            values: the fields of its key.
            only: the companion that a difference is counted for; each that differs if empty.
        """
        states = self.table.get_states()
        if _RowCopies(states, values).are_equal:
            return
        writer = states[0].writer
        is_known = not states[0].has_coded_fields or writer.key.has_known_ids(values)
        # A change of this process may be between its writes of two tables.
        name = writer.name_row(values, writer.encode_row_keys(values)[0]) if is_known else b""
        with writer.clock.lock_rows([name]) if is_known else writer.clock.lock_all_rows():
            copies = _RowCopies(states, values)
            if copies.are_equal:
                return
            names = copies.find_differing(self.results)
            limit_ms = writer.clock.clock() - self.min_age_s * 1_000
            is_recent = bool(self.min_age_s) and copies.find_last_change() > limit_ms
            if only and (is_recent or not self.apply):  # others are found when they are scanned
                names = [only]
            if is_recent:
                for one in names:
                    self.results[one].recent += 1
                return
            for one in names:
                self.results[one].written += bool(copies.main)
                self.results[one].deleted += not copies.main
            if self.apply:
                copies.write_repair()


def _read_cells(
    state: GenerationState, rows: Sequence[Mapping[str, Any]], *, raw: bool = False
) -> list[list[Cell]]:
    """Return the cells of rows as `RowGetter.get_cells` does, without undeclared ones."""
    columns = {(slot.family, slot.qualifier) for slot in state.active_design.layout.slots}
    return [
        [
            cell
            for cell in cells
            if (cell.family, cell.qualifier) in columns or cell.cell_type in COLUMN_DELETES
        ]
        for cells in state.getter.get_cells(rows, raw=raw)
    ]


def _by_column(cells: Sequence[Cell]) -> dict[Column, Cell]:
    """Return cells by their family and qualifier."""
    return {(cell.family, cell.qualifier): cell for cell in cells}


def _is_index(states: Sequence[GenerationState], number: int) -> bool:
    """Return whether a companion is an index of the main table, whose state is the first."""
    return is_index(states[0].active_design, states[number].active_design)


def _list_copies(
    states: Sequence[GenerationState],
    number: int,
    main_cells: Sequence[Cell],
    copies: Sequence[Cell],
) -> list[Cell]:
    """Return the cells that a companion must have for those of a row of the main table.

    Args:
        states: the state of each table, that of the main table first.
        number: the number of the companion, from 1.
        main_cells: the cells of the row in the main table.
        copies: those that the companion has; the cell of an index may have a later timestamp.
    """
    if not main_cells or not _is_index(states, number):
        return [*main_cells]
    (slot,) = states[number].active_design.layout.slots
    newest = max(cell.timestamp for cell in main_cells)
    is_old = not copies or max(cell.timestamp for cell in copies) < newest
    return [Cell(slot.family, slot.qualifier, newest)] if is_old else [*copies]


class _RowCopies:
    """The cells of one row in a table and in each of its companions.

    Args:
        states: the state of each table, that of the main table first.
        values: the fields of the row's key.
    """

    def __init__(self, states: Sequence[GenerationState], values: Mapping[str, Any]) -> None:
        self.states, self.values = states, values
        main, *companions = (_read_cells(state, [values])[0] for state in states)
        expected = (
            _list_copies(states, number, main, copies)
            for number, copies in enumerate(companions, 1)
        )
        self.main = _by_column(main)
        self.companions = tuple(map(_by_column, companions))
        self.expected = tuple(map(_by_column, expected))
        """What each companion must have."""

    @property
    def are_equal(self) -> bool:
        """Whether all companions have what they must have."""
        return self.companions == self.expected

    def find_differing(self, names: Sequence[str] | Mapping[str, Any]) -> list[str]:
        """Return those names of companions whose copy differs."""
        pairs = zip(names, self.companions, self.expected, strict=True)
        return [name for name, copies, expected in pairs if copies != expected]

    def find_last_change(self) -> int:
        """Return the highest timestamp of a change that is not in all copies; -1 if of none.

        A cell that only lacks its copy is not under way: companions are written first.
        """
        last = -1
        tables = zip(self.states[1:], self.companions, self.expected, strict=True)
        for state, copies, expected in tables:
            if copies == expected:
                continue
            for cell in _read_cells(state, [self.values], raw=True)[0]:
                mine = expected.get((cell.family, cell.qualifier))
                if mine is None or cell.timestamp >= mine.timestamp:
                    last = max(last, cell.timestamp)
        return last

    def write_repair(self) -> None:
        """Make the copies in all companions equal to the row of the main table.

        A cell of a companion that hides that of the main table cannot be taken back. Then both get
        the value again, with the next timestamp: below that of any change since. The cell of an
        index gets the highest of the row, or the next one above what hides it.
        """
        raw = [_read_cells(state, [self.values], raw=True)[0] for state in self.states[1:]]
        cells: list[list[Cell]] = [[] for _ in self.states]
        tables = list(enumerate(zip(raw, self.companions, self.expected, strict=True), 1))
        wholes = [one for one in tables if not _is_index(self.states, one[0])]
        for column in {*self.main, *(column for _, (_, copies, _) in wholes for column in copies)}:
            mine = self.main.get(column)
            if mine is not None:
                hiding = [_find_hiding_timestamp(some, mine) for _, (some, _, _) in wholes]
                if max(hiding, default=-1) >= 0:
                    mine = mine._replace(timestamp=max(hiding) + 1)
                    cells[0].append(mine)
            for number, (_, copies, _) in wholes:
                cells[number] += _build_repair(column, mine, copies.get(column))
        newest = max((cell.timestamp for cell in cells[0]), default=-1)
        for number, (some, copies, expected) in tables:
            if _is_index(self.states, number):
                cells[number] = _build_index_repair(some, copies, expected, newest)
        for state, some in reversed(list(zip(self.states, cells, strict=True))):
            if some:
                state.writer.send_mutations(
                    build_row_mutations(state, self.values, some), sync=True
                )


def _build_repair(column: Column, wanted: Cell | None, copy: Cell | None) -> list[Cell]:
    """Return the cell that a companion gets, or the delete of one; none if both are equal."""
    if wanted == copy:
        return []
    if wanted is not None:
        return [wanted]
    assert copy is not None, "one of the two cells is there"
    return [Cell(*column, copy.timestamp, cell_type=CellType.DELETE_COLUMN)]


def _build_index_repair(
    raw: Sequence[Cell],
    copies: Mapping[Column, Cell],
    expected: Mapping[Column, Cell],
    newest: int,
) -> list[Cell]:
    """Return the cell that an index gets, or the delete of the one that it has; none if equal.

    Args:
        raw: all cells and deletes of its row.
        copies: its cell.
        expected: the cell that it must have.
        newest: a timestamp that its cell must have at least.
    """
    cells: list[Cell] = []
    for column in {*copies, *expected}:
        wanted = expected.get(column)
        if wanted is not None:
            lowest = max(newest, _find_hiding_timestamp(raw, wanted) + 1)
            wanted = wanted._replace(timestamp=max(wanted.timestamp, lowest))
        cells += _build_repair(column, wanted, copies.get(column))
    return cells


def _find_hiding_timestamp(raw_cells: Sequence[Cell], mine: Cell) -> int:
    """Return the highest timestamp of a companion's cell that would hide a cell; -1 if none."""
    last = -1
    for cell in raw_cells:
        is_family_delete = cell.cell_type in COLUMN_DELETES
        if cell.family != mine.family or (
            cell.qualifier != mine.qualifier and not is_family_delete
        ):
            continue
        is_delete = cell.cell_type != CellType.PUT
        if cell.timestamp > mine.timestamp - is_delete:
            last = max(last, cell.timestamp)
    return last


def _build_missing_copies(
    state: GenerationState, rows: Sequence[Mapping[str, Any]], cells: Sequence[Sequence[Cell]]
) -> list[RowCells]:
    """Return the puts of the cells of rows that a companion lacks, or has with an older timestamp.

    Args:
        rows: the fields of the key of each row.
        cells: the cells of each in the main table, without the prefixes of their qualifiers.
    """
    copies = []
    for values, mine, others in zip(rows, cells, _read_cells(state, rows), strict=True):
        timestamps = {(cell.family, cell.qualifier): cell.timestamp for cell in others}
        missing = [
            cell
            for cell in mine
            if timestamps.get((cell.family, cell.qualifier), -1) < cell.timestamp
        ]
        if missing:
            copies.append(build_row_mutations(state, values, missing)[-1])
    return copies


def build_row_mutations(
    state: GenerationState, values: Mapping[str, Any], cells: Sequence[Cell]
) -> list[RowCells]:
    """Return the mutations of cells of one row: puts of its active row key, deletes of all."""
    prefix = state.active_design.layout.qualifier_prefix
    front = b"" if prefix is None else prefix.encode(values)
    cells = [cell._replace(qualifier=front + cell.qualifier) for cell in cells]
    active, *others = state.writer.encode_row_keys(values)
    deletes = [cell for cell in cells if cell.cell_type != CellType.PUT]
    return [*(RowCells(key, deletes) for key in others if deletes), RowCells(active, list(cells))]
