"""The scan of one table for a comparison: its rows hashed block by block, bad rows set aside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.errors import InvalidArgument, RowError
from rowkey.table import read_cell_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from rowkey.move.comparison_rules import ComparisonRules
    from rowkey.move.row_hashes import BoolArray, HashedRows
    from rowkey.table import GenerationState

    Progress = Callable[[int, int], None]
    """Called with how many rows are read, and with 0; what it raises ends the work."""


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A stored row that is no row of the design, so that it has nothing to be compared with.

    Args:
        row_key: its row key.
        reason: why it cannot be read.
    """

    row_key: bytes
    reason: str


@dataclass(slots=True)
class SideCounts:
    """What was read of one table.

    Args:
        rows: rows that were compared.
        cells: versions of fields that were compared.
        skipped_count: rows that could not be read.
        skipped: the first of these.
    """

    rows: int = 0
    cells: int = 0
    skipped_count: int = 0
    skipped: list[SkippedRow] = field(default_factory=list)


def hash_table(
    state: GenerationState,
    rules: ComparisonRules,
    counts: SideCounts,
    bins: BoolArray | None,
    listed: int,
) -> Iterator[HashedRows]:
    """Yield the rows of a table, hashed, in the order of the table.

    Args:
        state: the designs and the store of the table.
        rules: what is compared.
        counts: what was read is added here.
        bins: whether the rows of each bin are hashed; all if None.
        listed: how many unreadable rows are listed.
    """
    from rowkey.move.row_hashes import RowHasher

    hasher = RowHasher(state, rules, bins)
    for block in read_cell_blocks(state, rules.versions):
        for rows in _hash_readable(hasher.hash_block, block, counts, listed):
            counts.rows += len(rows.fingerprints)
            counts.cells += rows.cell_count
            yield rows


def _hash_readable(
    hash_block: Callable[[pa.RecordBatch], HashedRows],
    block: pa.RecordBatch,
    counts: SideCounts,
    listed: int,
) -> Iterator[HashedRows]:
    """Yield the hashed rows of a block; halve it around rows that cannot be read.

    Cost: for each unreadable row, its block is decoded twice more.
    """
    try:
        yield hash_block(block)
    except (RowError, InvalidArgument) as refusal:
        middle = find_row_boundary(block)
        if middle is None:
            counts.skipped_count += 1
            if len(counts.skipped) < listed:
                row_key = block.column("row")[0].as_py()
                counts.skipped.append(SkippedRow(row_key, str(refusal)))
            return
        for half in (block.slice(0, middle), block.slice(middle)):
            yield from _hash_readable(hash_block, half, counts, listed)


def find_row_boundary(block: pa.RecordBatch) -> int | None:
    """Return the index of the cell nearest to the middle with which a row begins; None if none."""
    import numpy as np
    import pyarrow.compute as pc

    row_keys = block.column("row")
    if len(row_keys) < 2:
        return None
    begins = pc.not_equal(row_keys.slice(1), row_keys.slice(0, len(row_keys) - 1))
    starts = np.flatnonzero(begins.to_numpy(zero_copy_only=False)) + 1
    if not len(starts):
        return None
    return int(starts[np.abs(starts - len(row_keys) // 2).argmin()])
