"""Change the number of buckets of a table in use: split, announce, wait, then activate."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rowkey.catalog import check_max_stale
from rowkey.design import list_key_prefixes
from rowkey.errors import Conflict, InvalidArgument, InvalidDesign, Mistakes, Unavailable
from rowkey.messages import format_value
from rowkey.table.generations.activation import (
    MAX_CATALOG_RETRIES,
    activate_announced,
    build_overtaken_error,
    compute_wait_s,
    reconcile_attributes,
    write_attributes,
)
from rowkey.table.generations.bucket_counts import (
    compute_fan_out,
    find_distinguishing_fields,
    list_counted_parts,
)
from rowkey.table.generations.timestamp_ties import find_tied_generations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rowkey.catalog import CatalogEntry, Generation
    from rowkey.design import Design
    from rowkey.table.generations.generation_tracker import GenerationState
    from rowkey.table.table import Table

    ChangeProgress = Callable[[str, int, int], None]
    """Called with what is being done, `regions` or `seconds`, how much of it, and of how much."""

MAX_BUCKETS = 65_536
"""Numbers that a part takes at most. Source: two bytes."""
MAX_SUGGESTIONS = 3
"""Numbers that are named in place of one that cannot be had."""
NEW_TABLE_REMEDY = (
    "Otherwise make another table, with the key that is wanted, and load the rows into it."
)
"""The way out of what no other number can do: rows of a table do not move to another key."""
POLL_INTERVAL_S = 0.25
"""Seconds between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class BucketChangeResult:
    """The result of a change of the number of buckets, and what it costs.

    Args:
        part: the part of the key, as rows are written now.
        count_before: how many numbers it took.
        count_after: how many it takes.
        generation: the number of the generation that is active now.
        regions_split: how many regions were split.
        keys_per_get: row keys that a get tries, before and after.
        ranges_per_scan: ranges that a scan of all rows reads, before and after.
        ranges_per_read: ranges that each declared read reads at most, before and after, by its
            name.
    """

    part: str
    count_before: int
    count_after: int
    generation: int
    regions_split: int
    keys_per_get: tuple[int, int]
    ranges_per_scan: tuple[int, int]
    ranges_per_read: Mapping[str, tuple[int, int]]


