"""The entry of one table in a catalog: its design, generations and codes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from hashlib import sha256
from math import isnan

from rowkey.catalog.table_move import TableMove, TableRetirement
from rowkey.design import Design
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value

CATALOG_ATTRIBUTE = "rowkey.catalog"
"""The attribute of a table that names its catalog, if that does not lie with its engine."""
TABLE_ID_ATTRIBUTE = "rowkey.table_id"
"""The attribute that distinguishes a table from an earlier or later one of the same name."""
GENERATION_ATTRIBUTE, COUNTS_ATTRIBUTE, DECLARATION_HASH_ATTRIBUTE = (
    "rowkey.generation",
    "rowkey.counts",
    "rowkey.declaration",
)
DESIGN_ATTRIBUTE = "rowkey.design"
"""The attributes of a table that repeat its entry: number, counts, hash and text."""
LIVE_COUNTS_ATTRIBUTE = "rowkey.live"
"""The attribute that lists the counts of all generations, if rows may stand under several."""
STALENESS_ATTRIBUTE = "rowkey.stale"
"""The attribute with the seconds that a client may work without the catalog, if not 60."""
COMPANION_ATTRIBUTE = "rowkey.companion_of"
"""The attribute of a companion that names its main table, through which alone it is written."""
FILLING_ATTRIBUTE = "rowkey.is_filling"
"""The attribute of a companion that lacks rows of its main table; its value is `true`."""
MOVE_ATTRIBUTE, MOVED_FROM_ATTRIBUTE = "rowkey.moving_to", "rowkey.moved_from"
"""The attributes of two tables between which rows are moved: each names the other one. The phase of
the move is in the catalog only, because each change of an attribute reopens regions."""
MOVE_ATTRIBUTES = frozenset({MOVE_ATTRIBUTE, MOVED_FROM_ATTRIBUTE})
"""Both of them: a table with one takes or took part in a move."""
DEFAULT_MAX_STALE_S = 60.0
"""Seconds that a client goes on without its catalog. A leader of ZooKeeper is elected in some
seconds and restarted in some ten; a change of a table waits for as long."""
MAX_STALE_LIMIT_S = 86_400.0
"""The longest allowed time of that; a greater number probably has the wrong unit."""


class GenerationPhase(IntEnum):
    """What clients do under the bucket counts of a generation; no phase follows a later one."""

    ANNOUNCED = 0
    """All read and delete under it, before any writes."""
    LIVE = 1
    """Rows are written under it, or were before a later one became active."""
    COPIED = 2
    """Its rows were copied to the active generation, and are being removed under this one."""
    RETIRED = 3
    """No row stands under it, and no client looks for one."""


@dataclass(frozen=True, slots=True)
class Generation:
    """The bucket counts of a table from some time on.

    Args:
        number: from 1; a table is created with the first.
        counts: the bucket count of each part of the key that has one, by the part's index from 0.
        splits: the row keys that regions began with when the generation was opened, ascending.
        opened_ms: when that was, milliseconds since 1970; None if the catalog was restored, which
            loses the time and the number of regions.
        phase: what clients do under it.
    """

    number: int
    counts: Mapping[int, int]
    splits: tuple[bytes, ...]
    opened_ms: int | None
    phase: GenerationPhase = GenerationPhase.LIVE

    @property
    def is_announced(self) -> bool:
        """Whether no client writes under it yet."""
        return self.phase is GenerationPhase.ANNOUNCED

    @property
    def may_have_rows(self) -> bool:
        """Whether rows may have been written under it that are not removed."""
        return self.phase in (GenerationPhase.LIVE, GenerationPhase.COPIED)

    def is_same(self, other: Generation) -> bool:
        """Return whether both are the same generation, whether announced or already active.

        Equal numbers are not enough: a catalog that was lost gives a number once more.

        >>> announced = Generation(2, {0: 32}, (), 1_000, GenerationPhase.ANNOUNCED)
        >>> [announced.is_same(Generation(2, {0: count}, (), 1_000)) for count in (32, 64)]
        [True, False]
        """
        times = {self.opened_ms, other.opened_ms} - {None}
        return (self.number, self.counts) == (other.number, other.counts) and len(times) < 2


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """What a catalog holds of one table.

    Args:
        declaration: the text of its design file.
        generations: its bucket counts, oldest first. Rows are written under the last one that is
            not announced, which is live; only the very last may be announced.
        codes: by field, the values that `code` has numbered, as text; the first has the id 1.
        version: how often the entry was written; 0 if it never was.
        max_stale_s: seconds that a client goes on without having read the entry.
        longest_stale_s: seconds that some client may still go on: more than `max_stale_s` while
            that is being lowered.
        table_id: distinguishes the table from another one of its name, as its attribute does; empty
            if it is not known.
        is_created: whether the table was made; else nothing was ever written to it.
        companion_of: the main table that it is a companion of; empty if it is none.
        is_filling: whether it is a companion that lacks rows of the main table, so that it is
            written and not yet read.
        move: the move of its rows to another table; None if there is none. Of a dropped table it
            stays, and names the table to use.
        moved_from: the table whose rows are moved to this one, through which alone it is used until
            the move is finished; empty if it is no target of a move.
        retirement: which process retires earlier bucket counts.
    """

    declaration: str
    generations: tuple[Generation, ...]
    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: int = 0
    max_stale_s: float = DEFAULT_MAX_STALE_S
    longest_stale_s: float = DEFAULT_MAX_STALE_S
    table_id: str = ""
    is_created: bool = True
    companion_of: str = ""
    is_filling: bool = False
    move: TableMove | None = None
    moved_from: str = ""
    retirement: TableRetirement = field(default_factory=TableRetirement)

    @classmethod
    def from_design(
        cls,
        design: Design,
        splits: Sequence[bytes],
        opened_ms: int,
        max_stale_s: float = DEFAULT_MAX_STALE_S,
        companion_of: str = "",
    ) -> CatalogEntry:
        """Return the entry of a table that is created now.

        Args:
            splits: the row keys its regions begin with, ascending.
            opened_ms: now, milliseconds since 1970.
            max_stale_s: seconds that a client goes on without having read the entry.
            companion_of: the main table that it is a companion of; empty if it is none.

        >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
        >>> CatalogEntry.from_design(design, (), 0).generations[0].counts
        {0: 4}
        """
        first = Generation(1, find_part_counts(design), tuple(splits), opened_ms)
        return cls(
            design.dumps(defaults=False),
            (first,),
            max_stale_s=max_stale_s,
            longest_stale_s=max_stale_s,
            companion_of=companion_of,
        )

    @property
    def active_generation(self) -> Generation:
        """The generation under which rows are written: the newest active one."""
        return next(one for one in reversed(self.generations) if not one.is_announced)

    @property
    def announced_generation(self) -> Generation | None:
        """The generation that becomes active next, or None."""
        last = self.generations[-1]
        return last if last.is_announced else None

    @property
    def live_generations(self) -> tuple[Generation, ...]:
        """The generations that rows may stand under: the active one, then the others, newest first.

        >>> first = Generation(1, {0: 4}, (), 0)
        >>> entry = CatalogEntry("", (first, Generation(2, {0: 8}, (), 0, GenerationPhase(0))))
        >>> [one.number for one in entry.live_generations]
        [1, 2]
        >>> [one.number for one in entry.activate_generation().live_generations]
        [2, 1]
        """
        others = [
            one
            for one in reversed(self.generations)
            if one is not self.active_generation and one.phase is not GenerationPhase.RETIRED
        ]
        return (self.active_generation, *others)

    @property
    def copied_generations(self) -> tuple[Generation, ...]:
        """The generations whose rows are being removed, oldest first."""
        return tuple(one for one in self.generations if one.phase is GenerationPhase.COPIED)

    def is_successor_of(self, earlier: CatalogEntry) -> bool:
        """Return whether a client that used an earlier entry may use this one from now on.

        Their versions alone do not decide: those of a catalog that was restored, and of a table
        that was created again, begin with 1. So everything that the earlier one has must be in this
        one, and of one version both must be the same.

        >>> first = CatalogEntry("", (Generation(1, {0: 4}, (), 5),), version=1)
        >>> recreated = replace(first, generations=(Generation(1, {0: 8}, (), 9),), version=7)
        >>> later = replace(first.announce_generation({0: 8}, (), 9), version=2)
        >>> others = (first, later, recreated, replace(later, version=1))
        >>> [other.is_successor_of(first) for other in others]
        [True, True, False, False]
        """
        if self.version < earlier.version or len({self.table_id, earlier.table_id} - {""}) > 1:
            return False
        pairs = zip(self.generations, earlier.generations, strict=False)
        has_all = len(self.generations) >= len(earlier.generations) and all(
            mine.is_same(one) and mine.phase >= one.phase for mine, one in pairs
        )
        return has_all and (self.version > earlier.version or self._has_same_state(earlier))

    def _has_same_state(self, other: CatalogEntry) -> bool:
        """Return whether an entry with the same generations has the same design, codes and work."""
        states = [
            (
                one.declaration,
                one.codes,
                [generation.phase for generation in one.generations],
                one.move,
                one.retirement,
            )
            for one in (self, other)
        ]
        return states[0] == states[1]

    def announce_generation(
        self,
        counts: Mapping[int, int],
        splits: Sequence[bytes],
        opened_ms: int,
        max_stale_s: float | None = None,
    ) -> CatalogEntry:
        """Return the entry with a new generation that becomes active once every client knows it.

        Args:
            counts: its bucket counts.
            splits: the row keys that regions begin with now, ascending.
            opened_ms: now, milliseconds since 1970.
            max_stale_s: seconds that clients may go on from now on; None as before.
        """
        number = self.generations[-1].number + 1
        last = Generation(number, counts, tuple(splits), opened_ms, GenerationPhase.ANNOUNCED)
        stale_s = self.max_stale_s if max_stale_s is None else max_stale_s
        longest_s = max(self.longest_stale_s, stale_s)
        generations = (*self.generations, last)
        return replace(
            self, generations=generations, max_stale_s=stale_s, longest_stale_s=longest_s
        )

    def activate_generation(self) -> CatalogEntry:
        """Return the entry with the announced generation active."""
        *before, last = self.generations
        generations = (*before, replace(last, phase=GenerationPhase.LIVE))
        return replace(self, generations=generations, longest_stale_s=self.max_stale_s)

    def advance_earlier_generations(self, phase: GenerationPhase) -> CatalogEntry:
        """Return the entry with all generations before the active one at least in a phase.

        >>> first, second = (Generation(n, {0: 4 * n}, (), 0) for n in (1, 2))
        >>> entry = CatalogEntry("", (first, second))
        >>> retired = entry.advance_earlier_generations(GenerationPhase.RETIRED)
        >>> [one.number for one in retired.live_generations]
        [2]
        """
        last = self.active_generation.number
        generations = tuple(
            replace(one, phase=max(one.phase, phase)) if one.number < last else one
            for one in self.generations
        )
        return replace(self, generations=generations)

    @property
    def design(self) -> Design:
        """The design as it was declared, with the counts of the first generation.

        Raises:
            InvalidDesign: this version of rowkey does not understand it.
        """
        return Design.loads(self.declaration)

    @property
    def companion_names(self) -> list[str]:
        """The names of the companions that the design declares, sorted.

        They are known also if a later version of rowkey has written the design.
        """
        return sorted(tomllib.loads(self.declaration).get("companions", {}))

    @property
    def hash(self) -> str:
        """A hash of the declaration: SHA-256, hexadecimal."""
        return sha256(self.declaration.encode()).hexdigest()

    @property
    def table_attributes(self) -> dict[str, str]:
        """The attributes that repeat the entry on the table itself, in case the catalog is lost.

        A table that was made by hand, cloned or restored tells by them what it is.

        A key without counts has no attribute for them: HBase takes an empty value for none.

        Source: TableDescriptorBuilder.setValue of 2.6.4, by ProtobufUtil.toTableDescriptor.

        >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
        >>> list(CatalogEntry.from_design(design, (), 0).table_attributes)
        ['rowkey.generation', 'rowkey.counts', 'rowkey.declaration', 'rowkey.design']
        """
        counts = format_counts(self.active_generation)
        count_attributes = {COUNTS_ATTRIBUTE: counts} if counts else {}
        active = [one for one in self.generations if one.may_have_rows]
        if len(active) > 1:
            count_attributes[LIVE_COUNTS_ATTRIBUTE] = " ".join(
                f"{one.number}:{format_counts(one)}" for one in active
            )
        # The shorter time of a switch is not written: it would reopen all regions.
        stale_s = self.longest_stale_s if self.move is None else self.move.usual_stale_s
        if stale_s != DEFAULT_MAX_STALE_S:
            count_attributes[STALENESS_ATTRIBUTE] = f"{stale_s:g}"
        if self.companion_of:
            count_attributes[COMPANION_ATTRIBUTE] = self.companion_of
        if self.is_filling:
            count_attributes[FILLING_ATTRIBUTE] = "true"
        if self.move is not None:
            count_attributes[MOVE_ATTRIBUTE] = self.move.target
        if self.moved_from:
            count_attributes[MOVED_FROM_ATTRIBUTE] = self.moved_from
        number = str(self.active_generation.number)
        return {
            GENERATION_ATTRIBUTE: number,
            **count_attributes,
            DECLARATION_HASH_ATTRIBUTE: self.hash,
            DESIGN_ATTRIBUTE: self.declaration,
        }


ENTRY_ATTRIBUTES = frozenset(
    {
        GENERATION_ATTRIBUTE,
        COUNTS_ATTRIBUTE,
        LIVE_COUNTS_ATTRIBUTE,
        STALENESS_ATTRIBUTE,
        COMPANION_ATTRIBUTE,
        FILLING_ATTRIBUTE,
        MOVE_ATTRIBUTE,
        MOVED_FROM_ATTRIBUTE,
        DECLARATION_HASH_ATTRIBUTE,
        DESIGN_ATTRIBUTE,
    }
)
"""The attributes of a table that repeat its entry."""


def has_synced_attributes(attributes: Mapping[str, str], entry: CatalogEntry) -> bool:
    """Return whether a table's attributes are those that repeat its catalog entry."""
    return {
        name: attributes[name] for name in ENTRY_ATTRIBUTES & attributes.keys()
    } == entry.table_attributes


