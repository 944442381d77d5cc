"""One table: its files, its regions, and the one way in which they change together."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakSet

from rowkey import forks
from rowkey.cells import cell_bytes
from rowkey.engines.ordering.row_clock import TableClock
from rowkey.engines.pairs import library
from rowkey.engines.pairs.layout import BESIDE, compose, unescape, wrap
from rowkey.engines.pairs.ranges import open_pairs, read_chunks, row_places
from rowkey.engines.pairs.source import EndCheck, FrozenPairs
from rowkey.engines.requests import Span, TableSpec
from rowkey.engines.rocksdb.database import Database
from rowkey.engines.rocksdb.ledger import Ledger, read_spec, store_spec
from rowkey.engines.rocksdb_files.descriptor import (
    CREATING,
    READY,
    Descriptor,
    read_descriptor,
    write_descriptor,
)
from rowkey.errors import CorruptionError, Refused, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Protocol

    from rocksdict import WriteBatch

    from rowkey.cells import Family, RowCells
    from rowkey.errors import RowkeyError

    Clock = Callable[[], int]

    class Reading(Protocol):
        """Something that keeps a RocksDB open."""

        def close(self) -> None:
            """Let go of it."""

        def leak(self, error: RowkeyError) -> None:
            """In a forked child: raise an error from now on, and free nothing of the parent's."""


OPEN, CLOSED = "open", "closed"
"""States of a table beside `forks.INHERITED`; another one is the reason why it is closed."""


