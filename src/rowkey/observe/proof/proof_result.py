"""The result of a proof: predicted and counted figures of regions, servers, phases and reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rowkey.design import Design
from rowkey.messages import pluralize
from rowkey.observe.region_deltas import LoadInterval, RegionDelta
from rowkey.simulate import EventSource

ProofVerdict = Literal["exact", "partly", "unknown", "different"]
"""The verdict of a proof: all counts are as predicted; those of the reads that ran are, but some
did not run; some counts are unknown; some counts differ."""
RegionBounds = tuple[bytes, bytes]
"""The first row key of a region, and the first after it."""
REGION_GONE = "split or merged"
MAX_SIZE_DEVIATION = 0.03
"""Share of the predicted bytes above which the rounding of the bytes on disk hides the rest."""


@dataclass(frozen=True, slots=True)
class RegionProof:
    """The predicted and counted writes of one region in one phase.

    Args:
        start: its first row key; empty for the first region.
        stop: the first row key after it; empty for the last region.
        server: the server that holds it; empty if it was split or merged.
        predicted_writes: the writes that the simulator predicts.
        counted_writes: the writes that the region counted; None if unknown.
        reason: why they are unknown, or an empty string.
    """

    start: bytes
    stop: bytes
    server: str
    predicted_writes: int
    counted_writes: int | None
    reason: str = ""

    @property
    def difference(self) -> int | None:
        """The absolute difference of predicted and counted writes; None if not counted."""
        return (
            None
            if self.counted_writes is None
            else abs(self.predicted_writes - self.counted_writes)
        )


@dataclass(frozen=True, slots=True)
class PhaseProof:
    """The predicted and counted writes of one phase, by region.

    Args:
        number: the number of the phase, from 1.
        operation_count: events that were written in it.
        regions: in the order of their keys.
    """

    number: int
    operation_count: int
    regions: tuple[RegionProof, ...]

    @property
    def writes_by_server(self) -> dict[str, tuple[int, int]]:
        """Predicted and counted writes of each server, over the regions with known counts."""
        totals: dict[str, tuple[int, int]] = {}
        for region in self.regions:
            if region.counted_writes is not None:
                predicted_writes, counted_writes = totals.get(region.server, (0, 0))
                totals[region.server] = (
                    predicted_writes + region.predicted_writes,
                    counted_writes + region.counted_writes,
                )
        return totals

    @property
    def difference(self) -> int:
        """The sum of the differences of all regions with known counts."""
        return sum(region.difference or 0 for region in self.regions)

    @property
    def unknown_count(self) -> int:
        """The number of regions whose count is unknown."""
        return sum(region.counted_writes is None for region in self.regions)


def compare_phase(
    number: int,
    bounds: Sequence[RegionBounds],
    predicted_writes: Sequence[int],
    interval: LoadInterval,
) -> PhaseProof:
    """Return the predicted and counted writes of each region in one phase.

    Args:
        number: the number of the phase, from 1.
        bounds: the start and stop key of each region of the design, in the order of their keys.
        interval: the counted load of the table's regions.

    Returns:
        The regions of the design. The writes of a region that was split or merged are unknown.
    """
    regions_by_bounds = {(one.start, one.stop): one for one in interval.regions}
    regions = []
    for (start, stop), predicted_count in zip(bounds, predicted_writes, strict=True):
        one = regions_by_bounds.get(
            (start, stop), RegionDelta(start, stop, "", None, None, REGION_GONE)
        )
        regions.append(
            RegionProof(start, stop, one.server, int(predicted_count), one.writes, one.reason)
        )
    return PhaseProof(number, sum(predicted_writes), tuple(regions))


@dataclass(frozen=True, slots=True)
class ReadProof:
    """Predicted and counted rows of a declared read, run several times without its limit.

    Args:
        trial_count: how often it ran.
        fan_out: the number of ranges, summed over all runs like the counts below.
        predicted_rows: rows in these ranges.
        counted_reads: reads that the regions counted.
        max_reads: reads that they may count at most: the rows, one for each range in each region,
            and one for each full response of the cluster, which may end within a row that is then
            counted again.
        wrong_regions: regions that counted fewer reads than rows, or more than the maximum.
        predicted_regions: regions that the ranges touch.
        counted_regions: regions that counted a read.
        unknown_trials: runs with unknown counts, because regions were reopened, split or merged.
        reason: why it did not run, or stopped, or why counts are unknown; or an empty string.
    """

    name: str
    trial_count: int = 0
    fan_out: int = 0
    predicted_rows: int = 0
    counted_reads: int = 0
    max_reads: int = 0
    wrong_regions: int = 0
    predicted_regions: int = 0
    counted_regions: int = 0
    unknown_trials: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SizeProof:
    """Predicted and measured bytes on disk after a major compaction.

    Args:
        predicted_bytes: the cells as in a data block, before encoding and compression.
        counted_bytes: the bytes that the engine reports.
        resolution_bytes: by how much these may be too low, because HBase reports whole megabytes.
        is_plain: whether no family is encoded or compressed, so that both should be close.
    """

    predicted_bytes: int
    counted_bytes: int
    resolution_bytes: int
    is_plain: bool

    @property
    def deviation(self) -> float | None:
        """The measured bytes relative to the predicted bytes, minus 1; None if too coarse."""
        if (
            not self.predicted_bytes
            or self.resolution_bytes > MAX_SIZE_DEVIATION * self.predicted_bytes
        ):
            return None
        return self.counted_bytes / self.predicted_bytes - 1


@dataclass(frozen=True)
class Proof:
    """The predicted and counted figures of a design, by phase, read and size.

    Args:
        design: the design that was proved.
        table: the table that they were written to.
        is_table_kept: whether that table is still there.
        phases: the writes of each phase.
        reads: the declared reads.
        size: bytes on disk of a cluster; None for other engines, or if no size can be predicted.
        remarks: notes on the figures, as sentences.
    """

    design: Design
    source: EventSource
    table: str
    is_table_kept: bool
    phases: tuple[PhaseProof, ...]
    reads: tuple[ReadProof, ...]
    size: SizeProof | None
    remarks: tuple[str, ...]

    @property
    def operation_count(self) -> int:
        """The number of events that were written."""
        return sum(phase.operation_count for phase in self.phases)

    @property
    def difference(self) -> int:
        """The sum of |predicted - counted| writes over all regions and phases."""
        return sum(phase.difference for phase in self.phases)

    @property
    def unknown_count(self) -> int:
        """The number of region counts that are unknown: reopened, split or merged regions."""
        return sum(phase.unknown_count for phase in self.phases)

    @property
    def omissions(self) -> tuple[str, ...]:
        """What was not compared, or only in part, and why, as phrases."""
        left_out = self.source.skipped_rows
        count = pluralize(left_out.count, "row")
        rows = (
            (f"{count} of the sample left out: {left_out.first_problem}",) if left_out.count else ()
        )
        return (
            *rows,
            *(f"read {one.name}: {one.reason}" for one in self.reads if one.reason),
        )

    @property
    def verdict(self) -> ProofVerdict:
        """The worst result of all compared counts; bytes do not influence it."""
        if self.difference or any(one.wrong_regions for one in self.reads):
            return "different"
        if self.unknown_count or any(one.unknown_trials for one in self.reads):
            return "unknown"
        return "partly" if self.omissions else "exact"

    @property
    def is_exact(self) -> bool:
        """Whether everything was compared and every count is as predicted."""
        return self.verdict == "exact"

    def sum_by_region(self) -> Iterator[RegionProof]:
        """Yield the writes of each region over all phases; unknown if one phase is."""
        for places in zip(*(phase.regions for phase in self.phases), strict=True):
            last = places[-1]
            lacks = [one.reason for one in places if one.counted_writes is None]
            counted_writes = None if lacks else sum(one.counted_writes or 0 for one in places)
            yield RegionProof(
                last.start,
                last.stop,
                last.server,
                sum(one.predicted_writes for one in places),
                counted_writes,
                lacks[0] if lacks else "",
            )
