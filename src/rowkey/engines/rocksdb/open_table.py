"""One open table in RocksDB: its database and its regions, which change in the same batches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

from rowkey import fork_safety
from rowkey.cells import (
    CELL_OVERHEAD_BYTES,
    LATEST,
    Cell,
    Family,
    FamilyView,
    RowCells,
    compute_cell_bytes,
)
from rowkey.engines.embedded_store import STATE_CLOSED, STATE_OPEN, EmbeddedTable
from rowkey.engines.pairs import library
from rowkey.engines.pairs.layout import (
    KEY_OVERHEAD_BYTES,
    MARK_PREFIX,
    escape,
    pack_tail,
    unescape,
    wrap_value,
)
from rowkey.engines.pairs.pair_reader import iterate_row_bounds, open_pairs, read_chunks
from rowkey.engines.pairs.pair_source import EndCheck, FrozenPairs
from rowkey.engines.pairs.row_decoder import read_row_cells
from rowkey.engines.region_tracker import RegionOutline, find_middle_row
from rowkey.engines.requests import ScanRange, TableSpec
from rowkey.engines.rocksdb.database import Database
from rowkey.engines.rocksdb.table_metadata import StoredRegionTracker, read_spec, store_spec
from rowkey.engines.rocksdb_files.descriptor import (
    STATE_CREATING,
    Descriptor,
    read_descriptor,
    write_descriptor,
)
from rowkey.errors import CorruptionError, RowkeyError, Unavailable

if TYPE_CHECKING:
    from rocksdict import WriteBatch

    Clock = Callable[[], int]

    class OpenReader(Protocol):
        """A scan or snapshot that keeps a RocksDB open."""

        def close(self) -> None:
            """Close the scan or snapshot."""

        def leak(self, error: RowkeyError) -> None:
            """Make every use raise an error in a forked child, and free no object of the parent."""


class OpenTable(EmbeddedTable):
    """An open table in RocksDB, shared by all stores that have it open.

    Args:
        spec: the table's name, families and attributes.
        clock: milliseconds since 1970.
        sync: whether every write is on disk before it returns.
    """

    region_tracker: StoredRegionTracker

    def __init__(
        self,
        database: Database,
        spec: TableSpec,
        region_tracker: StoredRegionTracker,
        clock: Clock,
        *,
        sync: bool,
    ) -> None:
        self.database, self.sync = database, sync
        self.readers: WeakSet[OpenReader] = WeakSet()
        super().__init__(spec, region_tracker, clock, region_tracker.highest_timestamp)

    @classmethod
    def create(cls, directory: Path, spec: TableSpec, clock: Clock, *, sync: bool) -> OpenTable:
        """Create a table in an empty directory, and open it; leave nothing open if that fails."""
        write_descriptor(directory, Descriptor(spec.families, "", STATE_CREATING))
        database = Database.create(directory, spec.families)
        try:
            table = cls(database, spec, StoredRegionTracker(spec.splits), clock, sync=sync)
            table.store_description()
            write_descriptor(directory, Descriptor(spec.families, database.table_id))
        except BaseException:
            database.close()
            raise
        return table

    @classmethod
    def open(cls, directory: Path, name: str, clock: Clock, *, sync: bool) -> OpenTable:
        """Open the table that is stored in a directory.

        Raises:
            CorruptionError: the table is damaged; nothing was changed.
            NotSupported: another version of rowkey wrote the table.
            Unavailable: another process has the table open.
        """
        descriptor = read_descriptor(directory)
        database = Database.open(directory, descriptor)
        try:
            with database.translate_errors():
                spec = read_spec(database.meta_source, directory, name)
                table = cls(
                    database,
                    spec,
                    StoredRegionTracker.from_meta(database.meta_source),
                    clock,
                    sync=sync,
                )
            if spec.families != descriptor.families and not database.is_read_only:
                # The process was killed while it altered a family: the database was written first.
                for family in spec.families:
                    database.alter_family(family)
                with database.translate_errors():
                    write_descriptor(directory, Descriptor(spec.families, database.table_id))
        except BaseException:
            database.close()
            raise
        return table

    def store_description(self) -> None:
        """Store families, attributes and regions, on disk when the call returns."""
        batch = self.database.start_batch()
        store_spec(batch, self.spec)
        self._add_all_counters_and_progress(batch)
        self.database.write_batch(batch, sync=True)

    def _add_all_counters_and_progress(self, batch: WriteBatch) -> None:
        """Add the counters of all regions to a batch that changes no rows."""
        timestamp, origin = self.row_clock.highest_timestamp, self.database.origin
        self.region_tracker.add_all_counters_and_progress(batch, timestamp, origin)

    def alter_families(self, families: Iterable[Family]) -> None:
        """Change or add column families, and store them; the caller holds the lock."""
        new_families = list(families)
        for family in new_families:
            self.database.alter_family(family)
        self.families = {**self.families, **{family.name: family for family in new_families}}
        self.store_description()
        with self.database.translate_errors():
            descriptor = Descriptor(tuple(self.families.values()), self.database.table_id)
            write_descriptor(self.database.directory, descriptor)

    def read_cells(self, row: bytes, family: str, view: FamilyView) -> Sequence[Cell]:
        return read_row_cells(self.database.sources[family], family, row, view)

    def write_rows(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Write mutations and the updated counters of their regions in one batch."""
        if self.state != STATE_OPEN:
            self.check_open()
        batch = self.database.start_batch()
        handles, splits = self.database.family_handles, self.region_tracker.splits
        regions: dict[int, list[int]] = {}
        """Index, writes and bytes of each region."""
        for row, cells in mutations:
            escaped, size = (escape(row) if 0 in row or 1 in row else row), 0
            for family, qualifier, timestamp, value, cell_type, ttl_ms in cells:
                size += CELL_OVERHEAD_BYTES + len(row) + len(family) + len(qualifier) + len(value)
                # A call costs more than a comparison: functions are called only where needed.
                if 0 in qualifier or 1 in qualifier:
                    qualifier = escape(qualifier)  # noqa: PLW2901
                if ttl_ms is not None or value[:1] == MARK_PREFIX:
                    value = wrap_value(value, ttl_ms)  # noqa: PLW2901
                tail = pack_tail(LATEST - timestamp, 255 - cell_type)
                batch.put(b"%b\0%b\0%b" % (escaped, qualifier, tail), value, handles[family])
            region = bisect_right(splits, row)
            counts = regions.setdefault(region, [region, 0, 0])
            counts[1] += 1
            counts[2] += size
        self.commit_batch(batch, [*regions.values()], sync=sync)

    def commit_batch(
        self,
        batch: WriteBatch,
        regions: Sequence[Sequence[int]],
        *,
        sync: bool | None = None,
    ) -> None:
        """Write a batch of changes with the counters of its regions, and split large regions.

        Call it under the lock, after `check_open`.

        Args:
            batch: changes of rows.
            regions: index, writes and bytes of each region that is written to.
            sync: whether the batch is on disk when the call returns; None is as the table was
                opened.
        """
        tracker = self.region_tracker
        origin = self.database.origin
        timestamp = self.row_clock.highest_timestamp
        tracker.add_counters_and_progress(batch, regions, timestamp, origin)
        self.database.write_batch(batch, sync=self.sync if sync is None else sync)
        tracker.record_writes(regions)
        if tracker.split_overfull_regions(self.attributes, self._find_readable_middle):
            self.store_description()

    def _find_readable_middle(self, start: bytes, stop: bytes) -> bytes | None:
        """Return the row to split a region at; None if the region cannot be read.

        The write that made the region too large has succeeded: readers will get the error.
        """
        try:
            return self._find_middle(start, stop)
        except (CorruptionError, Unavailable):
            return None

    def _find_middle(self, start: bytes, stop: bytes) -> bytes | None:
        """Return the row at the middle of a region's bytes; None if the region starts with it.

        Cost: every key and value of the region is read, about 0.5 µs a cell.
        """
        sizes: dict[bytes, int] = {}
        for name, source in self.database.sources.items():
            outline, fixed = RegionOutline(), compute_cell_bytes(0, len(name), 0, 0)
            pairs = open_pairs(source, ScanRange(start, stop), EndCheck(source))
            for keys, values in read_chunks(pairs):
                for row, begin, end in iterate_row_bounds(keys):
                    size = sum(map(len, keys[begin:end])) + sum(map(len, values[begin:end]))
                    outline.add(row, size + (end - begin) * (fixed - KEY_OVERHEAD_BYTES))
            for row, size in zip(*outline.finish(), strict=True):
                sizes[row] = sizes.get(row, 0) + size
        rows = sorted(sizes)
        middle = find_middle_row(rows, (sizes[row] for row in rows))
        return None if middle is None else unescape(middle)

    def freeze_families(self) -> Mapping[str, FrozenPairs]:
        """Return the current stored pairs of each family, frozen for a snapshot."""
        with self.lock:
            self.check_open()
            return {name: FrozenPairs(source) for name, source in self.database.sources.items()}

    def flush(self) -> None:
        """Write the counters of the regions and the memtables to files."""
        self.check_open()
        with self.lock:
            self.check_open()
            self.database.check_writable()
            batch = self.database.start_batch()
            self._add_all_counters_and_progress(batch)
            self.database.write_batch(batch, sync=False)
            self.database.flush()

    def close(self, state: str = STATE_CLOSED) -> None:
        """Close the table with its cursors and snapshots; `state` says how it ended.

        Raises:
            Closed: it was opened before this process was forked.
        """
        if self.state == fork_safety.STATE_INHERITED:
            raise fork_safety.build_inherited_error(self.name)
        with self.lock:
            readers = list(self.readers)
        for reader in readers:  # without the lock: a thread that reads may be waiting for it
            reader.close()
        with self.lock:
            if self.state != STATE_OPEN:
                return
            try:
                if state == STATE_CLOSED and not (
                    self.database.has_failed or self.database.is_read_only
                ):
                    self.flush()
            finally:
                self.state = state
                for reader in list(self.readers):
                    reader.close()
                self.database.close()

    def reset_in_child(self) -> None:
        """Make every use raise Closed in a forked child, and free no object of the parent."""
        if self.state == STATE_OPEN:
            self.state = fork_safety.STATE_INHERITED
            self.database.leak()
            error = fork_safety.build_inherited_error(self.name)
            for reader in list(self.readers):
                reader.leak(error)
            library.leak(self)
