"""Collisions of a move: different rows of the source with one place in the target.

A put replaces what is there, so that the later row would overwrite the earlier one in silence.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.errors import InvalidArgument, RowError
from rowkey.move.identities import iterate_identities
from rowkey.progress import Progress, ReportProgress, ignore_progress
from rowkey.rows import Layout, decode_event_columns
from rowkey.table import GenerationState, read_cell_blocks

if TYPE_CHECKING:
    HashArray = np.ndarray[tuple[int, int], np.dtype[Any]]

DEFAULT_LISTED = 100
"""Collisions that a result lists with the identities of their rows."""
MAX_ROWS_IN_MEMORY = 4_000_000
"""Rows whose hashes are in memory together: 64 MB, and as much again to sort them."""
SPILL_FILES = 256
"""Files that hashes are written to if there are more rows. With 10^9 rows one has 62 MB."""


@dataclass(frozen=True, slots=True)
class Collision:
    """Rows of the source that would have one place in the target.

    Args:
        row_key: the row key that all of them get; without a random salt.
        identities: the fields that identify each row in the source, of the first ten.
        row_count: how many rows they are.
    """

    row_key: bytes
    identities: tuple[dict[str, Any], ...]
    row_count: int


@dataclass(slots=True)
class CollisionResult:
    """Which rows of a source the target could not tell apart.

    Args:
        is_proven: whether the designs alone prove that there are none; then no row was read.
        rows: rows that were read.
        place_count: places of the target that several rows would have.
        row_count: the rows that would have such a place.
        collisions: the first of these places, without those that clients have changed meanwhile.
        refused_count: rows that the key of the target cannot encode.
        refusals: why, of the first of these rows.
        seconds: how long it took.
    """

    is_proven: bool = False
    rows: int = 0
    place_count: int = 0
    row_count: int = 0
    collisions: list[Collision] = field(default_factory=list)
    refused_count: int = 0
    refusals: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def has_passed(self) -> bool:
        """Whether every row has a place of its own."""
        return not self.place_count and not self.refused_count


def has_distinct_places(source: Layout, target: Layout) -> bool:
    """Return whether designs alone prove that different rows have different places.

    They do if key and qualifiers of the target hold every field of the source's identity whole,
    and a key can be split into its parts again.

    >>> from rowkey.design import Design
    >>> fields = {"host": "text", "at": "timestamp_ms"}
    >>> source, other, lossy = (
    ...     Design("t", key, fields=fields).layout
    ...     for key in ("[host][at]", "[bucket(host, 4)][at][host]", "[digest(host, 4)][at]")
    ... )
    >>> has_distinct_places(source, other), has_distinct_places(source, lossy)
    (True, False)
    """
    is_whole = {*source.identity_fields} <= {*target.identity_fields}
    return is_whole and not target.lossy_key_fields and target.key.is_decodable


def find_collisions(
    source: GenerationState,
    target: Design,
    *,
    listed: int = DEFAULT_LISTED,
    max_rows_in_memory: int = MAX_ROWS_IN_MEMORY,
    progress: ReportProgress | None = None,
) -> CollisionResult:
    """Return the rows of a source that would have the same place in the target.

    If the designs do not prove that there are none, all rows are read: 128 bits of a hash of each
    place are sorted, in files if they are many, and the rows of equal ones are read again. Nothing
    is written to a table. Rows that clients write later can still collide: of those of one place
    the target keeps the newest, and a verification lists the others as missing.

    Args:
        listed: how many collisions are listed; all are counted.
        max_rows_in_memory: rows whose hashes are in memory; those of more are written to files.
        progress: called with how many rows are read; what it raises ends the work.

    Cost: about 1.5 s per million rows on an embedded engine, twice that if rows collide; 16 bytes
    a row in memory or in temporary files.
    """
    started_s = time.monotonic()
    result = CollisionResult()
    if has_distinct_places(source.combined_design.layout, target.layout):
        result.is_proven = True
    else:
        reader = _PlaceReader(source, target, result, listed, progress)
        with ExitStack() as stack:
            shared = _find_shared_places(reader, result, stack, listed, max_rows_in_memory)
        if len(shared):
            result.collisions = reader.list_collisions(shared)
    result.seconds = time.monotonic() - started_s
    return result


class _PlaceReader:
    """Reads the rows of a source with the places that they get in the target.

    Args:
        result: what is read is counted here.
        listed: how many refused rows are listed.
        progress: called with how many rows are read.
    """

    def __init__(
        self,
        source: GenerationState,
        target: Design,
        result: CollisionResult,
        listed: int,
        progress: ReportProgress | None,
    ) -> None:
        self.source, self.target, self.result = source, target.layout, result
        self.listed, self.progress = listed, progress or ignore_progress
        layout = source.combined_design.layout
        self.identity = {name: layout.fields[name] for name in layout.identity_fields}
        self.names = list(dict.fromkeys((*self.identity, *self.target.identity_fields)))

    def hash_places(self) -> Iterator[HashArray]:
        """Yield the hashes of the places of all rows, as two numbers of 64 bits each."""
        for block in read_cell_blocks(self.source):
            for rows in self._decode(block):
                keys, prefixes = self._encode_places(rows)
                self.result.rows += rows.num_rows
                yield _hash_places(keys, prefixes)
            self.progress(Progress("collisions", self.result.rows, unit="rows"))

    def list_collisions(self, shared: HashArray) -> list[Collision]:
        """Return the rows of places whose hashes are given, ascending."""
        found: dict[tuple[bytes, bytes], list[Any]] = {}
        for block in read_cell_blocks(self.source):
            for rows in self._decode(block, counts=False):
                keys, prefixes = self._encode_places(rows)
                hashes = _hash_places(keys, prefixes)
                for index in _find_members(hashes, shared):
                    place = (
                        keys[index].as_py(),
                        b"" if prefixes is None else prefixes[index].as_py(),
                    )
                    entry = found.setdefault(place, [[], 0])
                    entry[1] += 1
                    if len(entry[0]) < MAX_IDENTITIES:
                        entry[0] += iterate_identities(rows.slice(index, 1), self.identity)
        return [
            Collision(key, tuple(identities), count)
            for (key, _), (identities, count) in found.items()
            if count > 1  # the second halves of hashes, which are not compared, may differ
        ]

    def _decode(self, block: pa.RecordBatch, *, counts: bool = True) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a block that both designs can read; halve it around others."""
        from rowkey.move.table_digest import find_row_boundary

        try:
            rows = decode_event_columns(self.source.combined_design.layout, block, self.names)
            self._encode_places(rows)
            yield rows
        except (RowError, InvalidArgument) as refusal:
            middle = find_row_boundary(block)
            if middle is not None:
                for half in (block.slice(0, middle), block.slice(middle)):
                    yield from self._decode(half, counts=counts)
            elif counts:
                self.result.refused_count += 1
                if len(self.result.refusals) < self.listed:
                    self.result.refusals.append(str(refusal))

    def _encode_places(self, rows: pa.RecordBatch) -> tuple[pa.Array, pa.Array | None]:
        """Return the row keys and the qualifier prefixes of rows in the target."""
        key, prefix = self.target.key, self.target.qualifier_prefix
        salts = np.zeros(rows.num_rows, np.int64) if key.is_salted else None
        keys = key.encode_valid_batch(rows, salts=salts)
        return keys, None if prefix is None else prefix.encode_batch(rows)


