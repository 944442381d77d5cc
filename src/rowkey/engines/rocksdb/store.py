"""Reads, snapshots and changes of one open table in RocksDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rowkey.cells import (
    Cell,
    CellBlock,
    Family,
    FamilyView,
    RowCells,
    parse_purge_delay_ms,
    select_kept_cells,
)
from rowkey.engines.contract import Cursor, Reader
from rowkey.engines.embedded_store import EmbeddedReader, EmbeddedStore
from rowkey.engines.pairs.cell_columns import parse_columns
from rowkey.engines.pairs.layout import PIECE_END, unescape
from rowkey.engines.pairs.pair_reader import PairReader, iterate_row_bounds, open_pairs, read_chunks
from rowkey.engines.pairs.pair_source import AnyPairSource, EndCheck, FrozenPairs
from rowkey.engines.pairs.row_decoder import parse_cells, read_row_cells, select_visible_columns
from rowkey.engines.pairs.row_pages import read_qualifier_range
from rowkey.engines.region_tracker import RegionRequestCounts
from rowkey.engines.requests import (
    NEWEST_CELLS,
    CellSelection,
    ScanRange,
    build_views,
    check_family_attributes,
    check_rows,
)
from rowkey.engines.rocksdb.block_loader import load_blocks
from rowkey.engines.rocksdb.cursor import ScanCursors
from rowkey.engines.rocksdb.open_table import OpenTable
from rowkey.engines.rocksdb.options import check_codecs
from rowkey.errors import RowkeyError


class RocksReader(EmbeddedReader):
    """Reads a table on disk, as it is now or as of a snapshot.

    Args:
        frozen_sources: the frozen families of a snapshot; None to read the current ones.
    """

    _table: OpenTable

    def __init__(
        self, table: OpenTable, frozen_sources: Mapping[str, FrozenPairs] | None = None
    ) -> None:
        super().__init__(table)
        self._frozen_sources = frozen_sources
        self._frozen_families = None if frozen_sources is None else table.families
        self._cached_views: tuple[int, Mapping[str, Family], dict[str, FamilyView]] | None = None
        if frozen_sources is not None:
            with table.lock:
                table.readers.add(self)

    def _get_families(self) -> Mapping[str, Family]:
        """Return the column families, as of the snapshot if this reads one."""
        return self._table.families if self._frozen_families is None else self._frozen_families

    def _get_default_views(self) -> dict[str, FamilyView]:
        """Return the views that show the newest cells, cached for a millisecond.

        Building them would take a tenth of the time of a get.
        """
        self._check_open()
        now, families = self._table.clock(), self._get_families()
        cached = self._cached_views
        if cached is None or cached[0] != now or cached[1] is not families:
            self._cached_views = cached = now, families, build_views(NEWEST_CELLS, families, now)
        return cached[2]

    def get(self, rows: Sequence[bytes], selection: CellSelection = NEWEST_CELLS) -> list[RowCells]:
        views = (
            self._get_default_views() if selection is NEWEST_CELLS else self._build_views(selection)
        )
        check_rows(rows)
        self._table.region_tracker.count_reads(rows)
        if self._frozen_sources is None and len(views) > 1:
            return [self._read_row_locked(row, views) for row in rows]
        sources = self._frozen_sources or self._table.database.sources
        if len(views) == 1:  # no cells of several families to join
            ((family, view),) = views.items()
            source = sources[family]
            return [RowCells(row, read_row_cells(source, family, row, view)) for row in rows]
        return [_read_row(row, sources, views) for row in rows]

    def _read_row_locked(self, row: bytes, views: Mapping[str, FamilyView]) -> RowCells:
        """Return a row of several families, read under the lock so that no write comes between."""
        with self._table.lock:
            return _read_row(row, self._table.database.sources, views)

    def scan(
        self, ranges: Sequence[ScanRange], selection: CellSelection = NEWEST_CELLS
    ) -> list[Cursor]:
        views = self._build_views(selection)
        with self._table.lock:
            self._check_open()
            sources: Mapping[str, AnyPairSource] = (
                self._frozen_sources or self._table.database.sources
            )
            ends = {
                name: EndCheck(source)
                for name, source in sources.items()
                if name in views and not isinstance(source, FrozenPairs)
            }
            readers_by_range = [
                {
                    name: _open_range(sources[name], scan_range, view, selection, ends.get(name))
                    for name, view in views.items()
                }
                for scan_range in ranges
            ]
            scan = ScanCursors(self._table.region_tracker, views, selection)
            cursors = scan.open_cursors(readers_by_range)
            self._table.readers.add(scan)
        return list(cursors)

    def close(self) -> None:
        """Close this reader, and the iterators of a snapshot."""
        super().close()
        for source in (self._frozen_sources or {}).values():
            source.close()

    def leak(self, error: RowkeyError) -> None:
        """Free no object of the parent in a forked child; the table raises the error."""
        del error
        for source in (self._frozen_sources or {}).values():
            source.leak()


def _read_row(
    row: bytes, sources: Mapping[str, AnyPairSource], views: Mapping[str, FamilyView]
) -> RowCells:
    """Return the visible cells of one row in all selected families."""
    cells: list[Cell] = []
    for family, view in views.items():
        cells += read_row_cells(sources[family], family, row, view)
    return RowCells(row, cells)


def _open_range(
    source: AnyPairSource,
    scan_range: ScanRange,
    view: FamilyView,
    selection: CellSelection,
    end_check: EndCheck | None,
) -> PairReader:
    """Return a reader of the stored pairs of a range in one family that a read needs."""
    if selection.qualifier_range == (b"", b"") or selection.reverse:
        return open_pairs(source, scan_range, end_check, reverse=selection.reverse)
    return PairReader(read_qualifier_range(source, scan_range, view))


class RocksStore(RocksReader, EmbeddedStore):
    """An open table on disk, for reads and writes."""

    def load_blocks(self, blocks: Sequence[CellBlock]) -> None:
        """Write many puts, given as Arrow columns, in batches of whole rows."""
        self._check_open()
        load_blocks(self._table, blocks)

    def list_regions(self) -> list[RegionRequestCounts]:
        """Return the regions in key order, after counting the rows that open scans returned."""
        self._check_open()
        with self._table.lock:
            readers = list(self._table.readers)
        for reader in readers:
            if isinstance(reader, ScanCursors):
                reader.count_returned_rows()
        return super().list_regions()

    def alter_families(self, families: Sequence[Family]) -> None:
        self._check_open()
        check_family_attributes(families, {})
        for family in families:
            check_codecs(family)
        with self._table.lock:
            self._table.alter_families(families)

    def flush(self) -> None:
        self._check_open()
        self._table.flush()

    def compact(self, *, major: bool = True) -> None:
        """Merge the table's files; a major compaction deletes removable cells first."""
        self._check_open()
        if major:
            _purge_table(self._table)
        self._table.database.compact()

    def measure_size_bytes(self) -> int:
        self._check_open()
        return self._table.database.measure_size_bytes()

    def snapshot(self) -> Reader:
        self._check_open()
        with self._table.lock:
            return RocksReader(self._table, self._table.freeze_families())


