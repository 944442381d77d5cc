"""The metadata of a table, stored next to its cells: its description and its regions.

The counters of a region are written in the batch that they count, so they are right after a crash.
Reads change nothing on disk: a crash loses the reads counted since the last write to their region,
or the last flush.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.engines.pairs.pair_source import PairSource
from rowkey.engines.region_tracker import RegionTracker
from rowkey.engines.requests import TableSpec
from rowkey.engines.rocksdb_files.descriptor import FORMAT_VERSION, read_families
from rowkey.engines.rocksdb_files.inspection import SALVAGE_HINT
from rowkey.engines.rocksdb_files.write_origin import ORIGIN_BYTES, PROGRESS_KEY
from rowkey.errors import CorruptionError, NotSupported
from rowkey.messages import format_value

if TYPE_CHECKING:
    from rocksdict import WriteBatch

_TABLE_KEY = b"table"
_REGION_KEY_PREFIX = b"region\0"
"""Followed by the region's first row key; the value is its counters."""

_COUNTERS_STRUCT = struct.Struct(">QQQ")
_PROGRESS_STRUCT = struct.Struct(f">Qq{ORIGIN_BYTES}s")


class StoredRegionTracker(RegionTracker):
    """The regions of a table with counters that each batch of changes stores.

    Args:
        splits: the split keys.
    """

    def __init__(self, splits: Iterable[bytes] = ()) -> None:
        super().__init__(splits)
        self.batch_count = 0
        self.highest_timestamp = -1

    @classmethod
    def from_meta(cls, meta: PairSource) -> StoredRegionTracker:
        """Return the regions that are stored in a table's metadata.

        Raises:
            CorruptionError: the regions are missing or damaged.
        """
        stored = list(_read_regions(meta))
        if not stored:
            what = "the stored list of the table's regions is missing"
            raise CorruptionError(meta.family.path(), what, remedy=SALVAGE_HINT)
        tracker = cls(start for start, _ in stored[1:])
        try:
            for region, (_, counters) in enumerate(stored):
                counts = _COUNTERS_STRUCT.unpack(counters)
                tracker._writes[region], tracker._reads[region], tracker._sizes[region] = counts
            progress = meta.family.get(PROGRESS_KEY)
            if progress is not None:
                tracker.batch_count, tracker.highest_timestamp, _ = _PROGRESS_STRUCT.unpack(
                    progress
                )
        except struct.error:
            what = "the stored request counters of the regions are damaged"
            raise CorruptionError(meta.family.path(), what, remedy=SALVAGE_HINT) from None
        return tracker

    def measure_array_writes(self, rows: Any, size: int) -> list[tuple[int, int, int]]:
        """Return how many rows and bytes of an Arrow array each region gets, by index.

        Args:
            rows: row keys, each of which counts as one write.
            size: bytes of all of them, taken to be equally long.
        """
        each = size / max(1, len(rows))
        return [
            (region, count, round(count * each)) for region, count in self._count_by_region(rows)
        ]

    def add_counters_and_progress(
        self,
        batch: WriteBatch,
        regions: Sequence[Sequence[int]],
        highest_timestamp: int,
        origin: bytes,
    ) -> None:
        """Add the new counters of the changed regions, and the progress record, to a batch.

        Args:
            batch: changes of rows.
            regions: index, writes and bytes of each region that is written to.
            highest_timestamp: the latest timestamp that the table has given to a change.
            origin: what tells the batches of this opening of the table from those of others.
        """
        splits = self._boundaries.splits
        for region, writes, size in regions:
            start = splits[region - 1] if region else b""
            counters = _COUNTERS_STRUCT.pack(
                self._writes[region] + writes, self._reads[region], self._sizes[region] + size
            )
            batch.put(_REGION_KEY_PREFIX + start, counters)
        progress = _PROGRESS_STRUCT.pack(self.batch_count + 1, highest_timestamp, origin)
        batch.put(PROGRESS_KEY, progress)

    def record_writes(self, regions: Sequence[Sequence[int]]) -> None:
        """Update the counters in memory after a batch was written."""
        self.batch_count += 1
        for region, writes, size in regions:
            self._writes[region] += writes
            self._sizes[region] += size

    def add_all_counters_and_progress(
        self, batch: WriteBatch, highest_timestamp: int, origin: bytes
    ) -> None:
        """Add the counters of all regions, and the progress record, to a batch without rows."""
        starts = (b"", *self.splits)
        counts = zip(starts, self._writes, self._reads, self._sizes, strict=True)
        for start, writes, reads, size in counts:
            batch.put(_REGION_KEY_PREFIX + start, _COUNTERS_STRUCT.pack(writes, reads, size))
        progress = _PROGRESS_STRUCT.pack(self.batch_count, highest_timestamp, origin)
        batch.put(PROGRESS_KEY, progress)


def _read_regions(meta: PairSource) -> Iterator[tuple[bytes, bytes]]:
    """Yield the start key and the stored counters of each region."""
    pairs = meta.open_iterator()
    pairs.seek(_REGION_KEY_PREFIX)
    while pairs.valid() and pairs.key().startswith(_REGION_KEY_PREFIX):
        yield pairs.key()[len(_REGION_KEY_PREFIX) :], pairs.value()
        pairs.next()
    meta.raise_status(pairs)


def store_spec(batch: WriteBatch, spec: TableSpec) -> None:
    """Add a table's families and attributes to a batch of changes."""
    description: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "families": [asdict(family) for family in spec.families],
        "attributes": dict(spec.attributes),
    }
    batch.put(_TABLE_KEY, json.dumps(description).encode())


def read_spec(meta: PairSource, directory: Path, name: str) -> TableSpec:
    """Return a table's stored families and attributes, without its regions.

    Args:
        meta: the stored metadata of the table.
        directory: the directory of the table, for messages.

    Raises:
        CorruptionError: the description is missing or damaged.
        NotSupported: another version of rowkey wrote it.
    """
    stored = meta.family.get(_TABLE_KEY)
    if stored is None:
        what = "the stored description of the table is missing"
        raise CorruptionError(str(directory), what, remedy=SALVAGE_HINT)
    try:
        description = json.loads(stored)
        number = description["format"]
        families = read_families(description["families"]) if number == FORMAT_VERSION else ()
        attributes = {str(key): str(text) for key, text in description["attributes"].items()}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        what = "the stored description of the table is damaged"
        raise CorruptionError(str(directory), what, remedy=SALVAGE_HINT) from None
    if number != FORMAT_VERSION:
        what = f"the files of the table have the format version {format_value(number)}"
        remedy = "Install the version of rowkey that wrote it."
        raise NotSupported(
            str(directory),
            what,
            f"version {FORMAT_VERSION}, which this version of rowkey reads",
            remedy,
        )
    return TableSpec(name, families, attributes=attributes)
