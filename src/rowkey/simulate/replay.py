"""Events become operations on regions, block by block, and are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.heat import WIDTHS_S, EqualCounts, Matrix, Placements, RegionCounts, WindowCounts
from rowkey.keys import Columns, Fixed, Source, combined, fingerprints, imprints, parts_up_to
from rowkey.regions import Boundaries, locate, locate_fixed
from rowkey.workload import ROOM, Distinct, Events, Reservoir

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from rowkey.design import Design
    from rowkey.keys import Part, Pieces

BLOCK = 1 << 15
"""Events placed at a time: their bytes stay in cache from one step to the next."""
MOST_KEPT_BYTES = 1 << 26
"""Bytes of the row keys of events that are kept: for keys of up to 512 bytes that is no limit."""
MOST_SPLIT_BYTES = 1 << 28
"""Bytes of the row keys from which split points are taken."""


class Replay:
    """Counts where events land.

    Memory does not grow with their number: windows, a heat map and a uniform sample are of bounded
    size.

    Args:
        design: the design.
        boundaries: where its regions begin.
        expected: how many events there will be.
        seed: where randomness begins.
    """

    def __init__(self, design: Design, boundaries: Boundaries, expected: int, seed: int) -> None:
        import numpy as np

        self.design = design
        self.boundaries = boundaries
        regions = len(boundaries)
        self.placements = Placements(regions, design.cluster.servers, seed)
        self.windows = [WindowCounts(width, self.placements) for width in WIDTHS_S]
        self.matrix = Matrix(regions)
        self.equal = EqualCounts(expected, regions)
        self.writes = np.zeros(regions, np.int64)
        self.reservoir = Reservoir(min(ROOM, _most_keys(design, MOST_KEPT_BYTES)), seed)
        self.rows = Distinct(expected=expected)
        self.key_bytes = 0
        self.operations = 0
        self._lead = parts_up_to(design.key, boundaries.depth)
        self._telling = _telling_parts(design)
        self._is_timed = False
        self._columns: Columns | None = None

    @property
    def is_timed(self) -> bool:
        """Whether the events had times."""
        return self._is_timed

    def add(self, events: Events, salts: np.ndarray[Any, Any] | None = None) -> None:
        """Place the next events.

        Args:
            events: the events.
            salts: the random salt of each, where the key has one; drawn if None.
        """
        self.reservoir.offer(events.rows)
        columns = self.design.key.columns(events.rows, salts=salts, before=self._columns)
        self._columns = columns
        for start in range(0, len(events), BLOCK):
            stop = min(start + BLOCK, len(events))
            clock = None if events.clock_ms is None else events.clock_ms[start:stop]
            self._block(columns.slice(start, stop), clock)

    def _block(self, columns: Columns, clock_ms: np.ndarray[Any, Any] | None) -> None:
        import numpy as np

        regions = self._regions(columns)
        found = np.bincount(regions, minlength=len(self.writes))
        self.writes += found
        self.equal.add(regions)
        self.operations += len(regions)
        self.rows.add(self._fingerprints(columns))
        if clock_ms is not None:
            self._is_timed = True
            counts = RegionCounts.from_events(clock_ms // 1_000, regions, len(self.writes))
            self.matrix.add(counts)
            width_s = 1
            for window in self.windows:
                counts, width_s = window.add(counts, width_s), window.width_s

    def _regions(self, columns: Columns) -> np.ndarray[Any, Any]:
        """The region of each row, from no more of its key than the boundaries look at."""
        import numpy as np

        if len(self.boundaries) == 1:
            return np.zeros(len(columns), np.int32)
        field = _only_field(self._lead)
        if field is not None and columns.is_coded(field):
            places = columns.per_value(field, (self, "regions"), self._located)
            located: np.ndarray[Any, Any] = places.take(columns.columns[field].codes)
            return located
        return self._located(columns)

    def _located(self, columns: Columns) -> np.ndarray[Any, Any]:
        import numpy as np

        lead = self.design.key.pieces(columns, self._lead)
        if isinstance(lead, Fixed):
            return locate_fixed(self.boundaries, lead.matrix())
        spans = lead.spans().packed()
        offsets = np.concatenate([spans.starts, [len(spans.data)]])
        return locate(self.boundaries, spans.data, offsets)

    def _fingerprints(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Numbers that are equal for equal rows: from the parts that no others decide.

        Parts that run into each other are looked at together, for their bytes may be equal where
        none of theirs are.
        """
        if not self.design.key.is_decodable:
            return fingerprints(self.design.key.pieces(columns, self._telling))
        first, *others = self._telling
        total = _of_part(fingerprints, first, columns)
        for part in others:
            total = combined(total, _of_part(imprints, part, columns))
        return total


def _of_part(
    prints: Callable[[Pieces], np.ndarray[Any, Any]], part: Part, columns: Columns
) -> np.ndarray[Any, Any]:
    """Prints of a part, computed once per different value where one field decides it."""
    field = _only_field((part,))
    codes = columns.columns[field].codes if field is not None else None
    if field is None or codes is None:
        return prints(part.pieces(columns))
    key = (prints, id(part))
    table = columns.per_value(field, key, lambda distinct: prints(part.batch(distinct)))
    found: np.ndarray[Any, Any] = table.take(codes)
    return found


def _only_field(parts: Sequence[Part]) -> str | None:
    """The field that alone decides the bytes of parts, if there is one and it is never null."""
    names = {part.fields[0] if part.is_of_one_field else None for part in parts}
    return names.pop() if len(names) == 1 else None


def _telling_parts(design: Design) -> tuple[Part, ...]:
    """The parts that tell rows apart; one whose fields are whole in another adds nothing.

    Random salts are left out: writing a row twice is writing it twice, whatever the salt.
    """
    parts = [part for part in design.key.parts if part.fields]
    if not design.key.is_decodable:
        return tuple(part for part in design.key.parts if part.source is not Source.CHANCE)
    whole = {name for part in parts for name in part.fields if part.residue(name).nothing}
    telling = [
        part
        for part in parts
        if any(part.residue(name).nothing for name in part.fields) or not set(part.fields) <= whole
    ]
    return tuple(telling or parts or design.key.parts[:1])


def sampled_keys(design: Design, events: Any, room: int, seed: int) -> list[bytes]:
    """Row keys of a uniform sample of a stream of events, ascending.

    Args:
        design: the design.
        events: the stream.
        room: keys kept; all if there are fewer.
        seed: where the sample begins.
    """
    reservoir = Reservoir(min(room, _most_keys(design, MOST_SPLIT_BYTES)), seed)
    for some in events:
        reservoir.offer(some.rows)
    return sorted(keys_of(design, reservoir.rows()))


def _most_keys(design: Design, most_bytes: int) -> int:
    """How many row keys fit into so many bytes, as far as the types of their fields tell."""
    return max(most_bytes // max(design.key.least_bytes, 1), 1)


def keys_of(design: Design, rows: Any, salts: np.ndarray[Any, Any] | None = None) -> list[bytes]:
    """The row key of each row, in order; salts are drawn if None."""
    if not rows.num_rows:
        return []
    keys: list[bytes] = design.key.encode_valid_batch(rows, salts=salts).to_pylist()
    return keys
