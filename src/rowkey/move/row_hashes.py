"""Hashes of rows that do not depend on the design that stores them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mmh3

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import RowError
from rowkey.keys import compute_fingerprints
from rowkey.rows import ColumnCodec, collect_field_cells

if TYPE_CHECKING:
    IntArray = np.ndarray[tuple[int], np.dtype[Any]]
    from rowkey.move.comparison_rules import ComparisonRules, FieldRule
    from rowkey.table import GenerationState

    LimbArray = np.ndarray[tuple[int, int], np.dtype[Any]]
    BoolArray = np.ndarray[tuple[int], np.dtype[np.bool_]]


BIN_COUNT = 4_096
"""Bins of a digest. One different row makes 1 of them unequal: only its rows are read again."""


class BinDigest:
    """The number of rows of each bin, and the sum of their hashes modulo 2^128.

    A sum finds a row that is there twice, or two equal faults, which cancel out in an exclusive or.

    Source: AdHash (Bellare, Micciancio, EUROCRYPT 1997): sums of hashes are hashes of multisets.
    """

    def __init__(self) -> None:
        self.counts = np.zeros(BIN_COUNT, np.int64)
        self._limbs = np.zeros((4, BIN_COUNT), np.uint64)
        self.identity_bytes = np.zeros(BIN_COUNT, np.int64)
        """The bytes of the identities in each bin, to know the memory that its rows need."""

    def add_rows(self, rows: HashedRows) -> None:
        """Add rows to their bins.

        Cost: about 50 ns a row.
        """
        bins = compute_bins(rows.fingerprints)
        self.counts += np.bincount(bins, minlength=BIN_COUNT)
        np.add.at(self.identity_bytes, bins, rows.identity_sizes)
        for limb, numbers in zip(self._limbs, rows.hash_limbs, strict=True):
            # Numbers of 32 bits, so that 2^32 rows fit a sum of 64.
            np.add.at(limb, bins, numbers)

    def compute_sums(self) -> list[int]:
        """Return the sum of each bin modulo 2^128."""
        return [
            sum(int(limb) << (32 * place) for place, limb in enumerate(limbs)) % (1 << 128)
            for limbs in self._limbs.T.tolist()
        ]

    def find_unequal_bins(self, other: BinDigest) -> IntArray:
        """Return the numbers of the bins in which two digests differ, ascending."""
        mine, others = self.compute_sums(), other.compute_sums()
        sums_differ = np.array([a != b for a, b in zip(mine, others, strict=True)], np.bool_)
        return np.flatnonzero(sums_differ | (self.counts != other.counts))


def compute_bins(fingerprints: IntArray) -> IntArray:
    """Return the bin of each row from the fingerprint of its identity."""
    return (fingerprints % np.uint64(BIN_COUNT)).astype(np.intp)


_HEADER = np.dtype([("field", "<u2"), ("timestamp", "<i8"), ("identity_bytes", "<u4")])
"""What a cell's hash begins with; the identity and the value follow."""
_NO_FIELD, _UNDECLARED = 0xFFFF, 0xFFFE
"""The numbers in the hash of a row with declared cells but no compared field, and in that of an
undeclared cell."""


@dataclass(frozen=True, slots=True)
class HashedRows:
    """Rows as hashes.

    Args:
        identities: the fields of each row's identity, as Arrow columns.
        fingerprints: 64 bits of a hash of the identity.
        identity_sizes: the bytes of the encoded identity.
        hash_limbs: the hash of identity and fields in four arrays of 32 bits each, lowest first.
        row_count: how many of the rows have declared cells.
        cell_count: how many versions of fields and undeclared cells went into the hashes.
    """

    identities: pa.RecordBatch
    fingerprints: IntArray
    identity_sizes: IntArray
    hash_limbs: LimbArray
    row_count: int
    cell_count: int