class OpenTable:
    """A table that is open, shared by all who have it open.

    Args:
        database: its RocksDB.
        spec: what it is.
        ledger: its regions.
        clock: gives the time of day in ms.
        sync: whether every write is on disk before it returns.
    """

    def __init__(
        self, database: Database, spec: TableSpec, ledger: Ledger, clock: Clock, *, sync: bool
    ) -> None:
        self.name, self.database, self.ledger = spec.name, database, ledger
        self.clock, self.sync = clock, sync
        self.families = {family.name: family for family in spec.families}
        self.attributes = dict(spec.attributes)
        self.lock = RLock()
        self.row_clock = TableClock(clock, self.lock, ledger.highest_stamp, spec.name)
        self.state = OPEN
        self.readers: WeakSet[Reading] = WeakSet()
        forks.register(self)

    @classmethod
    def create(cls, directory: Path, spec: TableSpec, clock: Clock, *, sync: bool) -> OpenTable:
        """Make a table in an empty directory; it is one once its descriptor says so on disk."""
        write_descriptor(directory, Descriptor(spec.families, CREATING))
        database = Database.create(directory, spec.families)
        table = cls(database, spec, Ledger(spec.splits), clock, sync=sync)
        table.describe()
        write_descriptor(directory, Descriptor(spec.families, READY))
        return table

    @classmethod
    def open(cls, directory: Path, name: str, clock: Clock, *, sync: bool) -> OpenTable:
        """Open a table that is there.

        Raises:
            CorruptionError: it is damaged; nothing was changed.
            Unsupported: another process has it, or another version of rowkey wrote it.
        """
        described = read_descriptor(directory)
        database = Database.open(directory, described.families)
        try:
            with database.explaining():
                spec = read_spec(database.meta_source, directory, name)
                table = cls(database, spec, Ledger.read(database.meta_source), clock, sync=sync)
            if spec.families != described.families and not database.is_read_only:
                # A kill while a family was altered: what the database says was written first.
                for family in spec.families:
                    database.alter(family)
                with database.explaining():
                    write_descriptor(directory, Descriptor(spec.families))
        except BaseException:
            database.close()
            raise
        return table

    @property
    def spec(self) -> TableSpec:
        """The table as it is now."""
        families = tuple(self.families.values())
        return TableSpec(self.name, families, self.ledger.splits, dict(self.attributes))

    def check_open(self) -> None:
        """Raise unless it can be used.

        Raises:
            Refused: it was closed or dropped, or opened before this process was forked.
        """
        if self.state == OPEN:
            return
        if self.state == forks.INHERITED:
            raise forks.inherited_error(self.name)
        raise Refused("table", f"{self.name} is {self.state}", "an open table")

    def describe(self) -> None:
        """Store what the table is, on disk when the call returns."""
        batch = self.database.start_batch()
        store_spec(batch, self.spec)
        self.ledger.store(batch)
        self.ledger.number(batch, self.row_clock.highest)
        self.database.write(batch, sync=True)

    def alter(self, families: Iterable[Family]) -> None:
        """Give families other attributes, or add families; under the lock."""
        given = list(families)
        for family in given:
            self.database.alter(family)
        self.families = {**self.families, **{family.name: family for family in given}}
        self.describe()
        with self.database.explaining():
            descriptor = Descriptor(tuple(self.families.values()))
            write_descriptor(self.database.directory, descriptor)

    def write(self, written: Iterable[RowCells], *, sync: bool | None = None) -> None:
        """Put stamped cells in one batch, each piece counted as one write; under the lock."""
        self.check_open()
        batch = self.database.start_batch()
        handles = self.database.handles
        touched: dict[int, list[int]] = {}
        for row, cells in written:
            size = 0
            for cell in cells:
                key = compose(row, cell.qualifier, cell.timestamp, cell.kind)
                batch.put(key, wrap(cell.value, cell.ttl_ms), handles[cell.family])
                size += cell_bytes(len(row), len(cell.family), len(cell.qualifier), len(cell.value))
            counts = touched.setdefault(self.ledger.locate(row), [0, 0])
            counts[0] += 1
            counts[1] += size
        self.commit(
            batch, [(region, counts[0], counts[1]) for region, counts in touched.items()], sync=sync
        )

    def commit(
        self,
        batch: WriteBatch,
        regions: Iterable[tuple[int, int, int]],
        *,
        sync: bool | None = None,
    ) -> None:
        """Write a batch with its counts, and split what has grown too large; under the lock.

        Args:
            batch: changes of rows.
            regions: index, writes and bytes of each region that is written to.
            sync: whether it is on disk when the call returns; None is as opened.
        """
        self.check_open()
        self.ledger.expect(batch, regions)
        self.ledger.number(batch, self.row_clock.highest, 1)
        self.database.write(batch, sync=self.sync if sync is None else sync)
        self.ledger.written(regions)
        for start, stop in self.ledger.overfull(self.attributes):
            self._split_region(start, stop)

    def _split_region(self, start: bytes, stop: bytes) -> None:
        """Split a region in its middle; where that cannot be read, it stays as it is.

        What has made it grow is written: what is wrong elsewhere is told to who reads it.
        """
        try:
            middle = self._find_middle(start, stop)
        except (CorruptionError, Unsupported):
            middle = None
        if middle is None:
            self.ledger.postpone(start)
        else:
            self.ledger.split(middle)
            self.describe()

    def _find_middle(self, start: bytes, stop: bytes) -> bytes | None:
        """Return the row at the middle of a region's bytes, unless the region begins with it.

        Cost: every key and value of the region is read, about 0.5 µs a cell; 30 bytes are kept of
        each row.
        """
        sizes: dict[bytes, int] = {}
        for name, source in self.database.sources.items():
            fixed = cell_bytes(0, len(name), 0, 0)
            pairs = open_pairs(source, Span(start, stop), EndCheck(source))
            for keys, values in read_chunks(pairs):
                for row, begin, end in row_places(keys):
                    size = sum(map(len, keys[begin:end])) + sum(map(len, values[begin:end]))
                    more = size + (end - begin) * (fixed - BESIDE)
                    sizes[row] = sizes.get(row, 0) + more
        rows = sorted(sizes)
        sums = list(accumulate(sizes[row] for row in rows))
        place = bisect_left(sums, sums[-1] / 2) if sums else 0
        return unescape(rows[place]) if place else None

    def freeze(self) -> Mapping[str, FrozenPairs]:
        """Return all families as they are at this moment."""
        with self.lock:
            self.check_open()
            return {name: FrozenPairs(one) for name, one in self.database.sources.items()}

    def flush(self) -> None:
        """Write the counters, and all that is in memory, to files."""
        self.check_open()
        with self.lock:
            self.check_open()
            self.database.check_writable()
            batch = self.database.start_batch()
            self.ledger.store(batch)
            self.ledger.number(batch, self.row_clock.highest)
            self.database.write(batch, sync=False)
            self.database.flush()

    def close(self, state: str = CLOSED) -> None:
        """Let go of the directory; what is read no longer can be.

        Raises:
            Refused: it was opened before this process was forked.
        """
        if self.state == forks.INHERITED:
            raise forks.inherited_error(self.name)
        with self.lock:
            readers = list(self.readers)
        for reader in readers:  # without the lock: who reads may be waiting for it
            reader.close()
        with self.lock:
            if self.state != OPEN:
                return
            try:
                if state == CLOSED and not (self.database.failed or self.database.is_read_only):
                    self.flush()
            finally:
                self.state = state
                for reader in list(self.readers):
                    reader.close()
                self.database.close()

    def reset_in_child(self) -> None:
        """In a forked child: refuse everything from now on; the parent has the table."""
        if self.state == OPEN:
            self.state = forks.INHERITED
            self.database.leak()
            error = forks.inherited_error(self.name)
            for reader in list(self.readers):
                reader.leak(error)
            library.leak(self)
