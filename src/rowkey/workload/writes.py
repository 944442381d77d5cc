"""How rows come in, bound to the fields of a design."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, Refused, did_you_mean
from rowkey.schema import (
    Call,
    FieldRef,
    WriteWords,
    parse_call,
    read_duration,
    read_rate,
)
from rowkey.workload.draws import KINDS as DRAWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rowkey.keys import Field
    from rowkey.workload.contract import Draw

DEFAULT_RATE = 5_000.0
DEFAULT_LASTING_MS = 600_000


@dataclass(frozen=True, slots=True)
class Arrival:
    """How rows come in.

    Args:
        says: what it means, for the reference.
        goes_on: whether the time of events goes on with the clock.
    """

    says: str
    goes_on: bool


ARRIVALS = {
    "clock": Arrival("time moves with the clock, other fields are drawn", goes_on=True),
    "random": Arrival("time too is drawn, as when old data is loaded in no order", goes_on=False),
    "sequential": Arrival("other fields count up with the clock", goes_on=True),
    "per": Arrival("each value of a field sends one event a period: per(host)", goes_on=True),
    "bulk_sorted": Arrival("an import in the order of the row keys", goes_on=False),
}
"""How rows may come in, by name."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time in which more events come.

    Args:
        start_ms: when it begins, after the start.
        stop_ms: when it ends.
        times: how many times the rate.
    """

    start_ms: int
    stop_ms: int
    times: float


@dataclass(frozen=True, slots=True)
class Writes:
    """How rows come in.

    Args:
        arrival: one of `ARRIVALS`.
        entity: the field of arrival per(field).
        rate: events a second, or None if it was not declared; never beside a period.
        time: the field that holds an event's time, or None.
        sort: whether a sample is sorted by time before it is replayed.
        period_ms: time between two events of an entity, for arrival per(field); without it the
            entities take turns at the rate.
        lasting_ms: how long a generated workload lasts.
        late_share: share of events that arrive late.
        late_ms: the longest delay.
        bursts: stretches in which more events come.
        draws: how the values of fields are drawn, by name, where that was declared.
    """

    arrival: str
    entity: str | None
    rate: float | None
    time: Field | None
    sort: bool
    period_ms: int | None
    lasting_ms: int
    late_share: float
    late_ms: int
    bursts: tuple[Stretch, ...]
    draws: Mapping[str, Draw]

    @property
    def goes_on(self) -> bool:
        """Whether the time of events goes on with the clock."""
        return ARRIVALS[self.arrival].goes_on


def bind_writes(words: WriteWords, fields: Mapping[str, Field], mistakes: Mistakes) -> Writes:
    """How rows come in, with what is wrong noted below `writes` and `fields`.

    Args:
        words: what was declared.
        fields: the bound fields, by name.
        mistakes: where what is wrong is noted.
    """
    note = _Notes(mistakes)
    arrival, entity = _arrival(words, fields, mistakes)
    late = words.late
    period = note.read("writes.period", words.period, _milliseconds)
    if period is not None and arrival != "per":
        mistakes.add("writes.period", f"arrival {arrival} has no period", 'arrival = "per(field)"')
    if entity is not None:
        _check_per(entity, words, fields, mistakes)
    return Writes(
        arrival=arrival,
        entity=entity,
        rate=note.read("writes.rate", words.rate, _positive_rate),
        time=_time(words, fields, mistakes),
        sort=words.sort,
        period_ms=period,
        lasting_ms=note.read("writes.for", words.lasting, _milliseconds) or DEFAULT_LASTING_MS,
        late_share=late.share if late else 0.0,
        late_ms=(note.read("writes.late.upto", late.upto, _milliseconds) or 0) if late else 0,
        bursts=_bursts(words, note),
        draws=_draws(fields, mistakes),
    )


class _Notes:
    """Reads texts and notes what is refused."""

    def __init__(self, mistakes: Mistakes) -> None:
        self.mistakes = mistakes

    def read(self, path: str, text: str | None, parse: Callable[[str], Any]) -> Any:
        """What a parser makes of a text; None if there is no text or it was refused."""
        if text is None:
            return None
        try:
            return parse(text)
        except Refused as refusal:
            self.mistakes.refused(path, refusal)
            return None


def _milliseconds(text: str) -> int:
    length = read_duration(text).nanoseconds // 1_000_000
    if not 1 <= length <= 10**13:
        raise Refused("", f"{text} is out of range", "1ms to 100,000d")
    return length


def _positive_rate(text: str) -> float:
    rate = read_rate(text)
    if rate <= 0:
        raise Refused("", f"{text} is no rate", "above 0")
    return rate


def _arrival(
    words: WriteWords, fields: Mapping[str, Field], mistakes: Mistakes
) -> tuple[str, str | None]:
    known = "clock, random, sequential, per(field), bulk_sorted"
    path = "writes.arrival"
    try:
        term = parse_call(words.arrival)
    except Refused as refusal:
        mistakes.refused(path, refusal)
        return "clock", None
    if isinstance(term, FieldRef):
        if term.name in ARRIVALS and term.name != "per" and not term.encoding:
            return term.name, None
        mistakes.add(
            path, f"{words.arrival!r} is no arrival", known, did_you_mean(term.name, ARRIVALS)
        )
        return "clock", None
    return _per(term, fields, path, mistakes)


def _per(
    term: Call, fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> tuple[str, str | None]:
    entity = term.terms[0] if len(term.terms) == 1 else None
    if term.kind != "per" or not isinstance(entity, FieldRef) or term.scalars or term.options:
        mistakes.add(path, f"{term} is no arrival", "clock, random, sequential, per(field), …")
        return "clock", None
    if entity.name not in fields:
        remedy = did_you_mean(entity.name, fields)
        mistakes.add(
            path, f"there is no field {entity.name!r}", ", ".join(list(fields)[:12]), remedy
        )
        return "clock", None
    return "per", entity.name


def _check_per(
    entity: str, words: WriteWords, fields: Mapping[str, Field], mistakes: Mistakes
) -> None:
    """Note what is declared beside per(field) though it follows from it."""
    if words.period is not None and words.rate is not None:
        mistakes.add(
            "writes.rate",
            f"one event of each {entity} in {words.period} is a rate already",
            "a period or a rate",
            "Leave one of them out.",
        )
    if fields[entity].words.draw is not None:
        mistakes.add(
            f"fields.{entity}.draw",
            f"arrival per({entity}) brings each value once a period, none more often",
            "no draw",
            'Leave it out, or write arrival = "clock" for values that come as the draw says.',
        )


def _time(words: WriteWords, fields: Mapping[str, Field], mistakes: Mistakes) -> Field | None:
    """The field of an event's time: the declared one, or the only one there is."""
    times = {name: field for name, field in fields.items() if field.type.tick is not None}
    if words.time is not None:
        if words.time not in times:
            known = ", ".join(times) or "a timestamp or a date"
            mistakes.add("writes.time", f"{words.time!r} is no field with a time", known)
        return times.get(words.time)
    if len(times) > 1:
        mistakes.add(
            "writes.time",
            f"{len(times)} fields hold a time and none is named",
            ", ".join(times),
            f'Write time = "{next(iter(times))}" under [writes].',
        )
    return next(iter(times.values()), None)


