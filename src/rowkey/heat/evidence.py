"""What a replay leaves for the causes to look at: totals, skews, and a sample of its events."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.errors import counted
from rowkey.heat.leading import Front, front_of, is_of_time, leading_part, moves_with_clock
from rowkey.heat.skew import even_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.heat.placements import Placements
    from rowkey.heat.windows import Shares, Skew
    from rowkey.keys import Field, Part
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

ENOUGH = 4
"""Values a region below which chance alone leaves regions uneven or empty: at four, a hash puts
nine on the fullest of 16 regions where an even share would be four."""
TOGETHER = 0.9
"""Share of events above which those of one value are taken to lie together in one region."""


@dataclass(frozen=True, slots=True)
class Came:
    """Events that came, each with its row key.

    Args:
        rows: the events, or an even choice of them.
        keys: the row key of each, in the same order.
    """

    rows: pa.RecordBatch = field(repr=False)
    keys: Sequence[bytes] = field(repr=False)

    def keys_with(self, declared: Field, value: Any) -> list[bytes]:
        """The keys of the events in which a field has a value.

        Args:
            declared: the field.
            value: as the facts have it.
        """
        import numpy as np

        from rowkey.keys import batch_column

        coded = self.rows.column(declared.name).dictionary_encode()
        listed = (
            batch_column(declared, coded.dictionary).listed()
            if declared.type.counts
            else coded.dictionary.to_pylist()
        )
        wanted = [code for code, one in enumerate(listed) if one == value]
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return [self.keys[at] for at in np.flatnonzero(np.isin(codes, wanted)).tolist()]


def codes_of(rows: pa.RecordBatch, names: Sequence[str]) -> np.ndarray[Any, Any]:
    """A number for each row, equal where some fields are."""
    import numpy as np

    codes = np.zeros(rows.num_rows, np.int64)
    for name in names:
        column = rows.column(name).dictionary_encode().indices.fill_null(-1)
        more = column.to_numpy(zero_copy_only=False).astype(np.int64) + 1
        _, codes = np.unique(codes * (int(more.max(initial=0)) + 1) + more, return_inverse=True)
    return codes


@dataclass(frozen=True, slots=True)
class Measured:
    """The skew over servers that a verdict is from.

    Args:
        skew: load of the fullest server over its fair share.
        even: what an even design would show.
        width_s: seconds of the windows it is from; None if they hold equal numbers of events.
        is_even: whether the verdict on it is even.
    """

    skew: float
    even: float
    width_s: int | None
    is_even: bool


@dataclass(frozen=True)
class Evidence:
    """What was seen of a design under a workload.

    Args:
        design: the design.
        facts: what is known of its fields.
        boundaries: where its regions begin.
        placements: where its regions lie.
        writes: operations by region.
        skews: the skew at each width of window.
        measured: the skew that the verdict is from.
        region_shares: shares of the busiest region in windows of equal numbers of events.
        server_shares: shares of the busiest server in them.
        rows: a uniform sample of the events, in the order of their arrival.
        keys: the row key of each.
        regions: the region of each.
        windows: the window of equal numbers of events that each came in.
    """

    design: Design
    facts: Mapping[str, Facts]
    boundaries: Boundaries
    placements: Placements
    writes: np.ndarray[Any, Any]
    skews: Sequence[Skew]
    measured: Measured
    region_shares: Shares
    server_shares: Shares
    rows: pa.RecordBatch
    keys: list[bytes]
    regions: np.ndarray[Any, Any]
    windows: np.ndarray[Any, Any]

    @property
    def servers(self) -> int:
        """How many region servers there are."""
        return self.placements.servers

    @property
    def fullest(self) -> float:
        """Share of all operations that the fullest region takes."""
        return float(self.writes.max() / max(self.writes.sum(), 1))

    @property
    def empty(self) -> int:
        """How many regions got no operation."""
        return int((self.writes == 0).sum())

    def lead_pieces(self, count: int) -> list[bytes]:
        """The bytes of the first `count` parts of each sampled key."""
        key = self.design.key
        parts = key.parts[:count]
        widths = [part.framing.width for part in parts]
        if None not in widths:
            width = sum(width for width in widths if width is not None)
            return [whole[:width] for whole in self.keys]
        if key.is_salted or key.is_coded:
            cut = key.cut if key.is_decodable else lambda whole: [whole]
            return [b"".join(cut(whole)[:count]) for whole in self.keys]
        return key.pieces(key.columns(self.rows), parts).tolist()

    @cached_property
    def _led(self) -> tuple[int, np.ndarray[Any, Any]]:
        """How many leading parts decide the region of most rows, and the rank of their bytes.

        More parts are taken until they vary, and until the rows of one value mostly lie in one
        region. Times end them: behind a value they only say when its rows come.
        """
        parts = self.design.key.parts
        for count, part in enumerate(parts, 1):
            ranks = _ranks(self.lead_pieces(count))
            varies = bool(len(ranks)) and int(ranks.max()) > 0
            is_last = count == len(parts)
            if is_last or (
                varies and (is_of_time(self.design, part) or self._decides(ranks, count))
            ):
                return count, ranks
        raise AssertionError("a key has parts")

    def _decides(self, ranks: np.ndarray[Any, Any], count: int) -> bool:
        """Whether rows of equal rank lie together, or only time could tell them apart."""
        following = self.design.key.parts[count]
        return is_of_time(self.design, following) or together(ranks, self.regions) >= TOGETHER

    @property
    def lead(self) -> tuple[Part, ...]:
        """The leading parts that decide the region of most rows."""
        return self.design.key.parts[: self._led[0]]

    @property
    def lead_ranks(self) -> np.ndarray[Any, Any]:
        """The rank of each sampled key's leading parts among all, from 0."""
        return self._led[1]

    @property
    def lead_fields(self) -> tuple[str, ...]:
        """The fields that the leading parts are computed from."""
        return tuple(dict.fromkeys(name for part in self.lead for name in part.fields))

    @property
    def entity_fields(self) -> tuple[str, ...]:
        """Those of them that are no times."""
        return tuple(n for n in self.lead_fields if self.design.fields[n].type.tick is None)

    @cached_property
    def entity_codes(self) -> np.ndarray[Any, Any]:
        """A number for each sampled event, equal where the entity fields are."""
        return codes_of(self.rows, self.entity_fields)

    def time_windows(self, width_s: int) -> np.ndarray[Any, Any] | None:
        """The window of time that each sampled event lies in, from 0; None without times."""
        import numpy as np

        time = self.design.writes.time
        if time is None or not self.keys:
            return None
        from rowkey.workload import clock_ms

        windows = clock_ms(time, self.rows.column(time.name)) // (width_s * 1_000)
        return np.asarray(windows - windows.min())

    @property
    def entities(self) -> int:
        """How many different values the entity fields have together."""
        return int(self.entity_codes.max(initial=-1)) + 1

    def entity(self, code: int) -> str:
        """The values of an entity, as a person would name them."""
        return self.shown(self.entity_fields, self.entity_codes, code)

    def shown(self, names: Sequence[str], codes: np.ndarray[Any, Any], code: int) -> str:
        """The values that some fields have where they have a number, as a person would say them."""
        import numpy as np

        row = int(np.argmax(codes == code))
        values = ((name, self.rows.column(name)[row].as_py()) for name in names)
        return ", ".join(f"{name} {value}" for name, value in values)

    @cached_property
    def front(self) -> Front | None:
        """How the keys move as events come; None if they do not, or if it does no harm.

        Buckets computed from time move too, but are a cause of their own. In one region a front
        takes no more than any other key, and would do so in many.
        """
        by_time = [part for part in self.lead if is_of_time(self.design, part)]
        does_harm = self.hurts or self.placements.regions == 1
        if not does_harm or any(not (p.order.ascends or p.order.descends) for p in by_time):
            return None
        return front_of(self.lead_ranks, by_time=bool(by_time)) or self._standing_front

    @property
    def _standing_front(self) -> Front | None:
        """The front of a lead that moves with the clock, where what came lies within one step."""
        part = leading_part(self.design, self.facts)
        if part is None or moves_with_clock(self.design, self.facts) is None:
            return None
        pieces = Counter(self.lead_pieces(self.design.key.parts.index(part) + 1))
        stands = max(pieces.values(), default=0) >= TOGETHER * len(self.keys)
        if not stands or self.fullest < TOGETHER:
            return None
        return Front("rise" if part.order.ascends else "fall", 1.0, 0.0, is_standing=True)

    @property
    def hurts(self) -> bool:
        """Whether the busiest region takes clearly more than its share of most windows."""
        fair = 1 / max(self.placements.regions, 1)
        return self.region_shares.median > max(2 * fair, fair + 0.05)

    def skew_at(self, width_s: int | None) -> float | None:
        """The skew over servers at one width of window, as measured; None if it was not.

        Args:
            width_s: seconds; None for windows of equal numbers of events.
        """
        if width_s is None:
            return self.server_shares.median * self.servers
        return next((one.servers for one in self.skews if one.width_s == width_s), None)

    @cached_property
    def by_server(self) -> np.ndarray[Any, Any]:
        """Operations by server, all windows together."""
        loads: np.ndarray[Any, Any] = self.placements.by_server(self.writes)
        return loads

    def over_even(self, share: float, places: int) -> float:
        """A busiest place's share of a typical window, as a multiple of what chance alone gives.

        Args:
            share: its share of the median window of equal numbers of events.
            places: how many regions or servers there are.
        """
        windows = int(self.windows.max(initial=0)) + 1
        events = max(float(self.writes.sum()) / windows, 1)
        return share * places / float(even_share(events, places))


