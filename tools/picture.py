"""Draws docs/picture.svg: three keys on one recording, as the heat they make over time.

Each panel is a simulation of a design that ships with rowkey, so the picture shows what the
package does and nothing else. Time goes from left to right, regions from top to bottom, and the
scale is absolute: a region's fair share of a column is 1.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from rowkey import Design, simulate

if TYPE_CHECKING:
    from rowkey import Simulation

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src" / "rowkey" / "examples" / "flights"
FILE = ROOT / "docs" / "picture.svg"
PANELS = {
    "time_first": "time first",
    "mod": "the remainder of the time first",
    "hashed": "a hashed bucket first",
}
COLUMNS = 60
LEVELS = (0.0, 0.25, 0.75, 1.5, 3.0, 6.0, 12.0)
"""Multiples of a fair share at which a cell takes the next colour, as on the terminal."""
COLOURS = ("#1b1b2f", "#2c3e73", "#2f6f8f", "#35997c", "#8bbf3f", "#f0c83c", "#e8562a", "#ffffff")
VERDICT_COLOURS = {"even": "#8bbf3f", "warm": "#f0c83c", "hot": "#ff7a4d"}
CELL_W, CELL_H, GAP, TOP, LEFT = 6, 12, 30, 92, 24
SANS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', monospace"


def main() -> None:
    """Simulate the designs and write the picture to a file."""
    parser = ArgumentParser(description="Draw the picture of the README.")
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    file = parser.parse_args().file
    file.write_text(draw_picture(), encoding="utf-8")
    sys.stdout.write(f"{file}: {file.stat().st_size:,} bytes\n")


def draw_picture() -> str:
    """Return the picture of all designs as SVG."""
    found = {name: simulate.run(Design.read(FOLDER / f"{name}.toml"), second_half=True)
             for name in PANELS}  # fmt: skip
    rows = max(len(one.regions) for one in found.values())
    panel = COLUMNS * CELL_W
    width = 2 * LEFT + 3 * panel + 2 * GAP
    height = TOP + rows * CELL_H + 76
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(_format_title(found))}</title>",
        f'<rect width="{width}" height="{height}" rx="10" fill="#11111c"/>',
    ]
    for index, (name, one) in enumerate(found.items()):
        left = LEFT + index * (panel + GAP)
        parts += [
            *_draw_panel_head(one, PANELS[name], left),
            *_draw_cells(one, left),
            *_draw_panel_foot(one, left),
        ]
    parts += [*_draw_legend(height), "</svg>"]
    return "\n".join(parts) + "\n"


def _format_title(found: dict[str, Simulation]) -> str:
    """Return the title of the picture with the verdict of each design."""
    verdicts = (f"{PANELS[name]}: {one.verdict.level}" for name, one in found.items())
    return f"Writes by region over time, three keys on the same recording. {'; '.join(verdicts)}."


def _draw_text(x: float, y: float, text: str, size: float, **more: str) -> str:
    """Return an SVG text element."""
    style = {"fill": "#e6e6f0", "font-family": SANS, **more}
    attributes = " ".join(f'{name}="{value}"' for name, value in style.items())
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" {attributes}>{escape(text)}</text>'


def _draw_panel_head(found: Simulation, title: str, left: int) -> Iterator[str]:
    """Yield the title, key and verdict above a design's heat map."""
    level = found.verdict.level
    said = f"{level.upper()}  {found.verdict.skew:.2f}×"
    key = str(found.design.key)
    room = COLUMNS * CELL_W / 0.61
    size = min(12.0, room / len(key))
    yield _draw_text(left, 34, title, 16, **{"font-weight": "600"})
    yield _draw_text(left, 56, key, round(size, 1), fill="#a9a9c4", **{"font-family": MONO})
    yield _draw_text(left, 80, said, 15, fill=VERDICT_COLOURS[level], **{"font-weight": "700"})
    servers = found.design.cluster.servers
    caption = f"the fair share on the busiest of {servers} servers"
    yield _draw_text(left + 118, 80, caption, 11, fill="#a9a9c4")


def _draw_cells(found: Simulation, left: int) -> Iterator[str]:
    """Yield the cells of a design's heat map as SVG rectangles."""
    for row, levels in enumerate(_compute_levels(found)):
        y = TOP + row * CELL_H
        start = 0
        for at in range(1, len(levels) + 1):
            if at == len(levels) or levels[at] != levels[start]:
                x, width = left + start * CELL_W, (at - start) * CELL_W
                yield (
                    f'<rect x="{x}" y="{y}" width="{width}" height="{CELL_H - 1}" '
                    f'fill="{COLOURS[levels[start]]}"/>'
                )
                start = at


def _compute_levels(found: Simulation) -> list[list[int]]:
    """Return the colour number of each cell: one list per region, by time."""
    import numpy as np

    assert found.load_map is not None
    counts = found.load_map[2]
    edges = [len(counts) * column // COLUMNS for column in range(COLUMNS)]
    cells = np.add.reduceat(counts, edges, axis=0).T
    fair = np.maximum(cells.sum(axis=0) / len(found.regions), 1e-9)
    table: list[list[int]] = np.searchsorted(LEVELS, cells / fair, side="left").tolist()
    return table


def _draw_panel_foot(found: Simulation, left: int) -> Iterator[str]:
    """Yield the dates and the busiest region's share below a heat map."""
    assert found.load_map is not None
    start_s, width_s, counts = found.load_map
    y = TOP + len(found.regions) * CELL_H + 18
    panel = COLUMNS * CELL_W
    yield _draw_text(left, y, _format_date(start_s), 11, fill="#a9a9c4")
    ends: dict[str, Any] = {"fill": "#a9a9c4", "text-anchor": "end"}
    yield _draw_text(left + panel, y, _format_date(start_s + width_s * len(counts)), 11, **ends)
    share = f"busiest of {len(found.regions)} regions: {found.region_shares.total:.0%}"
    yield _draw_text(left + panel / 2, y, share, 11, **{"text-anchor": "middle"})


def _format_date(seconds: int) -> str:
    """Return seconds since 1970 as a date."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _draw_legend(height: int) -> Iterator[str]:
    """Yield the legend of the colours below all heat maps."""
    y = height - 24
    yield _draw_text(LEFT, y + 9, "writes of a region, × its fair share:", 11, fill="#a9a9c4")
    x = LEFT + 210
    for colour, name in zip(COLOURS, ("0", *(f">{edge:g}" for edge in LEVELS)), strict=True):
        yield f'<rect x="{x}" y="{y}" width="14" height="11" fill="{colour}" stroke="#44445c"/>'
        yield _draw_text(x + 19, y + 9, name, 11, fill="#a9a9c4")
        x += 62
    yield _draw_text(x + 20, y + 9, "time goes right, regions go down", 11, fill="#a9a9c4")


if __name__ == "__main__":
    main()