def _bursts(words: WriteWords, note: _Notes) -> tuple[Stretch, ...]:
    found = []
    for index, burst in enumerate(words.bursts):
        path = f"writes.bursts[{index}]"
        start = note.read(f"{path}.at", burst.at, lambda t: read_duration(t).nanoseconds // 10**6)
        length = note.read(f"{path}.for", burst.lasting, _milliseconds)
        if start is not None and length is not None:
            found.append(Stretch(start, start + length, burst.times))
    found.sort(key=lambda stretch: stretch.start_ms)
    for before, after in pairwise(found):
        if after.start_ms < before.stop_ms:
            note.mistakes.add("writes.bursts", "two bursts overlap", "one after the other")
    return tuple(found)


def _draws(fields: Mapping[str, Field], mistakes: Mistakes) -> dict[str, Draw]:
    """The declared draws of fields."""
    draws = {}
    for name, field in fields.items():
        given = field.words.draw
        if given is None:
            continue
        path = f"fields.{name}.draw"
        kind = DRAWS.get(str(given.get("kind")))
        if kind is None:
            remedy = did_you_mean(str(given.get("kind")), DRAWS)
            mistakes.add(path, f"{given.get('kind')!r} is no draw", ", ".join(DRAWS), remedy)
            continue
        try:
            draws[name] = kind(given)
        except Refused as refusal:
            mistakes.refused(path, refusal)
    return draws