MAX_IDENTITIES = 10
"""Rows of one place that are listed."""


def _hash_places(keys: pa.Array, prefixes: pa.Array | None) -> HashArray:
    """Return hashes of row keys with their qualifier prefixes, as two numbers of 64 bits."""
    import mmh3

    places = keys.to_pylist()
    if prefixes is not None:
        pairs = zip(places, prefixes.to_pylist(), strict=True)
        places = [len(key).to_bytes(2, "big") + key + prefix for key, prefix in pairs]
    digests = b"".join(map(mmh3.mmh3_x64_128_digest, places))
    return np.frombuffer(digests, "<u8").reshape(-1, 2)


def _find_shared_places(
    reader: _PlaceReader, result: CollisionResult, stack: ExitStack, listed: int, max_rows: int
) -> HashArray:
    """Count the places that several rows have; return the hashes of the first of them."""
    buffered: list[HashArray] = []
    count = 0
    spill: _SpillFiles | None = None
    for hashes in reader.hash_places():
        buffered.append(hashes)
        count += len(hashes)
        if count > max_rows:
            spill = spill or _SpillFiles(stack)
            spill.add_hashes(np.concatenate(buffered))
            buffered, count = [], 0
    shared: list[HashArray] = []
    left = np.concatenate(buffered) if buffered else np.empty((0, 2), np.uint64)
    if spill is not None:
        spill.add_hashes(left)
    for hashes in [left] if spill is None else spill.read_groups():
        places, counts = _select_repeated(hashes)
        result.place_count += len(places)
        result.row_count += int(counts.sum())
        shared.append(places[: max(listed - sum(map(len, shared)), 0)])
    return np.concatenate(shared)


class _SpillFiles:
    """Temporary files of hashes; equal hashes are in one file.

    Args:
        stack: when it closes, the files are removed.
    """

    def __init__(self, stack: ExitStack) -> None:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rowkey-move-"))
        self.paths = [Path(folder) / str(number) for number in range(SPILL_FILES)]

    def add_hashes(self, hashes: HashArray) -> None:
        numbers = (hashes[:, 0] % np.uint64(SPILL_FILES)).astype(np.uint8)
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(np.bincount(numbers, minlength=SPILL_FILES))
        for path, part in zip(self.paths, np.split(hashes[order], ends[:-1]), strict=True):
            with path.open("ab") as file:
                file.write(part.tobytes())

    def read_groups(self) -> Iterator[HashArray]:
        """Yield the hashes of each file; equal hashes are in one group."""
        for path in self.paths:
            yield np.fromfile(path, "<u8").reshape(-1, 2)


def _select_repeated(hashes: HashArray) -> tuple[HashArray, Any]:
    """Return the hashes that are there more than once, ascending, and how often each is."""
    if not len(hashes):
        return hashes, np.empty(0, np.int64)
    ordered = hashes[np.lexsort((hashes[:, 1], hashes[:, 0]))]
    begins = np.ones(len(ordered), np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(begins)
    counts = np.diff(starts, append=len(ordered))
    return ordered[starts[counts > 1]], counts[counts > 1]


def _find_members(hashes: HashArray, wanted: HashArray) -> list[int]:
    """Return the indexes of hashes whose first half is among those of some others."""
    indexes: list[int] = np.flatnonzero(np.isin(hashes[:, 0], wanted[:, 0])).tolist()
    return indexes
