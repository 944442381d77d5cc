"""The last looks at a running table as a map: looks from left to right, regions top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.regions import to_binary
from rowkey.render.terminal_map import MOST_ROWS, cell_of, shades

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from rowkey.observe import Interval, Live

UNKNOWN = "?"
"""Stands where a rate is not known."""
LABEL = 52


def live_map(found: Live, width: int, *, colour: bool) -> list[Text]:
    """The lines of a map of writes.

    Args:
        found: the table; it was looked at twice or more.
        width: characters of a line.
        colour: whether cells are coloured blocks rather than characters.

    Returns:
        A legend, and a line for each region or group of neighbours, with the rate of the last look.
    """
    from rich.text import Text

    last = found.intervals[-1]
    step = -(-len(last.regions) // MOST_ROWS)
    groups = [last.regions[at : at + step] for at in range(0, len(last.regions), step)]
    labels = [_label(found, number * step, group) for number, group in enumerate(groups)]
    wide = max(map(len, labels))
    shown = found.intervals[-max(width - wide - 12, 10) :]
    columns = [
        _column(one, [[(r.start, r.stop) for r in group] for group in groups]) for one in shown
    ]
    said = (
        f"a column is a look, {last.length_s:.3g} s; writes × a region's fair share, ? not known:"
    )
    lines = [Text(said), shades(colour=colour)]
    for row, (label, group) in enumerate(zip(labels, groups, strict=True)):
        line = Text(f"{label:<{wide}} ")
        for cells, fair in columns:
            line.append(*_cell(cells[row], fair * len(group), colour=colour))
        rate = columns[-1][0][row]
        told = UNKNOWN if rate is None else f"{rate / last.length_s:,.0f}/s"
        line.append(f" {told:>9}")
        lines.append(line)
    return lines


def _label(found: Live, first: int, group: Sequence[object]) -> str:
    """The numbers of some regions, the server of a single one, and where they begin."""
    region = found.intervals[-1].regions[first]
    number = f"{first}" if len(group) == 1 else f"{first}–{first + len(group) - 1}"
    server = f" {server_name(region.server)}" if len(group) == 1 else ""
    return f"{number:>4}{server} {begins(found, region.start)}"[:LABEL]


def begins(found: Live, start: bytes) -> str:
    """The beginning of a region as a person names it.

    Args:
        found: the table.
        start: the region's first row key.
    """
    if not start:
        return "…"
    return to_binary(start) if found.design is None else found.design.key.show(start)


def _column(
    interval: Interval, groups: Sequence[Sequence[tuple[bytes, bytes]]]
) -> tuple[list[int | None], float]:
    """The writes of each group in an interval, None where not known, and a region's fair share."""
    counts = {(one.start, one.stop): one.writes for one in interval.regions}
    known = [count for count in counts.values() if count is not None]
    cells: list[int | None] = []
    for group in groups:
        found = [counts.get(bounds) for bounds in group]
        cells.append(None if None in found else sum(one or 0 for one in found))
    return cells, sum(known) / len(known) if known else 0.0


def _cell(count: int | None, fair: float, *, colour: bool) -> tuple[str, str]:
    return (UNKNOWN, "dim") if count is None else cell_of(count, fair, colour=colour)


def server_name(server: str) -> str:
    """A server without its start code.

    Args:
        server: as HBase names it.

    >>> server_name("rs1,16020,1700000000000"), server_name("s3")
    ('rs1:16020', 's3')
    """
    host, _, rest = server.partition(",")
    return f"{host}:{rest.partition(',')[0]}" if rest else host
