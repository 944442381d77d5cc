"""What a simulation found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.schema import SURE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from rowkey.design import Design
    from rowkey.heat import Finding, Shares, Skew
    from rowkey.regions import Boundaries, Growth
    from rowkey.schema import Facts
    from rowkey.simulate.reads import ReadResult
    from rowkey.simulate.source import Source
    from rowkey.simulate.verdict import Verdict


@dataclass(frozen=True)
class Region:
    """One region and what it took.

    Args:
        start: its first possible key; empty for the first region.
        stop: the first key behind it; empty for the last region.
        server: the server it is created on.
        writes: operations on it.
    """

    start: bytes
    stop: bytes
    server: int
    writes: int


@dataclass(frozen=True)
class Scaled:
    """The design at its declared rate, from a generator fitted to the sample.

    Args:
        rate: events a second.
        operations: events made.
        skews: the skew at each width of window.
    """

    rate: float
    operations: int
    skews: tuple[Skew, ...]


@dataclass(frozen=True)
class Simulation:
    """Where the operations of a workload land, how hot it gets, when and why.

    Args:
        design: the design.
        source: the events it was judged by.
        boundaries: where its regions begin.
        remarks: what should be known of the boundaries and of the sample, as sentences.
        regions: every region with its writes, in the order of keys.
        operations: events replayed.
        skews: the skew at 1, 10, 60 and 600 s.
        windows: how many windows of equal numbers of events there are.
        server_shares: shares of the busiest server in them.
        region_shares: shares of the busiest region in them.
        overwritten: events that wrote a row that stood already.
        overwritten_exact: whether that was counted, not estimated.
        key_bytes: mean bytes of a row key.
        event_bytes: mean bytes an event adds to a store before encoding and compression.
        heat: start of the first column in seconds since 1970, seconds of a column, and operations
            by column and region; None without times.
        reads: what each declared read costs.
        causes: why it is hot, the largest first.
        growth: what becomes of the regions by splitting; None where the rate is not declared.
        scaled: the design at its declared rate; None without a sample or a rate.
        facts: what is known of the fields.
        verdict: what it comes to.
        late: operations that came after a window of theirs had been closed, at any width.
        seed: where randomness began.
    """

    design: Design
    source: Source
    boundaries: Boundaries
    remarks: tuple[str, ...]
    regions: tuple[Region, ...]
    operations: int
    skews: tuple[Skew, ...]
    windows: int
    server_shares: Shares
    region_shares: Shares
    overwritten: int
    overwritten_exact: bool
    key_bytes: float
    event_bytes: float
    heat: tuple[int, int, np.ndarray[Any, Any]] | None
    reads: Sequence[ReadResult]
    causes: Sequence[Finding]
    growth: Growth | None
    scaled: Scaled | None
    facts: Mapping[str, Facts]
    verdict: Verdict
    late: int
    seed: int

    @property
    def is_thin(self) -> bool:
        """Whether the events are too few to tell why they lie as they do."""
        return self.operations < SURE

    @property
    def dead(self) -> int:
        """Regions that got no write."""
        return sum(1 for region in self.regions if not region.writes)