class BucketChange:
    """One change of the number of buckets.

    Every step may be interrupted: what was begun is found and gone on with by the next change to
    the same number.

    Args:
        table: the table.
        count: how many buckets it is to have.
        part: the part of the key, where several have a count: its index from 0, its function, or
            the part as it is written.
        max_stale_s: seconds that clients may work without the catalog from now on; None as before.
            A change that is continued keeps the time that it was announced with.
        progress: called with how far the change is.
        pause: waits so many seconds.

    Raises:
        InvalidDesign: with everything that is wrong with these.
    """

    def __init__(
        self,
        table: Table,
        count: int,
        part: int | str | None = None,
        *,
        max_stale_s: float | None = None,
        progress: ChangeProgress | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.table, self.count = table, count
        self.max_stale_s = max_stale_s
        self.progress = progress or (lambda *_: None)
        self.pause = pause
        self.state_before = table.get_state()
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
        """Note why a part cannot take the requested number."""
        design = self.state_before.active_design
        term, path = str(design.key.terms[part_index]), f"key[{part_index}]"
        if names := find_distinguishing_fields(design, part_index):
            what = f"{term} tells rows apart by {', '.join(names)}, which the rest of the key lacks"
            remedy = "Under another number other rows would be one. " + NEW_TABLE_REMEDY
            mistakes.add(path, what, "a part that follows from the rest of the key", remedy)
        if mistakes.mistakes:
            return
        entry = self.state_before.entry
        if (
            entry.active_generation.counts[part_index] == self.count
            and entry.announced_generation is None
        ):
            mistakes.add("buckets", f"{term} takes {self.count} numbers already", "another number")
            return
        try:
            new = design.copy_with_counts({part_index: self.count})
        except InvalidDesign as problem:
            mistakes.mistakes += problem.mistakes
            return
        widths = [one.key.parts[part_index].framing.width for one in (design, new)]
        if widths[0] != widths[1]:
            what = f"{self.count} numbers take {widths[1]} bytes, rows of {term} have {widths[0]}"
            remedy = f"{NEW_TABLE_REMEDY} Declare width=2 there."
            mistakes.add("buckets", what, "a number of as many bytes", remedy)
        self._check_timestamps(part_index, mistakes)

    def _check_timestamps(self, part_index: int, mistakes: Mistakes) -> None:
        """Note a number that puts rows back into the place of an older generation.

        Only where cells of one time may differ: what is written later is newer elsewhere.
        """
        stamp = self.state_before.active_design.layout.cell_timestamp
        found = None if stamp is None else self._find_tie(part_index, self.count)
        if stamp is None or found is None:
            return
        older, newer = found
        what = (
            f"{self.count} may put a row where generation {older.number} had it and generation "
            f"{newer.number} had not, and {stamp.field.name} does not tell which of two writes of "
            "one time is the later"
        )
        near = " or ".join(map(str, self._suggest_counts(part_index)))
        mistakes.add("buckets", what, near, NEW_TABLE_REMEDY)

    def _find_tie(self, part_index: int, count: int) -> tuple[Generation, Generation] | None:
        """Return two generations whose cells a number would make indistinguishable, if any."""
        entry = self.state_before.entry
        standing = [one for one in entry.generations if one.is_active]
        return find_tied_generations(
            self.state_before.active_design,
            standing,
            {**entry.active_generation.counts, part_index: count},
        )

    def _suggest_counts(self, part_index: int) -> list[int]:
        """Return up to three allowed numbers next to the requested one, ascending."""
        design, now = (
            self.state_before.active_design,
            self.state_before.entry.active_generation.counts[part_index],
        )
        width = design.key.parts[part_index].framing.width
        most = MAX_BUCKETS if width is None else min(MAX_BUCKETS, 256**width)
        found: list[int] = []
        for count in sorted(range(1, most + 1), key=lambda one: abs(one - self.count)):
            if count == now or self._find_tie(part_index, count):
                continue
            try:
                new = design.copy_with_counts({part_index: count})
            except InvalidDesign:
                continue
            if new.key.parts[part_index].framing.width == width:
                found.append(count)
            if len(found) == MAX_SUGGESTIONS:
                break
        return sorted(found)

    def run(self) -> BucketChangeResult:
        """Make the change; return when rows are written under the new number.

        Raises:
            Conflict: another client is changing the number of buckets, or announced this change
                with another `max_stale`.
            Unavailable: the catalog or the engine does not answer.
        """
        self._check_announcement(self._read_entry())
        regions = self._split_regions()
        entry = self._announce_counts()
        self._wait_for_clients(compute_wait_s(entry, self.table.engine))
        announced = entry.generations[-1]
        self._adopt_entry(
            activate_announced(self.table.catalog, self._table_name, announced, self.table.store)
        )
        before, after, place = self._build_previous_state(), self.table.get_state(), self.part_index
        return BucketChangeResult(
            part=str(after.active_design.key.terms[place]),
            count_before=self.state_before.entry.active_generation.counts[place],
            count_after=after.entry.active_generation.counts[place],
            generation=after.entry.active_generation.number,
            regions_split=regions,
            keys_per_get=(before.place_count, after.place_count),
            ranges_per_scan=(
                compute_fan_out(before.combined_design),
                compute_fan_out(after.combined_design),
            ),
            ranges_per_read={
                one.name: (
                    compute_fan_out(before.combined_design, one),
                    compute_fan_out(after.combined_design, one),
                )
                for one in after.combined_design.reads
            },
        )

    def _build_previous_state(self) -> GenerationState:
        """Return the table's state before the change was announced, by this or another client."""
        entry = self.state_before.entry
        generations = tuple(one for one in entry.generations if one.is_active)
        return self.table.tracker.build_state(replace(entry, generations=generations))

    @property
    def _table_name(self) -> str:
        return self.state_before.combined_design.table

    def _read_entry(self) -> CatalogEntry:
        entry = self.table.catalog.read(self._table_name)
        if entry is None:
            what = "the catalog does not know it any more"
            allowed, remedy = "the entry that was read", "Open it again: that tells more."
            raise Unavailable(f"table {self._table_name}", what, allowed, remedy)
        return entry

    def _check_announcement(self, entry: CatalogEntry) -> bool:
        """Return whether this very change was announced before, by this or another client.

        Raises:
            Conflict: another one is, or one was made since the table was looked at.
        """
        announced = entry.announced_generation
        if announced is not None and announced.counts == self.counts:
            if self.max_stale_s not in (None, entry.max_stale_s):
                raise self._build_stale_time_conflict(announced, entry.max_stale_s)
            return True
        if announced is not None:
            counts = ", ".join(f"{count} at key[{n}]" for n, count in announced.counts.items())
            what = f"its generation {announced.number} is announced, with {counts}"
            remedy = "Wait for the client that changes it, or set that number to finish the change."
            raise Conflict(f"table {self._table_name}", what, "no other change at the time", remedy)
        if entry.generations != self.state_before.entry.generations:
            what = "another client has changed its buckets meanwhile"
            allowed, remedy = "those it had", "Look at what it has now: rowkey buckets show."
            raise Conflict(f"table {self._table_name}", what, allowed, remedy)
        return False

    def _build_stale_time_conflict(self, announced: Generation, stale_s: float) -> Conflict:
        """Return the refusal to finish a change with a `max_stale` it was not announced with.

        Other clients may activate it after the time that they know, whatever the entry says now.
        """
        what = f"its generation {announced.number} is announced, with max_stale {stale_s:g} s"
        remedy = "Set that number without max_stale to finish it; give it with the next change."
        return Conflict(f"table {self._table_name}", what, f"{stale_s:g} s, or none", remedy)

    def _split_regions(self) -> int:
        """Split regions where the new number needs boundaries; return how many were split."""
        store = self.table.store
        there = {b"", *store.spec.splits}
        bounds = [at for at in self._choose_split_keys() if at not in there]
        for done, at in enumerate(bounds):
            self.progress("regions", done, len(bounds))
            store.split(at)
        if bounds:
            self.progress("regions", len(bounds), len(bounds))
        return len(bounds)

    def _choose_split_keys(self) -> tuple[bytes, ...]:
        """Return the boundaries that the new number needs and the old one does not.

        Boundaries that are listed follow from no number.
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
        held = {
            key for one in self.state_before.designs for key in list_key_prefixes(one.key) or ()
        }
        return tuple(key for key in list_key_prefixes(new.key) or () if key not in held)

    def _announce_counts(self) -> CatalogEntry:
        """Announce the new number, so that all clients read and delete by it; return the entry."""
        catalog, name = self.table.catalog, self._table_name
        splits = self.table.store.spec.splits
        for _ in range(MAX_CATALOG_RETRIES):
            entry = self._read_entry()
            if not self._check_announcement(entry):
                now = self.table.store.row_clock.clock()
                new = entry.announce_generation(self.counts, splits, now, self.max_stale_s)
                write_attributes(
                    self.table.store, new
                )  # how long clients may go on, before any does
                try:
                    entry = replace(new, version=catalog.write(name, new, entry.version))
                except Conflict:
                    # Another client has allocated an id, or has announced a generation.
                    reconcile_attributes(catalog, name, self.table.store)
                    continue
                reconcile_attributes(catalog, name, self.table.store)
            self._adopt_entry(entry)
            return entry
        raise build_overtaken_error(name)

    def _adopt_entry(self, entry: CatalogEntry) -> None:
        self.table.lease.adopt_entry(entry)

    def _wait_for_clients(self, seconds: float) -> None:
        """Wait until every client knows the announcement, or has stopped."""
        clock = self.table.lease.clock
        end = clock() + seconds
        while (left := end - clock()) > 0:
            self.progress("seconds", round(seconds - left), max(1, round(seconds)))
            self.pause(min(left, POLL_INTERVAL_S))
        self.progress("seconds", max(1, round(seconds)), max(1, round(seconds)))


def _check_count(count: Any, mistakes: Mistakes) -> None:
    if type(count) is not int or not 1 <= count <= MAX_BUCKETS:
        mistakes.add(
            "buckets", f"{format_value(count)} is no number of buckets", f"1..{MAX_BUCKETS:,}"
        )


def _find_part_index(design: Design, part: Any, mistakes: Mistakes) -> int | None:
    """Return the index of the part that is meant; note a mistake if it has no bucket count."""
    counted = list_counted_parts(design)
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
        what = (
            f"{format_value(part)} names {'several' if found else 'none'} of the parts that count"
        )
        mistakes.add("part", what, known)
        return None
    return found[0]
