"""Counters of regions and bucket counts of existing tables, as text and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rowkey.catalog import GenerationPhase
from rowkey.render.documents import FORMAT_VERSION
from rowkey.render.undeclared_cells import build_undeclared_document, build_undecodable_document

if TYPE_CHECKING:
    from rowkey.catalog import Generation
    from rowkey.design import Design
    from rowkey.engines import RegionRequestCounts
    from rowkey.move import BucketRetirementResult
    from rowkey.table import BucketChangeResult, BucketCounts, ReadCostChange, Scan


def build_count_document(scan: Scan, rows: int) -> dict[str, Any]:
    """Return a number of rows as `rowkey count -f json` prints it, and what else was found."""
    return {
        "format": FORMAT_VERSION,
        "table": scan.design.table,
        "rows": rows,
        "undeclared": build_undeclared_document(scan.undeclared_cells),
        "undecodable": build_undecodable_document(scan.undecodable_rows),
    }


def build_regions_document(design: Design, counts: Sequence[RegionRequestCounts]) -> dict[str, Any]:
    """Return the request counters of all regions as a JSON document."""
    return {
        "format": FORMAT_VERSION,
        "table": design.table,
        "regions": [
            {
                "start": one.start.hex(),
                "stop": one.stop.hex(),
                "writes": one.writes,
                "reads": one.reads,
            }
            for one in counts
        ],
    }


def format_regions(design: Design, counts: Sequence[RegionRequestCounts]) -> Iterator[str]:
    """Yield a line for each region: its request counters and first row key."""
    yield f"{'writes':>14} {'reads':>14}  begins with"
    for region in counts:
        start = design.key.format_prefix(region.start) if region.start else "(the first row)"
        yield f"{region.writes:>14,} {region.reads:>14,}  {start}"
    writes, reads = (
        sum(getattr(region, what) for region in counts) for what in ("writes", "reads")
    )
    yield f"{writes:>14,} {reads:>14,}  total"


BUCKETS_FIELDS = {
    "format": "version of this document",
    "table": "name of the table",
    "generation": "number of the generation that rows are written under",
    "announced": "number of the next generation, or null",
    "parts[].place": "index of a key part with buckets, from 0",
    "parts[].part": "the part, with the number that rows are written under",
    "parts[].buckets": "that number",
    "parts[].live": "the numbers that rows may use, the current one first",
    "parts[].tells_apart": "fields by which it distinguishes rows: then it cannot be changed",
    "max_stale_s": "seconds that a client goes on without the catalog",
    "longest_s": "seconds that some client may still: more while a shorter time is announced",
    "patience_s": "seconds that a change waits, one that is announced among them: a little more "
    "than `longest_s`; 1 at most on an engine that one process has open",
    "gets": "row keys that a get tries",
    "scans": "ranges that a scan of all rows reads",
}

LOST_TIME = "lost with the catalog"
"""Printed where the time of a generation's announcement is lost."""
HISTORY_FIELDS = {
    "format": "version of this document",
    "table": "name of the table",
    "generations[].number": "from 1, with which the table was made",
    "generations[].parts": "the parts of the key that count, with the numbers of the generation",
    "generations[].opened_ms": "when it was announced, milliseconds since 1970; null if lost",
    "generations[].regions": "regions that there were then; null if that is lost",
    "generations[].state": "`active` for new rows, `live` if rows may be in it, `announced`, "
    "`copied` while its rows are being removed from their earlier places, or `retired`",
}

_READ_COST_FIELDS = {
    "gets.before": "row keys that a get tried",
    "gets.after": "row keys that it tries from now on",
    "scans.before": "ranges that a scan of all rows read",
    "scans.after": "ranges that it reads from now on",
    "reads.*.before": "ranges that a declared read read at most, by its name",
    "reads.*.after": "ranges that it reads at most from now on",
}

