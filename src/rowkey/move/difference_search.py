"""The rows that differ between two tables in use: rows of unequal bins, read until they settle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.move.identities import iterate_identities
from rowkey.move.row_hashes import BIN_COUNT
from rowkey.move.row_images import RowImageReader
from rowkey.move.table_digest import SideCounts, hash_table
from rowkey.rows import format_column
from rowkey.table import GenerationState

if TYPE_CHECKING:
    from rowkey.move.comparison_rules import ComparisonRules
    from rowkey.move.row_hashes import BinDigest, HashedRows, IntArray, LimbArray
    from rowkey.move.row_images import Column, RowImage

    Identity = dict[str, Any]

MAX_GROUP_BYTES = 128 << 20
"""Bytes of the hashes and identities of rows that are in memory together."""
HASH_BYTES = 24
"""Bytes of the fingerprint and the hash of a row."""
REQUIRED_SIGHTINGS = 3
"""How often a difference must be seen unchanged. A change that is on its way between the writes of
both tables looks like one, but not for so long."""
MAX_ROUNDS = 60
"""Times that rows are read before those that still change are given up as unsettled."""
FIRST_PAUSE_S, MAX_PAUSE_S = 0.05, 1.0
"""Seconds between two rounds: doubled each time. A write of two tables takes milliseconds."""
COMPARED_ROWS = 500
"""Rows that are read by one get."""


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field, or a column of undeclared cells, of which two tables have other versions in a row.

    Args:
        name: the field, or the column in HBase's notation, such as `d:x`.
        source: the timestamp and the value of each compared version in the source, the newest
            first; the timestamp is None where it is not compared.
        target: the same of the target.
    """

    name: str
    source: tuple[tuple[int | None, Any], ...]
    target: tuple[tuple[int | None, Any], ...]


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that two tables do not have alike.

    Args:
        kind: `missing` in the target, `extra` in the target, or `different`.
        identity: the fields that identify the row.
        fields: the fields that differ; of a row that one side lacks, all that the other has.
    """

    kind: str
    identity: dict[str, Any]
    fields: tuple[FieldDifference, ...]


class DifferenceSearch:
    """Finds the rows that differ in unequal bins.

    Args:
        sides: the states of the source and the target.
        rules: what is compared.
        pause: waits for some seconds.
        max_examined: how many rows are read one by one, at most.
        progress: called with how many rows are read.
        extra_only: whether rows that the target lacks are left out, and only its rows in memory.
    """

    def __init__(
        self,
        sides: tuple[GenerationState, GenerationState],
        rules: ComparisonRules,
        pause: Callable[[float], None],
        max_examined: int,
        progress: Callable[[int], None],
        *,
        extra_only: bool = False,
    ) -> None:
        self.extra_only = extra_only
        self.sides, self.rules, self.pause = sides, rules, pause
        self.max_examined, self.progress = max_examined, progress
        self.readers = tuple(RowImageReader(state, rules) for state in sides)
        self.unexamined_count = 0
        self.unsettled: list[Identity] = []
        self.rows_read = 0

    def find_differences(
        self, unequal_bins: IntArray, digests: Sequence[BinDigest]
    ) -> Iterator[RowDifference]:
        """Yield the rows of unequal bins that differ for good.

        Cost: a scan of both tables for each group of bins that fits the memory, until as many rows
            were examined as may be.
        """
        for group in _group_bins(unequal_bins, digests[self.extra_only :]):
            if self.max_examined <= 0:
                counts = [one.counts[group] for one in digests]
                self.unexamined_count += int(np.maximum(np.abs(counts[0] - counts[1]), 1).sum())
                continue
            candidates = self._find_candidates(group)
            self.max_examined -= len(candidates)
            for start in range(0, len(candidates), COMPARED_ROWS):
                yield from self._read_until_settled(candidates[start : start + COMPARED_ROWS])

    def _find_candidates(self, bins: IntArray) -> list[Identity]:
        """Return the identities of rows of some bins whose hashes only one table has.

        They are no more than may still be examined; the others are counted.
        """
        chosen = np.zeros(BIN_COUNT, np.bool_)
        chosen[bins] = True
        target = self._collect_rows(self.sides[1], chosen)
        wanted = None
        if self.extra_only:
            wanted = np.sort(
                np.concatenate([np.empty(0, np.uint64), *(rows.fingerprints for rows in target)])
            )
        scans = [self._collect_rows(self.sides[0], chosen, wanted), target]
        hashes = [
            _join_hashes([rows.fingerprints for rows in scan], [rows.hash_limbs for rows in scan])
            for scan in scans
        ]
        fingerprints = _find_unmatched(*hashes)
        self.unexamined_count += max(len(fingerprints) - self.max_examined, 0)
        fingerprints = fingerprints[: self.max_examined]
        identities: dict[bytes, Identity] = {}
        key = self.rules.identity_key
        for rows in (rows for scan in scans for rows in scan):
            is_candidate = np.isin(rows.fingerprints, fingerprints)
            if is_candidate.any():
                found = rows.identities.filter(pa.array(is_candidate))
                for values in iterate_identities(found, key.fields):
                    identities.setdefault(key.part_sequence.encode(values), values)
        return list(identities.values())

    def _collect_rows(
        self, state: GenerationState, bins: Any, wanted: IntArray | None = None
    ) -> list[HashedRows]:
        """Return the hashed rows of some bins of a table.

        Args:
            state: the designs and the store of the table.
            bins: whether the rows of each bin are read.
            wanted: the fingerprints of the rows that are kept, in ascending order; all if None.
        """
        scan = []
        for rows in hash_table(state, self.rules, SideCounts(), bins, 0):
            self.rows_read += len(rows.fingerprints)
            self.progress(self.rows_read)
            kept = rows if wanted is None else _select_rows(rows, wanted)
            if len(kept.fingerprints):
                scan.append(kept)
        return scan

    def _read_until_settled(self, identities: list[Identity]) -> Iterator[RowDifference]:
        """Read rows until each is equal, or differs in the same way three times.

        Rows that change in every round are noted as unsettled.
        """
        sightings = [0] * len(identities)
        last: list[Any] = [None] * len(identities)
        pending, pause_s = list(range(len(identities))), FIRST_PAUSE_S
        for _ in range(MAX_ROUNDS):
            rows = [identities[number] for number in pending]
            images = [reader.read_images(rows) for reader in self.readers]
            remaining = []
            for number, *pair in zip(pending, *images, strict=True):
                if pair[0] == pair[1]:
                    continue
                sightings[number] = sightings[number] + 1 if pair == last[number] else 1
                last[number] = pair
                if sightings[number] == REQUIRED_SIGHTINGS:
                    yield self._describe_difference(identities[number], *pair)
                else:
                    remaining.append(number)
            pending = remaining
            if not pending:
                return
            self.pause(pause_s)
            pause_s = min(2 * pause_s, MAX_PAUSE_S)
        self.unsettled += [identities[number] for number in pending]

    def _describe_difference(
        self, identity: Identity, source: RowImage | None, target: RowImage | None
    ) -> RowDifference:
        kind = "missing" if target is None else "extra" if source is None else "different"
        sides = [{} if one is None else one.versions for one in (source, target)]
        columns = {one for side in sides for one in side if not isinstance(one, str)}
        names: list[str | Column] = [*self.rules.identity_key.declared_fields, *sorted(columns)]
        fields = []
        for name in names:
            versions = [one.get(name, ()) for one in sides]
            if versions[0] != versions[1]:
                decode = self.readers[0].decode_value
                shown = (tuple((at, decode(name, one)) for at, one in some) for some in versions)
                title = name if isinstance(name, str) else format_column(*name)
                fields.append(FieldDifference(title, *shown))
        return RowDifference(kind, identity, tuple(fields))


def _group_bins(bins: IntArray, digests: Sequence[BinDigest]) -> Iterator[IntArray]:
    """Yield unequal bins in groups whose rows fit the memory together."""
    counts: Any = sum(one.counts for one in digests)
    sizes = sum(one.identity_bytes for one in digests) + HASH_BYTES * counts
    totals = np.cumsum(sizes[bins])
    starts = np.flatnonzero(np.diff(totals // MAX_GROUP_BYTES, prepend=0))
    yield from (group for group in np.split(bins, starts) if len(group))


def _select_rows(rows: HashedRows, wanted: IntArray) -> HashedRows:
    """Return the rows whose fingerprints are among some in ascending order."""
    places = np.searchsorted(wanted, rows.fingerprints)
    keeps = np.searchsorted(wanted, rows.fingerprints, side="right") > places
    return replace(
        rows,
        identities=rows.identities.filter(pa.array(keeps)),
        fingerprints=rows.fingerprints[keeps],
        hash_limbs=rows.hash_limbs[:, keeps],
    )


def _join_hashes(fingerprints: Sequence[IntArray], limbs: Sequence[LimbArray]) -> LimbArray:
    """Return the fingerprints and hashes of many rows as an array of three 64-bit columns."""
    if not fingerprints:
        return np.empty((0, 3), np.uint64)
    words = np.concatenate(limbs, axis=1)
    low, high = (words[at] | (words[at + 1] << np.uint64(32)) for at in (0, 2))
    return np.stack([np.concatenate(fingerprints), low, high], axis=1)


def _find_unmatched(mine: LimbArray, others: LimbArray) -> IntArray:
    """Return the fingerprints of rows that are not as often in one array as in the other."""
    both = np.concatenate([mine, others])
    if not len(both):
        return both[:, 0]
    weights = np.concatenate([np.ones(len(mine), np.int64), -np.ones(len(others), np.int64)])
    order = np.lexsort((both[:, 2], both[:, 1], both[:, 0]))
    ordered = both[order]
    begins = np.ones(len(ordered), np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(begins)
    is_unmatched = np.add.reduceat(weights[order], starts) != 0
    return np.unique(ordered[starts[is_unmatched], 0])
