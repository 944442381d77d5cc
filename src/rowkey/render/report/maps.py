"""The heat map of a report: counts packed small, labels, and where each cause shows itself."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

from rowkey.heat import CAUSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from rowkey.render.report.judging import Judged
    from rowkey.render.report.redaction import Redaction

    Counts = np.ndarray[Any, Any]

MOST_ROWS = 1_536
"""Rows of a map; neighbouring regions are put together above. Source: TiDB's key visualizer."""
MOST_RUNS = 64
"""Stretches of empty regions that are marked."""


def heat_map_document(judged: Judged, redaction: Redaction) -> dict[str, Any] | None:
    """The heat map of a design by region and by server; None where events have no time."""
    found = judged.simulation
    if found.heat is None:
        return None
    start_s, width_s, counts = found.heat
    placed = [region.server for region in found.regions]
    servers = found.design.cluster.servers
    loads = by_server(counts, placed, servers)
    step = -(-counts.shape[1] // MOST_ROWS)
    firsts = range(0, counts.shape[1], step)
    grouped = _grouped(counts, step)
    rows = [_region(judged, redaction, first, step) for first in firsts]
    return {
        "start_s": int(start_s),
        "width_s": int(width_s),
        "columns": len(counts),
        "servers": servers,
        "views": {
            "region": {
                "rows": rows,
                "counts": packed(grouped),
                "marks": _marks(judged, grouped, [placed[first] for first in firsts], step),
            },
            "server": {
                "rows": [{"first": n, "last": n, "server": n} for n in range(servers)],
                "counts": packed(loads),
                "marks": _marks(judged, loads, placed, 0),
            },
        },
    }


def by_server(counts: Counts, placed: Sequence[int], servers: int) -> Counts:
    """Operations by column and server, from those by column and region."""
    import numpy as np

    loads = np.zeros((len(counts), servers), np.int64)
    for region, server in enumerate(placed):
        loads[:, server] += counts[:, region]
    return loads


def _grouped(counts: Counts, step: int) -> Counts:
    import numpy as np

    if step == 1:
        return counts
    return np.add.reduceat(counts, range(0, counts.shape[1], step), axis=1)


def _region(judged: Judged, redaction: Redaction, first: int, step: int) -> dict[str, Any]:
    """A row of the map: the regions it stands for, their server, and the key they begin with."""
    regions = judged.simulation.regions
    start, last = regions[first].start, min(first + step, len(regions)) - 1
    row: dict[str, Any] = {"first": first, "last": last}
    if first == last:
        row["server"] = regions[first].server
    if start:
        row["start"] = redaction.start(judged.design, start)
        row["hex"] = redaction.start_hex(judged.design, start)
    return row


def packed(counts: Counts) -> str:
    """Counts column by column as LEB128 numbers, deflated, in base 64.

    A zero is followed by how many more zeros come behind it, so that a sparse map is small.

    >>> import numpy as np
    >>> zlib.decompress(base64.b64decode(packed(np.array([[3, 0, 0], [0, 300, 0]])))).hex()
    '030002ac020000'
    """
    import numpy as np

    flat = counts.reshape(-1)
    out, at = bytearray(), 0
    for place in np.flatnonzero(flat).tolist():
        _put_zeros(out, place - at)
        _put(out, int(flat[place]))
        at = place + 1
    _put_zeros(out, flat.size - at)
    return base64.b64encode(zlib.compress(bytes(out), 9)).decode()


def _put_zeros(out: bytearray, count: int) -> None:
    if count:
        out.append(0)
        _put(out, count - 1)


def _put(out: bytearray, number: int) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _marks(judged: Judged, counts: Counts, placed: list[int], step: int) -> list[dict[str, Any]]:
    """Where each cause shows itself: lines and boxes in columns and rows, half-open.

    Args:
        judged: the design.
        counts: operations by column and row.
        placed: the server of each row of regions.
        step: regions of a row; 0 where rows are servers.
    """
    found = []
    for number, cause in enumerate(judged.simulation.causes):
        kind = CAUSES.get(cause.code)
        looks = kind.looks if kind is not None else "moment"
        mark = _mark(looks, cause.evidence, counts, placed, step)
        if mark["line"] or mark["boxes"]:
            found.append({"cause": number, **mark})
    return found


def _mark(
    looks: str, evidence: Mapping[str, Any], counts: Counts, placed: list[int], step: int
) -> dict[str, Any]:
    if looks == "front":
        return {"line": _front(counts), "boxes": []}
    if looks == "empty":
        boxes = _empty(counts)
    elif looks == "server":
        boxes = _fuller(counts, placed) if not step else []
    elif looks == "region" and isinstance(evidence.get("region"), int):
        region = evidence["region"]
        row = region // step if step else placed[region]
        boxes = [[0, len(counts), row, row + 1]]
    else:
        boxes = _hottest(counts)
    return {"line": [], "boxes": boxes}


def _front(counts: Counts) -> list[list[int]]:
    """The busiest row of each column: column and row, where it changes."""
    busiest: list[int] = counts.argmax(axis=1).tolist()
    taken: list[int] = counts.max(axis=1).tolist()
    line: list[list[int]] = []
    for column, row in enumerate(busiest):
        if taken[column] and (not line or line[-1][1] != row):
            line.append([column, row])
    return [*line, [len(busiest), line[-1][1]]] if line else []


def _empty(counts: Counts) -> list[list[int]]:
    """Runs of rows on which nothing fell."""
    runs: list[list[int]] = []
    most: list[int] = counts.max(axis=0).tolist()
    for row, count in enumerate(most):
        if count:
            continue
        if runs and runs[-1][3] == row:
            runs[-1][3] = row + 1
        elif len(runs) < MOST_RUNS:
            runs.append([0, len(counts), row, row + 1])
    return runs


def _fuller(counts: Counts, placed: list[int]) -> list[list[int]]:
    """The servers that have a region more than others."""
    held = [placed.count(server) for server in range(counts.shape[1])]
    full = [server for server, count in enumerate(held) if count > min(held)]
    return [[0, len(counts), server, server + 1] for server in full]


def _hottest(counts: Counts) -> list[list[int]]:
    """The cell that exceeds a fair share of its column by most operations."""
    import numpy as np

    excess = counts - counts.sum(axis=1, keepdims=True) / counts.shape[1]
    if not excess.size or excess.max() <= 0:
        return []
    column, row = (int(place) for place in np.unravel_index(excess.argmax(), counts.shape))
    return [[column, column + 1, row, row + 1]]
