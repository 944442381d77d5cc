"""Which events a design is judged by: a recorded sample, or events made from the file alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.errors import SampleError
from rowkey.keys import fingerprints
from rowkey.schema import SURE, Facts, RowCounts
from rowkey.simulate.keyed import Keyed
from rowkey.simulate.sorting import sorted_stream
from rowkey.workload import (
    Distinct,
    Events,
    LeftOut,
    Profile,
    Workload,
    key_pieces,
    open_sample,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rowkey.design import Design
    from rowkey.keys import Field
    from rowkey.regions import Demand

HALF = 2


@dataclass(slots=True)
class Source:
    """Events to judge a design by.

    Args:
        kind: `sample` or `generated`.
        name: the sample's file, or an empty string.
        total: how many events there are.
        first: the number of the first event that is replayed.
        facts: what is known of the fields.
        left_out: rows of a sample that were no events.
        assumed: what was assumed for lack of a declaration, as sentences.
        stream: gives all events, anew at each call.
        counts: how many rows they are; None where nobody counted.
    """

    kind: str
    name: str
    total: int
    first: int
    facts: Mapping[str, Facts]
    stream: Any
    left_out: LeftOut = field(default_factory=LeftOut)
    assumed: list[str] = field(default_factory=list)
    counts: RowCounts | None = None

    @property
    def count(self) -> int:
        """How many events are replayed."""
        return self.total - self.first

    def demand_of(self, design: Design) -> Demand:
        """What the table of a design comes to hold and stand, as far as its events tell."""
        return design.demand(self.facts, counts=self.counts)

    def earlier(self) -> Iterator[Events]:
        """The events before those that are replayed."""
        yield from _between(self.stream(), 0, self.first)

    def replayed(self) -> Iterator[Events]:
        """The events that are replayed."""
        yield from _between(self.stream(), self.first, self.total)


def _between(stream: Iterator[Events], start: int, stop: int) -> Iterator[Events]:
    """The events from one number up to another."""
    at = 0
    for events in stream:
        low, high = max(start - at, 0), min(stop - at, len(events))
        if low < high:
            yield events.slice(low, high)
        at += len(events)
        if at >= stop:
            return


def generated(design: Design, seed: int) -> Source:
    """Events made from the design file.

    Args:
        design: the design.
        seed: the same seed makes the same events.
    """
    workload = Workload(design.writes, design.wanted_fields(), seed, design.key)
    facts = {}
    for name, declared in design.wanted_fields().items():
        if declared is not design.writes.time:
            distinct = workload.distinct(declared)
            draw = design.writes.draws.get(name)
            heaviest: tuple[tuple[object, float], ...] = ()
            if draw is not None:
                share = draw.heaviest_share(distinct, workload.count)
                heaviest = ((draw.heaviest_value(workload.domain(declared)), share),)
            mean = declared.words.mean_bytes
            facts[name] = Facts(distinct=distinct, heaviest=heaviest, bytes_mean=mean)
    facts = _with_declared(design, facts)
    return Source(
        "generated", "", workload.count, 0, facts, workload.events, assumed=workload.assumed
    )


def recorded(
    design: Design,
    path: Path,
    format_words: Mapping[str, Any] | None,
    *,
    second_half: bool,
    seed: int,
    fields: Mapping[str, Field] | None = None,
) -> Source:
    """Events of a sample, looked at once to count and profile them.

    Args:
        design: the design.
        path: the sample's file.
        format_words: how it is read; told by its name if None.
        second_half: whether only the second half is replayed.
        seed: where the profile's sample begins.
        fields: what is read of each event, as far as the file has it; if None, what judging needs.

    Raises:
        SampleError: the sample cannot be read, or does not have the design's fields.
    """
    wanted = design.wanted_fields() if fields is None else fields
    sample = open_sample(path, wanted, design.writes.time, format_words)
    if fields is not None:
        sample = sample.fitted()
    keyed = Keyed(design.key, sample)
    profile, rows = Profile(sample.fields, seed), _Rows(design)
    for events in keyed.events():
        profile.add(events)
        rows.add(events)
    if not profile.count:
        raise SampleError(
            str(path), "no row has a key", "a key of 1..32,767 bytes", sample.left_out.first
        )
    first = profile.count // HALF if second_half else 0
    facts = profile.facts()
    if fields is None and design.cut.needs_count:
        facts = {**_others(design, path, format_words, seed), **facts}
    facts = _with_declared(design, facts)
    stream = sorted_stream(keyed.events) if design.writes.sort else keyed.events
    return Source(
        "sample",
        str(path),
        profile.count,
        first,
        facts,
        stream,
        left_out=sample.left_out,
        assumed=sample.assumed,
        counts=rows.counts,
    )


def _others(
    design: Design, path: Path, format_words: Mapping[str, Any] | None, seed: int
) -> dict[str, Facts]:
    """What a sample shows of the fields that judging does not need: their bytes count regions.

    Cost: a pass over the sample.
    """
    wanted = design.wanted_fields()
    others = {name: field for name, field in design.fields.items() if name not in wanted}
    if not others:
        return {}
    try:
        sample = open_sample(path, others, None, format_words).fitted()
    except SampleError:
        return {}
    profile = Profile(sample.fields, seed)
    for events in sample.events():
        profile.add(events)
    return dict(profile.facts())


class _Rows:
    """Counts the rows of a sample, where the size of the table follows from them."""

    def __init__(self, design: Design) -> None:
        self._key = design.key
        self._found = Distinct()
        # Without a rate nobody knows how many events are to come.
        matters = design.writes.rate is not None and not design.layout.shares_rows
        self._is_counted = matters and not design.key.is_coded

    def add(self, events: Events) -> None:
        """Look at the next events, which all have a key."""
        if self._is_counted:
            self._found.add(fingerprints(key_pieces(self._key, events.rows)))

    @property
    def counts(self) -> RowCounts | None:
        """How many there are."""
        is_enough = self._is_counted and self._found.seen >= SURE
        return self._found.rows if is_enough else None


def _with_declared(design: Design, seen: Mapping[str, Facts]) -> dict[str, Facts]:
    """What a sample showed; where it showed nothing, what was declared."""
    facts = dict(seen)
    for name, declared in design.fields.items():
        words = declared.words
        if name not in facts and (words.distinct or words.mean_bytes):
            facts[name] = Facts(distinct=words.distinct, bytes_mean=words.mean_bytes)
    return facts
