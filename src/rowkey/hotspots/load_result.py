"""The measured load that causes are recognised in: totals, skews, and a sample of the events."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.hotspots.leading_parts import (
    KeyFront,
    find_clock_field,
    find_front,
    find_leading_part,
    is_time_only,
)
from rowkey.hotspots.skew import compute_even_skew
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.hotspots.placements import Placements
    from rowkey.hotspots.windows import BusiestShares, Skew
    from rowkey.keys import Part
    from rowkey.regions import Boundaries
    from rowkey.schema import FieldFacts

MIN_COLOCATED_SHARE = 0.9
"""Share of events above which those of one value are taken to lie together in one region."""


MAX_CODES_PER_ROW = 4
"""Possible codes for each row up to which they are numbered by a table, which is faster than to
sort the rows."""


def assign_row_codes(rows: pa.RecordBatch, names: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return an integer for each row; rows with equal values of some fields are equal."""
    import numpy as np

    codes = np.zeros(rows.num_rows, np.int64)
    for name in names:
        indices = rows.column(name).dictionary_encode().indices.fill_null(-1)
        more = indices.to_numpy(zero_copy_only=False).astype(np.int64) + 1
        codes = _renumber_codes(codes * (int(more.max(initial=0)) + 1) + more)
    return codes


def _renumber_codes(codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return integer codes renumbered without gaps, in the same order."""
    import numpy as np

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

    @property
    def servers(self) -> int:
        """Return the number of region servers."""
        return self.placements.servers

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
        key = self.design.key
        parts = key.parts[:count]
        widths = [part.framing.width for part in parts]
        if None not in widths:
            width = sum(width for width in widths if width is not None)
            return [key_bytes[:width] for key_bytes in self.keys]
        if key.is_salted or key.has_coded_fields:
            cut = key.split_pieces if key.is_decodable else lambda key_bytes: [key_bytes]
            return [b"".join(cut(key_bytes)[:count]) for key_bytes in self.keys]
        return key.encode_parts(key.build_columns(self.rows), parts).tolist()

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
        import numpy as np

        time = self.design.writes.time
        if time is None or not self.keys:
            return None
        from rowkey.workload import to_clock_ms

        windows = to_clock_ms(time, self.rows.column(time.name)) // (width_s * 1_000)
        return np.asarray(windows - windows.min())

    @property
    def entity_count(self) -> int:
        """Return how many different entities the sampled events have."""
        return int(self.entity_codes.max(initial=-1)) + 1

    def format_entity(self, code: int) -> str:
        """Return the entity of an integer code as a message shows it."""
        return self.format_values(self.entity_fields, self.entity_codes, code)

    def format_values(self, names: Sequence[str], codes: np.ndarray[Any, Any], code: int) -> str:
        """Return the values of some fields for an integer code as a message shows them."""
        import numpy as np

        row = int(np.argmax(codes == code))
        values = ((name, self.rows.column(name)[row].as_py()) for name in names)
        return ", ".join(f"{name} {value}" for name, value in values)

    @cached_property
    def front(self) -> KeyFront | None:
        """Return how keys move as events arrive; None if they do not, or without harm.

        Buckets computed from time move too, but are a cause of their own. In one region a front
        takes no more than any other key, and would do so in many.
        """
        by_time = [part for part in self.leading_parts if is_time_only(self.design, part)]
        does_harm = self.has_hot_region or self.placements.regions == 1
        if not does_harm or any(
            not (p.order.is_ascending or p.order.is_descending) for p in by_time
        ):
            return None
        return find_front(self.leading_ranks, has_times=bool(by_time)) or self._stationary_front

    @property
    def _stationary_front(self) -> KeyFront | None:
        """Return the front of keys whose times all lie within one step of the clock."""
        part = find_leading_part(self.design, self.facts)
        if part is None or find_clock_field(self.design, self.facts) is None:
            return None
        pieces = Counter(self.take_leading_bytes(self.design.key.parts.index(part) + 1))
        stands = max(pieces.values(), default=0) >= MIN_COLOCATED_SHARE * len(self.keys)
        if not stands or self.fullest_share < MIN_COLOCATED_SHARE:
            return None
        return KeyFront("rise" if part.order.is_ascending else "fall", 1.0, 0.0, is_stationary=True)

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


def compute_colocated_share(groups: np.ndarray[Any, Any], regions: np.ndarray[Any, Any]) -> float:
    """Return the share of events that lie in the main region of their group.

    Args:
        groups: a number for each event.
        regions: its region.

    >>> import numpy as np
    >>> compute_colocated_share(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6]))
    0.75
    """
    import numpy as np

    if not len(groups):
        return 1.0
    width = int(regions.max()) + 1
    pairs, counts = np.unique(groups * width + regions, return_counts=True)
    firsts = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    return float(np.maximum.reduceat(counts, firsts).sum() / len(groups))


def format_skew_floor(
    load: float, servers: int, measured_skew: float, windows_phrase: str = ""
) -> str:
    """Return the clause on the smallest skew that is possible with a hot value or row.

    A value's share of all events may be larger than its share in the measured windows.

    Args:
        load: its load over a server's fair share.
        servers: how many there are.
        measured_skew: the skew over servers that was measured.
        windows_phrase: the windows that both are of, with a comma before it.
    """
    if load <= measured_skew:
        return (
            f"the skew over {pluralize(servers, 'server')} cannot fall below "
            f"{_format_rounded_down(load)}{windows_phrase}"
        )
    return (
        f"that is {_format_rounded_down(load)}× the fair share of one of "
        f"{pluralize(servers, 'server')}{windows_phrase}"
    )


def _format_rounded_down(figure: float) -> str:
    """Return a number with two decimals, rounded down.

    >>> _format_rounded_down(2.669), _format_rounded_down(1.6)
    ('2.66', '1.60')
    """
    return f"{math.floor(figure * 100 + 1e-9) / 100:.2f}"


def _rank_values(values: list[bytes]) -> np.ndarray[Any, Any]:
    """Return the rank of each byte string among the different ones, from 0."""
    import numpy as np

    ranked = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return np.fromiter(map(ranked.__getitem__, values), np.int64, len(values))


@dataclass(frozen=True, slots=True)
class CauseFinding:
    """A cause of a hot spot that was found, with its evidence and remedy.

    Args:
        code: the cause's name.
        message: what was seen, with figures, as sentences.
        bound: the skew over servers that it explains, in a replay at most what was measured; the
            largest is named first.
        evidence: the figures by name.
        remedy: what would help, as a sentence; it is never applied automatically.
    """

    code: str
    message: str
    bound: float
    evidence: Mapping[str, Any]
    remedy: str = ""
