"""What is known of a table beside its cells, kept with them: its description and its regions.

A region's counters are written in the batch they count, so that after a crash the writes counted
are the writes there are. Reads change nothing on disk: of theirs, a crash loses those since the
last write to their region, or the last flush.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from struct import Struct
from typing import TYPE_CHECKING, Any, cast

from rowkey.cells import Family
from rowkey.engines.contract import TableSpec
from rowkey.engines.territory import Territory
from rowkey.errors import Unsupported
from rowkey.regions import locate_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rocksdict import Rdict, WriteBatch

FORMAT = 1
"""The version of all that this engine writes; a directory of another one is refused."""

SEQUENCE = b"sequence"
"""Holds the number of batches written: whatever prefix of them is there, it says which."""

_TABLE = b"table"
_REGION = b"region\0"
"""Followed by the region's first row key; the value is its counters."""

_COUNTERS = Struct(">QQQ")
_NUMBER = Struct(">Q")


class Ledger(Territory):
    """The regions of a table, with what a batch must write of them.

    Args:
        splits: the row keys regions begin with.
    """

    def __init__(self, splits: Iterable[bytes] = ()) -> None:
        super().__init__(splits)
        self.sequence = 0

    @classmethod
    def read(cls, meta: Rdict) -> Ledger:
        """The ledger as it is stored."""
        stored = list(_regions(meta))
        ledger = cls(start for start, _ in stored[1:])
        for region, (_, counters) in enumerate(stored):
            counts = _COUNTERS.unpack(counters)
            ledger._writes[region], ledger._reads[region], ledger._sizes[region] = counts
        ledger.sequence = _NUMBER.unpack(meta.get(SEQUENCE) or bytes(8))[0]
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
        self.number(batch)

    def number(self, batch: WriteBatch) -> None:
        """Add to a batch its number."""
        batch.put(SEQUENCE, _NUMBER.pack(self.sequence + 1))

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


def _regions(meta: Rdict) -> Iterator[tuple[bytes, bytes]]:
    stored = cast("Iterator[tuple[bytes, bytes]]", meta.items(from_key=_REGION))
    for key, counters in stored:
        if not key.startswith(_REGION):
            return
        yield key[len(_REGION) :], counters


def store_spec(batch: WriteBatch, spec: TableSpec) -> None:
    """Add a table's description to a batch; its regions are the ledger's."""
    described: dict[str, Any] = {
        "format": FORMAT,
        "name": spec.name,
        "families": [asdict(family) for family in spec.families],
        "attributes": dict(spec.attributes),
    }
    batch.put(_TABLE, json.dumps(described).encode())


def read_spec(meta: Rdict, path: Path) -> TableSpec:
    """A table's description as it is stored, without its regions.

    Raises:
        Unsupported: there is none, or another version of rowkey wrote it.
    """
    stored = meta.get(_TABLE)
    if stored is None:
        raise Unsupported(str(path), "it holds no table of rowkey")
    described = json.loads(stored)
    if described["format"] != FORMAT:
        what = f"it is of format {described['format']}"
        raise Unsupported(str(path), what, f"format {FORMAT}", "Use the rowkey that wrote it.")
    families = tuple(Family(**family) for family in described["families"])
    return TableSpec(described["name"], families, attributes=described["attributes"])