def together(groups: np.ndarray[Any, Any], regions: np.ndarray[Any, Any]) -> float:
    """Share of events that lie in the region where most of their group lie.

    Args:
        groups: a number for each event.
        regions: its region.

    >>> import numpy as np
    >>> together(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6]))
    0.75
    """
    import numpy as np

    if not len(groups):
        return 1.0
    width = int(regions.max()) + 1
    pairs, counts = np.unique(groups * width + regions, return_counts=True)
    firsts = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    return float(np.maximum.reduceat(counts, firsts).sum() / len(groups))


def floor(load: float, servers: int, measured: float, where: str = "") -> str:
    """What the load of one value or row means for the skew, without claiming more than was seen.

    A share of all events may be larger than that in the windows which were measured.

    Args:
        load: its load over a server's fair share.
        servers: how many there are.
        measured: the skew over servers that was measured.
        where: the windows that both are of, with a comma before it.
    """
    if load <= measured:
        return f"the skew over {counted(servers, 'server')} cannot fall below {_down(load)}{where}"
    return f"that is {_down(load)}× the fair share of one of {counted(servers, 'server')}{where}"


def _down(figure: float) -> str:
    """A figure to two places, never above itself.

    >>> _down(2.669), _down(1.6)
    ('2.66', '1.60')
    """
    return f"{math.floor(figure * 100 + 1e-9) / 100:.2f}"


def _ranks(values: list[bytes]) -> np.ndarray[Any, Any]:
    """The rank of each value among the different ones, from 0."""
    import numpy as np

    ranked = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return np.fromiter(map(ranked.__getitem__, values), np.int64, len(values))


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause that was found, with its evidence.

    Args:
        code: the cause's name.
        message: what was seen, with figures, as sentences.
        bound: the skew over servers that it explains, in a replay at most what was measured; the
            largest is named first.
        evidence: the figures by name.
        remedy: what would help, as a sentence; nothing of it is done unasked.
    """

    code: str
    message: str
    bound: float
    evidence: Mapping[str, Any]
    remedy: str = ""
