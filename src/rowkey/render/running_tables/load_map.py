"""The last measurements of a table as a map: time from left to right, regions top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rowkey.regions import to_string_binary
from rowkey.render.terminal_map import MAX_ROWS, draw_scale, format_cell

if TYPE_CHECKING:
    from rich.text import Text

    from rowkey.observe import LiveLoad, LoadInterval

UNKNOWN_MARK = "?"
"""Stands where a rate is not known."""
MAX_LABEL_LENGTH = 52


def draw_live_map(live: LiveLoad, width: int, *, colour: bool) -> list[Text]:
    """Return the lines of a map of writes by region and time.

    Args:
        live: the load of the table, with at least one interval.
        width: characters of a line.
        colour: whether cells are coloured blocks rather than characters.

    Returns:
        A legend, and a line for each region or group of neighbours, with its last rate.
    """
    from rich.text import Text

    last = live.intervals[-1]
    step = -(-len(last.regions) // MAX_ROWS)
    groups = [last.regions[at : at + step] for at in range(0, len(last.regions), step)]
    labels = [_format_label(live, number * step, group) for number, group in enumerate(groups)]
    wide = max(map(len, labels))
    intervals = live.intervals[-max(width - wide - 12, 10) :]
    columns = [
        _count_column(one, [[(r.start, r.stop) for r in group] for group in groups])
        for one in intervals
    ]
    legend = f"a column is {last.length_s:.3g} s; writes by a region's fair share, ? unknown:"
    lines = [Text(legend), draw_scale(colour=colour)]
    for row, (label, group) in enumerate(zip(labels, groups, strict=True)):
        line = Text(f"{label:<{wide}} ")
        for cells, fair in columns:
            line.append(*_format_cell(cells[row], fair * len(group), colour=colour))
        rate = columns[-1][0][row]
        rate_text = UNKNOWN_MARK if rate is None else f"{rate / last.length_s:,.0f}/s"
        line.append(f" {rate_text:>9}")
        lines.append(line)
    return lines


def _format_label(live: LiveLoad, first: int, group: Sequence[object]) -> str:
    """Return the label of a map row: region numbers, server and first row key."""
    region = live.intervals[-1].regions[first]
    number = f"{first}" if len(group) == 1 else f"{first}–{first + len(group) - 1}"
    server = f" {format_server(region.server)}" if len(group) == 1 else ""
    return f"{number:>4}{server} {format_start_key(live, region.start)}"[:MAX_LABEL_LENGTH]


def format_start_key(live: LiveLoad, start: bytes) -> str:
    """Return the first row key of a region as text.

    Args:
        live: the table.
        start: the region's first row key.
    """
    if not start:
        return "…"
    return to_string_binary(start) if live.design is None else live.design.key.format_prefix(start)


def _count_column(
    interval: LoadInterval, groups: Sequence[Sequence[tuple[bytes, bytes]]]
) -> tuple[list[int | None], float]:
    """Return the writes of each region group in an interval, and the mean per region."""
    counts = {(one.start, one.stop): one.writes for one in interval.regions}
    known_counts = [count for count in counts.values() if count is not None]
    cells: list[int | None] = []
    for group in groups:
        group_counts = [counts.get(bounds) for bounds in group]
        cells.append(None if None in group_counts else sum(one or 0 for one in group_counts))
    return cells, sum(known_counts) / len(known_counts) if known_counts else 0.0


def _format_cell(count: int | None, fair: float, *, colour: bool) -> tuple[str, str]:
    """Return the character and style of one map cell; `?` if its count is unknown."""
    return (UNKNOWN_MARK, "dim") if count is None else format_cell(count, fair, colour=colour)


def format_server(server: str) -> str:
    """Return a server's name without its start code.

    Args:
        server: as HBase names it.

    >>> format_server("rs1,16020,1700000000000"), format_server("s3")
    ('rs1:16020', 's3')
    """
    host, _, rest = server.partition(",")
    return f"{host}:{rest.partition(',')[0]}" if rest else host
