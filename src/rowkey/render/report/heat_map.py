"""The heat map of a report: packed counts, labels, and marks for each cause of a hot spot."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.hotspots import CAUSES
from rowkey.keys import Key
from rowkey.render.redaction import Redaction
from rowkey.workload import DEFAULT_CAPACITY_PER_S

if TYPE_CHECKING:
    from rowkey.advise import JudgedDesign

    Counts = np.ndarray[Any, Any]

MAX_MAP_ROWS = 1_536
"""Rows of a map, of a running table too; neighbouring regions are put together above.

Source: TiDB's key visualizer."""
PACKING_LEVEL = 6
"""Of zlib, for counts. For 1,536 × 1,440 counts of one byte it takes half of the time of level 9
and 1 % more bytes."""
MAX_EMPTY_RUNS = 64
"""Stretches of empty regions that are marked."""


def build_heat_map_document(
    judged_design: JudgedDesign, redaction: Redaction
) -> dict[str, Any] | None:
    """Return the load of a design by region, server, key prefix and time; None without times."""
    simulation = judged_design.simulation
    regions, servers = simulation.regions, simulation.design.cluster.servers
    placed = [region.server for region in regions]
    by_server = simulation.build_operation_map(placed, servers)
    if by_server is None:
        return None
    capacity = simulation.design.cluster.capacity_per_s
    step = -(-len(regions) // MAX_MAP_ROWS)
    firsts = range(0, len(regions), step)
    region_groups = [region // step for region in range(len(regions))]
    region_rows = [_build_region_row(judged_design, redaction, first, step) for first in firsts]
    server_rows = [{"first": n, "last": n, "server": n} for n in range(servers)]
    region_view = _build_view(judged_design, region_groups, region_rows)
    return {
        "start_s": int(by_server.start_s),
        "width_s": int(by_server.width_s),
        "columns": len(by_server.events),
        "servers": servers,
        "capacity": capacity or DEFAULT_CAPACITY_PER_S,
        "is_capacity_declared": capacity is not None,
        "event_rate": by_server.event_rate,
        "read_rate": None if by_server.reads is None else float(by_server.reads.sum()),
        "views": {
            "region": region_view,
            "server": _build_view(judged_design, placed, server_rows, is_by_server=True),
            "prefix": _build_prefix_view(judged_design, redaction, region_groups, region_view),
        },
    }


def _build_view(
    judged_design: JudgedDesign,
    groups: Sequence[int],
    rows: list[dict[str, Any]],
    *,
    is_by_server: bool = False,
) -> dict[str, Any]:
    """Return one view of a map: its rows with their shares of all reads, events and marks.

    Args:
        groups: the row of each region.
        rows: the labels of the rows.
        is_by_server: whether the rows are servers.
    """
    operations = judged_design.simulation.build_operation_map(groups, len(rows))
    assert operations is not None, "the events have times"
    if operations.reads is not None:
        for row, share in zip(rows, operations.compute_shares("reads").tolist(), strict=True):
            row["reads"] = share
    return {
        "rows": rows,
        "counts": pack_counts(operations.events),
        "marks": _build_marks(judged_design, operations.events, groups, is_by_server=is_by_server),
    }


def _build_prefix_view(
    judged_design: JudgedDesign,
    redaction: Redaction,
    region_groups: list[int],
    region_view: dict[str, Any],
) -> dict[str, Any]:
    """Return the view by key prefix, whose counts are those of the regions if it has as many rows.

    Args:
        redaction: what is hidden.
        region_groups: the row of each region in the view by region.
    """
    design, regions = judged_design.design, judged_design.simulation.regions
    found = group_by_prefix(design.key, [region.start for region in regions])
    step = -(-len(found.prefixes) // MAX_MAP_ROWS)
    groups = [group // step for group in found.groups]
    rows: list[dict[str, Any]] = []
    for region, group in enumerate(groups):
        if group == len(rows):
            rows.append({"first": region})
            if prefix := found.prefixes[group * step]:
                rows[-1]["start"] = redaction.format_start(design, prefix)
                rows[-1]["hex"] = redaction.format_row_key(design, prefix) or ""
        rows[-1]["last"] = region
    if groups != region_groups:
        return _build_view(judged_design, groups, rows)
    for row, region_row in zip(rows, region_view["rows"], strict=True):
        if "reads" in region_row:
            row["reads"] = region_row["reads"]
    return {"rows": rows, "counts_of": "region", "marks": region_view["marks"]}


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
    flat = counts.reshape(-1).astype(np.uint64)
    places = np.flatnonzero(flat)
    gaps = np.diff(places, prepend=-1, append=flat.size) - 1
    # Each gap is a zero and the number of further zeros; a count follows all but the last.
    lengths = 1 + 2 * (gaps > 0)
    stops = np.cumsum(lengths)
    numbers = np.zeros(int(stops[-1]), np.uint64)
    numbers[stops[:-1] - 1] = flat[places]
    follows = gaps > 0
    numbers[stops[follows] - 2] = gaps[follows] - 1
    packed = zlib.compress(_encode_leb128(numbers[: len(numbers) - 1]), PACKING_LEVEL)
    return base64.b64encode(packed).decode()


def _encode_leb128(numbers: Counts) -> bytes:
    """Return unsigned numbers in LEB128 encoding.

    >>> import numpy as np
    >>> _encode_leb128(np.array([3, 0, 300], np.uint64)).hex()
    '0300ac02'
    """
    sizes = np.ones(len(numbers), np.int64)
    greatest = int(numbers.max(initial=0))
    for bits in range(7, max(greatest.bit_length(), 1), 7):
        sizes += numbers >= np.uint64(1 << bits)
    starts = np.cumsum(sizes) - sizes
    encoded = np.zeros(int(sizes.sum()), np.uint8)
    for place in range(int(sizes.max(initial=0))):
        is_long = sizes > place
        digits = (numbers[is_long] >> np.uint64(7 * place)) & np.uint64(0x7F)
        more = np.where(sizes[is_long] > place + 1, 0x80, 0)
        encoded[starts[is_long] + place] = digits.astype(np.uint8) | more.astype(np.uint8)
    return encoded.tobytes()


def _build_marks(
    judged_design: JudgedDesign, counts: Counts, groups: Sequence[int], *, is_by_server: bool
) -> list[dict[str, Any]]:
    """Return the boxes and lines that mark the causes of hot spots on a map.

    Args:
        counts: operations by column and row.
        groups: the row of each region.
        is_by_server: whether the rows are servers.
    """
    marks = []
    for number, cause in enumerate(judged_design.simulation.causes):
        cause_type = CAUSES.get(cause.code)
        shape = cause_type.map_shape if cause_type is not None else "moment"
        mark = _build_mark(shape, cause.evidence, counts, groups, is_by_server=is_by_server)
        if mark["line"] or mark["boxes"]:
            marks.append({"cause": number, **mark})
    return marks


def _build_mark(
    mark_type: str,
    evidence: Mapping[str, Any],
    counts: Counts,
    groups: Sequence[int],
    *,
    is_by_server: bool,
) -> dict[str, Any]:
    """Return the line and the boxes that mark one cause on the map."""
    if mark_type == "front":
        return {"line": _trace_front(counts), "boxes": []}
    if mark_type == "empty":
        boxes = _find_empty_rows(counts)
    elif mark_type == "server":
        boxes = _find_fuller_servers(counts, groups) if is_by_server else []
    elif mark_type == "region" and isinstance(evidence.get("region"), int):
        row = groups[evidence["region"]]
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


def _find_fuller_servers(counts: Counts, region_servers: Sequence[int]) -> list[list[int]]:
    """Return boxes for the servers that have more regions than others."""
    region_counts = [region_servers.count(server) for server in range(counts.shape[1])]
    full = [server for server, count in enumerate(region_counts) if count > min(region_counts)]
    return [[0, len(counts), server, server + 1] for server in full]


def _find_hottest_cell(counts: Counts) -> list[list[int]]:
    """Return a box for the cell that exceeds its fair share the most."""
    excess = counts - counts.sum(axis=1, keepdims=True) / counts.shape[1]
    if not excess.size or excess.max() <= 0:
        return []
    column, row = (int(place) for place in np.unravel_index(excess.argmax(), counts.shape))
    return [[column, column + 1, row, row + 1]]


@dataclass(frozen=True, slots=True)
class PrefixGroups:
    """Regions grouped by the first bytes of their keys.

    Args:
        groups: the group of each region, from 0 and in key order.
        prefixes: what the keys of each group begin with; empty for a group from the first row on.
    """

    groups: Sequence[int]
    prefixes: Sequence[bytes]


def group_by_prefix(key: Key, starts: Sequence[bytes]) -> PrefixGroups:
    """Return the regions grouped by as many leading parts of the key as tell some of them apart.

    A region belongs to the values with which its first possible key begins; it may end within
    later ones.

    Args:
        starts: the first possible key of each region in ascending order; the first is empty.
    """
    found = PrefixGroups([0] * len(starts), [b""])
    for count in range(1, len(key.parts) + 1):
        if len(found.prefixes) > 1:
            break
        found = _group_by_parts(key, starts, count)
    return found


def _group_by_parts(key: Key, starts: Sequence[bytes], count: int) -> PrefixGroups:
    """Return the regions grouped by the first parts of the key."""
    groups: list[int] = []
    prefixes: list[bytes] = []
    for start in starts:
        prefix = _find_key_prefix(key, start, count)
        # No key is before one that begins with zeros, which all keys of the first region then do.
        continues = len(prefixes) == 1 and not prefixes[0] and not prefix.strip(b"\0")
        if not prefixes or (prefix != prefixes[-1] and not continues):
            prefixes.append(prefix)
        elif continues:
            prefixes[0] = prefix
        groups.append(len(prefixes) - 1)
    return PrefixGroups(groups, prefixes)


def _find_key_prefix(key: Key, start: bytes, count: int) -> bytes:
    """Return the bytes of the first parts of a key, or all of it if it ends within these."""
    at = 0
    for part in key.parts[:count]:
        try:
            at = part.find_end(start, at)
        except InvalidArgument:
            return start
    return start[:at]
