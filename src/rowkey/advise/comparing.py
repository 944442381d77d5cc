"""Designs under one sample: each is replayed, weighed, asked the same reads, judged by rules."""

from __future__ import annotations

from itertools import count
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from rowkey.advise.agreeing import scale_of
from rowkey.advise.comparison import Compared, Comparison
from rowkey.advise.measuring import measures_of, weights_of
from rowkey.advise.weighing import Weight, encode_us, opened
from rowkey.errors import DeclarationError, Incomparable, Mistake, SampleError, counted
from rowkey.lint import check, look
from rowkey.open_file_limit import explains_shortage
from rowkey.simulate import run_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from rowkey.advise.agreeing import Scale
    from rowkey.design import Design
    from rowkey.simulate import Simulation, Source

FEWEST_DESIGNS, MOST_DESIGNS = 2, 8
"""A design a column: more are no table that a person reads."""


@explains_shortage
def compare(
    designs: Sequence[Design],
    sample: str | Path | None = None,
    *,
    names: Sequence[str] | None = None,
    format_words: Mapping[str, Any] | None = None,
    second_half: bool = False,
    seed: int = 0,
    clock: Callable[[], float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare designs by a recorded sample, measure by measure.

    All are replayed the same events on the same servers and asked every read that any of them
    declares. Where the boundaries of one follow from the sample, they are from its first half, and
    all are judged by the second. Which is better is said of each measure; there is no score.

    Args:
        designs: two to eight, for the same use: with the same servers, the same field for the time.
        sample: a file of recorded events; that which all declare if None.
        names: what each is called; its table if None. Of equal names the second is called `A#2`.
        format_words: how the sample is read; as the designs declare if None, or as its name tells.
        second_half: whether only the second half is replayed where no boundaries follow from the
            first.
        seed: where randomness begins: the same seed gives the same figures, but for times.
        clock: gives seconds, as `time.perf_counter` does; without one, making keys is not timed.
        progress: told how many replays of an event are done, and of how many.

    Raises:
        Incomparable: with everything that keeps them from standing on one scale, or does not fit
            the sample.

    Cost: for each design about 2 µs an event.
    """
    named = list(zip(_names(designs, names), designs, strict=True))
    mistakes: list[Mistake] = []
    if not FEWEST_DESIGNS <= len(named) <= MOST_DESIGNS:
        what = f"{len(named)} given"
        raise Incomparable([Mistake("designs", what, f"{FEWEST_DESIGNS}..{MOST_DESIGNS}")])
    scale = scale_of(named, sample, format_words, mistakes, second_half=second_half)
    trials = [_Trial(name, design, scale, seed) for name, design in named]
    for trial in trials:
        trial.open(mistakes)
    _check_events(trials, mistakes)
    if mistakes:
        raise Incomparable(mistakes)
    for number, trial in enumerate(trials):
        trial.replay(_told(progress, number, len(trials)), mistakes)
    if mistakes:
        raise Incomparable(mistakes)
    return _concluded(trials, scale, seed, clock)


def _names(designs: Sequence[Design], names: Sequence[str] | None) -> list[str]:
    if names is not None and len(names) != len(designs):
        what = f"{len(names)} for {len(designs)} designs"
        raise Incomparable([Mistake("names", what, "a name for each design")])
    return _apart([design.table for design in designs] if names is None else names)


def _apart(names: Iterable[str]) -> list[str]:
    """Names that differ: of equal ones all but the first get a number.

    >>> _apart(["a.toml", "a.toml", "a.toml#2", "a.toml"])
    ['a.toml', 'a.toml#2', 'a.toml#2#2', 'a.toml#3']
    """
    apart: list[str] = []
    for name in names:
        tried = (f"{name}#{number}" for number in count(2))
        apart.append(name if name not in apart else next(n for n in tried if n not in apart))
    return apart


class _Trial:
    """One design on its way through a comparison.

    Args:
        name: what it is called.
        declared: the design.
        scale: what is the same for all.
        seed: where randomness begins.
    """

    def __init__(self, name: str, declared: Design, scale: Scale, seed: int) -> None:
        self.name = name
        self.declared = declared
        self.scale = scale
        self.seed = seed
        self.used = declared
        self.source: Source | None = None
        self.is_whole = False
        self.simulation: Simulation | None = None

    def open(self, mistakes: list[Mistake]) -> None:
        """Take the reads of the scale, and look at the sample once."""
        self.used, unfit = self.scale.fitted(self.declared)
        mistakes += [self._own(mistake) for mistake in unfit]
        if self.scale.path is None:
            return
        try:
            self.source, self.is_whole = opened(self.used, self.scale, self.seed)
        except SampleError as problem:
            mistakes.append(self._own(problem.mistake))

    def replay(self, progress: Callable[[int, int], None] | None, mistakes: list[Mistake]) -> None:
        """Replay the sample on the design."""
        assert self.source is not None
        try:
            self.simulation = run_on(self.used, self.source, seed=self.seed, progress=progress)
        except DeclarationError as problem:
            mistakes += [self._own(mistake) for mistake in problem.mistakes]

    def _own(self, mistake: Mistake) -> Mistake:
        path = f"{self.name}: {mistake.path}" if mistake.path else self.name
        return Mistake(path, mistake.what, mistake.allowed, mistake.remedy)

    def weight(self) -> Weight:
        """Its bytes."""
        assert self.source is not None
        return Weight(self.used, self.source, is_whole=self.is_whole, seed=self.seed)

    def compared(self, label: str, weight: Weight, us: float | None, *, measured: bool) -> Compared:
        """The design with all that was found."""
        assert self.simulation is not None
        assert self.scale.path is not None
        seen = look(self.declared, self.scale.path, self.scale.format_words, seed=self.seed)
        return Compared(
            label,
            self.name,
            self.declared,
            self.simulation,
            check(self.declared, seen),
            weight.key_bytes,
            weight.event_bytes(measured=measured),
            measured,
            us,
        )


def _check_events(trials: Sequence[_Trial], mistakes: list[Mistake]) -> None:
    """Note designs that can take fewer events of the sample than others do."""
    opened_ones = [trial for trial in trials if trial.source is not None]
    most = max((trial.source.total for trial in opened_ones if trial.source), default=0)
    for trial in opened_ones:
        assert trial.source is not None
        fewer = most - trial.source.total
        if fewer:
            is_ = "is" if fewer == 1 else "are"
            what = f"{counted(fewer, 'event')} that others take {is_} none of this design"
            first = trial.source.left_out.first
            remedy = f"The first that it leaves out: {first}." if first else ""
            mistakes.append(Mistake(f"{trial.name}: sample", what, counted(most, "event"), remedy))


def _told(
    progress: Callable[[int, int], None] | None, number: int, count: int
) -> Callable[[int, int], None] | None:
    """Progress of one design as a part of that of all."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, count * total)


def _concluded(
    trials: Sequence[_Trial], scale: Scale, seed: int, clock: Callable[[], float] | None
) -> Comparison:
    """Everything that follows once all designs are replayed."""
    assert scale.path is not None
    weights = [trial.weight() for trial in trials]
    measured = all(weight.is_measured for weight in weights)
    times = encode_us(weights, clock)
    designs = tuple(
        trial.compared(label, weight, us, measured=measured)
        for trial, label, weight, us in zip(trials, ascii_uppercase, weights, times, strict=False)
    )
    source = designs[0].simulation.source
    shares, has_rates = weights_of(scale.reads)
    return Comparison(
        scale.path,
        source.total,
        source.first,
        scale.servers,
        scale.capacity,
        designs,
        tuple(measures_of(designs, scale)),
        scale.reads,
        shares,
        has_rates,
        seed,
    )
