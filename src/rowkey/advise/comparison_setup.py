"""What all designs of a comparison share: the sample, its order, the servers and the reads.

Two figures can be compared only where all but the designs is the same. What differs is refused, not
averaged away: a skew of 2 on four servers is another thing than a skew of 2 on eight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistake, Mistakes, SampleError
from rowkey.plan import bind_declared_reads
from rowkey.schema import Cluster, ReadDeclaration
from rowkey.workload import RecordedSample, SampleInput, choose_format, record_sample

if TYPE_CHECKING:
    from rowkey.design import Design

NamedDesign = tuple[str, "Design"]
"""A design with what it is called."""


@dataclass(frozen=True, slots=True)
class ComparisonSetup:
    """The settings that all designs of a comparison share.

    Args:
        recording: the sample, which is read once for all designs; None where there is no single
            one.
        cluster: the servers, with the capacity and the prices that a design declares.
        reads: all reads that any design declares, by name.
        second_half: whether only the second half of the sample is replayed, because the boundaries
            of a design are from the first.
    """

    recording: RecordedSample | None
    cluster: Cluster
    reads: Mapping[str, ReadDeclaration]
    second_half: bool

    def adapt_design(self, design: Design) -> tuple[Design, list[Mistake]]:
        """Return a design with the common reads and cluster, and mistakes in its reads."""
        adapted_design, mistakes = copy(design), Mistakes()
        adapted_design.cluster = replace(self.cluster, heap_bytes=design.cluster.heap_bytes)
        adapted_design.reads = bind_declared_reads(
            list(self.reads.values()), design.fields, mistakes
        )
        names = list(self.reads)
        return adapted_design, list(
            dict.fromkeys(_relabel_read_mistake(one, names) for one in mistakes.mistakes)
        )


def build_setup(
    designs: Sequence[NamedDesign],
    sample: SampleInput | None,
    format_options: Mapping[str, Any] | None,
    mistakes: list[Mistake],
    *,
    second_half: bool = False,
) -> ComparisonSetup:
    """Return the settings that all compared designs share; collect differences as mistakes.

    Args:
        designs: each with its name; one or more.
        sample: a file, its recording, or a table in memory; that which all declare if None.
        format_options: how it is read; as they declare if None.
        mistakes: where what is in the way is noted.
        second_half: whether the second half is wanted in any case.
    """
    _note_differences(designs, mistakes, "cluster.servers", lambda design: design.cluster.servers)
    _note_differences(designs, mistakes, "writes.sort", lambda design: design.writes.is_sorted)
    _note_differences(designs, mistakes, "writes.time", _find_time_column)
    recording = _record_common_sample(designs, sample, format_options, mistakes)
    if recording is not None:
        recording.request_columns(
            field.declaration.source or name
            for _, design in designs
            for name, field in design.fields.items()
        )
    return ComparisonSetup(
        recording,
        _build_common_cluster(designs, mistakes),
        _collect_reads(designs, mistakes),
        second_half or any(design.splits.needs_sample for _, design in designs),
    )


def _record_common_sample(
    designs: Sequence[NamedDesign],
    sample: SampleInput | None,
    format_options: Mapping[str, Any] | None,
    mistakes: list[Mistake],
) -> RecordedSample | None:
    """Record the sample that all designs share; None, with a mistake, if they differ."""
    chosen = _find_common_sample(designs, mistakes) if sample is None else sample
    if chosen is None:
        return None
    if isinstance(chosen, (str, Path)):
        format_options = format_options or _find_common_format(designs, Path(chosen), mistakes)
    try:
        return record_sample(chosen, format_options)
    except SampleError as problem:
        mistakes.append(problem.mistake)
        return None


def _find_common_sample(designs: Sequence[NamedDesign], mistakes: list[Mistake]) -> Path | None:
    """Return the path of the sample that all designs declare; collect mistakes."""
    remedy = "Give --sample FILE, which is used for all designs."
    for name, design in designs:
        if design.sample_path is None:
            allowed = "a file of recorded events"
            mistakes.append(
                Mistake(f"{name}: sample", "the design declares no sample", allowed, remedy)
            )
    _note_differences(
        [(name, design) for name, design in designs if design.sample_path is not None],
        mistakes,
        "sample.path",
        lambda design: str(design.sample_path),
        remedy,
    )
    return designs[0][1].sample_path


def _find_common_format(
    designs: Sequence[NamedDesign], path: Path, mistakes: list[Mistake]
) -> Mapping[str, Any] | None:
    """Return the sample format that the designs declare; None if none declares it."""
    formats = {
        name: options
        for name, design in designs
        if (options := choose_format(path, design.sample_format, design.sample_path)) is not None
    }
    declaring_designs = [(name, design) for name, design in designs if name in formats]
    _note_differences(
        declaring_designs, mistakes, "sample.format", lambda design: design.sample_format
    )
    return next(iter(formats.values()), None)


_COMMON_CLUSTER_OPTIONS = {
    "capacity_per_s": "capacity",
    "price_per_server_hour": "price_per_server_hour",
    "price_per_gib_month": "price_per_gib_month",
}
"""Attributes of a cluster that are the same for all designs, with their names in design files."""


def _build_common_cluster(designs: Sequence[NamedDesign], mistakes: list[Mistake]) -> Cluster:
    """Return the cluster with what any of the designs declares of it; collect differences."""
    cluster = Cluster(designs[0][1].cluster.servers)
    for attribute, option in _COMMON_CLUSTER_OPTIONS.items():
        get_value = attrgetter(f"cluster.{attribute}")
        declaring_designs = [entry for entry in designs if get_value(entry[1]) is not None]
        _note_differences(declaring_designs, mistakes, f"cluster.{option}", get_value)
        if declaring_designs:
            cluster = replace(cluster, **{attribute: get_value(declaring_designs[0][1])})
    return cluster


def _collect_reads(
    designs: Sequence[NamedDesign], mistakes: list[Mistake]
) -> dict[str, ReadDeclaration]:
    """Return the reads of all designs by name; collect mistakes where one name differs."""
    reads: dict[str, tuple[str, ReadDeclaration]] = {}
    for name, design in designs:
        for read in design.declaration.reads:
            first_name, first_read = reads.setdefault(read.name, (name, read))
            for option, value in read.model_dump().items():
                first_value = getattr(first_read, option)
                if value != first_value:
                    what = f"{option} is {value!r}, but {first_value!r} in {first_name}"
                    allowed = "the same read under the same name"
                    remedy = "Rename one of the two reads, or make them equal."
                    path = f"{name}: read {read.name}"
                    mistakes.append(Mistake(path, what, allowed, remedy))
    return {name: read for name, (_, read) in reads.items()}


def _relabel_read_mistake(mistake: Mistake, names: Sequence[str]) -> Mistake:
    """Return a mistake with its read's name in place of the read's index."""
    number = int(mistake.path.partition("[")[2].partition("]")[0])
    word = mistake.path.rpartition(".")[2]
    remedy = mistake.remedy or (
        "All reads run on every compared design, so declare the fields that this read tests."
    )
    return Mistake(f"read {names[number]}, {word}", mistake.problem, mistake.expected, remedy)


def _find_time_column(design: Design) -> str | None:
    """Return the name of the sample column that holds the event time."""
    time = design.writes.time
    return None if time is None else time.declaration.source or time.name


def _note_differences(
    designs: Sequence[NamedDesign],
    mistakes: list[Mistake],
    path: str,
    value: Callable[[Design], object],
    remedy: str = "",
) -> None:
    """Collect a mistake for each design whose value differs from the first design's."""
    mistakes += _find_differences(
        designs, path, value, remedy or "Set the same value in all designs that are compared."
    )


def _find_differences(
    designs: Sequence[NamedDesign], path: str, value: Callable[[Design], object], remedy: str
) -> Iterator[Mistake]:
    """Yield a mistake for each design whose value differs from the first design's."""
    for name, design in designs[1:]:
        first, expected = designs[0][0], value(designs[0][1])
        actual = value(design)
        if actual != expected:
            yield Mistake(
                f"{name}: {path}",
                f"the value is {_format_value(actual)}, but {_format_value(expected)} in {first}",
                remedy=remedy,
            )


def _format_value(value: object) -> str:
    """Return a value as a message shows it, with `none` for None."""
    return "none" if value is None else str(value)