BUCKET_CHANGE_FIELDS = {
    "format": "version of this document",
    "table": "name of the table",
    "part": "the part of the key, with the number that rows are written under now",
    "buckets.before": "the number before",
    "buckets.after": "that number",
    "generation": "number of the generation that is active now",
    "regions_split": "regions that were split",
    **_READ_COST_FIELDS,
}


BUCKET_RETIREMENT_FIELDS = {
    "format": "version of this document",
    "table": "name of the table",
    "generation": "number of the generation that all rows stand under now",
    "retired[]": "numbers of the generations that were retired",
    "moved_rows": "rows that this call removed from earlier places",
    **_READ_COST_FIELDS,
}


def build_buckets_document(buckets: BucketCounts) -> dict[str, Any]:
    """Return the bucket counts of a table as `rowkey buckets show -f json` prints them."""
    last = buckets.generations[-1]
    return {
        "format": FORMAT_VERSION,
        "table": buckets.table,
        "generation": buckets.active_generation,
        "announced": last.number if last.is_announced else None,
        "parts": [
            {
                "place": part.part_index,
                "part": part.notation,
                "buckets": part.count,
                "live": list(part.live_counts),
                "tells_apart": list(part.distinguishing_fields),
            }
            for part in buckets.parts
        ],
        "max_stale_s": buckets.max_stale_s,
        "longest_s": buckets.longest_stale_s,
        "patience_s": round(buckets.wait_s, 3),
        "gets": buckets.keys_per_get,
        "scans": buckets.ranges_per_scan,
    }


def format_buckets(buckets: BucketCounts) -> Iterator[str]:
    """Yield the bucket counts of a table in about a dozen lines of text."""
    active_count = sum(one.may_have_rows for one in buckets.generations)
    note = "" if active_count == 1 else f"; rows were written in {active_count} generations"
    yield f"table       {buckets.table}"
    yield f"generation  {buckets.active_generation} of the bucket counts is active{note}"
    for generation in buckets.generations:
        if generation.is_announced:
            counts = ", ".join(map(str, generation.counts.values()))
            step = "run buckets set with the same number to finish"
            yield f"announced   {generation.number}, with {counts}: {step}"
        if generation.phase is GenerationPhase.COPIED:
            step = "run buckets retire to finish"
            yield f"retiring    {generation.number}, whose rows were copied: {step}"
    for part in buckets.parts:
        older_counts = " and ".join(map(str, part.live_counts[1:]))
        note = f"; older rows may use {older_counts}" if older_counts else ""
        if part.distinguishing_fields:
            note += (
                f"; fixed, because it distinguishes rows by {', '.join(part.distinguishing_fields)}"
            )
        yield f"part        {part.notation}: {_format_count(part.count, 'bucket')}{note}"
    if not buckets.parts:
        yield "part        no part has buckets"
    gets, scans = (
        _format_count(buckets.keys_per_get, "row key"),
        _format_count(buckets.ranges_per_scan, "range"),
    )
    yield f"reads       {gets} per get, {scans} per scan of all rows"
    stale = f"for {buckets.max_stale_s:g} s without the catalog"
    if buckets.longest_stale_s > buckets.max_stale_s:
        stale += f", some for {buckets.longest_stale_s:g} s still"
    yield f"clients     may work {stale}; a change waits for {buckets.wait_s:g} s"


def build_history_document(buckets: BucketCounts) -> dict[str, Any]:
    """Return the generations of a table as `rowkey buckets history -f json` prints them."""
    return {
        "format": FORMAT_VERSION,
        "table": buckets.table,
        "generations": [
            {
                "number": one.number,
                "parts": [part.notations[one.counts[part.part_index]] for part in buckets.parts],
                "opened_ms": one.opened_ms,
                "regions": None if one.opened_ms is None else len(one.splits) + 1,
                "state": _find_generation_state(buckets, one),
            }
            for one in buckets.generations
        ],
    }


