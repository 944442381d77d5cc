"""The bucket counts of a table, and what reads cost under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rowkey.catalog import Generation
from rowkey.design import Design
from rowkey.engines import Engine
from rowkey.plan import DeclaredRead, bind_example, plan_read
from rowkey.schema import Bounds, Equal
from rowkey.table.client_wait import compute_wait_s
from rowkey.table.generations.counted_parts import find_distinguishing_fields, list_counted_parts
from rowkey.table.generations.generation_tracker import GenerationState

FAN_OUT_SAMPLE_ROWS = 32
"""Example rows for which the ranges of a read are counted. Under two bucket counts a row has two
row keys with a chance of at least one half, so that some of these rows have."""


@dataclass(frozen=True, slots=True)
class CountedPart:
    """A part of a key that has a bucket count: a bucket, a salt or a mod.

    Args:
        part_index: its index among the parts, from 0.
        notation: the part as it is written, with the active count.
        count: the active count, under which rows are written.
        live_counts: the counts that rows may be stored under, the active one first.
        notations: the part as it is written with each count that it has had.
        distinguishing_fields: the fields by which it distinguishes rows that are otherwise equal;
            it cannot get another number if there are any.
    """

    part_index: int
    notation: str
    count: int
    live_counts: tuple[int, ...]
    notations: Mapping[int, str]
    distinguishing_fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BucketCounts:
    """The bucket counts of a table, and what reads cost under them.

    Args:
        table: its name.
        parts: the parts of its key that have a count.
        generations: all generations that the table has had, oldest first.
        active_generation: the number of the generation under which rows are written.
        max_stale_s: seconds that a client goes on without the catalog.
        longest_stale_s: seconds that some may still go on: more while a shorter time is announced.
        wait_s: seconds that a change waits, also one that is announced.
        keys_per_get: row keys that a get tries.
        ranges_per_scan: ranges that a scan of all rows reads.
    """

    table: str
    parts: tuple[CountedPart, ...]
    generations: tuple[Generation, ...]
    active_generation: int
    max_stale_s: float
    longest_stale_s: float
    wait_s: float
    keys_per_get: int
    ranges_per_scan: int

    @classmethod
    def from_state(cls, state: GenerationState, engine: Engine) -> BucketCounts:
        """Return the bucket counts of a table from its state."""
        entry, design = state.entry, state.active_design
        return cls(
            table=design.table,
            parts=tuple(_build_counted_part(state, place) for place in list_counted_parts(design)),
            generations=entry.generations,
            active_generation=entry.active_generation.number,
            max_stale_s=entry.max_stale_s,
            longest_stale_s=entry.longest_stale_s,
            wait_s=compute_wait_s(entry, engine),
            keys_per_get=state.place_count,
            ranges_per_scan=compute_fan_out(state.combined_design),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCostChange:
    """What reads cost before and after a change of the numbers of buckets.

    Args:
        keys_per_get: row keys that a get tries, before and after.
        ranges_per_scan: ranges that a scan of all rows reads, before and after.
        ranges_per_read: ranges that each declared read reads at most, before and after, by its
            name.
    """

    keys_per_get: tuple[int, int]
    ranges_per_scan: tuple[int, int]
    ranges_per_read: Mapping[str, tuple[int, int]]


def compare_read_costs(before: GenerationState, after: GenerationState) -> dict[str, Any]:
    """Return the fields of a `ReadCostChange` from one state of a table to another."""
    designs = before.combined_design, after.combined_design
    reads = {one.name: one for one in after.combined_design.reads}
    return {
        "keys_per_get": (before.place_count, after.place_count),
        "ranges_per_scan": tuple(map(compute_fan_out, designs)),
        "ranges_per_read": {
            name: tuple(compute_fan_out(design, one) for design in designs)
            for name, one in reads.items()
        },
    }


def _build_counted_part(state: GenerationState, part_index: int) -> CountedPart:
    """Return the description of a part of the key that has a count."""
    design, entry = state.active_design, state.entry
    counts = tuple(dict.fromkeys(one.counts[part_index] for one in entry.live_generations))
    had = {one.counts[part_index] for one in entry.generations}
    texts = {
        count: str(design.replace_term_counts({part_index: count})[part_index]) for count in had
    }
    active_count = entry.active_generation.counts[part_index]
    return CountedPart(
        part_index,
        texts[active_count],
        active_count,
        counts,
        texts,
        find_distinguishing_fields(design, part_index),
    )


def compute_fan_out(design: Design, read: DeclaredRead | None = None) -> int:
    """Return how many ranges a scan of all rows reads, or a declared read at most."""
    if read is None:
        return plan_read(design.key, {}).fan_out
    example = bind_example(read)
    return max(
        plan_read(design.key, _substitute_values(row, example.bounds), example.order).fan_out
        for row in design.key.generate_rows(FAN_OUT_SAMPLE_ROWS)
    )


def _substitute_values(row: Mapping[str, Any], bounds: Bounds) -> Bounds:
    """Return the conditions of a read with each `field = value` replaced by the row's value."""
    return {
        name: Equal(row[name]) if isinstance(bound, Equal) and row.get(name) is not None else bound
        for name, bound in bounds.items()
    }
