"""Compares designs on one sample: replays, storage sizes, the same reads and the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from string import ascii_uppercase
from typing import Any

from rowkey.advise.comparison import ComparedDesign, Comparison
from rowkey.advise.comparison_setup import ComparisonSetup, build_setup
from rowkey.advise.judgement import JudgedDesign
from rowkey.advise.measures import build_measures, compute_read_weights
from rowkey.advise.storage_size import StorageSize, time_encoding
from rowkey.design import Design
from rowkey.errors import IncomparableDesigns, InvalidDesign, Mistake, SampleError
from rowkey.messages import pluralize
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import ReportProgress
from rowkey.simulate import EventSource, Simulation, open_source, run_on_source
from rowkey.workload import SampleInput

MIN_DESIGNS, MAX_DESIGNS = 2, 8
"""A design a column: more are no table that a person reads."""


@explain_shortage
def compare_designs(
    designs: Sequence[Design],
    sample: SampleInput | None = None,
    *,
    names: Sequence[str] | None = None,
    format_options: Mapping[str, Any] | None = None,
    second_half: bool = False,
    seed: int = 0,
    clock: Callable[[], float] | None = None,
    progress: ReportProgress | None = None,
) -> Comparison:
    """Compare designs by a recorded sample, measure by measure.

    For each design, the same events are replayed on the same servers, and every read that any
    design declares is measured. If the boundaries of one follow from the sample, they are from its
    first half, and all are judged by the second. Each measure has its own best designs; there is no
    overall score.

    Args:
        designs: two to eight, for the same use: with the same servers, the same field for the time.
        sample: a file of recorded events, its recording, or a table of them: a pandas or polars
            DataFrame, a pyarrow Table or reader, a DuckDB relation; if None, the file that all
            declare.
        names: the name of each design; its table if None. The second of equal names is `A#2`.
        format_options: how the sample is read; if None, as the designs declare or its file name
            suggests.
        second_half: whether only the second half is replayed where no boundaries follow from the
            first.
        seed: the random seed: the same seed gives the same figures, except for times.
        clock: gives seconds, as `time.perf_counter` does; without one, making keys is not timed.
        progress: called with how many events of all designs are read, and then are replayed.

    Raises:
        IncomparableDesigns: with every difference between the designs that prevents a comparison,
            and everything that does not fit the sample.

    Cost: for each design about 2 µs an event.
    """
    named_designs = list(zip(_name_designs(designs, names), designs, strict=True))
    mistakes: list[Mistake] = []
    if not MIN_DESIGNS <= len(named_designs) <= MAX_DESIGNS:
        what = f"{pluralize(len(named_designs), 'design')} cannot be compared"
        raise IncomparableDesigns(
            [Mistake("designs", what, f"{MIN_DESIGNS} to {MAX_DESIGNS} designs")]
        )
    scale = build_setup(named_designs, sample, format_options, mistakes, second_half=second_half)
    trials = [_DesignTrial(name, design, scale, seed) for name, design in named_designs]
    for number, trial in enumerate(trials):
        trial.open_sample(_scale_progress(progress, number, len(trials)), mistakes)
    _check_events(trials, mistakes)
    if mistakes:
        raise IncomparableDesigns(mistakes)
    for number, trial in enumerate(trials):
        trial.replay_sample(_scale_progress(progress, number, len(trials)), mistakes)
    if mistakes:
        raise IncomparableDesigns(mistakes)
    return _build_comparison(trials, scale, seed, clock)


def _name_designs(designs: Sequence[Design], names: Sequence[str] | None) -> list[str]:
    """Return the label of each design: the given name, or the name of its table.

    Raises:
        IncomparableDesigns: there are more or fewer names than designs.
    """
    if names is not None and len(names) != len(designs):
        what = f"{pluralize(len(names), 'name')} cannot label {pluralize(len(designs), 'design')}"
        raise IncomparableDesigns([Mistake("names", what, "one name for each design")])
    return _make_unique([design.table for design in designs] if names is None else names)


def _make_unique(names: Iterable[str]) -> list[str]:
    """Return names with numbers added, so that all of them differ.

    >>> _make_unique(["a.toml", "a.toml", "a.toml#2", "a.toml"])
    ['a.toml', 'a.toml#2', 'a.toml#2#2', 'a.toml#3']
    """
    unique_names: list[str] = []
    for name in names:
        candidates = (f"{name}#{number}" for number in count(2))
        unique_names.append(
            name
            if name not in unique_names
            else next(one for one in candidates if one not in unique_names)
        )
    return unique_names


class _DesignTrial:
    """One design while it is compared: its sample, its replay and its stored bytes.

    Args:
        name: what it is called.
        declared_design: the design.
        setup: what is the same for all.
        seed: where randomness begins.
    """

    def __init__(
        self, name: str, declared_design: Design, setup: ComparisonSetup, seed: int
    ) -> None:
        self.name = name
        self.declared_design = declared_design
        self.setup = setup
        self.seed = seed
        self.used_design = declared_design
        self.source: EventSource | None = None
        self.simulation: Simulation | None = None

    def open_sample(self, progress: ReportProgress | None, mistakes: list[Mistake]) -> None:
        """Open the sample file for this design and the reads that all designs share."""
        self.used_design, unfit = self.setup.adapt_design(self.declared_design)
        mistakes += [self._label_mistake(mistake) for mistake in unfit]
        if self.setup.recording is None:
            return
        try:
            self.source = open_source(
                self.used_design,
                self.setup.recording,
                None,
                second_half=self.setup.second_half,
                seed=self.seed,
                keeps_all_fields=True,
                progress=progress,
            )
            self.source.check_events()
        except SampleError as problem:
            mistakes.append(self._label_mistake(problem.mistake))

    def replay_sample(self, progress: ReportProgress | None, mistakes: list[Mistake]) -> None:
        """Replay the sample on the design; collect mistakes."""
        assert self.source is not None
        try:
            self.simulation = run_on_source(
                self.used_design, self.source, seed=self.seed, progress=progress
            )
        except InvalidDesign as problem:
            mistakes += [self._label_mistake(mistake) for mistake in problem.mistakes]

    def _label_mistake(self, mistake: Mistake) -> Mistake:
        """Return a mistake with the label of this design in front of its path."""
        path = f"{self.name}: {mistake.path}" if mistake.path else self.name
        return Mistake(path, mistake.problem, mistake.expected, mistake.remedy)

    def measure_storage(self) -> StorageSize:
        """Measure the bytes that the replayed events take when stored."""
        assert self.source is not None
        return StorageSize(self.used_design, self.source, seed=self.seed)

    def build_result(
        self, label: str, storage: StorageSize, encode_us: float | None, *, is_measured: bool
    ) -> ComparedDesign:
        """Return the compared design with all its results.

        Args:
            encode_us: microseconds to encode one row key; None if encoding was not timed.
            is_measured: whether the bytes of an event are counted rather than estimated from the
                widths of the fields.
        """
        assert self.simulation is not None
        assert self.source is not None
        judged = JudgedDesign(self.declared_design, self.setup.recording, seed=self.seed)
        judged.sample = self.source.summary
        judged.source, judged.searched_source = (
            self.source.copy_for_design(self.declared_design, keeps_all_fields=keeps_all)
            for keeps_all in (False, True)
        )
        return ComparedDesign(
            label,
            self.name,
            self.declared_design,
            self.simulation,
            judged,
            storage.key_bytes,
            storage.compute_event_bytes(is_measured=is_measured),
            is_measured,
            encode_us,
        )


def _check_events(trials: Sequence[_DesignTrial], mistakes: list[Mistake]) -> None:
    """Collect a mistake for each design that stores fewer events than the others."""
    opened_trials = [trial for trial in trials if trial.source is not None]
    max_count = max(
        (trial.source.total_count for trial in opened_trials if trial.source), default=0
    )
    for trial in opened_trials:
        assert trial.source is not None
        missing_count = max_count - trial.source.total_count
        if missing_count:
            is_ = "is" if missing_count == 1 else "are"
            what = (
                f"{pluralize(missing_count, 'event')} of the sample {is_} stored by other designs "
                "but not by this one"
            )
            first = trial.source.skipped_rows.first_problem
            reason = f"; the first event left out: {first}" if first else ""
            remedy = f"Change the design so that it can store every event{reason}."
            mistakes.append(
                Mistake(f"{trial.name}: sample", what, pluralize(max_count, "event"), remedy)
            )


def _scale_progress(
    progress: ReportProgress | None, number: int, count: int
) -> ReportProgress | None:
    """Return a callback that turns one design's progress into progress of all designs."""
    if progress is None:
        return None
    return lambda one: progress(
        replace(one, done=number * one.total + one.done, total=count * one.total)
    )


def _build_comparison(
    trials: Sequence[_DesignTrial],
    setup: ComparisonSetup,
    seed: int,
    clock: Callable[[], float] | None,
) -> Comparison:
    """Return the comparison of the designs after all replays."""
    assert setup.recording is not None
    weights = [trial.measure_storage() for trial in trials]
    is_measured = all(weight.is_measured for weight in weights)
    times = time_encoding(weights, clock)
    designs = tuple(
        trial.build_result(label, weight, us, is_measured=is_measured)
        for trial, label, weight, us in zip(trials, ascii_uppercase, weights, times, strict=False)
    )
    source = designs[0].simulation.source
    shares, has_rates = compute_read_weights(setup.reads)
    return Comparison(
        setup.recording.path,
        source.total_count,
        source.first_replayed,
        setup.cluster.servers,
        setup.cluster.capacity_per_s,
        designs,
        tuple(build_measures(designs, setup)),
        setup.reads,
        shares,
        has_rates,
        seed,
    )
