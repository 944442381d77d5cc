"""The write pattern of a design: how rows arrive, bound to its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidArgument, Mistakes
from rowkey.messages import suggest_name
from rowkey.schema import (
    FieldRef,
    FunctionCall,
    WriteDeclaration,
    parse_call,
    parse_duration,
    parse_rate,
)
from rowkey.workload.contract import Distribution
from rowkey.workload.distributions import DISTRIBUTIONS

if TYPE_CHECKING:
    from rowkey.keys import Field

DEFAULT_EVENTS_PER_S = 5_000.0
DEFAULT_DURATION_MS = 600_000


@dataclass(frozen=True, slots=True)
class ArrivalMode:
    """One order in which events arrive, such as `clock` or `random`.

    Args:
        meaning: what it means, for the reference.
        has_advancing_time: whether the time of events goes on with the clock.
    """

    meaning: str
    has_advancing_time: bool


ARRIVAL_MODES = {
    "clock": ArrivalMode(
        "time moves with the clock, other fields are drawn", has_advancing_time=True
    ),
    "random": ArrivalMode(
        "time too is drawn, as when old data is loaded in no order", has_advancing_time=False
    ),
    "sequential": ArrivalMode("other fields count up with the clock", has_advancing_time=True),
    "per": ArrivalMode(
        "each value of a field sends one event a period: per(host)", has_advancing_time=True
    ),
    "bulk_sorted": ArrivalMode("an import in the order of the row keys", has_advancing_time=False),
}
"""How rows may come in, by name."""


_KNOWN_ARRIVALS = "one of clock, random, sequential, per(field), bulk_sorted"


@dataclass(frozen=True, slots=True)
class BurstWindow:
    """An interval in which more events arrive.

    Args:
        start_ms: when it begins, after the start.
        stop_ms: when it ends.
        rate_factor: how many times the rate.
    """

    start_ms: int
    stop_ms: int
    rate_factor: float


@dataclass(frozen=True, slots=True)
class WritePattern:
    """The rate, the order and the times of the events that are written to a table.

    Args:
        arrival: one of `ARRIVAL_MODES`.
        entity: the field of arrival per(field).
        rate: events a second, as declared, or as often as the declared number of entities write
            in their period; else None.
        time: the field that holds an event's time, or None.
        is_sorted: whether a sample is sorted by time before it is replayed; if None, where its
            times are in no order though events arrive by the clock.
        period_ms: time between two events of an entity, for arrival per(field); without it the
            entities take turns at the rate.
        duration_ms: how long a generated workload lasts.
        is_duration_declared: whether the file says so; else a shorter time will do.
        late_share: share of events that arrive late.
        late_ms: the longest delay.
        bursts: stretches in which more events come.
        distributions: how the values of fields are drawn, by name, where that was declared.
    """

    arrival: str
    entity: str | None
    rate: float | None
    time: Field | None
    is_sorted: bool | None
    period_ms: int | None
    duration_ms: int
    is_duration_declared: bool
    late_share: float
    late_ms: int
    bursts: tuple[BurstWindow, ...]
    distributions: Mapping[str, Distribution]

    @property
    def peak_rate(self) -> float | None:
        """Return the events a second of the strongest burst; the rate without one."""
        strongest = max((burst.rate_factor for burst in self.bursts), default=1.0)
        return None if self.rate is None else self.rate * max(strongest, 1.0)

    @property
    def has_advancing_time(self) -> bool:
        """Return whether the times of events advance with the clock."""
        return ARRIVAL_MODES[self.arrival].has_advancing_time


def bind_writes(
    options: WriteDeclaration, fields: Mapping[str, Field], mistakes: Mistakes
) -> WritePattern:
    """Return the bound `[writes]` table; note its mistakes below `writes` and `fields`.

    Args:
        fields: the bound fields, by name.
        mistakes: where what is wrong is noted.
    """
    note = _OptionParser(mistakes)
    arrival, entity = _bind_arrival(options, fields, mistakes)
    late = options.late
    period = note.parse_option("writes.period", options.period, _parse_milliseconds)
    if period is not None and arrival != "per":
        mistakes.add(
            "writes.period",
            f"the arrival {arrival} has no period",
            'arrival = "per(field)"',
            "Remove period.",
        )
    if entity is not None:
        _check_per_arrival(entity, options, fields, mistakes)
    duration_ms = note.parse_option("writes.for", options.lasting, _parse_milliseconds)
    rate = note.parse_option("writes.rate", options.rate, _parse_positive_rate)
    entities = None if entity is None else fields[entity].declaration.distinct
    if rate is None and period and entities:
        rate = entities * 1_000 / period
    return WritePattern(
        arrival=arrival,
        entity=entity,
        rate=rate,
        time=_bind_time(options, fields, mistakes),
        is_sorted=options.sort,
        period_ms=period,
        duration_ms=duration_ms or DEFAULT_DURATION_MS,
        is_duration_declared=duration_ms is not None,
        late_share=late.share if late else 0.0,
        late_ms=(note.parse_option("writes.late.upto", late.upto, _parse_milliseconds) or 0)
        if late
        else 0,
        bursts=_bind_bursts(options, note),
        distributions=_bind_distributions(fields, mistakes),
    )


class _OptionParser:
    """Parses the texts of options and notes their mistakes."""

    def __init__(self, mistakes: Mistakes) -> None:
        self.mistakes = mistakes

    def parse_option(self, path: str, text: str | None, parse: Callable[[str], Any]) -> Any:
        """Return the parsed text; None if there is no text or it is wrong."""
        if text is None:
            return None
        try:
            return parse(text)
        except InvalidArgument as refusal:
            self.mistakes.add_invalid_argument(path, refusal)
            return None


def _parse_milliseconds(text: str) -> int:
    length = parse_duration(text).nanoseconds // 1_000_000
    if not 1 <= length <= 10**13:
        raise InvalidArgument("", f"{text} is out of range", "1ms to 100,000d")
    return length


def _parse_positive_rate(text: str) -> float:
    rate = parse_rate(text)
    if rate <= 0:
        raise InvalidArgument("", f"the rate {text} is zero", "more than 0")
    return rate


def _bind_arrival(
    options: WriteDeclaration, fields: Mapping[str, Field], mistakes: Mistakes
) -> tuple[str, str | None]:
    """Return the arrival mode, and the field of `per(field)` or None."""
    path = "writes.arrival"
    try:
        term = parse_call(options.arrival)
    except InvalidArgument as refusal:
        mistakes.add_invalid_argument(path, refusal)
        return "clock", None
    if isinstance(term, FieldRef):
        if term.name in ARRIVAL_MODES and term.name != "per" and not term.encoding:
            return term.name, None
        mistakes.add(
            path,
            f"{options.arrival!r} is not an arrival order",
            _KNOWN_ARRIVALS,
            suggest_name(term.name, ARRIVAL_MODES),
        )
        return "clock", None
    return _bind_per_arrival(term, fields, path, mistakes)


def _bind_per_arrival(
    term: FunctionCall, fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> tuple[str, str | None]:
    """Return the arrival `per` and its field, or `clock` where a mistake is noted."""
    entity = term.terms[0] if len(term.terms) == 1 else None
    if term.name != "per" or not isinstance(entity, FieldRef) or term.scalars or term.options:
        mistakes.add(path, f"{term} is not an arrival order", _KNOWN_ARRIVALS)
        return "clock", None
    if entity.name not in fields:
        remedy = suggest_name(entity.name, fields)
        mistakes.add(
            path,
            f"there is no field {entity.name!r}",
            f"one of {', '.join(list(fields)[:12])}",
            remedy,
        )
        return "clock", None
    return "per", entity.name


def _check_per_arrival(
    entity: str, options: WriteDeclaration, fields: Mapping[str, Field], mistakes: Mistakes
) -> None:
    """Note options that contradict `per(field)` because they follow from it."""
    if options.period is not None and options.rate is not None:
        mistakes.add(
            "writes.rate",
            f"the period {options.period} of each {entity} already determines the rate",
            "a period or a rate",
            "Remove one of them.",
        )
    if fields[entity].declaration.draw is not None:
        mistakes.add(
            f"fields.{entity}.draw",
            f'draw has no effect: arrival = "per({entity})" writes each value once a period',
            remedy='Remove draw, or write arrival = "clock".',
        )


def _bind_time(
    options: WriteDeclaration, fields: Mapping[str, Field], mistakes: Mistakes
) -> Field | None:
    """Return the field of an event's time: the declared one, or the only one there is."""
    times = {name: field for name, field in fields.items() if field.type.unit_ns is not None}
    if options.time is not None:
        if options.time not in times:
            known = f"one of {', '.join(times)}" if times else "a timestamp or a date"
            mistakes.add("writes.time", f"{options.time!r} is not a field with a time", known)
        return times.get(options.time)
    if len(times) > 1:
        mistakes.add(
            "writes.time",
            f"{len(times)} fields have a time, and none is declared as the time of the events",
            f"one of {', '.join(times)}",
            f'Write time = "{next(iter(times))}" under [writes].',
        )
    return next(iter(times.values()), None)


