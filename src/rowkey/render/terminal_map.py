"""A heat map for a terminal: time from left to right, regions from top to bottom.

The scale is absolute: 1 is a region's fair share of a column, whatever the other cells hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from rich.text import Text

    from rowkey.simulate import Simulation

MOST_ROWS = 24
LEVELS = (0.0, 0.25, 0.75, 1.5, 3.0, 6.0, 12.0)
"""Multiples of a fair share at which a cell takes the next colour."""
COLOURS = ("#1b1b2f", "#2c3e73", "#2f6f8f", "#35997c", "#8bbf3f", "#f0c83c", "#e8562a", "#ffffff")
"""From dark to bright; brightness alone tells them apart, so no colour needs to be seen."""
CHARACTERS = " .:-=+*#"


def heat_map(found: Simulation, width: int, *, colour: bool) -> list[Text]:
    """The lines of a heat map.

    Args:
        found: the simulation.
        width: characters of a line.
        colour: whether cells are coloured blocks rather than characters.

    Returns:
        A legend, a line for each region or group of neighbouring regions, and the times below.
    """
    from rich.text import Text

    if found.heat is None:
        return [Text("no heat map: the events have no time")]
    start_s, column_s, counts = found.heat
    labels, grouped, sizes = _grouped(found, counts)
    room = max(width - max(map(len, labels)) - 9, 10)
    cells, per_column = _fitted(grouped, room)
    totals = cells.sum(axis=1)
    lines = _legend(column_s * per_column, colour=colour)
    for row, (label, size) in enumerate(zip(labels, sizes, strict=True)):
        fair = totals * size / len(found.regions)
        line = Text(f"{label:<{max(map(len, labels))}} ")
        for column in range(len(cells)):
            line.append(*cell_of(cells[column, row], fair[column], colour=colour))
        share = grouped[:, row].sum() / max(grouped.sum(), 1)
        line.append(f" {share:6.1%}")
        lines.append(line)
    lines.append(_times(start_s, column_s * counts.shape[0], len(cells), max(map(len, labels))))
    return lines


def _grouped(found: Simulation, counts: np.ndarray[Any, Any]) -> tuple[list[str], Any, list[int]]:
    """Labels, counts and sizes of groups of neighbouring regions."""
    import numpy as np

    regions = found.regions
    step = -(-len(regions) // MOST_ROWS)
    firsts = list(range(0, len(regions), step))
    labels = [_label(found, first, min(first + step, len(regions))) for first in firsts]
    sizes = [min(step, len(regions) - first) for first in firsts]
    return labels, np.add.reduceat(counts, firsts, axis=1), sizes


def _label(found: Simulation, first: int, stop: int) -> str:
    """The region's number, its server, and the key it begins with."""
    region = found.regions[first]
    number = f"{first}" if stop == first + 1 else f"{first}–{stop - 1}"
    server = f"s{region.server}" if stop == first + 1 else ""
    start = found.design.key.show(region.start) if region.start else "…"
    return f"{number:>4} {server:<4}{start}"[:46]


def _fitted(counts: np.ndarray[Any, Any], room: int) -> tuple[np.ndarray[Any, Any], int]:
    """Columns added up so that they fit, and how many make one."""
    import numpy as np

    each = max(-(-len(counts) // room), 1)
    return np.add.reduceat(counts, range(0, len(counts), each), axis=0), each


def cell_of(count: float, fair: float, *, colour: bool) -> tuple[str, str]:
    """A cell of a map: its character and its style.

    Args:
        count: the load of it.
        fair: what its fair share were; 0 of a column without load.
        colour: whether it is a coloured block rather than a character.
    """
    if not fair:
        return " ", ""
    load = count / fair
    level = sum(load > edge for edge in LEVELS)
    return (" ", f"on {COLOURS[level]}") if colour else (CHARACTERS[level], "")


def _legend(column_s: int, *, colour: bool) -> list[Text]:
    """What a column and its shades mean, in lines that fit the narrowest terminal."""
    from rich.text import Text

    said = Text(f"a column is {span(column_s)}; × a region's fair share of it:")
    return [said, shades(colour=colour)]


def shades(*, colour: bool) -> Text:
    """What the shades of a map stand for.

    Args:
        colour: whether cells are coloured blocks rather than characters.
    """
    from rich.text import Text

    line = Text(f"{'':6}")
    names = ["0", *(f">{edge:g}" for edge in LEVELS)]
    for level, name in enumerate(names):
        line.append(*((" ", f"on {COLOURS[level]}") if colour else (CHARACTERS[level], "")))
        line.append(f" {name}   ")
    line.rstrip()
    return line


def _times(start_s: int, length_s: int, columns: int, indent: int) -> Text:
    """When the first column begins and the last ends, below them, or as near as there is room."""
    from rich.text import Text

    first, last = instant(start_s), instant(start_s + length_s)
    times = f"{first}{'':{max(columns - len(first) - len(last), 2)}}{last}"
    return Text(f"{'':{max(indent + 1 + min(columns - len(times), 0), 0)}}{times}")


def instant(seconds: int) -> str:
    """A time as a person writes it, in UTC."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{seconds} s"


def span(seconds: int) -> str:
    """A length of time as a person says it: whole where it is whole, else to a tenth.

    >>> span(3600), span(90), span(172800), span(65536), span(327680)
    ('1 h', '90 s', '2 d', '18.2 h', '3.8 d')
    """
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds // length} {unit}"
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds} s"
