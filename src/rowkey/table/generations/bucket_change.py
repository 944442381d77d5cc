"""Change the number of buckets of a table in use: split, announce, wait, then activate.

The earlier number of buckets is retired in `move/bucket_retirement.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rowkey.catalog import CatalogEntry, Generation, build_contention_error, check_max_stale
from rowkey.design import Design, list_key_prefixes
from rowkey.errors import Conflict, InvalidArgument, InvalidDesign, Mistakes, Unavailable
from rowkey.messages import format_value, pluralize
from rowkey.progress import Progress, ReportProgress, ignore_progress
from rowkey.table.client_wait import compute_wait_s, wait_for_clients
from rowkey.table.generations.activation import (
    MAX_CATALOG_RETRIES,
    REOPEN_REMEDY,
    activate_announced,
    reconcile_attributes,
    write_attributes,
)
from rowkey.table.generations.bucket_counts import ReadCostChange, compare_read_costs
from rowkey.table.generations.counted_parts import find_distinguishing_fields, list_counted_parts
from rowkey.table.generations.generation_tracker import GenerationState, GenerationTracker
from rowkey.table.generations.timestamp_ties import find_tied_generations

MAX_BUCKETS = 65_536
"""Largest number of buckets. Source: two bytes."""
MAX_SUGGESTIONS = 3
"""Allowed numbers that an error suggests in place of the requested one."""
NEW_TABLE_REMEDY = "Move the rows to a table with the key that you want: rowkey move plan."
"""What to do if the number of buckets cannot change: rows do not move to another row key."""
OTHERWISE_REMEDY = "Otherwise move the rows to a table with another key: rowkey move plan."
"""What to do if no other number of buckets will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketChangeResult(ReadCostChange):
    """The result of a change of the number of buckets, and what reads cost before and after.

    Args:
        part: the part of the key, as rows are written now.
        count_before: its bucket count before.
        count_after: its bucket count now.
        generation: the number of the generation that is active now.
        regions_split: how many regions were split.
    """

    part: str
    count_before: int
    count_after: int
    generation: int
    regions_split: int


