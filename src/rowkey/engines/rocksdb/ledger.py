"""What is known of a table beside its cells, kept with them: its description and its regions.

A region's counters are written in the batch they count, so that after a crash the writes counted
are the writes there are. Reads change nothing on disk: of theirs, a crash loses those since the
last write to their region, or the last flush.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rowkey.engines.requests import TableSpec
from rowkey.engines.rocksdb_files.descriptor import FORMAT, read_families
from rowkey.engines.rocksdb_files.directory import SALVAGE
from rowkey.engines.territory import Territory
from rowkey.errors import CorruptionError, Unsupported, shown
from rowkey.regions import locate_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rocksdict import WriteBatch

    from rowkey.engines.pairs.source import PairSource

SEQUENCE = b"sequence"
"""Holds the number of batches of changes of rows, so that whatever prefix of them is there, it says
which; and the highest timestamp that was given to a change, so that none goes back."""

_TABLE = b"table"
_REGION = b"region\0"
"""Followed by the region's first row key; the value is its counters."""

_COUNTERS = struct.Struct(">QQQ")
_PROGRESS = struct.Struct(">Qq")


class Ledger(Territory):
    """The regions of a table, with what a batch must write of them.

    Args:
        splits: the row keys regions begin with.
    """

    def __init__(self, splits: Iterable[bytes] = ()) -> None:
        super().__init__(splits)
        self.sequence = 0
        self.highest_stamp = -1

    @classmethod
    def read(cls, meta: PairSource) -> Ledger:
        """Return the ledger as it is stored.

        Raises:
            CorruptionError: it cannot be read, or none is there.
        """
        stored = list(_regions(meta))
        if not stored:
            raise CorruptionError(meta.family.path(), "it holds no regions", remedy=SALVAGE)
        ledger = cls(start for start, _ in stored[1:])
        try:
            for region, (_, counters) in enumerate(stored):
                counts = _COUNTERS.unpack(counters)
                ledger._writes[region], ledger._reads[region], ledger._sizes[region] = counts
            progress = meta.family.get(SEQUENCE)
            if progress is not None:
                ledger.sequence, ledger.highest_stamp = _PROGRESS.unpack(progress)
        except struct.error:
            what = "the counters of its regions are damaged"
            raise CorruptionError(meta.family.path(), what, remedy=SALVAGE) from None
        return ledger

    def spread(self, rows: Any, size: int) -> list[tuple[int, int, int]]:
        """Index, writes and bytes of each region that holds some of an Arrow array of rows.

        Args:
            rows: row keys, each of which counts as one write.
            size: bytes of all of them, taken to be alike.
        """
        if len(self) == 1:
            return [(0, len(rows), size)]
        import numpy as np

        found = np.bincount(locate_array(self._boundaries, rows), minlength=len(self)).tolist()
        each = size / max(1, len(rows))
        return [(region, more, round(more * each)) for region, more in enumerate(found) if more]

    def expect(self, batch: WriteBatch, regions: Iterable[tuple[int, int, int]]) -> None:
        """Add to a batch what will be counted once it is written.

        Args:
            batch: changes of rows.
            regions: index, writes and bytes of each region that is written to.
        """
        splits = self.splits
        for region, writes, size in regions:
            start = splits[region - 1] if region else b""
            counters = _COUNTERS.pack(
                self._writes[region] + writes, self._reads[region], self._sizes[region] + size
            )
            batch.put(_REGION + start, counters)

    def number(self, batch: WriteBatch, highest_stamp: int, more: int = 0) -> None:
        """Add to a batch how many there are with it, and the highest timestamp that was given.

        Args:
            batch: changes.
            highest_stamp: the highest timestamp that was given to a change.
            more: 1 if the batch changes rows, and counts.
        """
        batch.put(SEQUENCE, _PROGRESS.pack(self.sequence + more, highest_stamp))

    def written(self, regions: Iterable[tuple[int, int, int]]) -> None:
        """Count what has been written; as `expect`."""
        self.sequence += 1
        for region, writes, size in regions:
            self._writes[region] += writes
            self._sizes[region] += size

    def store(self, batch: WriteBatch) -> None:
        """Add all regions to a batch, as they are now."""
        starts = (b"", *self.splits)
        counts = zip(starts, self._writes, self._reads, self._sizes, strict=True)
        for start, writes, reads, size in counts:
            batch.put(_REGION + start, _COUNTERS.pack(writes, reads, size))


def _regions(meta: PairSource) -> Iterator[tuple[bytes, bytes]]:
    pairs = meta.iterate()
    pairs.seek(_REGION)
    while pairs.valid() and pairs.key().startswith(_REGION):
        yield pairs.key()[len(_REGION) :], pairs.value()
        pairs.next()
    meta.raise_status(pairs)


def store_spec(batch: WriteBatch, spec: TableSpec) -> None:
    """Add a table's description to a batch; its regions are the ledger's."""
    described: dict[str, Any] = {
        "format": FORMAT,
        "families": [asdict(family) for family in spec.families],
        "attributes": dict(spec.attributes),
    }
    batch.put(_TABLE, json.dumps(described).encode())


def read_spec(meta: PairSource, directory: Path, name: str) -> TableSpec:
    """Return a table's description as it is stored, without its regions.

    Args:
        meta: where it is stored.
        directory: the table's, for messages.
        name: the table's name.

    Raises:
        CorruptionError: it cannot be read, or is not there.
        Unsupported: another version of rowkey wrote it.
    """
    stored = meta.family.get(_TABLE)
    if stored is None:
        raise CorruptionError(str(directory), "the table's description is gone", remedy=SALVAGE)
    try:
        described = json.loads(stored)
        number = described["format"]
        families = read_families(described["families"]) if number == FORMAT else ()
        attributes = {str(word): str(text) for word, text in described["attributes"].items()}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        what = "the table's description is damaged"
        raise CorruptionError(str(directory), what, remedy=SALVAGE) from None
    if number != FORMAT:
        what = f"it is of format {shown(number)}"
        raise Unsupported(str(directory), what, f"format {FORMAT}", "Use the rowkey that wrote it.")
    return TableSpec(name, families, attributes=attributes)
