"""One table: its files, its regions, and the one way in which they change together."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakSet

from rowkey.cells import cell_bytes
from rowkey.engines.contract import Span, TableSpec
from rowkey.engines.pairs.layout import BESIDE, compose, unescape, wrap
from rowkey.engines.pairs.ranges import Frozen, open_pairs, read_chunks, row_places
from rowkey.engines.rocksdb.files import Files
from rowkey.engines.rocksdb.ledger import Ledger, read_spec, store_spec
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Protocol

    from rocksdict import WriteBatch

    from rowkey.cells import RowCells

    Clock = Callable[[], int]

    class Closing(Protocol):
        """Something that keeps a RocksDB open."""

        def close(self) -> None:
            """Let go of it."""


class OpenTable:
    """A table that is open, shared by all who have it open.

    Args:
        files: its RocksDB.
        spec: what it is.
        ledger: its regions.
        clock: gives the time of day in ms.
        sync: whether every write is on disk before it returns.
    """

    def __init__(
        self, files: Files, spec: TableSpec, ledger: Ledger, clock: Clock, *, sync: bool
    ) -> None:
        self.name, self.files, self.ledger = spec.name, files, ledger
        self.clock, self.sync = clock, sync
        self.families = {family.name: family for family in spec.families}
        self.attributes = dict(spec.attributes)
        self.lock = RLock()
        self.state = "open"
        self.readers: WeakSet[Closing] = WeakSet()

    @classmethod
    def create(cls, path: Path, spec: TableSpec, clock: Clock, *, sync: bool) -> OpenTable:
        """Make a table in an empty directory; it is there once its description is on disk."""
        files = Files.create(path, spec.families)
        table = cls(files, spec, Ledger(spec.splits), clock, sync=sync)
        table.describe()
        return table

    @classmethod
    def open(cls, path: Path, clock: Clock, *, sync: bool) -> OpenTable:
        """Open a table that is there."""
        files = Files.open(path)
        try:
            spec = read_spec(files.meta, path)
            files.know(family.name for family in spec.families)
            return cls(files, spec, Ledger.read(files.meta), clock, sync=sync)
        except BaseException:
            files.close()
            raise

    @property
    def spec(self) -> TableSpec:
        """The table as it is now."""
        families = tuple(self.families.values())
        return TableSpec(self.name, families, self.ledger.splits, dict(self.attributes))

    def check_open(self) -> None:
        """Raise unless it can be used.

        Raises:
            Refused: it was closed or dropped.
        """
        if self.state != "open":
            raise Refused("table", f"{self.name} is {self.state}", "an open table")

    def describe(self) -> None:
        """Store what the table is, on disk when the call returns."""
        batch = self.files.batch()
        store_spec(batch, self.spec)
        self.ledger.store(batch)
        self.files.write(batch, sync=True)

    def write(self, written: Iterable[RowCells], *, sync: bool | None = None) -> None:
        """Put stamped cells in one batch, each piece counted as one write; under the lock."""
        batch = self.files.batch()
        handles = self.files.handles
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
        self.files.write(batch, sync=self.sync if sync is None else sync)
        self.ledger.written(regions)
        for start, stop in self.ledger.overfull(self.attributes):
            middle = self._middle(start, stop)
            if middle is None:
                self.ledger.postpone(start)
            else:
                self.ledger.split(middle)
                self.describe()

    def _middle(self, start: bytes, stop: bytes) -> bytes | None:
        """The row at the middle of a region's bytes, unless the region begins with it.

        Cost: every key and value of the region is read, about 0.5 µs a cell; 30 bytes are kept of
        each row.
        """
        sizes: dict[bytes, int] = {}
        for name, source in self.files.families.items():
            fixed = cell_bytes(0, len(name), 0, 0)
            for keys, values in read_chunks(open_pairs(source, Span(start, stop))):
                for row, begin, behind in row_places(keys):
                    size = sum(map(len, keys[begin:behind])) + sum(map(len, values[begin:behind]))
                    more = size + (behind - begin) * (fixed - BESIDE)
                    sizes[row] = sizes.get(row, 0) + more
        rows = sorted(sizes)
        sums = list(accumulate(sizes[row] for row in rows))
        place = bisect_left(sums, sums[-1] / 2) if sums else 0
        return unescape(rows[place]) if place else None

    def freeze(self) -> Mapping[str, Frozen]:
        """All families as they are at this moment."""
        with self.lock:
            self.check_open()
            return {name: Frozen(family) for name, family in self.files.families.items()}

    def flush(self) -> None:
        """Write the counters, and all that is in memory, to files."""
        with self.lock:
            self.check_open()
            batch = self.files.batch()
            self.ledger.store(batch)
            self.files.write(batch, sync=False)
            self.files.flush()

    def close(self, state: str = "closed") -> None:
        """Let go of the directory; what is read no longer can be."""
        with self.lock:
            if self.state != "open":
                return
            for reader in list(self.readers):
                reader.close()
            try:
                if state == "closed" and not self.files.failed:
                    self.flush()
            finally:
                self.state = state
                self.files.close()