class RowHasher:
    """Hashes the rows of one table; equal rows of tables with other designs get equal hashes.

    The hash of a row is the sum of the 128-bit hashes of its field versions, each hashed together
    with the row's identity.

    Args:
        rules: what is compared.
        bins: whether the rows of each bin are hashed; all if None.
    """

    def __init__(
        self, state: GenerationState, rules: ComparisonRules, bins: BoolArray | None = None
    ) -> None:
        self.rules, self.bins = rules, bins
        self.layout = state.combined_design.layout
        is_verifiable = not self.layout.key.is_salted and not self.layout.key.has_coded_fields
        self._verified_keys = (
            [design.key for design in state.designs]
            if self.layout.lossy_key_fields and is_verifiable
            else []
        )
        """Keys that are encoded again: decoding does not verify a part that loses the value."""

    def hash_block(self, cells: pa.RecordBatch) -> HashedRows:
        """Return the hashed rows of a block of cells.

        Raises:
            RowError: a row cannot be decoded, or stands under a row key of another row.

        Cost: about 0.3 µs a row, and 0.2 µs a cell.
        """
        rules = self.rules
        events = collect_field_cells(
            self.layout,
            cells,
            rules.fields,
            rules.count_versions,
            needs_declared_cell=rules.carried.needs_declared_cell,
        )
        self._verify_row_keys(events.identities, events.row_keys)
        key = rules.identity_key
        columns = key.build_columns(events.identities)
        packed = key.encode_parts(columns, key.parts).to_sliced().to_packed()
        fingerprints = compute_fingerprints(packed)
        keeps = np.ones(len(fingerprints), np.bool_)
        if self.bins is not None:
            keeps = self.bins[compute_bins(fingerprints)]
        offsets = np.zeros(len(fingerprints) + 1, np.int64)
        np.cumsum(packed.lengths, out=offsets[1:])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(packed.data)]
        encoded = pa.Array.from_buffers(pa.large_binary(), len(fingerprints), buffers)
        sums = _RowSums(encoded, packed.lengths)
        for name, rule in rules.fields.items():
            if (one := events.cells.get(name)) is not None:
                wanted = (one.ranks < rule.versions) & keeps[one.event_indexes]
                timestamps = one.timestamps[wanted] if rule.has_timestamp else None
                values = one.values if wanted.all() else one.values.filter(pa.array(wanted))
                sums.add_cells(rule.number, one.event_indexes[wanted], values, timestamps)
        is_declared = events.is_declared & (sums.has_cells | (not rules.skips_empty_rows))
        bare = np.flatnonzero(keeps & is_declared & ~sums.has_cells)
        one = events.undeclared
        wanted = keeps[one.event_indexes]
        values = one.values.filter(pa.array(wanted))
        sums.add_cells(_UNDECLARED, one.event_indexes[wanted], values, one.timestamps[wanted])
        cell_count = sums.cell_count
        keeps &= is_declared | sums.has_cells
        if rules.timestamp_field is not None:
            stamped = keeps & is_declared
            self._add_timestamp_field(sums, events.identities, rules.timestamp_field, stamped)
            bare = bare[:0]
        sums.add_cells(_NO_FIELD, bare, pa.repeat(pa.scalar(b"", pa.binary()), len(bare)), None)
        limbs, row_count = sums.to_limbs(), int((keeps & is_declared).sum())
        if keeps.all():
            identities = events.identities
            return HashedRows(
                identities, fingerprints, packed.lengths, limbs, row_count, cell_count
            )
        identities = events.identities.filter(pa.array(keeps))
        return HashedRows(
            identities,
            fingerprints[keeps],
            packed.lengths[keeps],
            limbs[:, keeps],
            row_count,
            cell_count,
        )

    def _add_timestamp_field(
        self, sums: _RowSums, identities: pa.RecordBatch, rule: FieldRule, keeps: BoolArray
    ) -> None:
        """Add the field that both tables store in the timestamps of cells to the hashes."""
        column = identities.column(rule.field.name).filter(pa.array(keeps))
        packed = ColumnCodec(rule.field).encode_batch(column)
        sums.add_cells(rule.number, np.flatnonzero(keeps), packed, None)

    def _verify_row_keys(self, identities: pa.RecordBatch, row_keys: pa.Array) -> None:
        """Raise if a row stands under a row key that its own fields do not give.

        Raises:
            RowError: one does; clients cannot find it by its fields.
        """
        if not self._verified_keys or not len(row_keys):
            return
        is_right = np.zeros(len(row_keys), np.bool_)
        for key in self._verified_keys:
            expected = key.encode_valid_batch(identities).cast(row_keys.type)
            is_right |= pc.equal(expected, row_keys).to_numpy(zero_copy_only=False)
        if not is_right.all():
            row_key = row_keys[int(is_right.argmin())].as_py()
            what = "its fields give another row key, so no client finds the row by them"
            remedy = "Delete the row key if another program wrote it."
            raise RowError(f"row key {row_key.hex()}", what, remedy=remedy)


class _RowSums:
    """The sums of the hashes of each row's cells."""

    def __init__(self, identities: pa.Array, identity_sizes: IntArray) -> None:
        self.identities, self.identity_sizes = identities, identity_sizes
        self.limbs = np.zeros((4, len(identities)), np.uint64)
        self.has_cells = np.zeros(len(identities), np.bool_)
        self.cell_count = 0

    def add_cells(
        self, number: int, rows: IntArray, values: pa.Array, timestamps: IntArray | None
    ) -> None:
        """Add the hashes of cells of one field to the sums of their rows."""
        if not len(rows):
            return
        hashes = self._hash_cells(number, rows, values, timestamps)
        words = hashes.reshape(-1, 4).T.astype(np.uint64)
        for limb, numbers in zip(self.limbs, words, strict=True):
            np.add.at(limb, rows, numbers)
        self.has_cells[rows] = True
        self.cell_count += len(rows)

    def _hash_cells(
        self, number: int, rows: IntArray, values: pa.Array, timestamps: IntArray | None
    ) -> IntArray:
        """Return the hashes of cells, as four numbers of 32 bits each."""
        headers = np.zeros(len(rows), _HEADER)
        headers["field"] = number
        headers["timestamp"] = -1 if timestamps is None else timestamps
        headers["identity_bytes"] = self.identity_sizes[rows]
        fixed = pa.binary(_HEADER.itemsize)
        header = pa.Array.from_buffers(fixed, len(rows), [None, pa.py_buffer(headers)])
        whole = len(rows) == len(self.identities) and bool((np.diff(rows) == 1).all())
        identities = self.identities if whole else self.identities.take(pa.array(rows))
        records = pc.binary_join_element_wise(
            header.cast(pa.large_binary()),
            identities,
            values.cast(pa.large_binary()),
            pa.scalar(b"", pa.large_binary()),
        )
        digests = b"".join(map(mmh3.mmh3_x64_128_digest, records.to_pylist()))
        return np.frombuffer(digests, "<u4")

    def to_limbs(self) -> LimbArray:
        """Return the sums modulo 2^128, as numbers of 32 bits, lowest first."""
        carry = np.zeros(self.limbs.shape[1], np.uint64)
        limbs = np.empty_like(self.limbs)
        for place, sums in enumerate(self.limbs):
            total = sums + carry
            limbs[place], carry = total & np.uint64(0xFFFFFFFF), total >> np.uint64(32)
        return limbs
