"""What came of a proof: what was predicted of each region, server, phase and read, and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rowkey.errors import counted
from rowkey.observe.counting import RegionRate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.design import Design
    from rowkey.observe.counting import Interval
    from rowkey.simulate import Source


Verdict = Literal["exact", "partly", "unknown", "different"]
"""What a proof comes to: all is as predicted; so is what was asked, but not all was; some counts
are not known; some are others."""
Bounds = tuple[bytes, bytes]
"""The first row key of a region, and the first behind it."""
GONE = "split or merged"
COARSE = 0.03
"""Share of the predicted bytes above which what is not told of those on disk hides the rest."""


@dataclass(frozen=True, slots=True)
class RegionProof:
    """The writes of one region in one phase.

    Args:
        start: its first row key; empty for the first region.
        stop: the first row key behind it; empty for the last region.
        server: where it is; empty if it is split or merged.
        predicted: as the simulator has it.
        counted: as the region has it; None if that is not known.
        why: why it is not known, or an empty string.
    """

    start: bytes
    stop: bytes
    server: str
    predicted: int
    counted: int | None
    why: str = ""

    @property
    def difference(self) -> int | None:
        """How far both are apart; None if the count is not known."""
        return None if self.counted is None else abs(self.predicted - self.counted)


@dataclass(frozen=True, slots=True)
class PhaseProof:
    """The writes of one phase.

    Args:
        number: which, from 1.
        operations: events that were written in it.
        regions: in the order of their keys.
    """

    number: int
    operations: int
    regions: tuple[RegionProof, ...]

    @property
    def servers(self) -> dict[str, tuple[int, int]]:
        """Predicted and counted writes of each server, over those of its regions that are known."""
        found: dict[str, tuple[int, int]] = {}
        for region in self.regions:
            if region.counted is not None:
                predicted, counted = found.get(region.server, (0, 0))
                found[region.server] = (predicted + region.predicted, counted + region.counted)
        return found

    @property
    def difference(self) -> int:
        """The differences of all regions that are known, added up."""
        return sum(region.difference or 0 for region in self.regions)

    @property
    def unknown(self) -> int:
        """Regions whose count is not known."""
        return sum(region.counted is None for region in self.regions)


def phase_of(
    number: int, bounds: Sequence[Bounds], predicted: Sequence[int], counted: Interval
) -> PhaseProof:
    """What was predicted of a phase beside what was counted in it.

    Args:
        number: which phase, from 1.
        bounds: where each region as designed begins and stops, in the order of their keys.
        predicted: writes of each of them.
        counted: what the regions of the table did.

    Returns:
        The regions as designed. Of one that stands no more between its bounds nothing is known,
        however many regions there are.
    """
    there = {(one.start, one.stop): one for one in counted.regions}
    regions = []
    for (start, stop), many in zip(bounds, predicted, strict=True):
        one = there.get((start, stop), RegionRate(start, stop, "", None, None, GONE))
        regions.append(RegionProof(start, stop, one.server, int(many), one.writes, one.why))
    return PhaseProof(number, sum(predicted), tuple(regions))


@dataclass(frozen=True, slots=True)
class ReadProof:
    """A declared read, asked some times, without its limit.

    Args:
        name: its name.
        asked: how often it was asked.
        fan_out: ranges of all askings together.
        predicted: rows in these ranges.
        counted: reads that the regions counted.
        most: what they may have counted at most: the rows, one for each range and region that it
            comes to, and one for each answer of the cluster that is full, for such a one may end
            within a row, which is counted again.
        wrong: regions that counted fewer than the rows or more than that, over all askings.
        regions_predicted: regions that the ranges come to, over all askings.
        regions_counted: regions that counted a read.
        unknown: askings of which nothing is known, for regions were opened anew or are others.
        why: why it was not asked, or no further, or nothing is known, or an empty string.
    """

    name: str
    asked: int = 0
    fan_out: int = 0
    predicted: int = 0
    counted: int = 0
    most: int = 0
    wrong: int = 0
    regions_predicted: int = 0
    regions_counted: int = 0
    unknown: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sized:
    """Bytes on disk, once everything is in one file a region and family.

    Args:
        predicted: the cells as a data block has them, before encoding and compression.
        counted: as the engine tells it.
        resolution: how much more it may be, for it is told in whole megabytes.
        is_plain: whether no family encodes or compresses, so that both should be near.
    """

    predicted: int
    counted: int
    resolution: int
    is_plain: bool

    @property
    def deviation(self) -> float | None:
        """How far the count is from the prediction, as a share of it; above 0 where it is more.

        None where it is told too coarsely to say.
        """
        if not self.predicted or self.resolution > COARSE * self.predicted:
            return None
        return self.counted / self.predicted - 1


@dataclass(frozen=True)
class Proof:
    """Predicted against counted.

    Args:
        design: the design that was proved.
        source: the events.
        table: the table that they were written to.
        kept: whether that table is still there.
        phases: what was written, phase by phase.
        reads: the declared reads.
        size: bytes on disk of a cluster; None elsewhere, or where nothing can be predicted.
        remarks: what should be known of the figures, as sentences.
    """

    design: Design
    source: Source
    table: str
    kept: bool
    phases: tuple[PhaseProof, ...]
    reads: tuple[ReadProof, ...]
    size: Sized | None
    remarks: tuple[str, ...]

    @property
    def operations(self) -> int:
        """Events that were written."""
        return sum(phase.operations for phase in self.phases)

    @property
    def difference(self) -> int:
        """|predicted - counted|, added up over the regions of all phases."""
        return sum(phase.difference for phase in self.phases)

    @property
    def unknown(self) -> int:
        """Regions of phases whose count is not known: opened anew, split or merged."""
        return sum(phase.unknown for phase in self.phases)

    @property
    def not_asked(self) -> tuple[str, ...]:
        """What was not or not wholly compared, as phrases: not asked, or its count is not known."""
        left_out = self.source.left_out
        rows = (
            (f"{counted(left_out.count, 'row')} of the sample left out: {left_out.first}",)
            if left_out.count
            else ()
        )
        return (
            *rows,
            *(f"read {one.name}: {one.why}" for one in self.reads if one.why),
        )

    @property
    def verdict(self) -> Verdict:
        """What the counts come to, the worst that was found; bytes are told beside it."""
        if self.difference or any(one.wrong for one in self.reads):
            return "different"
        if self.unknown or any(one.unknown for one in self.reads):
            return "unknown"
        return "partly" if self.not_asked else "exact"

    @property
    def is_exact(self) -> bool:
        """Whether all was asked, every count is known, and each is what was predicted."""
        return self.verdict == "exact"

    def by_region(self) -> Iterator[RegionProof]:
        """The regions over all phases; unknown if any phase of one is."""
        for places in zip(*(phase.regions for phase in self.phases), strict=True):
            last = places[-1]
            lacks = [one.why for one in places if one.counted is None]
            many = None if lacks else sum(one.counted or 0 for one in places)
            yield RegionProof(
                last.start,
                last.stop,
                last.server,
                sum(one.predicted for one in places),
                many,
                lacks[0] if lacks else "",
            )
