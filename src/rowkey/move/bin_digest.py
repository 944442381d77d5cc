"""A digest of many rows that does not depend on their order: rows are binned, hashes summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np

if TYPE_CHECKING:
    from rowkey.move.row_hashes import HashedRows

    IntArray = np.ndarray[tuple[int], np.dtype[Any]]

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
