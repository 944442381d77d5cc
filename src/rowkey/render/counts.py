"""What the regions of a table have counted, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.documents import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.design import Design
    from rowkey.engines import RegionCount


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
