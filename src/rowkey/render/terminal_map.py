"""A heat map for a terminal: time from left to right, regions from top to bottom.

The scale is that of the report's maps, and absolute: 1 is one server's fair share of a column,
whatever the other cells hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from rowkey.simulate import MapLoad, Simulation

MAX_ROWS = 24
SHARE_WIDTH = 7
"""Characters of a share after the cells."""
LOAD_LEGENDS: dict[MapLoad, str] = {
    "writes": "load as multiples of a server's fair share:",
    "reads": "reads, constant over time, in fair shares of a server:",
    "both": "writes and constant reads, in fair shares of a server:",
}
"""What the shades of a map mean."""
LEVEL_EDGES = (0.0, 0.25, 0.75, 1.5, 3.0, 6.0, 12.0)
"""Multiples of a fair share at which a cell takes the next colour."""
LEVEL_COLOURS = (
    "#1b1b2f",
    "#2c3e73",
    "#2f6f8f",
    "#35997c",
    "#8bbf3f",
    "#f0c83c",
    "#e8562a",
    "#ffffff",
)
"""From dark to bright; brightness alone tells them apart, so no colour needs to be seen."""
LEVEL_CHARACTERS = " .:-=+*#"


def draw_heat_map(
    simulation: Simulation, width: int, *, colour: bool, load: MapLoad = "writes"
) -> list[Text]:
    """Return the lines of a simulated load map by region and time.

    Args:
        width: characters of a line.
        colour: whether cells are coloured blocks rather than characters.
        load: whose operations the cells show.

    Returns:
        A legend, a line for each region or group of neighbouring regions with its share of all
        writes, of all reads, and of both if the map shows both, and the times below. Reads are
        constant over time, and the legend says so.
    """
    from rich.text import Text

    step = -(-len(simulation.regions) // MAX_ROWS)
    labels = _format_labels(simulation, step)
    groups = [region // step for region in range(len(simulation.regions))]
    operations = simulation.build_operation_map(groups, len(labels))
    if operations is None:
        return [Text("no heat map: the events have no time")]
    if load not in operations.loads:
        return [Text(f"no heat map of {load}: the design declares no read that can be run")]
    shown: tuple[MapLoad, ...] = operations.loads if load == "both" else operations.loads[:2]
    indent = max(map(len, labels)) + 1
    map_width = max(width - indent - 1 - SHARE_WIDTH * len(shown), 10)
    columns_each = max(-(-len(operations.events) // map_width), 1)
    cells = operations.compute_rates(load, columns_each)
    fair = cells.sum(axis=1) / simulation.design.cluster.servers
    lines = _draw_legend(operations.width_s * columns_each, load, colour=colour)
    if len(shown) > 1:
        names = "".join(f"{name:>{SHARE_WIDTH}}" for name in shown)
        lines.append(Text(f"{'':{indent + len(cells)}}{names}"))
    shares = [operations.compute_shares(one) for one in shown]
    for row, label in enumerate(labels):
        line = Text(f"{label:<{indent}}")
        for column in range(len(cells)):
            line.append(*format_cell(cells[column, row], fair[column], colour=colour))
        line.append("".join(f"{one[row]:{SHARE_WIDTH}.1%}" for one in shares))
        lines.append(line)
    length_s = operations.width_s * len(operations.events)
    lines.append(_draw_times(operations.start_s, length_s, len(cells), indent - 1))
    return lines


def _format_labels(simulation: Simulation, step: int) -> list[str]:
    """Return the label of each group of `step` neighbouring regions."""
    count = len(simulation.regions)
    return [
        _format_label(simulation, first, min(first + step, count))
        for first in range(0, count, step)
    ]


def _format_label(simulation: Simulation, first: int, stop: int) -> str:
    """Return the label of a map row: region numbers, server and first row key."""
    region = simulation.regions[first]
    number = f"{first}" if stop == first + 1 else f"{first}–{stop - 1}"
    server = f"s{region.server}" if stop == first + 1 else ""
    start = simulation.design.key.format_prefix(region.start) if region.start else "…"
    return f"{number:>4} {server:<4}{start}"[:46]


def format_cell(count: float, fair: float, *, colour: bool) -> tuple[str, str]:
    """Return the character and style of a map cell, by its load.

    Args:
        count: the operations in it.
        fair: its fair share of operations; 0 for a column without load.
        colour: whether it is a coloured block rather than a character.
    """
    if not fair:
        return " ", ""
    load = count / fair
    level = sum(load > edge for edge in LEVEL_EDGES)
    return (" ", f"on {LEVEL_COLOURS[level]}") if colour else (LEVEL_CHARACTERS[level], "")


def _draw_legend(column_s: int, load: MapLoad, *, colour: bool) -> list[Text]:
    """Return the lines that explain the columns and shades of the map."""
    from rich.text import Text

    text = f"a column is {format_span(column_s)}; {LOAD_LEGENDS[load]}"
    return [Text(text), draw_scale(colour=colour)]


def draw_scale(*, colour: bool) -> Text:
    """Return the line that shows which shade stands for which load.

    Args:
        colour: whether cells are coloured blocks rather than characters.
    """
    from rich.text import Text

    line = Text(f"{'':6}")
    names = ["0", *(f">{edge:g}" for edge in LEVEL_EDGES)]
    for level, name in enumerate(names):
        line.append(
            *((" ", f"on {LEVEL_COLOURS[level]}") if colour else (LEVEL_CHARACTERS[level], ""))
        )
        line.append(f" {name}   ")
    line.rstrip()
    return line


def _draw_times(start_s: int, length_s: int, columns: int, indent: int) -> Text:
    """Return the line below the map with the time of its first and last column."""
    from rich.text import Text

    first, last = format_instant(start_s), format_instant(start_s + length_s)
    times = f"{first}{'':{max(columns - len(first) - len(last), 2)}}{last}"
    return Text(f"{'':{max(indent + 1 + min(columns - len(times), 0), 0)}}{times}")


def format_instant(seconds: int) -> str:
    """Return seconds since 1970 as a date and time in UTC."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{seconds} s"


def format_span(seconds: int) -> str:
    """Return a duration in its largest unit, with one decimal if it is not whole.

    >>> format_span(3600), format_span(90), format_span(172800)
    ('1 h', '90 s', '2 d')
    >>> format_span(65536), format_span(327680)
    ('18.2 h', '3.8 d')
    """
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds // length} {unit}"
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds} s"