def _purge_table(table: OpenTable) -> None:
    """Delete the cells of a table that a major compaction removes, chunk by chunk.

    RocksDB cannot decide about them by itself. Writers wait for one chunk at a time. A delete and
    the cells it hides are removed in the same batch, so that no read and no crash sees the cells
    without the delete.

    Cost: about 0.4 µs a cell where nothing is removed, 2 µs otherwise.
    """
    now, delay = table.clock(), parse_purge_delay_ms(table.attributes)
    for family in list(table.families.values()):
        start: bytes | None = b""
        while start is not None:
            with table.lock:
                table.check_open()
                start = _purge_chunk(table, family, start, now, delay)


def _purge_chunk(
    table: OpenTable, family: Family, start: bytes, now: int, delay: int
) -> bytes | None:
    """Delete removable cells of some rows; return the next row to go on with, or None."""
    source = table.database.sources[family.name]
    chunks = read_chunks(open_pairs(source, ScanRange(start), EndCheck(source)))
    keys, values = next(chunks, ([], []))
    if not keys:
        return None
    view = FamilyView(family, now, versions=family.versions)
    visible = select_visible_columns(parse_columns(keys, values), view)
    if visible is None or len(visible.type_bytes) < len(keys):
        batch = table.database.start_batch()
        handle = table.database.family_handles[family.name]
        for key in _find_dropped_keys(family, keys, values, now, delay):
            batch.delete(key, handle)
        if not batch.is_empty():
            table.commit_batch(batch, ())
    return unescape(keys[-1][: keys[-1].index(PIECE_END)]) + b"\0"


def _find_dropped_keys(
    family: Family, keys: list[bytes], values: list[bytes], now: int, delay: int
) -> Iterator[bytes]:
    """Yield the stored keys of the cells that a major compaction removes."""
    for row, begin, stop in iterate_row_bounds(keys):
        pairs = zip(keys[begin:stop], values[begin:stop], strict=True)
        cells = parse_cells(family.name, pairs, len(row) + 1)
        kept_ids = set(map(id, select_kept_cells(cells, family, now, delay)))
        yield from (
            key
            for key, cell in zip(keys[begin:stop], cells, strict=True)
            if id(cell) not in kept_ids
        )
