"""The load of a running table, as a document and as a page of a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rowkey.observe import LOAD_LEVEL_NAMES
from rowkey.render.documents import FORMAT_VERSION, build_cause_document
from rowkey.render.running_tables.load_map import draw_live_map, format_server, format_start_key
from rowkey.render.terminal_map import format_instant
from rowkey.render.text import wrap_text
from rowkey.render.verdict import lower_first_letter

if TYPE_CHECKING:
    from rich.console import Console

    from rowkey.observe import LiveLoad, LoadBalance, LoadInterval

LEVEL_STYLES = {"even": "bold green", "warm": "bold yellow", "hot": "bold red"}
"""How a terminal shows the level of a load."""

_BALANCE_FIELDS = {
    "level": "even, warm or hot; idle without load, thin with too little, unknown without a figure",
    "skew": "load of the busiest server over its fair share in the last minute, or null",
    "even": "what an even table would show with as many operations, or null",
    "servers": "region servers, those without a region of the table as well",
    "events": "operations in the intervals that are known whole",
    "windows": "windows it is from: intervals, or some together with 200 operations a server",
    "busiest": "the busiest server of the last window, or null",
    "reason": "why there is no figure, or null",
}

LIVE_FIELDS = {
    "format": "version of this document",
    "table": "name of the table",
    "key": "its row key in bracket notation, or null if its design is unknown",
    "at_ms": "when the counters were read, milliseconds since 1970",
    "missed": "readings of the counters that failed",
    "intervals": "intervals between readings that are kept, 240 at most",
    "length_s": "seconds of the last interval, or null before the second reading",
    **{f"writes.{name}": meaning for name, meaning in _BALANCE_FIELDS.items()},
    **{f"reads.{name}": f"the same of reads: {name}" for name in _BALANCE_FIELDS},
    "causes[].code": "why the writes lie unevenly: the cause's name",
    "causes[].message": "what was seen, as sentences",
    "causes[].bound": "the skew over servers below which no other such regions bring it",
    "causes[].explained": "the skew over servers that it explains",
    "causes[].evidence.*": "the figures by name",
    "causes[].remedy": "what would help",
    "regions[].start": "first possible row key, hexadecimal; empty for the first region",
    "regions[].stop": "first row key after it, hexadecimal; empty for the last region",
    "regions[].begins": "the fields that the first row key begins with, in words",
    "regions[].server": "where it is: host, port and start code; s0, s1 where there are none",
    "regions[].writes_per_s": "writes a second in the last interval, or null if not known",
    "regions[].reads_per_s": "the same of reads",
    "regions[].reason": "why they are not known, such as a move, or null",
    "servers[].name": "a region server",
    "servers[].regions": "regions of the table on it",
    "servers[].writes_per_s": "writes a second of those of its regions that are known",
    "servers[].reads_per_s": "the same of reads",
    "remarks[]": "remarks on the figures",
}


def build_live_document(live: LiveLoad) -> dict[str, Any]:
    """Return the load of a running table as `rowkey live -f json` prints it."""
    last = live.intervals[-1] if live.intervals else None
    return {
        "format": FORMAT_VERSION,
        "table": live.table,
        "key": None if live.design is None else str(live.design.key),
        "at_ms": live.at_ms,
        "missed": live.missed_count,
        "intervals": len(live.intervals),
        "length_s": None if last is None else last.length_s,
        "writes": _build_balance(live.writes),
        "reads": _build_balance(live.reads),
        "causes": [build_cause_document(cause) for cause in live.causes],
        "regions": [] if last is None else _build_regions(live, last),
        "servers": [] if last is None else list(_build_servers(last)),
        "remarks": list(live.remarks),
    }


def _build_balance(balance: LoadBalance) -> dict[str, Any]:
    """Return how evenly reads or writes are spread over the servers."""
    return {
        "level": balance.level,
        "skew": balance.skew,
        "even": balance.even_skew,
        "servers": balance.servers,
        "events": balance.operation_count,
        "windows": balance.window_count,
        "busiest": balance.fullest_server or None,
        "reason": balance.reason or None,
    }


def _build_regions(live: LiveLoad, interval: LoadInterval) -> list[dict[str, Any]]:
    """Return the key range, server and rates of each region."""
    return [
        {
            "start": region.start.hex(),
            "stop": region.stop.hex(),
            "begins": format_start_key(live, region.start),
            "server": region.server,
            "writes_per_s": None if region.writes is None else region.writes / interval.length_s,
            "reads_per_s": None if region.reads is None else region.reads / interval.length_s,
            "reason": region.reason or None,
        }
        for region in interval.regions
    ]


def _build_servers(interval: LoadInterval) -> Iterator[dict[str, Any]]:
    """Yield the number of regions and the rates of each server."""
    writes, reads = interval.sum_by_server("writes"), interval.sum_by_server("reads")
    for name in interval.servers:
        yield {
            "name": name,
            "regions": sum(region.server == name for region in interval.regions),
            "writes_per_s": writes[name] / interval.length_s,
            "reads_per_s": reads[name] / interval.length_s,
        }


def print_live(live: LiveLoad, console: Console) -> None:
    """Print the load of a running table: verdicts, causes, a load map and the servers."""
    from rich.text import Text

    def print_wrapped(text: str, indent: int = 0, style: str = "") -> None:
        for line in wrap_text(text, console.width, indent):
            console.print(Text(line, style), soft_wrap=True)

    key = "unknown key" if live.design is None else str(live.design.key)
    print_wrapped(f"{live.table}  {key}  {format_instant(live.at_ms // 1000)}", 2)
    for what, one in (("writes", live.writes), ("reads", live.reads)):
        print_wrapped(
            f"{what} {LOAD_LEVEL_NAMES[one.level].upper()}: {_format_verdict(one)}",
            2,
            LEVEL_STYLES.get(one.level, ""),
        )
        for cause in live.causes if what == "writes" else ():
            names = () if live.design is None else live.design.fields
            print_wrapped(f"  because {lower_first_letter(cause.message, names)} [{cause.code}]", 4)
            print_wrapped(f"    {cause.remedy}", 4)
    for remark in live.remarks:
        print_wrapped(f"  {remark}", 4)
    if not live.intervals:
        return
    console.print()
    colour = console.is_terminal and not console.no_color
    for drawn in draw_live_map(live, console.width, colour=colour):
        console.print(drawn, no_wrap=True, overflow="crop")
    console.print()
    for line in (*_format_busiest_region(live), *_format_servers(live.intervals[-1])):
        print_wrapped(line)


def _format_verdict(balance: LoadBalance) -> str:
    """Return the skew that a verdict is based on, or why there is none."""
    if balance.skew is None or balance.even_skew is None:
        return balance.reason
    if balance.servers == 1:
        return "one server takes everything; there is nothing to spread over"
    return (
        f"the busiest of {balance.servers} servers, {format_server(balance.fullest_server)}, takes "
        f"{balance.skew:.2f}× its fair share of {balance.operation_count:,} operations in the last "
        f"minute (an even table: {balance.even_skew:.2f}×)"
    )


def _format_busiest_region(live: LiveLoad) -> Iterator[str]:
    """Yield a line about the region with the most writes, if all counts are known."""
    last = live.intervals[-1]
    total = last.sum_operations("writes")
    if not total or not last.is_known("writes") or len(last.regions) == 1:
        return
    number, region = max(enumerate(last.regions), key=lambda one: one[1].writes or 0)
    share = (region.writes or 0) / total
    yield (
        f"the busiest of {len(last.regions)} regions, number {number} on "
        f"{format_server(region.server)}, took {share:.0%} of the writes in the last interval; "
        f"it begins at {format_start_key(live, region.start)}"
    )


def _format_servers(interval: LoadInterval) -> Iterator[str]:
    """Yield a table with a line for each server."""
    yield f"{'server':<28} {'regions':>8} {'writes/s':>12} {'reads/s':>12}"
    for server in _build_servers(interval):
        name, rates = (
            format_server(server["name"])[:28],
            (server["writes_per_s"], server["reads_per_s"]),
        )
        yield f"{name:<28} {server['regions']:>8} {rates[0]:>12,.0f} {rates[1]:>12,.0f}"