def format_history(buckets: BucketCounts) -> Iterator[str]:
    """Yield a line for each generation of bucket counts, the oldest first."""
    yield "generation  announced                 regions  state      parts"
    for one in buckets.generations:
        parts = ", ".join(part.notations[one.counts[part.part_index]] for part in buckets.parts)
        since, regions = LOST_TIME, "?"
        if one.opened_ms is not None:
            at = datetime.fromtimestamp(one.opened_ms / 1000, UTC)
            since, regions = at.isoformat(timespec="seconds"), f"{len(one.splits) + 1:,}"
        state = _find_generation_state(buckets, one)
        yield f"{one.number:10}  {since:25}  {regions:>7}  {state:9}  {parts or 'no buckets'}"


def _find_generation_state(buckets: BucketCounts, generation: Generation) -> str:
    """Return the phase of a generation, `active` if rows are written under it."""
    is_active = generation.number == buckets.active_generation
    return "active" if is_active else generation.phase.name.lower()


def build_bucket_change_document(table: str, result: BucketChangeResult) -> dict[str, Any]:
    """Return a change of the bucket count as `rowkey buckets set -f json` prints it."""
    return {
        "format": FORMAT_VERSION,
        "table": table,
        "part": result.part,
        "buckets": {"before": result.count_before, "after": result.count_after},
        "generation": result.generation,
        "regions_split": result.regions_split,
        **_build_read_costs(result),
    }


def format_bucket_change(table: str, result: BucketChangeResult) -> Iterator[str]:
    """Yield what a change of the bucket count did, and what reads cost from now on."""
    regions = _format_count(result.regions_split, "region")
    yield f"{table}: {result.part} in place of {result.count_before:,}; {regions} split"
    yield "from now on, to find earlier rows too:"
    yield from _format_read_costs(result)


def build_bucket_retirement_document(table: str, result: BucketRetirementResult) -> dict[str, Any]:
    """Return a retirement of bucket counts as `rowkey buckets retire -f json` prints it."""
    return {
        "format": FORMAT_VERSION,
        "table": table,
        "generation": result.generation,
        "retired": list(result.retired_generations),
        "moved_rows": result.moved_rows,
        **_build_read_costs(result),
    }


def format_bucket_retirement(table: str, result: BucketRetirementResult) -> Iterator[str]:
    """Yield what a retirement of bucket counts did, and what reads cost from now on."""
    rows = _format_count(result.moved_rows, "row")
    if not result.retired_generations:
        what = f"{rows} of retired numbers moved" if result.moved_rows else "nothing to do"
        yield f"{table}: all rows have one number of buckets; {what}"
        return
    retired = " and ".join(map(str, result.retired_generations))
    generations = "generation" if len(result.retired_generations) == 1 else "generations"
    moved = f"{rows} moved to generation {result.generation}"
    yield f"{table}: {generations} {retired} retired; {moved}"
    yield "from now on:"
    yield from _format_read_costs(result)


def _build_read_costs(result: ReadCostChange) -> dict[str, Any]:
    """Return what reads cost before and after a change of bucket counts."""
    return {
        "gets": _build_pair(result.keys_per_get),
        "scans": _build_pair(result.ranges_per_scan),
        "reads": {name: _build_pair(pair) for name, pair in result.ranges_per_read.items()},
    }


def _format_read_costs(result: ReadCostChange) -> Iterator[str]:
    """Yield a line for a get, a scan of all rows, and each declared read."""
    yield (
        f"  a get tries {_format_count(result.keys_per_get[1], 'row key')} in place of "
        f"{result.keys_per_get[0]:,}"
    )
    for name, (before, after) in {
        "all rows": result.ranges_per_scan,
        **result.ranges_per_read,
    }.items():
        yield f"  {name}: {_format_count(after, 'range')} in place of {before:,}"


def _build_pair(pair: tuple[int, int]) -> dict[str, int]:
    """Return a pair of numbers as before and after."""
    return {"before": pair[0], "after": pair[1]}


def _format_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
