"""A running table: as a document, and as a page of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.documents import FORMAT
from rowkey.render.observed.looks import begins, live_map, server_name
from rowkey.render.terminal_map import instant
from rowkey.render.text import STYLES, within, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from rowkey.observe import Interval, Live, Standing

_STANDING = {
    "word": "even, warm or hot; idle without load, thin with too little, unknown without a figure",
    "skew": "load of the fullest server over its fair share in the last minute, or null",
    "even": "what an even table would show with as many operations, or null",
    "servers": "region servers, those without a region of the table as well",
    "events": "operations in the intervals that are known whole",
    "windows": "windows it is from: intervals, or some together with 200 operations a server",
    "fullest": "the fullest server of the last window, or null",
    "why": "why there is no figure, or null",
}

LIVE = {
    "format": "version of this document",
    "table": "name of the table",
    "key": "its row key in bracket notation, or null if nobody knows its design",
    "at_ms": "when it was looked at, milliseconds since 1970",
    "missed": "looks that failed",
    "intervals": "intervals between looks that are kept, 240 at most",
    "length_s": "seconds of the last interval, or null before the second look",
    **{f"writes.{name}": meaning for name, meaning in _STANDING.items()},
    **{f"reads.{name}": f"the same of reads: {name}" for name in _STANDING},
    "causes[].code": "why the writes lie unevenly: the cause's name",
    "causes[].message": "what was seen, as sentences",
    "causes[].bound": "the skew over servers that it explains",
    "causes[].evidence.*": "the figures by name",
    "causes[].remedy": "what would help",
    "regions[].start": "first possible row key, hexadecimal; empty for the first region",
    "regions[].stop": "first row key behind it, hexadecimal; empty for the last region",
    "regions[].begins": "the fields that the first row key begins with, in words",
    "regions[].server": "where it is: host, port and start code; s0, s1 where there are none",
    "regions[].writes_per_s": "writes a second in the last interval, or null if not known",
    "regions[].reads_per_s": "the same of reads",
    "regions[].why": "why they are not known, such as a move, or null",
    "servers[].name": "a region server",
    "servers[].regions": "regions of the table on it",
    "servers[].writes_per_s": "writes a second of those of its regions that are known",
    "servers[].reads_per_s": "the same of reads",
    "remarks[]": "what should be known of the figures",
}


def live_document(found: Live) -> dict[str, Any]:
    """A running table, as `rowkey live -f json` prints it."""
    last = found.intervals[-1] if found.intervals else None
    return {
        "format": FORMAT,
        "table": found.table,
        "key": None if found.design is None else str(found.design.key),
        "at_ms": found.at_ms,
        "missed": found.missed,
        "intervals": len(found.intervals),
        "length_s": None if last is None else last.length_s,
        "writes": _standing(found.writes),
        "reads": _standing(found.reads),
        "causes": [
            {
                "code": one.code,
                "message": one.message,
                "bound": one.bound,
                "evidence": dict(one.evidence),
                "remedy": one.remedy,
            }
            for one in found.causes
        ],
        "regions": [] if last is None else _regions(found, last),
        "servers": [] if last is None else list(_servers(last)),
        "remarks": list(found.remarks),
    }


def _standing(found: Standing) -> dict[str, Any]:
    return {
        "word": found.word,
        "skew": found.skew,
        "even": found.even,
        "servers": found.servers,
        "events": found.events,
        "windows": found.windows,
        "fullest": found.fullest or None,
        "why": found.why or None,
    }


def _regions(found: Live, last: Interval) -> list[dict[str, Any]]:
    return [
        {
            "start": one.start.hex(),
            "stop": one.stop.hex(),
            "begins": begins(found, one.start),
            "server": one.server,
            "writes_per_s": None if one.writes is None else one.writes / last.length_s,
            "reads_per_s": None if one.reads is None else one.reads / last.length_s,
            "why": one.why or None,
        }
        for one in last.regions
    ]


def _servers(last: Interval) -> Iterator[dict[str, Any]]:
    writes, reads = last.by_server("writes"), last.by_server("reads")
    for name in last.servers:
        yield {
            "name": name,
            "regions": sum(one.server == name for one in last.regions),
            "writes_per_s": writes[name] / last.length_s,
            "reads_per_s": reads[name] / last.length_s,
        }


def print_live(found: Live, console: Console) -> None:
    """Print how a table stands: how hot and why, a map of the last looks, servers, remarks."""
    from rich.text import Text

    def told(text: str, indent: int = 0, style: str = "") -> None:
        for line in wrapped(text, console.width, indent):
            console.print(Text(line, style), soft_wrap=True)

    key = "a key that nobody knows" if found.design is None else str(found.design.key)
    told(f"{found.table}  {key}  {instant(found.at_ms // 1000)}", 2)
    for what, one in (("writes", found.writes), ("reads", found.reads)):
        told(f"{what} {one.word.upper()}: {_words(one)}", 2, STYLES.get(one.word, ""))
        for cause in found.causes if what == "writes" else ():
            names = () if found.design is None else found.design.fields
            told(f"  because {within(cause.message, names)} [{cause.code}]", 4)
            told(f"    {cause.remedy}", 4)
    for remark in found.remarks:
        told(f"  {remark}", 4)
    if not found.intervals:
        return
    console.print()
    colour = console.is_terminal and not console.no_color
    for drawn in live_map(found, console.width, colour=colour):
        console.print(drawn, no_wrap=True, overflow="crop")
    console.print()
    for line in (*_busiest(found), *_server_lines(found.intervals[-1])):
        told(line)


def _words(found: Standing) -> str:
    """What a word is from."""
    if found.skew is None or found.even is None:
        return found.why
    if found.servers == 1:
        return "one server takes everything; there is nothing to spread over"
    return (
        f"the fullest of {found.servers} servers, {server_name(found.fullest)}, takes "
        f"{found.skew:.2f}× its fair share of {found.events:,} in the last minute (an even table: "
        f"{found.even:.2f}×)"
    )


def _busiest(found: Live) -> Iterator[str]:
    """The region with most writes in the last interval, where all are known."""
    last = found.intervals[-1]
    total = last.total("writes")
    if not total or not last.is_known("writes") or len(last.regions) == 1:
        return
    number, region = max(enumerate(last.regions), key=lambda one: one[1].writes or 0)
    share = (region.writes or 0) / total
    yield (
        f"the busiest of {len(last.regions)} regions, number {number} on "
        f"{server_name(region.server)}, took {share:.0%} of the writes of the last look; it begins "
        f"at {begins(found, region.start)}"
    )


def _server_lines(last: Interval) -> Iterator[str]:
    yield f"{'server':<28} {'regions':>8} {'writes/s':>12} {'reads/s':>12}"
    for one in _servers(last):
        name, rates = server_name(one["name"])[:28], (one["writes_per_s"], one["reads_per_s"])
        yield f"{name:<28} {one['regions']:>8} {rates[0]:>12,.0f} {rates[1]:>12,.0f}"
