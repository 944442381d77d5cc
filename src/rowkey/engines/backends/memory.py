"""The reference engine: tables in memory, simple enough to compare the other engines with."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, ClassVar, Self

from rowkey import fork_safety
from rowkey.array_libraries import pa
from rowkey.cells import (
    CellBlock,
    Family,
    FamilyView,
    RowCells,
    check_mutation,
    check_row,
    parse_purge_delay_ms,
    select_kept_cells,
)
from rowkey.engines.cell_blocks import build_blocks, check_block_read, to_row_cells
from rowkey.engines.contract import Cursor, Engine, Reader, Store, build_closed_cursor_error
from rowkey.engines.embedded_store import (
    STATE_DROPPED,
    EmbeddedReader,
    EmbeddedStore,
    build_closed_error,
    build_missing_table_error,
    build_table_exists_error,
)
from rowkey.engines.memory_table import MemoryTable, SortedRows
from rowkey.engines.ordering.row_clock import get_time_ms
from rowkey.engines.requests import (
    NEWEST_CELLS,
    CellSelection,
    ScanRange,
    TableSpec,
    check_family_attributes,
    check_rows,
    check_spec,
    split_rows,
)
from rowkey.progress import ReportProgress

if TYPE_CHECKING:
    Clock = Callable[[], int]


class _RowCursor(Cursor):
    """A cursor over the rows of one range, from an iterator of whole rows.

    Args:
        rows: rows with their visible cells, in the order of the scan; rows without cells are
            skipped.
        selection: the selection of the read; `limit` and `batch` are applied here.
        families: the selected families, in their order.
        count_read: called with the key of each row that is returned.
    """

    def __init__(
        self,
        rows: Iterator[RowCells],
        selection: CellSelection,
        families: Sequence[str],
        count_read: Callable[[bytes], None],
    ) -> None:
        self._rows = self._iterate_rows(rows, selection.limit, count_read)
        self._pieces: Iterator[RowCells] = (
            self._rows if selection.batch is None else split_rows(self._rows, selection.batch)
        )
        self._raw, self._families = selection.raw, families
        self._closed = False

    def __iter__(self) -> Iterator[RowCells]:
        while not self._closed:
            piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece
        raise build_closed_cursor_error()

    def _iterate_rows(
        self, rows: Iterator[RowCells], limit: int | None, count_read: Callable[[bytes], None]
    ) -> Generator[RowCells, None, None]:
        """Yield up to `limit` rows that have cells, and count each as read."""
        for row in islice((row for row in rows if row.cells), limit):
            count_read(row.row)
            yield row

    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        """Return the remaining rows as Arrow record batches of `rows` rows each."""
        check_block_read(rows, raw=self._raw)
        return build_blocks(self._iterate_until_closed(), self._families, rows)

    def _iterate_until_closed(self) -> Iterator[RowCells]:
        """Yield the remaining rows; raise Closed if the cursor is closed before the last one."""
        while not self._closed:
            row = next(self._rows, None)
            if row is None:
                return
            yield row
        raise build_closed_cursor_error()

    def close(self) -> None:
        """Close the cursor; iterating afterwards raises Closed."""
        self._closed = True
        self._rows.close()


class _MemoryReader(EmbeddedReader):
    """Reads a table in memory, as it is now or as of a snapshot."""

    _table: MemoryTable

    def _get_current_rows(self) -> SortedRows:
        """Return the rows of the table; the caller must hold the table's lock."""
        return self._table.current_rows

    def _freeze_rows(self) -> SortedRows:
        """Return the rows of the table as they are now, to be read without the lock."""
        return self._table.freeze_rows()

    def get(self, rows: Sequence[bytes], selection: CellSelection = NEWEST_CELLS) -> list[RowCells]:
        """Return the selected cells of rows, read under the table's lock."""
        views = self._build_views(selection)
        check_rows(rows)
        with self._table.lock:
            self._table.region_tracker.count_reads(rows)
            return [self._get_current_rows().read_row(row, views) for row in rows]

    def scan(
        self, ranges: Sequence[ScanRange], selection: CellSelection = NEWEST_CELLS
    ) -> list[Cursor]:
        """Return one cursor for each range, over the rows as they are now."""
        views = self._build_views(selection)
        with self._table.lock:
            frozen_rows = self._freeze_rows()
        return [
            self._open_cursor(frozen_rows, scan_range, selection, views) for scan_range in ranges
        ]

    def _open_cursor(
        self,
        frozen_rows: SortedRows,
        scan_range: ScanRange,
        selection: CellSelection,
        views: Mapping[str, FamilyView],
    ) -> _RowCursor:
        keys = frozen_rows.iterate_keys(
            scan_range.start, scan_range.stop, reverse=selection.reverse
        )
        rows = (frozen_rows.read_row(key, views) for key in keys)
        tracker = self._table.region_tracker
        return _RowCursor(rows, selection, tuple(views), lambda row: tracker.count_reads([row]))


class _MemorySnapshot(_MemoryReader):
    """A snapshot of a table in memory."""

    def __init__(self, table: MemoryTable) -> None:
        super().__init__(table)
        self._frozen_rows = table.freeze_rows()
        self._frozen_families = table.families

    def _get_families(self) -> Mapping[str, Family]:
        return self._frozen_families

    def _get_current_rows(self) -> SortedRows:
        return self._frozen_rows

    def _freeze_rows(self) -> SortedRows:
        return self._frozen_rows


