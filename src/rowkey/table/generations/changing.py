"""A table that lives gets another number of buckets: split, announced, waited for, then written."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rowkey.catalog import check_stale
from rowkey.design import prefixes_of
from rowkey.errors import Conflict, DeclarationError, Mistakes, Refused, Unsupported, shown
from rowkey.table.generations.counting import apart_by, counted_parts, fan_out
from rowkey.table.generations.ruling import (
    AGAIN,
    TRIES,
    keep_told,
    let_rule,
    patience_s,
    settle_told,
)
from rowkey.table.generations.ties import coming_back

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rowkey.catalog import Entry, Generation
    from rowkey.design import Design
    from rowkey.table.generations.live import Live
    from rowkey.table.table import Table

    Progress = Callable[[str, int, int], None]
    """Told what is being done, `regions` or `seconds`, how much of it, and of how much."""

MOST = 65_536
"""Numbers that a part takes at most. Source: two bytes."""
NEAR = 3
"""Numbers that are named in place of one that cannot be had."""
ANOTHER = "Otherwise make another table, with the key that is wanted, and load the rows into it."
"""The way out of what no other number can do: rows of a table do not move to another key."""
STEP_S = 0.25
"""Seconds between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change of the number of buckets did, and what it costs.

    Args:
        part: the part of the key, as rows are written now.
        before: how many numbers it took.
        after: how many it takes.
        generation: the number of the generation that rules now.
        regions: how many regions were split.
        gets: row keys that a get tries, before and after.
        scans: ranges that a scan of all rows reads, before and after.
        reads: ranges that each declared read reads at most, before and after, by its name.
    """

    part: str
    before: int
    after: int
    generation: int
    regions: int
    gets: tuple[int, int]
    scans: tuple[int, int]
    reads: Mapping[str, tuple[int, int]]


class Change:
    """One change of the number of buckets.

    Every step may be interrupted: what was begun is found and gone on with by the next change to
    the same number.

    Args:
        table: the table.
        count: how many buckets it is to have.
        part: which part of the key, where several count: its place from 0, its kind, or the part
            as it is written.
        max_stale_s: seconds that clients may go on without the catalog from now on; None as before.
            A change that is gone on with keeps the time that it was announced with.
        progress: told how far it is.
        pause: waits so many seconds.

    Raises:
        DeclarationError: with everything that is wrong with these.
    """

    def __init__(
        self,
        table: Table,
        count: int,
        part: int | str | None = None,
        *,
        max_stale_s: float | None = None,
        progress: Progress | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.table, self.count = table, count
        self.max_stale_s = max_stale_s
        self.progress = progress or (lambda *_: None)
        self.pause = pause
        self.before = table.now()
        mistakes = Mistakes()
        _check_count(count, mistakes)
        if max_stale_s is not None:
            try:
                check_stale(max_stale_s)
            except Refused as refusal:
                mistakes.found.append(refusal.mistake)
        place = _place(self.before.ruling, part, mistakes)
        if place is not None:
            self._check(place, mistakes)
        mistakes.raise_any()
        assert place is not None
        self.place = place
        self.counts = {**self.before.entry.ruling.counts, place: count}

    def _check(self, place: int, mistakes: Mistakes) -> None:
        """Note why a part cannot have the number asked for."""
        design = self.before.ruling
        term, path = str(design.key.terms[place]), f"key[{place}]"
        if names := apart_by(design, place):
            what = f"{term} tells rows apart by {', '.join(names)}, which the rest of the key lacks"
            remedy = "Under another number other rows would be one. " + ANOTHER
            mistakes.add(path, what, "a part that follows from the rest of the key", remedy)
        if mistakes.found:
            return
        entry = self.before.entry
        if entry.ruling.counts[place] == self.count and entry.announced is None:
            mistakes.add("buckets", f"{term} takes {self.count} numbers already", "another number")
            return
        try:
            new = design.counting({place: self.count})
        except DeclarationError as problem:
            mistakes.found += problem.mistakes
            return
        widths = [one.key.parts[place].framing.width for one in (design, new)]
        if widths[0] != widths[1]:
            what = f"{self.count} numbers take {widths[1]} bytes, rows of {term} have {widths[0]}"
            remedy = f"{ANOTHER} Declare width=2 there."
            mistakes.add("buckets", what, "a number of as many bytes", remedy)
        self._check_times(place, mistakes)

    def _check_times(self, place: int, mistakes: Mistakes) -> None:
        """Note a number that puts rows back to where an older generation had them.

        Only where cells of one time may differ: what is written later is newer elsewhere.
        """
        stamp = self.before.ruling.layout.stamp
        found = None if stamp is None else self._coming_back(place, self.count)
        if stamp is None or found is None:
            return
        older, newer = found
        what = (
            f"{self.count} may put a row where generation {older.number} had it and generation "
            f"{newer.number} had not, and {stamp.field.name} does not tell which of two writes of "
            "one time is the later"
        )
        near = " or ".join(map(str, self._near(place)))
        mistakes.add("buckets", what, near, ANOTHER)

    def _coming_back(self, place: int, count: int) -> tuple[Generation, Generation] | None:
        """Two generations between whose places rows could not be told under a number."""
        entry = self.before.entry
        standing = [one for one in entry.generations if one.rules]
        return coming_back(self.before.ruling, standing, {**entry.ruling.counts, place: count})

    def _near(self, place: int) -> list[int]:
        """Up to three numbers next to the one asked for that the part may have, ascending."""
        design, now = self.before.ruling, self.before.entry.ruling.counts[place]
        width = design.key.parts[place].framing.width
        most = MOST if width is None else min(MOST, 256**width)
        found: list[int] = []
        for count in sorted(range(1, most + 1), key=lambda one: abs(one - self.count)):
            if count == now or self._coming_back(place, count):
                continue
            try:
                new = design.counting({place: count})
            except DeclarationError:
                continue
            if new.key.parts[place].framing.width == width:
                found.append(count)
            if len(found) == NEAR:
                break
        return sorted(found)

    def run(self) -> Changed:
        """Make the change; returns when rows are written under the new number.

        Raises:
            Conflict: somebody else is changing the number of buckets, or announced this change with
                another `max_stale`.
            Unsupported: the catalog or the engine does not answer.
        """
        self._require_free(self._read())
        regions = self._split()
        entry = self._announced()
        self._wait(patience_s(entry, self.table.engine))
        announced = entry.generations[-1]
        self._take(let_rule(self.table.catalog, self._name, announced, self.table.store))
        before, after, place = self._written_before(), self.table.now(), self.place
        return Changed(
            part=str(after.ruling.key.terms[place]),
            before=self.before.entry.ruling.counts[place],
            after=after.entry.ruling.counts[place],
            generation=after.entry.ruling.number,
            regions=regions,
            gets=(before.places, after.places),
            scans=(fan_out(before.design), fan_out(after.design)),
            reads={
                one.name: (fan_out(before.design, one), fan_out(after.design, one))
                for one in after.design.reads
            },
        )

    def _written_before(self) -> Live:
        """The table as it was before the change was announced, by whom ever."""
        entry = self.before.entry
        generations = tuple(one for one in entry.generations if one.rules)
        return self.table.following.under(replace(entry, generations=generations))

    @property
    def _name(self) -> str:
        return self.before.design.table

    def _read(self) -> Entry:
        entry = self.table.catalog.read(self._name)
        if entry is None:
            what = "the catalog does not know it any more"
            allowed, remedy = "the entry that was read", "Open it again: that tells more."
            raise Unsupported(f"table {self._name}", what, allowed, remedy)
        return entry

    def _require_free(self, entry: Entry) -> bool:
        """Whether this very change was announced before, by whom ever.

        Raises:
            Conflict: another one is, or one was made since the table was looked at.
        """
        announced = entry.announced
        if announced is not None and announced.counts == self.counts:
            if self.max_stale_s not in (None, entry.max_stale_s):
                raise self._told_another(announced, entry.max_stale_s)
            return True
        if announced is not None:
            counts = ", ".join(f"{count} at key[{n}]" for n, count in announced.counts.items())
            what = f"its generation {announced.number} is announced, with {counts}"
            remedy = "Wait for whoever does that, or finish it: set that number again."
            raise Conflict(f"table {self._name}", what, "no other change at the time", remedy)
        if entry.generations != self.before.entry.generations:
            what = "somebody else has changed its buckets meanwhile"
            allowed, remedy = "those it had", "Look at what it has now: rowkey buckets show."
            raise Conflict(f"table {self._name}", what, allowed, remedy)
        return False

    def _told_another(self, announced: Generation, stale_s: float) -> Conflict:
        """The refusal to finish a change with another time of clients than it was announced with.

        Others may let it rule by the time that they have waited for, whatever stands there now.
        """
        what = f"its generation {announced.number} is announced, with max_stale {stale_s:g} s"
        remedy = "Set that number without max_stale to finish it; give it with the next change."
        return Conflict(f"table {self._name}", what, f"{stale_s:g} s, or none", remedy)

    def _split(self) -> int:
        """Have regions begin where the new number wants them; how many were split."""
        store = self.table.store
        there = {b"", *store.spec.splits}
        bounds = [at for at in self._bounds() if at not in there]
        for done, at in enumerate(bounds):
            self.progress("regions", done, len(bounds))
            store.split(at)
        if bounds:
            self.progress("regions", len(bounds), len(bounds))
        return len(bounds)

    def _bounds(self) -> tuple[bytes, ...]:
        """Where regions are to begin: as designed, or where a sample is needed at each new number.

        Boundaries that are listed follow from no number.
        """
        old, new = self.before.ruling, self.before.ruling.counting(self.counts)
        if not (new.cut.needs_sample or new.cut.needs_count):
            # Others may have merged regions that begin where the old number wants them.
            as_before = set(old.cut.boundaries(old.key).splits)
            return tuple(at for at in new.cut.boundaries(new.key).splits if at not in as_before)
        held = {key for one in self.before.designs for key in prefixes_of(one.key) or ()}
        return tuple(key for key in prefixes_of(new.key) or () if key not in held)

    def _announced(self) -> Entry:
        """The entry in which the new number is announced, so that everyone reads and deletes so."""
        catalog, name = self.table.catalog, self._name
        splits = self.table.store.spec.splits
        for _ in range(TRIES):
            entry = self._read()
            if not self._require_free(entry):
                now = self.table.store.row_clock.clock()
                new = entry.announcing(self.counts, splits, now, self.max_stale_s)
                keep_told(self.table.store, new)  # how long clients may go on, before any does
                try:
                    entry = replace(new, version=catalog.write(name, new, entry.version))
                except Conflict:
                    # An id was given out meanwhile, or somebody else has announced.
                    settle_told(catalog, name, self.table.store)
                    continue
                settle_told(catalog, name, self.table.store)
            self._take(entry)
            return entry
        raise Conflict(f"table {name}", f"{TRIES:,} changes were overtaken", "", AGAIN)

    def _take(self, entry: Entry) -> None:
        self.table.lease.took(entry)

    def _wait(self, seconds: float) -> None:
        """Wait until everyone knows what is announced, or has stopped."""
        clock = self.table.lease.clock
        end = clock() + seconds
        while (left := end - clock()) > 0:
            self.progress("seconds", round(seconds - left), max(1, round(seconds)))
            self.pause(min(left, STEP_S))
        self.progress("seconds", max(1, round(seconds)), max(1, round(seconds)))


def _check_count(count: Any, mistakes: Mistakes) -> None:
    if type(count) is not int or not 1 <= count <= MOST:
        mistakes.add("buckets", f"{shown(count)} is no number of buckets", f"1..{MOST:,}")


def _place(design: Design, part: Any, mistakes: Mistakes) -> int | None:
    """The place of the part that is meant; None if that is not one of those that count."""
    counted = counted_parts(design)
    known = ", ".join(f"{place}: {text}" for place, text in counted.items())
    if not counted:
        what, allowed = f"no part of {design.key} counts", "a key with a bucket, a salt or a mod"
        mistakes.add("part", what, allowed)
        return None
    if part is None:
        if len(counted) > 1:
            remedy = "Name the part by its place or as it is written."
            mistakes.add("part", f"{len(counted)} parts of the key count", known, remedy)
            return None
        return next(iter(counted))
    if type(part) is int:
        found = [part] if part in counted else []
    else:
        kinds = [place for place in counted if design.key.parts[place].name == part]
        found = [place for place, text in counted.items() if text == part] or kinds
    if len(found) != 1:
        what = f"{shown(part)} names {'several' if found else 'none'} of the parts that count"
        mistakes.add("part", what, known)
        return None
    return found[0]