class BucketChange:
    """One change of the number of buckets.

    Every step may be interrupted: the next change to the same number continues where it stopped.

    Args:
        tracker: the state of the table.
        count: how many buckets it is to have.
        part: the part of the key, where several have a count: its index from 0, its function, or
            the part as it is written.
        max_stale_s: seconds that clients may work without the catalog from now on; None as before.
            A change that is continued keeps the time that it was announced with.
        progress: called with how far the change is.
        pause: waits for a number of seconds.

    Raises:
        InvalidDesign: with every mistake in the arguments.
    """

    def __init__(
        self,
        tracker: GenerationTracker,
        count: int,
        part: int | str | None = None,
        *,
        max_stale_s: float | None = None,
        progress: ReportProgress | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.tracker, self.count = tracker, count
        self.catalog = tracker.lease.catalog
        self.max_stale_s = max_stale_s
        self.progress = progress or ignore_progress
        self.pause = pause
        self.state_before = tracker.get_state()
        mistakes = Mistakes()
        _check_count(count, mistakes)
        if max_stale_s is not None:
            try:
                check_max_stale(max_stale_s)
            except InvalidArgument as refusal:
                mistakes.mistakes.append(refusal.mistake)
        place = _find_part_index(self.state_before.active_design, part, mistakes)
        if place is not None:
            self._check_part(place, mistakes)
        mistakes.raise_any()
        assert place is not None
        self.part_index = place
        self.counts = {**self.state_before.entry.active_generation.counts, place: count}

    def _check_part(self, part_index: int, mistakes: Mistakes) -> None:
        """Note why a part of the key cannot get the requested bucket count."""
        design = self.state_before.active_design
        term, path = str(design.key.terms[part_index]), f"key[{part_index}]"
        if names := find_distinguishing_fields(design, part_index):
            listed = ", ".join(names)
            what = f"{term} is the only part of the key that distinguishes rows by {listed}"
            what += ", so another number of buckets would give different rows the same key"
            allowed = f"a key that also contains {listed} outside this part"
            mistakes.add(path, what, allowed, NEW_TABLE_REMEDY)
        if mistakes.mistakes:
            return
        entry = self.state_before.entry
        if (
            entry.active_generation.counts[part_index] == self.count
            and entry.announced_generation is None
        ):
            what = f"the number of buckets of {term} is {self.count} already"
            mistakes.add("argument buckets", what, "another number")
            return
        try:
            new = design.copy_with_counts({part_index: self.count})
        except InvalidDesign as problem:
            mistakes.mistakes += problem.mistakes
            return
        widths = [one.key.parts[part_index].framing.width for one in (design, new)]
        if widths[0] != widths[1]:
            what = (
                f"{self.count} buckets need {widths[1]} bytes in the row key, but {term} is stored "
                f"in {pluralize(widths[0] or 0, 'byte')}"
            )
            remedy = f"{OTHERWISE_REMEDY} Declare width=2 in its design."
            mistakes.add(
                "argument buckets",
                what,
                f"a number that fits in {pluralize(widths[0] or 0, 'byte')}",
                remedy,
            )
        self._check_timestamps(part_index, mistakes)

    def _check_timestamps(self, part_index: int, mistakes: Mistakes) -> None:
        """Note a count under which rows may return to the row key of an older generation.

        That matters only if a field is the cell timestamp, so that a later write is not newer.
        """
        stamp = self.state_before.active_design.layout.cell_timestamp
        tied = None if stamp is None else self._find_tied_generations(part_index, self.count)
        if stamp is None or tied is None:
            return
        older, newer = tied
        what = (
            f"with {self.count} buckets a row may return from its row key under "
            f"{newer.counts[part_index]} buckets to that under {older.counts[part_index]}, where "
            f"two writes of the row with the same {stamp.field.name} could not be ordered"
        )
        near = " or ".join(map(str, self._suggest_counts(part_index)))
        mistakes.add("argument buckets", what, near, OTHERWISE_REMEDY)

    def _find_tied_generations(
        self, part_index: int, count: int
    ) -> tuple[Generation, Generation] | None:
        """Return two generations whose cells could not be ordered under a count, or None."""
        entry = self.state_before.entry
        active = [one for one in entry.generations if one.may_have_rows]
        return find_tied_generations(
            self.state_before.active_design,
            active,
            {**entry.active_generation.counts, part_index: count},
        )

    def _suggest_counts(self, part_index: int) -> list[int]:
        """Return up to three allowed bucket counts next to the requested one, ascending."""
        design, now = (
            self.state_before.active_design,
            self.state_before.entry.active_generation.counts[part_index],
        )
        width = design.key.parts[part_index].framing.width
        max_count = MAX_BUCKETS if width is None else min(MAX_BUCKETS, 256**width)
        allowed: list[int] = []
        for count in sorted(range(1, max_count + 1), key=lambda one: abs(one - self.count)):
            if count == now or self._find_tied_generations(part_index, count):
                continue
            try:
                new = design.copy_with_counts({part_index: count})
            except InvalidDesign:
                continue
            if new.key.parts[part_index].framing.width == width:
                allowed.append(count)
            if len(allowed) == MAX_SUGGESTIONS:
                break
        return sorted(allowed)

    def run(self) -> BucketChangeResult:
        """Change the number of buckets; return once rows are written under the new number.

        Raises:
            Conflict: another client is changing the number of buckets, or announced this change
                with another `max_stale`.
            Unavailable: the catalog or the engine does not answer.
        """
        self._check_announcement(self._read_entry())
        regions = self._split_regions()
        entry = self._announce_counts()
        self._wait_for_clients(compute_wait_s(entry, self.tracker.engine))
        announced = entry.generations[-1]
        self.tracker.lease.adopt_entry(
            activate_announced(self.catalog, self._table_name, announced, self.tracker.store)
        )
        return self._build_result(self.tracker.get_state(), regions)

    def preview(self) -> BucketChangeResult:
        """Return what reads will cost under the new number; nothing is changed or split.

        Cost: no read of the table.
        """
        entry = self.state_before.entry
        if entry.announced_generation is None:
            entry = entry.announce_generation(self.counts, (), 0)
        return self._build_result(self.tracker.build_state(entry.activate_generation()), 0)

    def _build_result(self, after: GenerationState, regions: int) -> BucketChangeResult:
        """Return what reads cost before the change and in a state after it.

        Args:
            after: the state of the table with the new number active.
            regions: how many regions were split.
        """
        before, place = self._build_previous_state(), self.part_index
        return BucketChangeResult(
            part=str(after.active_design.key.terms[place]),
            count_before=self.state_before.entry.active_generation.counts[place],
            count_after=after.entry.active_generation.counts[place],
            generation=after.entry.active_generation.number,
            regions_split=regions,
            **compare_read_costs(before, after),
        )

    def _build_previous_state(self) -> GenerationState:
        """Return the table's state before the change was announced, by this or another client."""
        entry = self.state_before.entry
        generations = tuple(one for one in entry.generations if not one.is_announced)
        return self.tracker.build_state(replace(entry, generations=generations))

    @property
    def _table_name(self) -> str:
        return self.state_before.combined_design.table

    def _read_entry(self) -> CatalogEntry:
        """Return the table's entry from the catalog; raise `Unavailable` if there is none."""
        entry = self.catalog.read(self._table_name)
        if entry is None:
            what = "the catalog no longer has an entry for this table"
            raise Unavailable(f"table {self._table_name}", what, remedy=REOPEN_REMEDY)
        return entry

    def _check_announcement(self, entry: CatalogEntry) -> bool:
        """Return whether the same change was announced before, by this or another client.

        Raises:
            Conflict: another change is announced, or was made since this one began; or rows of
                the table are being moved.
        """
        if entry.move is not None or entry.moved_from:
            what = "its rows are being moved to another table, or from one"
            remedy = "Finish the move, or give it up: rowkey move finish."
            raise Conflict(f"table {self._table_name}", what, remedy=remedy)
        if entry.copied_generations:
            what = "the rows of its earlier numbers of buckets are being removed from their places"
            remedy = "Finish that first: rowkey buckets retire."
            raise Conflict(f"table {self._table_name}", what, remedy=remedy)
        announced = entry.announced_generation
        if announced is not None and announced.counts == self.counts:
            if self.max_stale_s not in (None, entry.max_stale_s):
                raise self._build_stale_time_conflict(announced, entry.max_stale_s)
            return True
        if announced is not None:
            counts = ", ".join(f"key[{n}] to {count}" for n, count in announced.counts.items())
            what = f"another change of its number of buckets is under way, of {counts} buckets"
            remedy = "Wait until that change is done, or set the same number to finish it yourself."
            raise Conflict(f"table {self._table_name}", what, remedy=remedy)
        if entry.generations != self.state_before.entry.generations:
            what = "another client has changed its number of buckets meanwhile"
            remedy = "See the present number by rowkey buckets show, then decide again."
            raise Conflict(f"table {self._table_name}", what, remedy=remedy)
        return False

    def _build_stale_time_conflict(self, announced: Generation, stale_s: float) -> Conflict:
        """Return the error of finishing an announced change with another `max_stale`.

        Other clients may activate it after the announced time, whatever the entry says now.
        """
        what = f"the unfinished change of its buckets was begun with max_stale = {stale_s:g} s"
        remedy = "Repeat the call without max_stale; give the new max_stale with the next change."
        return Conflict(
            f"table {self._table_name}", what, f"max_stale = {stale_s:g} s, or none", remedy
        )

    def _split_regions(self) -> int:
        """Split regions at the boundaries of the new bucket count; return how many were split."""
        store = self.tracker.store
        existing = {b"", *store.spec.splits}
        bounds = [at for at in self._choose_split_keys() if at not in existing]
        for done, at in enumerate(bounds):
            self.progress(Progress("regions", done, len(bounds), "regions"))
            store.split(at)
        if bounds:
            self.progress(Progress("regions", len(bounds), len(bounds), "regions"))
        return len(bounds)

    def _choose_split_keys(self) -> tuple[bytes, ...]:
        """Return the region boundaries that the new bucket count needs and the old one does not.

        Boundaries that a design lists do not depend on the count.
        """
        old, new = (
            self.state_before.active_design,
            self.state_before.active_design.copy_with_counts(self.counts),
        )
        if not (new.splits.needs_sample or new.splits.needs_count):
            # Others may have merged regions that begin where the old number wants them.
            as_before = set(old.splits.compute_boundaries(old.key).splits)
            return tuple(
                at for at in new.splits.compute_boundaries(new.key).splits if at not in as_before
            )
        old_prefixes = {
            key for one in self.state_before.designs for key in list_key_prefixes(one.key) or ()
        }
        return tuple(key for key in list_key_prefixes(new.key) or () if key not in old_prefixes)

    def _announce_counts(self) -> CatalogEntry:
        """Announce the new bucket count in the catalog; return the entry."""
        catalog, name = self.catalog, self._table_name
        splits = self.tracker.store.spec.splits
        for _ in range(MAX_CATALOG_RETRIES):
            entry = self._read_entry()
            if not self._check_announcement(entry):
                now = self.tracker.store.row_clock.clock()
                new = entry.announce_generation(self.counts, splits, now, self.max_stale_s)
                # The attributes get the longest stale time before any client uses it.
                write_attributes(self._table_name, self.tracker.store, new)
                try:
                    entry = replace(new, version=catalog.write(name, new, entry.version))
                except Conflict:
                    # Another client has allocated an id, or has announced a generation.
                    reconcile_attributes(catalog, name, self.tracker.store)
                    continue
                reconcile_attributes(catalog, name, self.tracker.store)
            self.tracker.lease.adopt_entry(entry)
            return entry
        raise build_contention_error(name, MAX_CATALOG_RETRIES)

    def _wait_for_clients(self, seconds: float) -> None:
        """Wait until every client has read of the announced generation, or has stopped."""
        wait_for_clients(seconds, self.progress, "seconds", self.pause, self.tracker.lease.clock)
        total = max(1, round(seconds))
        self.progress(Progress("seconds", total, total, "seconds"))


def _check_count(count: Any, mistakes: Mistakes) -> None:
    """Note a mistake if a value is not an allowed number of buckets."""
    if type(count) is not int or not 1 <= count <= MAX_BUCKETS:
        what = f"{format_value(count)} is not a number of buckets"
        mistakes.add("argument buckets", what, f"a whole number from 1 to {MAX_BUCKETS:,}")


def _find_part_index(design: Design, part: Any, mistakes: Mistakes) -> int | None:
    """Return the index of a part by its name; note a mistake if it has no bucket count."""
    counted_parts = list_counted_parts(design)
    listing = ", ".join(f"{place} for {text}" for place, text in counted_parts.items())
    if not counted_parts:
        what = f"no part of the key {design.key} has a number of buckets"
        mistakes.add(
            "argument part", what, "a key with a bucket, a salt or a mod", NEW_TABLE_REMEDY
        )
        return None
    if part is None:
        if len(counted_parts) > 1:
            what = (
                f"{len(counted_parts)} parts of the key have a number of buckets, and none is named"
            )
            remedy = "Name the part by its index or as it is written."
            mistakes.add("argument part", what, f"one of {listing}", remedy)
            return None
        return next(iter(counted_parts))
    if type(part) is int:
        matches = [part] if part in counted_parts else []
    else:
        kinds = [place for place in counted_parts if design.key.parts[place].name == part]
        matches = [place for place, text in counted_parts.items() if text == part] or kinds
    if len(matches) != 1:
        which = "several parts" if matches else "no part"
        what = f"{format_value(part)} names {which} of the key with a number of buckets"
        mistakes.add("argument part", what, f"one of {listing}")
        return None
    return matches[0]
