"""Runs a simulation of a design under a workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rowkey.design import Design, find_serving_companion, is_index
from rowkey.messages import Message
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import Progress, ReportProgress
from rowkey.simulate.event_source import REPLAYING, EventSource
from rowkey.simulate.replay import Replay
from rowkey.simulate.simulation import Simulation
from rowkey.simulate.split_report import SplitReport, choose_source_splits, open_source
from rowkey.workload import EventBatch, SampleInput


def run(
    design: Design,
    sample: SampleInput | None = None,
    *,
    format_options: Mapping[str, Any] | None = None,
    second_half: bool = False,
    seed: int = 0,
    progress: ReportProgress | None = None,
) -> Simulation:
    """Simulate a design with a recorded sample, or with events generated from its file.

    Where the boundaries follow from the sample, they are quantiles of its first half and only its
    second half is replayed, because no design may know its future.

    Args:
        sample: a file of recorded events, its recording, or a table of them: a pandas or polars
            DataFrame, a pyarrow Table or reader, a DuckDB relation. If None, the design's own
            `[sample]`, and events made from the file if it has none.
        format_options: how a file is read, whatever the design says. If None, the design's
            `[sample] format` holds for another file too, unless that file's name tells another
            kind; where nothing is declared the name tells it.
        second_half: replay only the second half, so that designs are compared on equal events.
        seed: where randomness begins: the same seed gives the same result.
        progress: called with how many events are read, and then how many are replayed.

    Raises:
        SampleError: the sample cannot be read or does not fit, or is needed and missing.
        InvalidDesign: the boundaries cannot be cut.

    Cost: 30 to 300 ns an event; memory does not grow with their number.
    """
    source = open_source(
        design, sample, format_options, second_half=second_half, seed=seed, progress=progress
    )
    return run_on_source(design, source, seed=seed, progress=progress)


@explain_shortage
def run_on_source(
    design: Design,
    source: EventSource,
    *,
    seed: int = 0,
    progress: ReportProgress | None = None,
) -> Simulation:
    """Simulate a design with the events that `open_source` opened for it.

    Args:
        seed: where randomness begins, as it was given to `open_source`.
        progress: called with how many events are read, and then how many are replayed.

    Raises:
        SampleError: the sample has no event with a row key.
        InvalidDesign: the boundaries cannot be cut.

    Cost: as `run`, without the pass that reads the events.
    """
    part = start(design, source, seed=seed)
    for events in source.read_replayed_events():
        part.add(events)
        if progress is not None:
            progress(Progress(REPLAYING, part.replay.operation_count, source.replayed_count))
    return part.result()


def start(
    design: Design, source: EventSource, *, seed: int = 0, first_event: int = 0
) -> PartialSimulation:
    """Start a simulation to which events are added batch by batch.

    The parts of one source may be simulated separately, each begun with the number of its first
    event, and merged: the figures are those of one run.

    Args:
        source: all events, as `open_source` gives them.
        seed: where randomness begins, as it was given to `open_source`.
        first_event: the number of the first event that will be added, among those replayed.

    Raises:
        SampleError: the sample has no event with a row key.
        InvalidDesign: the boundaries cannot be cut.
    """
    source.check_events()
    own = design.keep_own_reads(source.facts)
    if own is not design:
        names = {read.name for read in own.reads}
        served = ", ".join(read.name for read in design.reads if read.name not in names)
        message = Message(
            "assumption.companion_reads",
            "these reads are served by a companion table and judged by its design: {reads}",
            reads=served,
        )
        source.assumptions.append(message)
        uncounted = [
            read.name
            for read in design.reads
            if (companion := find_serving_companion(design, read, source.facts))
            and is_index(design, design.companions[companion])
            and f"rows of {read.name}" not in names
        ]
        if uncounted:
            message = Message(
                "assumption.index_gets",
                "the gets of this table that follow from an index are not counted for these reads, "
                "whose limit or rate is not declared, or which test fields that the index does not "
                "have, or sort its rows: {reads}",
                reads=", ".join(uncounted),
            )
            source.assumptions.append(message)
    design = own
    encoded = source.assign_codes(design)
    split_report = choose_source_splits(encoded, source, seed)
    replay = Replay(encoded, split_report.boundaries, source.replayed_count, seed, first_event)
    return PartialSimulation(design, source, split_report, replay)


@dataclass(frozen=True, slots=True)
class PartialSimulation:
    """A simulation in progress, to which events are added batch by batch.

    Args:
        source: all events.
        split_report: where the regions begin.
        replay: the events so far, counted.
    """

    design: Design
    source: EventSource
    split_report: SplitReport
    replay: Replay

    def add(self, events: EventBatch) -> None:
        """Replay the next events."""
        self.replay.add(events)

    def merge(self, later: PartialSimulation) -> None:
        """Add the counts of a later part of the same events.

        Raises:
            InvalidArgument: it is no later part.
        """
        self.replay.merge(later.replay)

    def result(self) -> Simulation:
        """Return the result of the simulation for the events added so far."""
        return Simulation(
            self.design, self.source, self.split_report, self.replay, self.replay.seed
        )
