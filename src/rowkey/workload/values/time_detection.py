"""Detects by which layout a column of texts writes its times.

Each layout that the first texts allow is tried on all texts. One is decided on only if no other
reads the texts differently: `8/12/18` is August or December until a number above 12 proves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from rowkey.array_libraries import np, pa
from rowkey.workload.values.time_layouts import (
    DAY_S,
    DirectiveLayout,
    ParsedTimes,
    TimeLayout,
    build_pattern,
)

MIN_MATCHING_SHARE = 0.95
"""Share of the different texts that a layout must read; the others are skipped and counted."""
MAX_FIRST_TEXTS = 50
"""Texts from which layouts are derived."""
MAX_TIME_CHARACTERS = 64
_DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y年%m月%d日",
    "%d.%m.%Y", "%m.%d.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d", "%y%m%d", "%y-%m-%d",
    "%d/%b/%Y", "%d-%b-%Y", "%d %b %Y", "%d-%b-%y", "%d %B %Y", "%Y-%b-%d",
    "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%b %d", "%m-%d", "%d %b",
)  # fmt: skip
"""Dates; where two read the same texts, days before months if points separate them."""
_CLOCKS = (
    "%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%H:%M:%S,%f", "%H:%M:%S:%f", "%H.%M.%S", "%H.%M.%S.%f",
    "%H%M%S", "%H%M", "%I:%M %p", "%I:%M%p", "%I:%M:%S %p",
)  # fmt: skip
_GAPS = (" ", "T", ", ", ":", "-", "_", "")
_ZONES = ("", "%z", " %z", " %Y", " %z %Y")
"""What follows a clock: a zone, or the year in the style of C."""
_UNCERTAIN_WITHOUT_CLOCK = frozenset(
    ["%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d", "%y%m%d", "%y-%m-%d", "%b %d", "%m-%d",
     "%d %b", "%d-%b-%y"]
)  # fmt: skip
"""Dates that are as likely numbers of parts or versions, unless the column is one of times."""
_PREFERRED_ORDERS = (("%d.%m.", "%m.%d."),)
"""Parts of layouts of which the first is meant where both are possible: nobody writes the other."""


@dataclass(frozen=True, slots=True)
class DetectedLayout:
    """The layout of a column of times, or those between which nothing decides.

    Args:
        rivals: layouts that read the same texts as other times; empty if it is certain.
        example: a text: one that no rival could read, if there is one.
        has_proof: whether the example proves it against another order of day and month.
        unit: the coarsest unit that holds all times: day, s, ms, us or ns.
    """

    layout: TimeLayout
    rivals: tuple[TimeLayout, ...]
    example: str
    has_proof: bool
    unit: str


class LayoutDetector:
    """Finds the layout of a column from all its texts, batch by batch.

    Args:
        is_time: whether the column is known to hold times.
        declared: the layout, if it is declared; it then only is measured.
    """

    def __init__(self, *, is_time: bool, declared: TimeLayout | None = None) -> None:
        self._is_time = is_time
        self._declared = declared
        self._layouts: list[TimeLayout] | None = None
        self._match_counts: list[int] = []
        self._units: list[int] = []
        self._spans: dict[int, tuple[int, int]] = {}
        """By a layout, its first and its last second."""
        self._text_count = 0
        self._first_only: dict[tuple[int, int], str] = {}
        """By two layouts, a text that only the first reads."""
        self._differing: set[tuple[int, int]] = set()
        self._examples: dict[int, str] = {}
        """By a layout, the first text that it reads."""

    def add_texts(self, texts: pa.Array) -> None:
        """Add different texts, trimmed and not empty."""
        if self._layouts is None:
            first = texts.slice(0, MAX_FIRST_TEXTS).to_pylist()
            self._layouts = (
                self._derive_layouts(first) if self._declared is None else [self._declared]
            )
            self._match_counts = [0] * len(self._layouts)
            self._units = [0] * len(self._layouts)
        self._text_count += len(texts)
        parsed = [layout.parse_column(texts) for layout in self._layouts]
        for number, times in enumerate(parsed):
            self._match_counts[number] += int(times.is_valid.sum())
            if times.is_valid.any():
                self._note_span(number, times)
                first_text = str(texts[int(times.is_valid.argmax())].as_py())
                self._examples.setdefault(number, first_text)
            self._units[number] = max(self._units[number], _find_unit(times))
        for one, other in product(range(len(parsed)), repeat=2):
            if one != other:
                self._compare(one, other, parsed[one], parsed[other], texts)

    def _note_span(self, number: int, times: ParsedTimes) -> None:
        """Widen the span of the times of a layout."""
        seconds = times.seconds[times.is_valid]
        low, high = self._spans.get(number, (seconds[0], seconds[0]))
        self._spans[number] = min(low, seconds.min()), max(high, seconds.max())

    def _drop_implausible(self, fitting: list[int]) -> list[int]:
        """Return layouts without those that put the year in the wrong place.

        Days of a month that are read as years spread the times over decades, and years that are
        read as days do the same.
        """
        layouts = self._layouts or []
        spans = {n: self._spans[n][1] - self._spans[n][0] for n in fitting}
        is_first = {n: "%y/" in layouts[n].text for n in fitting}
        return [
            n
            for n in fitting
            if spans[n] <= 366 * DAY_S
            or all(is_first[n] == is_first[o] or spans[n] < 5 * spans[o] for o in fitting)
        ]

    def _derive_layouts(self, texts: list[str]) -> list[TimeLayout]:
        """Return the layouts that the first texts allow."""
        layouts = [DirectiveLayout(text) for text in derive_layouts(texts)]
        return [one for one in layouts if self._is_time or one.text not in _UNCERTAIN_WITHOUT_CLOCK]

    def _compare(
        self, one: int, other: int, times: ParsedTimes, rival: ParsedTimes, texts: pa.Array
    ) -> None:
        """Note where two layouts read different texts, or texts differently."""
        is_first_only = times.is_valid & ~rival.is_valid
        if (one, other) not in self._first_only and is_first_only.any():
            self._first_only[one, other] = texts[int(np.argmax(is_first_only))].as_py()
        both = times.is_valid & rival.is_valid
        if (times.seconds[both] != rival.seconds[both]).any():
            self._differing.add((one, other))

    def decide(self) -> DetectedLayout | None:
        """Return the layout that reads the texts; None if none reads nearly all of them."""
        layouts = self._layouts or []
        least = MIN_MATCHING_SHARE * self._text_count if self._declared is None else 0
        fitting = [n for n in range(len(layouts)) if self._match_counts[n] >= max(least, 1)]
        fitting = self._drop_implausible(fitting)
        if not fitting:
            return None
        best = max(fitting, key=lambda n: self._match_counts[n])
        rivals = [
            layouts[n]
            for n in fitting
            if n != best
            and (n, best) in self._differing
            and ((n, best) in self._first_only or (best, n) not in self._first_only)
            and not _is_preferred(layouts[best].text, layouts[n].text)
        ]
        proof = next(
            (
                text
                for (one, other), text in self._first_only.items()
                if one == best and (best, other) in self._differing
            ),
            "",
        )
        return DetectedLayout(
            layouts[best],
            tuple(rivals),
            proof or self._examples.get(best, ""),
            has_proof=bool(proof),
            unit=_UNITS[self._units[best]],
        )


_UNITS = ("day", "s", "ms", "us", "ns")


def _find_unit(times: ParsedTimes) -> int:
    """Return the place in `_UNITS` of the coarsest unit that holds all times."""
    nanoseconds = times.nanoseconds[times.is_valid]
    if not nanoseconds.any():
        return int((times.seconds[times.is_valid] % DAY_S).any())
    return 2 if not (nanoseconds % 1_000_000).any() else 3 if not (nanoseconds % 1_000).any() else 4


def _is_preferred(layout: str, rival: str) -> bool:
    """Return whether a layout is chosen before another one that reads the same times."""
    return any(one in layout and other in rival for one, other in _PREFERRED_ORDERS)


def derive_layouts(texts: list[str]) -> list[str]:
    """Return the layouts that some texts allow, in order of preference."""
    found: dict[str, None] = {}
    shapes = set()
    for text in texts:
        shape = re.sub("[0-9]", "0", text)
        if len(text) <= MAX_TIME_CHARACTERS and shape not in shapes:
            shapes.add(shape)
            found.update(dict.fromkeys(_derive_layouts_of_text(text)))
    order = {date: number for number, date in enumerate(_DATES)}
    return sorted(found, key=lambda layout: _find_date_order(layout, order))


def _find_date_order(layout: str, order: dict[str, int]) -> int:
    """Return the place of a layout's date in the list of dates."""
    return min((n for date, n in order.items() if date in layout), default=len(order))