def sync_attributes(attributes: Mapping[str, str], entry: CatalogEntry) -> dict[str, str]:
    """Return a table's attributes with those that repeat its entry replaced; all others stay.

    >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
    >>> entry = CatalogEntry.from_design(design, (), 0)
    >>> "rowkey.live" in sync_attributes({"rowkey.live": "1:0=2 2:0=4"}, entry)
    False
    """
    return {
        name: text for name, text in attributes.items() if name not in ENTRY_ATTRIBUTES
    } | entry.table_attributes


def format_counts(generation: Generation) -> str:
    """Return the bucket counts of a generation as a table's attribute has them: `0=16`."""
    return ",".join(f"{place}={count}" for place, count in sorted(generation.counts.items()))


def check_max_stale(seconds: object, path: str = "max_stale", text: str = "") -> None:
    """Raise unless a number is a time that a client may work without its catalog.

    Args:
        path: what it was given as, for the message.
        text: how it was written, if not as this number.

    Raises:
        InvalidArgument: it is not a number of seconds, or too short or too long.
    """
    what, value = "", repr(text) if text else format_value(seconds)
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or isnan(seconds):
        what = f"{value} is not a length of time"
    elif seconds <= 0:
        what = f"{value} is not above zero"
    elif seconds > MAX_STALE_LIMIT_S:
        what = f"{value} is too long"
    if what:
        allowed = f"seconds, more than 0 and at most {MAX_STALE_LIMIT_S:,.0f}"
        if text:
            allowed = "a time such as 60s, longer than 0s and at most 24h"
        remedy = "Choose a short time: a change of the number of buckets waits this long."
        raise InvalidArgument(path, what, allowed, remedy)


def find_part_counts(design: Design) -> dict[int, int]:
    """Return the bucket count of each part of the key that has one, by the part's index.

    A part has a count if its argument `n` is how many byte strings it has: a bucket, a salt, a mod.
    """
    counts = {}
    for index, part in enumerate(design.key.parts):
        count = getattr(part, "arguments", {}).get("n")
        if count is not None and count == part.cardinality:
            counts[index] = count
    return counts
