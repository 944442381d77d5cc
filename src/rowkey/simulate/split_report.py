"""Region boundaries of a design, chosen from its file or a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowkey.design import Design, compute_regions, list_key_prefixes
from rowkey.errors import InvalidArgument, InvalidDesign, Mistake, SampleError
from rowkey.messages import suggest_name
from rowkey.progress import ReportProgress
from rowkey.regions import SPLIT_ALGORITHMS, Boundaries, Sizing, SplitRequest
from rowkey.simulate.event_source import (
    EventSource,
    build_generated_source,
    open_recorded_source,
)
from rowkey.simulate.replay import sample_keys
from rowkey.workload import RecordedSample, SampleInput, choose_format, record_sample

MAX_SPLIT_KEYS = 1 << 20
"""Keys from which split points are taken: quantiles are exact for samples up to twice as long."""


@dataclass(frozen=True, slots=True)
class SplitReport:
    """The region boundaries of a design, with remarks on them.

    Args:
        boundaries: where regions begin.
        remarks: what should be known of them, as sentences.
        sizing: how many regions there should be and why; None for a bare algorithm.
        key_range: the lowest and the highest key from which they were computed, if from keys.
    """

    algorithm: str
    boundaries: Boundaries
    remarks: tuple[str, ...]
    sizing: Sizing | None
    key_range: tuple[bytes, bytes] | None = None


def record_design_sample(
    design: Design,
    sample: SampleInput | None,
    format_options: Mapping[str, Any] | None,
) -> RecordedSample | None:
    """Return the recorded sample of a design, which is read once for all uses.

    Args:
        sample: a file of recorded events, its recording, or a table in memory; the design's own if
            None.
        format_options: how it is read, whatever was declared; if None, as `[sample] format` says
            unless the file's name tells another format.

    Returns:
        None where no sample is given and none is declared.

    Raises:
        SampleError: the format is unknown, or its options are wrong.
    """
    chosen = design.sample_path if sample is None else sample
    if chosen is None:
        return None
    if format_options is None and isinstance(chosen, (str, Path)):
        format_options = choose_format(Path(chosen), design.sample_format, design.sample_path)
    return record_sample(chosen, format_options)


def open_source(
    design: Design,
    sample: SampleInput | None,
    format_options: Mapping[str, Any] | None,
    *,
    second_half: bool,
    seed: int,
    keeps_all_fields: bool = False,
    progress: ReportProgress | None = None,
) -> EventSource:
    """Open the recorded events of a design, or generate events without a sample.

    Args:
        sample: a file of recorded events, its recording, or a table in memory; the design's own if
            None, or events made from the file.
        format_options: how it is read, whatever was declared; if None, as `[sample] format` says
            unless the file's name tells another format.
        second_half: whether only the second half is replayed.
        seed: where randomness begins.
        keeps_all_fields: whether the events of a sample have all fields that are read; else only
            those of the key, of reads, and the time.
        progress: called with `reading`, how many events are read, and of how many; 0 if unknown.

    Raises:
        SampleError: the sample cannot be read, or is needed and missing.
    """
    recording = record_design_sample(design, sample, format_options)
    if recording is None:
        return open_generated_source(design, seed)
    return open_recorded_source(
        design,
        recording,
        second_half=second_half or design.splits.needs_sample,
        seed=seed,
        keeps_all_fields=keeps_all_fields,
        progress=progress,
    )


def open_generated_source(design: Design, seed: int) -> EventSource:
    """Return events made from a design alone; a sample that it declares is left alone.

    Args:
        seed: where randomness begins.

    Raises:
        SampleError: its region boundaries follow from a sample.
    """
    if design.splits.needs_sample:
        raise SampleError(
            "splits",
            "the split keys are computed from a sample, but no sample is given",
            "a file of recorded events",
            "Give --sample FILE, or declare [sample] path.",
        )
    return build_generated_source(design, seed)


def choose_source_splits(design: Design, source: EventSource, seed: int) -> SplitReport:
    """Choose the region boundaries of a design, from earlier events if it needs a sample.

    Raises:
        InvalidDesign: the boundaries cannot be computed.
    """
    keys: Sequence[bytes] | None = None
    if design.splits.needs_sample:
        keys = sample_keys(design, source.read_earlier_events(), MAX_SPLIT_KEYS, seed)
    sizes = source.measure_family_sizes(design)
    regions = compute_regions(design, source.facts, keys, source.row_counts, sizes)
    request = SplitRequest(
        regions=regions.requested_count, prefixes=list_key_prefixes(design.key), keys=keys
    )
    remarks = tuple(
        SPLIT_ALGORITHMS[design.splits.algorithm]().describe_regions(request, regions.boundaries)
    )
    key_range = (keys[0], keys[-1]) if keys else None
    return SplitReport(
        design.splits.algorithm, regions.boundaries, remarks, regions.sizing, key_range
    )


def choose_design_splits(
    design: Design,
    sample: SampleInput | None = None,
    *,
    format_options: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> SplitReport:
    """Choose the region boundaries that `create` uses, from the whole sample.

    Args:
        sample: a file of recorded events, its recording, or a table in memory, where boundaries
            follow from one.
        format_options: how it is read, as in `run`.
        seed: where randomness begins.

    Raises:
        SampleError: a sample is needed and missing, or cannot be read.
        InvalidDesign: they cannot be cut.
    """
    source = open_source(design, sample, format_options, second_half=False, seed=seed)
    source.first_replayed = source.total_count
    return choose_source_splits(design, source, seed)


def choose_algorithm_splits(name: str, regions: int | None) -> SplitReport:
    """Choose the region boundaries that a split algorithm gives without a design.

    Raises:
        InvalidDesign: there is no such algorithm, or it needs more than a number of regions.
    """
    algorithm_name = name.replace("-", "_")
    if algorithm_name not in SPLIT_ALGORITHMS:
        mistake = Mistake(
            "--algorithm",
            f"{name!r} is not a split algorithm",
            f"one of {', '.join(SPLIT_ALGORITHMS)}",
            suggest_name(algorithm_name, SPLIT_ALGORITHMS),
        )
        raise InvalidDesign([mistake])
    algorithm, request = SPLIT_ALGORITHMS[algorithm_name](), SplitRequest(regions=regions)
    try:
        boundaries = algorithm.build_boundaries(request)
    except InvalidArgument as refusal:
        raise InvalidDesign([refusal.mistake]) from None
    remarks = tuple(algorithm.describe_regions(request, boundaries))
    return SplitReport(algorithm_name, boundaries, remarks, None)
