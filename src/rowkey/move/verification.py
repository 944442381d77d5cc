"""Verification of a move: whether two tables with different designs hold the same rows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value
from rowkey.move.comparison_rules import ComparisonRules, build_comparison_rules
from rowkey.move.staying_cells import StayingCells, list_staying_cells
from rowkey.move.table_digest import SideCounts, hash_table
from rowkey.progress import Progress, ReportProgress
from rowkey.table import GenerationState

if TYPE_CHECKING:
    from rowkey.move.difference_search import RowDifference
    from rowkey.move.row_hashes import BinDigest, BoolArray

DEFAULT_LISTED = 100
"""Differences that a result lists, and at most so many with their fields."""
MAX_EXAMINED_ROWS = 100_000
"""Rows that are read one by one at most: some minutes; so many differences have one cause."""


@dataclass(slots=True)
class VerificationResult:
    """What the comparison of two tables found.

    Args:
        unequal_bins: bins of rows that differed at first, by faults or by changes on their way.
        differences: the first rows that differ, and of the first hundred the fields that differ.
        difference_counts: how many rows differ, by the kind of difference.
        unsettled: identities of rows that clients changed in every attempt to compare them.
        unexamined_count: rows that differ, which were too many to be read one by one; there may be
            more of them.
        fields_without_timestamp: the fields of which only the newest value was compared, because
            both tables pack them into cells with different other fields.
        sample_share: the share of the rows that was compared; 1 for all.
        repair_counts: how many rows were repaired before this comparison, by outcome.
        seconds: how long it took.
    """

    source: SideCounts = field(default_factory=SideCounts)
    target: SideCounts = field(default_factory=SideCounts)
    unequal_bins: int = 0
    differences: list[RowDifference] = field(default_factory=list)
    difference_counts: Counter[str] = field(default_factory=Counter)
    unsettled: list[dict[str, Any]] = field(default_factory=list)
    unexamined_count: int = 0
    fields_without_timestamp: tuple[str, ...] = ()
    sample_share: float = 1.0
    repair_counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def difference_count(self) -> int:
        """How many rows differ."""
        return self.difference_counts.total()

    @property
    def staying(self) -> list[StayingCells]:
        """The cells of the source that are not moved."""
        return list_staying_cells(self.source.staying)

    @property
    def has_passed(self) -> bool:
        """Whether every compared row is equal, and every stored row could be compared.

        Undeclared cells that are not moved are no difference; `staying` names them.

        A sample that passes proves nothing about the other rows; see `compute_confidence`.
        """
        return not (
            self.difference_count
            or self.unsettled
            or self.unexamined_count
            or self.source.skipped_count
            or self.target.skipped_count
        )

    def compute_confidence(self, rows_per_fault: float) -> float:
        """Return how probably a fault would have been found if one row in so many were wrong.

        A sample reads every row of both tables to know the bin of each, and compares those of the
        chosen bins. Bins follow from a hash of the identity, so wrong rows are in them at random.

        Args:
            rows_per_fault: of so many rows one is wrong.

        >>> result = VerificationResult(SideCounts(rows=10_000), sample_share=0.01)
        >>> f"{result.compute_confidence(1_000_000):.2f} {result.compute_confidence(100_000):.3f}"
        '0.01 0.096'
        """
        row_count = max(self.source.rows, self.target.rows) / self.sample_share
        faults = max(row_count / rows_per_fault, 1.0) if row_count else 0.0
        return 1 - (1 - self.sample_share) ** faults if self.sample_share < 1 else 1.0


def verify_move(
    source: GenerationState,
    target: GenerationState,
    *,
    sample_share: float = 1.0,
    seed: int = 0,
    listed: int = DEFAULT_LISTED,
    max_examined: int = MAX_EXAMINED_ROWS,
    extra_only: bool = False,
    progress: ReportProgress | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> VerificationResult:
    """Compare two tables row by row, while both are in use; nothing is written.

    Both tables are scanned, each in its own order; each row is decoded by the design of its table,
    and hashed apart from it. The sums of hashes in 4,096 bins are compared. Rows of unequal bins
    are read again one by one, until they agree or differ in the same way three times: a change that
    clients are writing to both tables is no difference.

    Compared are the identities of rows, and of each field and each undeclared cell that is moved
    along as many versions as both tables keep, with timestamps. What no client can see is not
    compared: deletes, expired and older versions.

    Args:
        target: the state of the target, which has the same fields and fields of identity.
        sample_share: the share of the rows that is compared, such as 0.01: still reads all rows.
            The least is 1 of 4,096.
        seed: chooses the bins of a sample.
        listed: how many differences and unreadable rows are listed; all are counted. Fields are
            listed of the first hundred only.
        max_examined: how many rows are read one by one at most.
        extra_only: whether rows are left out that the target lacks, as before the end of a copy.
        progress: called with how many rows are read; what it raises ends the work.
        pause: waits for some seconds; for tests.

    Raises:
        InvalidArgument: the share is none.

    Cost: per million rows of 100 bytes about 1.5 s a table on an embedded engine. If bins differ, a
    second scan of both tables, or one for each 128 MB of the identities and hashes of their rows
    until `max_examined` rows were found. Memory for a block of rows, and up to 1 GB while bins
    differ.
    """
    if not 0 < sample_share <= 1:
        what = f"{format_value(sample_share)} is not a share of the rows"
        raise InvalidArgument("sample_share", what, "a number above 0, at most 1")
    from rowkey.move.difference_search import DifferenceSearch
    from rowkey.move.row_hashes import BIN_COUNT

    started_s = time.monotonic()
    rules = build_comparison_rules(source, target)
    result = VerificationResult(
        sample_share=max(sample_share, 1 / BIN_COUNT),
        fields_without_timestamp=rules.fields_without_timestamp,
    )
    bins = choose_bins(sample_share, seed)

    def report(done: int, total: int = 0) -> None:
        """Report how many rows are read, and of how many."""
        if progress is not None:
            progress(Progress("verify", done, total, "rows"))

    digests = [
        _compute_digest(source, rules, result.source, bins, listed, report),
        _compute_digest(
            target,
            rules,
            result.target,
            bins,
            listed,
            lambda rows: report(result.source.rows + rows, 2 * result.source.rows),
        ),
    ]
    unequal = digests[0].find_unequal_bins(digests[1])
    result.unequal_bins = len(unequal)
    if result.unequal_bins:
        rows_read = result.source.rows + result.target.rows
        search = DifferenceSearch(
            (source, target),
            rules,
            pause,
            max_examined,
            lambda rows: report(rows_read + rows),
            extra_only=extra_only,
        )
        for difference in search.find_differences(unequal, digests):
            result.difference_counts[difference.kind] += 1
            if len(result.differences) < listed:
                is_full = len(result.differences) < DEFAULT_LISTED
                result.differences.append(difference if is_full else replace(difference, fields=()))
        result.unsettled = search.unsettled
        result.unexamined_count = search.unexamined_count
    result.seconds = time.monotonic() - started_s
    return result


def choose_bins(sample_share: float, seed: int) -> BoolArray | None:
    """Return which bins a sample compares; None for all.

    >>> int(choose_bins(0.01, seed=7).sum())
    41
    """
    from rowkey.move.row_hashes import BIN_COUNT

    if sample_share == 1:
        return None
    chosen = np.zeros(BIN_COUNT, np.bool_)
    count = max(round(sample_share * BIN_COUNT), 1)
    chosen[np.random.default_rng(seed).choice(BIN_COUNT, count, replace=False)] = True
    return chosen


def _compute_digest(
    state: GenerationState,
    rules: ComparisonRules,
    counts: SideCounts,
    bins: BoolArray | None,
    listed: int,
    report: Callable[[int], None],
) -> BinDigest:
    from rowkey.move.row_hashes import BinDigest

    digest = BinDigest()
    for rows in hash_table(state, rules, counts, bins, listed):
        digest.add_rows(rows)
        report(counts.rows)
    return digest