def _bind_bursts(options: WriteDeclaration, parser: _OptionParser) -> tuple[BurstWindow, ...]:
    """Return the declared bursts, the earliest first; those that overlap are noted as mistakes."""
    windows = []
    for index, burst in enumerate(options.bursts):
        path = f"writes.bursts[{index}]"
        start = parser.parse_option(
            f"{path}.at", burst.at, lambda t: parse_duration(t).nanoseconds // 10**6
        )
        length = parser.parse_option(f"{path}.for", burst.lasting, _parse_milliseconds)
        if start is not None and length is not None:
            windows.append(BurstWindow(start, start + length, burst.times))
    windows.sort(key=lambda window: window.start_ms)
    for before, after in pairwise(windows):
        if after.start_ms < before.stop_ms:
            parser.mistakes.add("writes.bursts", "two bursts overlap", "one burst after the other")
    return tuple(windows)


def _bind_distributions(fields: Mapping[str, Field], mistakes: Mistakes) -> dict[str, Distribution]:
    draws = {}
    for name, field in fields.items():
        options = field.declaration.draw
        if options is None:
            continue
        path = f"fields.{name}.draw"
        kind = DISTRIBUTIONS.get(str(options.get("kind")))
        if kind is None:
            remedy = suggest_name(str(options.get("kind")), DISTRIBUTIONS)
            mistakes.add(
                path,
                f"{options.get('kind')!r} is not a distribution",
                f"one of {', '.join(DISTRIBUTIONS)}",
                remedy,
            )
            continue
        try:
            draws[name] = kind(options)
        except InvalidArgument as refusal:
            mistakes.add_invalid_argument(path, refusal)
    return draws
