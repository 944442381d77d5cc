"""The measured load that causes are recognised in: totals, skews, and a sample of the events."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rowkey import workload
from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.findings import Finding
from rowkey.hotspots.leading_parts import (
    KeyFront,
    find_front,
    find_leading_part,
    is_time_only,
    is_within_one_step,
    take_leading_bytes,
)
from rowkey.hotspots.least_skew import compute_least_window_skew
from rowkey.hotspots.placements import Placements
from rowkey.hotspots.skew import compute_even_skew
from rowkey.hotspots.windows import MIN_EVENTS_PER_SERVER, BusiestShares, Skew
from rowkey.keys import Determinant, Part
from rowkey.messages import pluralize
from rowkey.proposals import format_row_division
from rowkey.regions import Boundaries, TableDemand
from rowkey.schema import FieldFacts

ROUNDING = 1e-9
COUNTER_TYPE = "i64"
"""The type of fields that increments change."""
MIN_COLOCATED_SHARE = 0.9
"""Share of events above which those of one value are taken to lie together in one region."""
MIN_EVENTS_PER_EQUAL_WINDOW = 4
"""Events of a window of equal numbers below which all events together are judged."""
MAX_CODES_PER_ROW = 4
"""Possible codes for each row up to which they are numbered by a table, which is faster than to
sort the rows."""


def assign_row_codes(rows: pa.RecordBatch, names: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return an integer for each row; rows with equal values of some fields are equal."""
    codes = np.zeros(rows.num_rows, np.int64)
    for name in names:
        indices = rows.column(name).dictionary_encode().indices.fill_null(-1)
        more = indices.to_numpy(zero_copy_only=False).astype(np.int64) + 1
        codes = _renumber_codes(codes * (int(more.max(initial=0)) + 1) + more)
    return codes


