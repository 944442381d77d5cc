"""The heat map of a report: packed counts, labels, and marks for each cause of a hot spot."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

from rowkey.hotspots import CAUSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from rowkey.advise import JudgedDesign
    from rowkey.render.redaction import Redaction
    from rowkey.simulate import OperationMap

    Counts = np.ndarray[Any, Any]

MAX_ROWS = 1_536
"""Rows of a map; neighbouring regions are put together above. Source: TiDB's key visualizer."""
LARGE_MAP_BYTES = 1 << 20
"""Bytes of a map's counts above which they are compressed fast: it takes a fifth of the time, and
1 % more bytes where counts are noisy."""
MAX_EMPTY_RUNS = 64
"""Stretches of empty regions that are marked."""


def build_heat_map_document(
    judged_design: JudgedDesign, redaction: Redaction
) -> dict[str, Any] | None:
    """Return the load of a design by region, server and time; None without times."""
    simulation = judged_design.simulation
    placed = [region.server for region in simulation.regions]
    step = -(-len(placed) // MAX_ROWS)
    firsts = range(0, len(placed), step)
    groups = [region // step for region in range(len(placed))]
    servers = simulation.design.cluster.servers
    by_region = simulation.build_operation_map(groups, len(firsts))
    by_server = simulation.build_operation_map(placed, servers)
    if by_region is None or by_server is None:
        return None
    rows = [_build_region_row(judged_design, redaction, first, step) for first in firsts]
    server_rows = [{"first": n, "last": n, "server": n} for n in range(servers)]
    row_servers = [placed[first] for first in firsts]
    return {
        "start_s": int(by_region.start_s),
        "width_s": int(by_region.width_s),
        "columns": len(by_region.events),
        "servers": servers,
        "event_rate": by_region.event_rate,
        "read_rate": None if by_region.reads is None else float(by_region.reads.sum()),
        "views": {
            "region": _build_view(judged_design, by_region, rows, row_servers, step),
            "server": _build_view(judged_design, by_server, server_rows, placed, 0),
        },
    }


def _build_view(
    judged_design: JudgedDesign,
    operations: OperationMap,
    rows: list[dict[str, Any]],
    row_servers: list[int],
    step: int,
) -> dict[str, Any]:
    """Return one view of a map: its rows with their shares of all reads, events and marks.

    Args:
        judged_design: the design.
        operations: the load by column and row.
        rows: the labels of the rows.
        row_servers: the server of each row of regions.
        step: regions of a row; 0 where rows are servers.
    """
    if operations.reads is not None:
        for row, share in zip(rows, operations.compute_shares("reads").tolist(), strict=True):
            row["reads"] = share
    return {
        "rows": rows,
        "counts": pack_counts(operations.events),
        "marks": _build_marks(judged_design, operations.events, row_servers, step),
    }


def _build_region_row(
    judged_design: JudgedDesign, redaction: Redaction, first: int, step: int
) -> dict[str, Any]:
    """Return the label of one map row: its regions, server and first row key."""
    regions = judged_design.simulation.regions
    start, last = regions[first].start, min(first + step, len(regions)) - 1
    row: dict[str, Any] = {"first": first, "last": last}
    if first == last:
        row["server"] = regions[first].server
    if start:
        row["start"] = redaction.format_start(judged_design.design, start)
        row["hex"] = redaction.format_row_key(judged_design.design, start) or ""
    return row


def pack_counts(counts: Counts) -> str:
    """Return the counts of a map as compressed LEB128 numbers in base 64.

    A zero is followed by the number of further zeros, so that a sparse map is small.

    >>> import numpy as np
    >>> zlib.decompress(base64.b64decode(pack_counts(np.array([[3, 0, 0], [0, 300, 0]])))).hex()
    '030002ac020000'
    """
    import numpy as np

    flat = counts.reshape(-1)
    places = np.flatnonzero(flat)
    gaps = np.diff(places, prepend=-1) - 1
    before = np.flatnonzero(gaps)
    runs = np.stack((np.zeros_like(before), gaps[before] - 1), axis=1).reshape(-1)
    last_gap = flat.size - (int(places[-1]) + 1 if places.size else 0)
    tail = [0, last_gap - 1] if last_gap else []
    numbers = np.append(np.insert(flat[places], np.repeat(before, 2), runs), tail)
    encoded = _encode_numbers(numbers.astype(np.int64))
    level = 9 if len(encoded) < LARGE_MAP_BYTES else 1
    return base64.b64encode(zlib.compress(encoded, level)).decode()


def _encode_numbers(numbers: Counts) -> bytes:
    """Return numbers of 0 or more in LEB128 encoding: seven bits a byte, lowest first."""
    import numpy as np

    lengths = np.ones(len(numbers), np.int64)
    for bits in range(7, 63, 7):
        longer = numbers >= 1 << bits
        if not longer.any():
            break
        lengths += longer
    ends = np.cumsum(lengths)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for at in range(int(lengths.max(initial=0))):
        has_byte = lengths > at
        rest = numbers[has_byte] >> 7 * at
        out[(ends - lengths)[has_byte] + at] = rest & 0x7F | np.where(rest > 0x7F, 0x80, 0)
    return out.tobytes()


def _build_marks(
    judged_design: JudgedDesign, counts: Counts, row_servers: list[int], step: int
) -> list[dict[str, Any]]:
    """Return the boxes and lines that mark the causes of hot spots on a map.

    Args:
        judged_design: the design.
        counts: operations by column and row.
        row_servers: the server of each row of regions.
        step: regions of a row; 0 where rows are servers.
    """
    marks = []
    for number, cause in enumerate(judged_design.simulation.causes):
        cause_type = CAUSES.get(cause.code)
        shape = cause_type.map_shape if cause_type is not None else "moment"
        mark = _build_mark(shape, cause.evidence, counts, row_servers, step)
        if mark["line"] or mark["boxes"]:
            marks.append({"cause": number, **mark})
    return marks


def _build_mark(
    mark_type: str, evidence: Mapping[str, Any], counts: Counts, row_servers: list[int], step: int
) -> dict[str, Any]:
    """Return the line and the boxes that mark one cause on the map."""
    if mark_type == "front":
        return {"line": _trace_front(counts), "boxes": []}
    if mark_type == "empty":
        boxes = _find_empty_rows(counts)
    elif mark_type == "server":
        boxes = _find_fuller_servers(counts, row_servers) if not step else []
    elif mark_type == "region" and isinstance(evidence.get("region"), int):
        region = evidence["region"]
        row = region // step if step else row_servers[region]
        boxes = [[0, len(counts), row, row + 1]]
    else:
        boxes = _find_hottest_cell(counts)
    return {"line": [], "boxes": boxes}


def _trace_front(counts: Counts) -> list[list[int]]:
    """Return the busiest row of each column where it changes, as a line."""
    busiest: list[int] = counts.argmax(axis=1).tolist()
    greatest_counts: list[int] = counts.max(axis=1).tolist()
    line: list[list[int]] = []
    for column, row in enumerate(busiest):
        if greatest_counts[column] and (not line or line[-1][1] != row):
            line.append([column, row])
    return [*line, [len(busiest), line[-1][1]]] if line else []


def _find_empty_rows(counts: Counts) -> list[list[int]]:
    """Return boxes for runs of rows without any operation."""
    runs: list[list[int]] = []
    most: list[int] = counts.max(axis=0).tolist()
    for row, count in enumerate(most):
        if count:
            continue
        if runs and runs[-1][3] == row:
            runs[-1][3] = row + 1
        elif len(runs) < MAX_EMPTY_RUNS:
            runs.append([0, len(counts), row, row + 1])
    return runs


def _find_fuller_servers(counts: Counts, region_servers: list[int]) -> list[list[int]]:
    """Return boxes for the servers that have more regions than others."""
    region_counts = [region_servers.count(server) for server in range(counts.shape[1])]
    full = [server for server, count in enumerate(region_counts) if count > min(region_counts)]
    return [[0, len(counts), server, server + 1] for server in full]


def _find_hottest_cell(counts: Counts) -> list[list[int]]:
    """Return a box for the cell that exceeds its fair share the most."""
    import numpy as np

    excess = counts - counts.sum(axis=1, keepdims=True) / counts.shape[1]
    if not excess.size or excess.max() <= 0:
        return []
    column, row = (int(place) for place in np.unravel_index(excess.argmax(), counts.shape))
    return [[column, column + 1, row, row + 1]]