class _MemoryStore(_MemoryReader, EmbeddedStore):
    """An open table in memory, for reads and writes."""

    def load_blocks(self, blocks: Sequence[CellBlock]) -> None:
        """Write many puts; check all of them before the first one is written."""
        self._check_open()
        mutations = to_row_cells(blocks)
        for mutation in mutations:
            check_row(mutation.row)
            if mutation.cells:
                check_mutation(mutation, self._table.families)
        with self._table.lock:
            now = self._table.row_clock.read_time_ms()
            stamped = [self._stamp_row(row, cells, now) for row, cells in mutations]
            self._table.write_rows(stamped)

    def alter_families(self, families: Sequence[Family]) -> None:
        self._check_open()
        check_family_attributes(families, MemoryEngine.unsupported_features)
        with self._table.lock:
            changed = {family.name: family for family in families}
            self._table.families = {**self._table.families, **changed}

    def flush(self) -> None:
        """Check that the table is open; a table in memory has no files to write."""
        self._check_open()

    def compact(self, *, major: bool = True) -> None:
        """Remove deleted and expired cells in a major compaction; a minor one does nothing."""
        self._check_open()
        if not major:
            return
        now, families = self._table.clock(), self._table.families
        with self._table.lock:
            delay = parse_purge_delay_ms(self._table.attributes)
            writable = self._table.get_writable_rows()
            for row, cells_by_family in list(writable.rows.items()):
                kept_cells = {
                    name: select_kept_cells(stored.cells, families[name], now, delay)
                    for name, stored in cells_by_family.items()
                }
                writable.replace_row(row, kept_cells)

    def measure_size_bytes(self) -> int:
        """Return 0: a table in memory has no files."""
        return 0

    def snapshot(self) -> Reader:
        self._check_open()
        with self._table.lock:
            return _MemorySnapshot(self._table)


class _SharedTables:
    """The tables of one named location, shared by all memory engines of that name."""

    def __init__(self) -> None:
        self.tables: dict[str, MemoryTable] = {}
        self.lock = RLock()


class _SharedTablesRegistry:
    """The named memory locations of this process; a forked child starts without any."""

    def __init__(self) -> None:
        self.by_name: dict[str, _SharedTables] = {}
        fork_safety.register_resource(self)

    def reset_in_child(self) -> None:
        """Forget the parent's tables in a forked child process."""
        self.by_name = {}


_SHARED_TABLES = _SharedTablesRegistry()


class MemoryEngine(Engine):
    """Tables in the memory of this process, lost when it ends.

    `memory:NAME` opens the same tables each time; `memory:` opens a new, empty location each time.
    """

    name = scheme = "memory"
    is_persistent = False
    is_shared = False
    unsupported_features: ClassVar[Mapping[str, str]] = {
        "new_version_behavior": "a delete hides cells by timestamp, even cells written after it"
    }

    def __init__(self, location: str, shared_tables: _SharedTables, clock: Clock) -> None:
        self._location, self._shared_tables, self._clock, self._closed = (
            location,
            shared_tables,
            clock,
            False,
        )

    @classmethod
    def open(
        cls,
        location: str,
        *,
        sync: bool = False,
        clock: Clock = get_time_ms,
        timeout_s: float | None = None,
    ) -> Self:
        """Open the tables of a name in memory, or a new empty set of tables.

        Args:
            location: the name; empty for tables that no other engine can open.
            sync: without effect.
            clock: milliseconds since 1970.
            timeout_s: without effect.
        """
        del timeout_s
        shared_tables = (
            _SHARED_TABLES.by_name.setdefault(location, _SharedTables())
            if location
            else _SharedTables()
        )
        return cls(location, shared_tables, clock)

    @property
    def catalog_url(self) -> str:
        """Return the URL of the catalog in memory that belongs to these tables."""
        return f"memory:{self._location}"

    def list_tables(self) -> list[str]:
        self._check_open()
        return sorted(self._shared_tables.tables)

    def create_table(self, spec: TableSpec, progress: ReportProgress | None = None) -> Store:
        self._check_open()
        check_spec(spec, self.unsupported_features)
        with self._shared_tables.lock:
            if spec.name in self._shared_tables.tables:
                raise build_table_exists_error(spec.name)
            self._shared_tables.tables[spec.name] = MemoryTable(spec, self._clock)
        return self.open_table(spec.name)

    def open_table(self, name: str) -> Store:
        """Open a table; from now on it uses the clock of this engine."""
        table = self._find_table(name)
        table.clock = table.row_clock.clock = self._clock
        return _MemoryStore(table)

    def _find_table(self, name: str) -> MemoryTable:
        """Return the table of a name; raise InvalidArgument if there is none."""
        self._check_open()
        table = self._shared_tables.tables.get(name)
        if table is None:
            raise build_missing_table_error(name, self.list_tables())
        return table

    def drop_table(self, name: str) -> None:
        """Delete a table; every store that has it open raises Closed from now on."""
        with self._shared_tables.lock:
            self._find_table(name).state = STATE_DROPPED
            del self._shared_tables.tables[name]

    def _check_open(self) -> None:
        if self._closed:
            raise build_closed_error("engine", f"memory:{self._location}")

    def close(self) -> None:
        """Close the engine; tables of a named location stay in memory."""
        self._closed = True