def _derive_layouts_of_text(text: str) -> Iterator[str]:
    """Yield the layouts that a text allows, with brackets and the name of a weekday."""
    if not any(map(str.isdigit, text)):
        return
    if text.startswith("[") and text.endswith("]"):
        yield from (f"[{one}]" for one in _derive_layouts_of_text(text[1:-1]))
        return
    weekday = re.match("(?i)(mon|tue|wed|thu|fri|sat|sun)(, | )", text)
    head = "" if weekday is None else f"%a{weekday[2]}"
    rest = text[len(weekday[0]) :] if weekday else text
    for date in _DATES:
        matched = _compile(date).match(rest)
        if matched is None or (date[:3] == "%y/" and matched.end() < 8):
            continue  # who writes the year first pads the month and the day
        if not (tail := rest[matched.end() :]):
            yield head + date
            continue
        yield from (head + date + one for one in _derive_tails(tail, "Y" in date or "y" in date))


def _derive_tails(tail: str, has_year: bool) -> Iterator[str]:
    """Yield what follows a date in the layouts of a text: a clock, a zone or a year."""
    for gap in _GAPS:
        if not tail.startswith(gap) or not (has_year or gap == " "):
            continue
        for clock, zone in product(_CLOCKS, _ZONES):
            is_possible = not (has_year and "%Y" in zone) and (gap or "%H%M" in clock)
            is_possible = is_possible and (has_year or clock != "%H%M")  # four digits are a year
            rest = tail[len(gap) :].lstrip(" ")
            if is_possible and _compile(clock + zone).fullmatch(rest):
                whole_seconds = _compile(clock.removesuffix(".%f").removesuffix(",%f") + zone)
                mark = clock.partition("%f")[0][-1:] if "%f" in clock else ""
                if not mark or (mark in rest and not whole_seconds.fullmatch(rest)):
                    yield gap + clock + zone


@cache
def _compile(layout: str) -> re.Pattern[str]:
    """Return the regular expression of a part of a layout."""
    return re.compile(build_pattern(layout))