def find_null_rows(rows: pa.RecordBatch, names: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return for each row whether it lacks a value of any of some fields."""
    is_null = np.zeros(rows.num_rows, np.bool_)
    for name in names:
        is_null |= rows.column(name).is_null().to_numpy(zero_copy_only=False)
    return is_null


def count_repeated_rows(rows: pa.RecordBatch, names: Sequence[str]) -> int:
    """Return how many rows have the values of an earlier row in some fields."""
    highest_code = int(assign_row_codes(rows, names).max(initial=-1))
    return int(rows.num_rows) - 1 - highest_code


def _renumber_codes(codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return integer codes renumbered without gaps, in the same order."""
    highest = int(codes.max(initial=0))
    if highest >= MAX_CODES_PER_ROW * len(codes):
        return np.asarray(np.unique(codes, return_inverse=True)[1])
    is_used = np.zeros(highest + 1, np.int64)
    is_used[codes] = 1
    return np.asarray((np.cumsum(is_used) - 1)[codes])


@dataclass(frozen=True, slots=True)
class MeasuredSkew:
    """The measured skew over servers on which a verdict is based.

    Args:
        skew: load of the fullest server over its fair share.
        even_skew: what an even design would show.
        width_s: seconds of the windows it is from; None if they hold equal numbers of events.
        is_even: whether the verdict on it is even.
    """

    skew: float
    even_skew: float
    width_s: int | None
    is_even: bool


@dataclass(frozen=True)
class LoadResult:
    """The measured load of a design: counts, skews and sampled events.

    Args:
        design: the design.
        facts: the facts of its fields.
        boundaries: where its regions begin.
        placements: where its regions lie.
        writes: operations by region.
        skews: the skew at each width of window.
        measured_skew: the skew that the verdict is from.
        region_shares: shares of the busiest region in windows of equal numbers of events, or in the
            intervals of a measured load.
        server_shares: shares of the busiest server in them.
        rows: a uniform sample of the events, in the order of their arrival.
        keys: the row key of each.
        regions: the region of each.
        windows: the window of equal numbers of events that each came in.
        split_key_range: the lowest and the highest key from which the boundaries were computed;
            None if they follow from the design alone.
        demand: the size and load of the table, as a sample tells; None for those of the design.
    """

    design: Design
    facts: Mapping[str, FieldFacts]
    boundaries: Boundaries
    placements: Placements
    writes: np.ndarray[Any, Any]
    skews: Sequence[Skew]
    measured_skew: MeasuredSkew
    region_shares: BusiestShares
    server_shares: BusiestShares
    rows: pa.RecordBatch
    keys: list[bytes]
    regions: np.ndarray[Any, Any]
    windows: np.ndarray[Any, Any]
    split_key_range: tuple[bytes, bytes] | None = None
    demand: TableDemand | None = None

    @property
    def servers(self) -> int:
        """Return the number of region servers."""
        return self.placements.servers

    @property
    def events_text(self) -> str:
        """Return of which events the shares are: regions cut by a sample are judged by its end."""
        return "events" if self.split_key_range is None else "events of the second half"

    @property
    def fullest_share(self) -> float:
        """Return the share of all operations that the fullest region takes."""
        return float(self.writes.max() / max(self.writes.sum(), 1))

    @property
    def empty_region_count(self) -> int:
        """Return how many regions got no operation."""
        return int((self.writes == 0).sum())

    def take_leading_bytes(self, count: int) -> list[bytes]:
        """Return the bytes of the first `count` key parts of each sampled key."""
        return take_leading_bytes(self.design.key, count, self.rows, self.keys)

    @cached_property
    def _parts_and_ranks(self) -> tuple[int, np.ndarray[Any, Any]]:
        """Return how many leading key parts decide the region, and each row's rank by them.

        Parts are added until they vary, and until the rows of one value mostly lie in one region. A
        time ends them: after a value it only tells when its rows arrive.
        """
        parts = self.design.key.parts
        for count, part in enumerate(parts, 1):
            ranks = _rank_values(self.take_leading_bytes(count))
            varies = bool(len(ranks)) and int(ranks.max()) > 0
            is_last = count == len(parts)
            if is_last or (
                varies
                and (is_time_only(self.design, part) or self._is_region_decided(ranks, count))
            ):
                return count, ranks
        raise AssertionError("a row key has at least one part")

    def _is_region_decided(self, ranks: np.ndarray[Any, Any], count: int) -> bool:
        """Return whether rows with equal leading parts always lie in the same region."""
        following = self.design.key.parts[count]
        return (
            is_time_only(self.design, following)
            or compute_colocated_share(ranks, self.regions) >= MIN_COLOCATED_SHARE
        )

    @property
    def leading_parts(self) -> tuple[Part, ...]:
        """Return the leading key parts that decide the region of most rows."""
        return self.design.key.parts[: self._parts_and_ranks[0]]

    @property
    def leading_ranks(self) -> np.ndarray[Any, Any]:
        """Return the rank of each sampled key by its leading parts, from 0."""
        return self._parts_and_ranks[1]

    @property
    def leading_fields(self) -> tuple[str, ...]:
        """Return the fields of the leading key parts."""
        return tuple(dict.fromkeys(name for part in self.leading_parts for name in part.fields))

    @property
    def entity_fields(self) -> tuple[str, ...]:
        """Return the fields of the leading key parts that are not times."""
        return tuple(n for n in self.leading_fields if self.design.fields[n].type.unit_ns is None)

    @cached_property
    def entity_codes(self) -> np.ndarray[Any, Any]:
        """Return an integer for each sampled event; events of equal entities are equal."""
        return assign_row_codes(self.rows, self.entity_fields)

    def assign_time_windows(self, width_s: int) -> np.ndarray[Any, Any] | None:
        """Return the time window of each sampled event, from 0; None without times."""
        time = self.design.writes.time
        if time is None or not self.keys:
            return None
        windows = workload.to_clock_ms(time, self.rows.column(time.name)) // (width_s * 1_000)
        return np.asarray(windows - windows.min())

    def number_moments(self, name: str, step_ns: int) -> np.ndarray[Any, Any]:
        """Return a number for each sampled event; times of a field within one step are equal.

        Args:
            name: the field of the times.
            step_ns: nanoseconds of a step.
        """
        field, times = self.design.fields[name], self.rows.column(name)
        if times.null_count:
            return assign_row_codes(self.rows, (name,))
        ticks = np.asarray(field.to_internal_batch(times))
        steps = ticks // max(step_ns // (field.type.unit_ns or 1), 1)
        return np.asarray(np.unique(steps, return_inverse=True)[1])

    @cached_property
    def judged_windows(self) -> np.ndarray[Any, Any]:
        """Return the window of each sampled event in which skew was measured; -1 if it was in none.

        Where a sample of the events is too thin for these windows, wider ones.
        """
        equal_count = int(self.windows.max(initial=0)) + 1
        width = self.measured_skew.width_s
        timed = None if width is None else self.assign_time_windows(width)
        if timed is not None:
            numbers, places, counts = np.unique(timed, return_inverse=True, return_counts=True)
            is_whole = len(self.keys) >= self.writes.sum()
            if is_whole or len(numbers) <= equal_count:
                rate = len(self.keys) / max(self.writes.sum(), 1)
                is_full = counts >= MIN_EVENTS_PER_SERVER * self.servers * rate
                return np.where(is_full[places], places, -1)
        is_thin = len(self.keys) < MIN_EVENTS_PER_EQUAL_WINDOW * equal_count
        return np.zeros_like(self.windows) if is_thin else self.windows

    def compute_least_skew(self, codes: np.ndarray[Any, Any]) -> float:
        """Return the skew below which no placement of some values brings the measured load.

        Args:
            codes: the value of each sampled event as a number; equal ones lie together.
        """
        is_judged = self.judged_windows >= 0
        return compute_least_window_skew(
            codes[is_judged], self.judged_windows[is_judged], self.servers
        )

    @cached_property
    def least_value_skew(self) -> float:
        """Return the least skew that regions of the same kind can have, however many they are.

        The rows of one moment with equal values of the fields that decide the region stay together.
        """
        names = find_indivisible_fields(self.design)
        codes = assign_row_codes(self.rows, names) if names else np.arange(len(self.keys))
        return self.compute_least_skew(codes)

    @property
    def entity_count(self) -> int:
        """Return how many different entities the sampled events have."""
        return int(self.entity_codes.max(initial=-1)) + 1

    def format_entity(self, code: int) -> str:
        """Return the entity of an integer code as a message shows it."""
        return self.format_values(self.entity_fields, self.entity_codes, code)

    def format_values(self, names: Sequence[str], codes: np.ndarray[Any, Any], code: int) -> str:
        """Return the values of some fields for an integer code as a message shows them."""
        row = int(np.argmax(codes == code))
        values = ((name, self.rows.column(name)[row].as_py()) for name in names)
        return ", ".join(f"{name} {'null' if one is None else one}" for name, one in values)

    @cached_property
    def front(self) -> KeyFront | None:
        """Return how keys move as events arrive; None if they do not, or without harm.

        Buckets computed from time move too, but are a cause of their own. In one region a front
        takes no more than any other key, and would do so in many.
        """
        by_time = [part for part in self.leading_parts if is_time_only(self.design, part)]
        does_harm = self.has_hot_region or self.placements.regions == 1 or self._is_within_one_step
        if (
            not does_harm
            or self._has_constant_bucket
            or any(not (p.order.is_ascending or p.order.is_descending) for p in by_time)
        ):
            return None
        return find_front(self.leading_ranks, has_times=bool(by_time)) or self._stationary_front

    @property
    def _has_constant_bucket(self) -> bool:
        """Return whether different values all have one leading bucket, which is their fault."""
        place, part = next(
            ((n, one) for n, one in enumerate(self.leading_parts) if one.cardinality != 1),
            (0, None),
        )
        if part is None or not part.fields or part.order.is_ascending or part.order.is_descending:
            return False
        is_constant = len(set(self.take_leading_bytes(place + 1))) == 1
        return is_constant and int(assign_row_codes(self.rows, part.fields).max(initial=0)) > 0

    @property
    def _stationary_front(self) -> KeyFront | None:
        """Return the front of keys whose times all lie within one step of the clock."""
        part = find_leading_part(self.design, self.facts)
        if part is None or not self._is_within_one_step:
            return None
        return KeyFront("rise" if part.order.is_ascending else "fall", 1.0, 0.0, is_stationary=True)

    @cached_property
    def _is_within_one_step(self) -> bool:
        """Return whether the times of nearly all keys lie within one step of the clock."""
        return is_within_one_step(self.design, self.facts, self.rows, self.keys)

    @property
    def has_hot_region(self) -> bool:
        """Return whether one region takes clearly more than its share on average."""
        fair = 1 / max(self.placements.regions, 1)
        return self.region_shares.mean > max(2 * fair, fair + 0.05)

    def find_skew(self, width_s: int | None) -> float | None:
        """Return the measured skew over servers at one window width; None if not measured.

        Args:
            width_s: seconds; None for windows of equal numbers of events.
        """
        if width_s is None:
            return self.server_shares.mean * self.servers
        return next((one.server_skew for one in self.skews if one.width_s == width_s), None)

    @cached_property
    def server_loads(self) -> np.ndarray[Any, Any]:
        """Return the operations of each server over all windows."""
        loads: np.ndarray[Any, Any] = self.placements.sum_by_server(self.writes)
        return loads

    def compare_to_even(self, share: float, places: int) -> float:
        """Return the busiest region's or server's share, relative to an even design's.

        Args:
            share: its mean share in windows of equal numbers of events.
            places: how many regions or servers there are.
        """
        windows = int(self.windows.max(initial=0)) + 1
        events = max(float(self.writes.sum()) / windows, 1)
        return share * places / float(compute_even_skew(events, places))


def find_indivisible_fields(design: Design) -> tuple[str, ...]:
    """Return the fields whose rows of one moment lie in one region if their values are equal.

    Boundaries that follow keys may divide the rows of a value by the parts after it, up to a time.
    Boundaries between buckets or in equal steps do not reach beyond the first hash. Nothing if
    chance decides.
    """
    splits = design.splits
    follows_keys = splits.needs_sample or splits.request.listed is not None
    names: dict[str, None] = {}
    for part in design.key.parts:
        is_ordered = part.order.is_ascending or part.order.is_descending
        if part.determined_by is Determinant.CHANCE:
            return ()
        if names and is_ordered and is_time_only(design, part):
            break
        names |= dict.fromkeys(part.fields)
        if part.fields and not follows_keys and (not is_ordered or part.images({}).points):
            break
    return tuple(names)


def compute_colocated_share(groups: np.ndarray[Any, Any], regions: np.ndarray[Any, Any]) -> float:
    """Return the share of events that lie in the main region of their group.

    Args:
        groups: a number for each event.
        regions: its region.

    >>> import numpy as np
    >>> compute_colocated_share(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6]))
    0.75
    """
    if not len(groups):
        return 1.0
    width = int(regions.max()) + 1
    pairs, counts = np.unique(groups * width + regions, return_counts=True)
    firsts = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    return float(np.maximum.reduceat(counts, firsts).sum() / len(groups))


def format_skew_floor(
    load: float, servers: int, least_skew: float, windows_phrase: str = ""
) -> str:
    """Return the clause on the smallest skew that is possible with a hot value or row.

    Other regions may divide the load of values that only meet, or of one that spans regions.

    Args:
        load: its load over a server's fair share.
        servers: how many there are.
        least_skew: the least skew that is possible.
        windows_phrase: the windows that both are of, with a comma before it.
    """
    if load <= least_skew + ROUNDING:
        return (
            f"under this key the skew over {pluralize(servers, 'server')} cannot fall below "
            f"{_format_rounded_down(load)}{windows_phrase}"
        )
    return (
        f"that is {_format_rounded_down(load)}× the fair share of one of "
        f"{pluralize(servers, 'server')}{windows_phrase}"
    )


def format_row_remedy(design: Design, facts: Mapping[str, FieldFacts]) -> str:
    """Return the remedy for a hot row: another key field, or several rows of a counter.

    A salt does not help: an increment must know the row that it adds to.
    """
    time = design.writes.time
    hint = "if there is one"
    if time and time.name not in design.key.fields:
        hint = f"such as {time.name}"
    return (
        f"Add a field to the key that distinguishes the row's events, {hint}; if the row is a "
        f"counter, {format_row_division(design, facts)}, and read it by adding up its rows."
    )


def _format_rounded_down(figure: float) -> str:
    """Return a number with two decimals, rounded down.

    >>> _format_rounded_down(2.669), _format_rounded_down(1.6)
    ('2.66', '1.60')
    """
    return f"{math.floor(figure * 100 + 1e-9) / 100:.2f}"


def _rank_values(values: list[bytes]) -> np.ndarray[Any, Any]:
    """Return the rank of each byte string among the different ones, from 0."""
    ranked = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return np.fromiter(map(ranked.__getitem__, values), np.int64, len(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseFinding(Finding):
    """A cause of a hot spot of writes that was found; its code is the cause's name.

    Args:
        bound: the skew over servers below which no other regions of the same kind bring it, while
            the cause stays; in a replay at most what was measured.
        explained: the skew that it makes with the present regions; the bound if None.
    """

    bound: float
    explained: float | None = None

    @property
    def explained_skew(self) -> float:
        """Return the skew over servers that it explains; the largest is named first."""
        return self.bound if self.explained is None else self.explained
