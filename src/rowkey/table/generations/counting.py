"""Which parts of a key count, what they count to, and which may get another count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.catalog import counts_of
from rowkey.plan import example_of, plan_read
from rowkey.schema import Equal
from rowkey.table.generations.ruling import patience_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.catalog import Generation
    from rowkey.design import Design
    from rowkey.engines import Engine
    from rowkey.plan import Read
    from rowkey.schema import Bounds
    from rowkey.table.generations.live import Live

TRIED = 32
"""Values of which the ranges of a read are counted: whether two numbers put a row in one place is
even odds at best, so that one of so many stands in both."""


@dataclass(frozen=True, slots=True)
class CountedPart:
    """A part of a key that is one of so many numbers.

    Args:
        place: its place among the parts, from 0.
        text: the part as it is written, with the number that rows are written under.
        count: that number.
        live: the numbers that rows may stand under, that one first.
        texts: the part as it is under each of them.
        apart_by: the fields by which it tells rows apart that are otherwise alike; it cannot get
            another number if there are any.
    """

    place: int
    text: str
    count: int
    live: tuple[int, ...]
    texts: Mapping[int, str]
    apart_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Buckets:
    """The numbers of buckets of a table.

    Args:
        table: its name.
        parts: the parts of its key that count.
        generations: those that rows may stand under, oldest first.
        ruling: the number of the one that is written.
        max_stale_s: seconds that a client goes on without the catalog.
        longest_s: seconds that some may still go on: more while a shorter time is announced.
        patience_s: seconds that a change waits, one that is announced among them.
        gets: row keys that a get tries.
        scans: ranges that a scan of all rows reads.
    """

    table: str
    parts: tuple[CountedPart, ...]
    generations: tuple[Generation, ...]
    ruling: int
    max_stale_s: float
    longest_s: float
    patience_s: float
    gets: int
    scans: int

    @classmethod
    def of(cls, live: Live, engine: Engine) -> Buckets:
        """The numbers of a table as it is, on an engine."""
        entry, design = live.entry, live.ruling
        return cls(
            table=design.table,
            parts=tuple(_part(live, place) for place in counted_parts(design)),
            generations=entry.generations,
            ruling=entry.ruling.number,
            max_stale_s=entry.max_stale_s,
            longest_s=entry.longest_s,
            patience_s=patience_s(entry, engine),
            gets=live.places,
            scans=fan_out(live.design),
        )


def _part(live: Live, place: int) -> CountedPart:
    """A counting part of a table's key."""
    design, entry = live.ruling, live.entry
    counts = tuple(dict.fromkeys(one.counts[place] for one in entry.live))
    texts = {count: str(design.counted({place: count})[place]) for count in counts}
    ruling = entry.ruling.counts[place]
    return CountedPart(place, texts[ruling], ruling, counts, texts, apart_by(design, place))


def fan_out(design: Design, read: Read | None = None) -> int:
    """Ranges that a scan of all rows reads, or a declared read at most, as far as was tried."""
    if read is None:
        return plan_read(design.key, {}).fan_out
    asked = example_of(read)
    return max(
        plan_read(design.key, _asking_for(row, asked.bounds), asked.order).fan_out
        for row in design.key.examples(TRIED)
    )


def _asking_for(row: Mapping[str, Any], bounds: Bounds) -> Bounds:
    """The same bounds, with the values of a row where one value is asked for."""
    return {
        name: Equal(row[name]) if isinstance(bound, Equal) and row.get(name) is not None else bound
        for name, bound in bounds.items()
    }


def countable(design: Design) -> dict[int, int]:
    """How many numbers each part of a key takes that may take another number, by its place.

    >>> from rowkey.design import Design
    >>> fields = {"host": "text", "ts": "timestamp_ms"}
    >>> countable(Design("t", "[bucket(host, 16)][host][ts]", fields=fields))
    {0: 16}
    >>> countable(Design("t", "[bucket(host, 16)][ts]", fields=fields))
    {}
    """
    counts = counts_of(design)
    return {place: count for place, count in counts.items() if not apart_by(design, place)}


def counted_parts(design: Design) -> dict[int, str]:
    """The parts of a key that count, as they are written, by their places."""
    return {place: str(design.key.terms[place]) for place in counts_of(design)}


def apart_by(design: Design, place: int) -> tuple[str, ...]:
    """The fields by which a counting part tells rows apart that are otherwise alike.

    Under another count it would tell other rows apart: two of them would become one, or one two.

    Args:
        design: the design.
        place: of a part that counts, from 0.
    """
    part = design.key.parts[place]
    others = {repr(other) for other in design.key.parts[:place] + design.key.parts[place + 1 :]}
    inputs = part.made_of
    is_of_bytes = getattr(part, "arguments", {}).get("over") == "rest"
    if is_of_bytes or (inputs and all(repr(one) in others for one in inputs)):
        return ()
    opening = design.layout.opening
    opened = {field.name for field in opening.fields} if opening is not None else set()
    lost = set(design.layout.kept) - opened
    return tuple(name for name in part.fields if name in lost)
