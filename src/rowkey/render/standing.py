"""What is told of tables that stand: counters and numbers of buckets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rowkey.render.documents import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.catalog import Generation
    from rowkey.design import Design
    from rowkey.engines import RegionCount
    from rowkey.table import Buckets, Changed


def count_document(design: Design, rows: int) -> dict[str, Any]:
    """How many rows were counted, as `rowkey count -f json` prints it."""
    return {"format": FORMAT, "table": design.table, "rows": rows}


def regions_document(design: Design, counts: Sequence[RegionCount]) -> dict[str, Any]:
    """The counters of all regions, with row keys in hexadecimal."""
    return {
        "format": FORMAT,
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


def regions_lines(design: Design, counts: Sequence[RegionCount]) -> Iterator[str]:
    """A line for each region: where it begins, decoded, and what it has counted."""
    yield f"{'writes':>14} {'reads':>14}  begins with"
    for one in counts:
        start = design.key.show(one.start) if one.start else "(the first row)"
        yield f"{one.writes:>14,} {one.reads:>14,}  {start}"
    writes, reads = (sum(getattr(one, what) for one in counts) for what in ("writes", "reads"))
    yield f"{writes:>14,} {reads:>14,}  in all"


BUCKETS = {
    "format": "version of this document",
    "table": "name of the table",
    "generation": "number of the generation that rows are written under",
    "announced": "number of the one that is going to rule, or null",
    "parts[].place": "place of a part of the key that counts, from 0",
    "parts[].part": "the part, with the number that rows are written under",
    "parts[].buckets": "that number",
    "parts[].live": "the numbers that rows may stand under, that one first",
    "parts[].tells_apart": "fields by which it tells rows apart: then it cannot be changed",
    "max_stale_s": "seconds that a client goes on without the catalog",
    "longest_s": "seconds that some client may still: more while a shorter time is announced",
    "patience_s": "seconds that a change waits, one that is announced among them: a little more "
    "than `longest_s`; 1 at most on an engine that one process has open",
    "gets": "row keys that a get tries",
    "scans": "ranges that a scan of all rows reads",
}

LOST = "lost with the catalog"
"""Stands where nobody knows any more when a generation was announced."""
HISTORY = {
    "format": "version of this document",
    "table": "name of the table",
    "generations[].number": "from 1, with which the table was made",
    "generations[].parts": "the parts of the key that count, with the numbers of the generation",
    "generations[].opened_ms": "when it was announced, milliseconds since 1970; null if lost",
    "generations[].regions": "regions that there were then; null if that is lost",
    "generations[].state": "`live`, `rules` for the one that is written, or `announced`",
}

CHANGED = {
    "format": "version of this document",
    "table": "name of the table",
    "part": "the part of the key, with the number that rows are written under now",
    "buckets.before": "the number before",
    "buckets.after": "that number",
    "generation": "number of the generation that rules now",
    "regions_split": "regions that were split",
    "gets.before": "row keys that a get tried",
    "gets.after": "row keys that it tries from now on",
    "scans.before": "ranges that a scan of all rows read",
    "scans.after": "ranges that it reads from now on",
    "reads.*.before": "ranges that a declared read read at most, by its name",
    "reads.*.after": "ranges that it reads at most from now on",
}


def buckets_document(found: Buckets) -> dict[str, Any]:
    """The numbers of buckets of a table, as `rowkey buckets show -f json` prints them."""
    last = found.generations[-1]
    return {
        "format": FORMAT,
        "table": found.table,
        "generation": found.ruling,
        "announced": None if last.rules else last.number,
        "parts": [
            {
                "place": one.place,
                "part": one.text,
                "buckets": one.count,
                "live": list(one.live),
                "tells_apart": list(one.apart_by),
            }
            for one in found.parts
        ],
        "max_stale_s": found.max_stale_s,
        "longest_s": found.longest_s,
        "patience_s": round(found.patience_s, 3),
        "gets": found.gets,
        "scans": found.scans,
    }


def buckets_lines(found: Buckets) -> Iterator[str]:
    """The numbers of buckets of a table, a dozen lines or so."""
    standing = sum(one.rules for one in found.generations)
    more = "" if standing == 1 else f"; rows stand under {standing} generations"
    yield f"table       {found.table}"
    yield f"generation  {found.ruling} rules{more}"
    for one in found.generations:
        if not one.rules:
            counts = ", ".join(map(str, one.counts.values()))
            yield f"announced   {one.number}, with {counts}: set that number again to finish it"
    for part in found.parts:
        others = " and ".join(map(str, part.live[1:]))
        told = f"; rows may stand under {others} as well" if others else ""
        if part.apart_by:
            told += f"; fixed, for it tells rows apart by {', '.join(part.apart_by)}"
        yield f"part        {part.text}: {part.count:,} numbers{told}"
    if not found.parts:
        yield "part        none counts"
    gets, scans = _said(found.gets, "row key"), _said(found.scans, "range")
    yield f"reads       {gets} for a get, {scans} for all rows"
    stale = f"for {found.max_stale_s:g} s without the catalog"
    if found.longest_s > found.max_stale_s:
        stale += f", some for {found.longest_s:g} s still"
    yield f"clients     go on {stale}; a change waits for {found.patience_s:g} s"


def history_document(found: Buckets) -> dict[str, Any]:
    """The generations of a table, as `rowkey buckets history -f json` prints them."""
    return {
        "format": FORMAT,
        "table": found.table,
        "generations": [
            {
                "number": one.number,
                "parts": [part.texts[one.counts[part.place]] for part in found.parts],
                "opened_ms": one.opened_ms,
                "regions": None if one.opened_ms is None else len(one.splits) + 1,
                "state": _state(found, one),
            }
            for one in found.generations
        ],
    }


def history_lines(found: Buckets) -> Iterator[str]:
    """A line for each generation, the oldest first."""
    yield "generation  announced                 regions  state      parts"
    for one in found.generations:
        parts = ", ".join(part.texts[one.counts[part.place]] for part in found.parts)
        since, regions = LOST, "?"
        if one.opened_ms is not None:
            at = datetime.fromtimestamp(one.opened_ms / 1000, UTC)
            since, regions = at.isoformat(timespec="seconds"), f"{len(one.splits) + 1:,}"
        state = _state(found, one)
        yield f"{one.number:10}  {since:25}  {regions:>7}  {state:9}  {parts or 'none counts'}"


def _state(found: Buckets, one: Generation) -> str:
    if not one.rules:
        return "announced"
    return "rules" if one.number == found.ruling else "live"


def changed_document(table: str, done: Changed) -> dict[str, Any]:
    """A change of the number of buckets, as `rowkey buckets set -f json` prints it."""
    return {
        "format": FORMAT,
        "table": table,
        "part": done.part,
        "buckets": {"before": done.before, "after": done.after},
        "generation": done.generation,
        "regions_split": done.regions,
        "gets": _pair(done.gets),
        "scans": _pair(done.scans),
        "reads": {name: _pair(pair) for name, pair in done.reads.items()},
    }


def changed_lines(table: str, done: Changed) -> Iterator[str]:
    """What a change of the number of buckets did, and what it costs from now on."""
    regions = _said(done.regions, "region")
    yield f"{table}: {done.part} in place of {done.before:,}; {regions} split"
    yield "from now on, to find the rows of before:"
    yield f"  a get tries {_said(done.gets[1], 'row key')} in place of {done.gets[0]:,}"
    for name, (before, after) in {"all rows": done.scans, **done.reads}.items():
        yield f"  {name}: {_said(after, 'range')} in place of {before:,}"


def _pair(pair: tuple[int, int]) -> dict[str, int]:
    return {"before": pair[0], "after": pair[1]}


def _said(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
