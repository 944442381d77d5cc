"""What the pages of a table's load show: figures, map document and parts that are sent again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.messages import shorten_texts
from rowkey.portal.live.history import LAYERS, HistoryLayer, LiveHistory
from rowkey.portal.live.load_map import LoadHistoryMap, LoadName, build_load_map
from rowkey.render import (
    Translator,
    build_live_document,
    format_server,
    format_start_key,
    pack_counts,
)
from rowkey.workload import DEFAULT_CAPACITY_PER_S

if TYPE_CHECKING:
    from rowkey.observe import LiveLoad
    from rowkey.portal.live.load_column import IntArray


LOADS: tuple[LoadName, ...] = ("writes", "reads", "both")
"""What a map can show."""
MAX_LISTED_REGIONS = 200
"""Regions that a page lists; of more, the busiest."""
CROWDED_RATIO = 1.5
"""How many times its share of the regions a server has at least that is called crowded."""
LEVEL_CLASSES = {"even": "good", "warm": "fair", "hot": "poor"}
"""The class of a level in the style sheet."""


@dataclass(frozen=True, slots=True)
class LivePage:
    """The load of a table as a page shows it.

    Args:
        document: the same as `rowkey live -f json` prints it.
    """

    live: LiveLoad
    document: Mapping[str, Any]

    @classmethod
    def build(cls, live: LiveLoad) -> LivePage:
        """Return the page of a load."""
        return cls(live, build_live_document(live))

    @property
    def time(self) -> str:
        """When the counters were read."""
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.live.at_ms / 1_000))

    @property
    def causes(self) -> list[dict[str, Any]]:
        """Why the writes are uneven, for sentences of any language."""
        return [shorten_texts(cause) for cause in self.document["causes"]]

    @property
    def crowded_server(self) -> Mapping[str, Any] | None:
        """The busiest server of an uneven load if it has far more regions than its share.

        None if the load is even, or uneven although the regions are spread.
        """
        servers = {one["name"]: one for one in self.document["servers"]}
        fair = len(self.document["regions"]) / max(len(servers), 1)
        for balance in (self.live.writes, self.live.reads):
            busiest = servers.get(balance.fullest_server) if balance.is_uneven else None
            if busiest and busiest["regions"] >= max(CROWDED_RATIO * fair, fair + 2):
                return dict(busiest)
        return None

    @property
    def has_rates(self) -> bool:
        """Whether the counters were read twice."""
        return bool(self.live.intervals)

    def sum_rate(self, counter: str) -> float:
        """Return the writes or reads a second of all servers in the last interval."""
        return float(sum(one[f"{counter}_per_s"] for one in self.document["servers"]))

    @property
    def regions(self) -> list[tuple[int, Mapping[str, Any]]]:
        """The regions to list, by their number; of more than 200, the busiest."""
        numbered = list(enumerate(self.document["regions"]))
        if len(numbered) <= MAX_LISTED_REGIONS:
            return numbered
        busiest = sorted(numbered, key=lambda one: -_sum_rates(one[1]))[:MAX_LISTED_REGIONS]
        return sorted(busiest, key=lambda one: one[0])

    @property
    def busiest_region(self) -> int | None:
        """The number of the region with the most requests, if the load is uneven; else None."""
        if not (self.live.writes.is_uneven or self.live.reads.is_uneven):
            return None
        rates = [_sum_rates(one) for one in self.document["regions"]]
        return rates.index(max(rates)) if any(rates) else None


def _sum_rates(region: Mapping[str, Any]) -> float:
    """Return the requests a second of a region that are known."""
    return (region["writes_per_s"] or 0.0) + (region["reads_per_s"] or 0.0)


def find_layer(name: str) -> HistoryLayer:
    """Return the layer of a name; the finest one for any other text."""
    return next((one for one in LAYERS if one.name == name), LAYERS[0])


def find_load(name: str) -> LoadName:
    """Return what a map shows; writes for any other text."""
    return next((one for one in LOADS if one == name), LOADS[0])


def build_map_payload(
    history: LiveHistory,
    live: LiveLoad,
    layer: HistoryLayer,
    load: LoadName,
    translator: Translator,
) -> dict[str, Any]:
    """Return what the script of the report draws, with one map or none.

    Args:
        history: the load over time.
        live: the load now.
        layer: the time.
        load: what is shown.
        translator: the language of the labels.

    Raises:
        sqlite3.Error: the history cannot be read.
    """
    start_ms = layer.align(live.at_ms) - (layer.count - 1) * layer.width_ms
    columns = history.read_columns(live.table, start_ms)
    payload: dict[str, Any] = {
        "language": translator.language,
        "words": _select_words(load, translator),
        "maps": [],
    }
    if columns:
        stop_ms = layer.align(max(live.at_ms, columns[-1].start_ms)) + layer.width_ms
        drawn = build_load_map(columns, layer.width_ms, stop_ms, load)
        payload["maps"] = [_build_map(drawn, live)]
    return payload


def _build_map(drawn: LoadHistoryMap, live: LiveLoad) -> dict[str, Any]:
    """Return a map as the document that the script takes."""
    capacity = None if live.design is None else live.design.cluster.capacity_per_s
    gaps = [[start, stop] for start, stop in drawn.unknown_columns]
    names, server_counts = _join_restarted_servers(drawn.servers, drawn.server_counts)
    views: dict[str, dict[str, Any]] = {
        "region": {
            "rows": _build_rows(drawn, live),
            "counts": pack_counts(drawn.counts),
            "marks": [],
            "unknown": [
                *map(list, drawn.unknown_boxes),
                *([*gap, 0, len(drawn.starts)] for gap in gaps),
            ],
        },
        "server": {
            "rows": [{"first": name, "last": name} for name in names],
            "counts": pack_counts(server_counts),
            "marks": [],
            "unknown": [[*gap, 0, len(names)] for gap in gaps],
        },
    }
    return {
        "id": "live",
        "name": live.table,
        "skew": "",
        "start_s": drawn.start_ms / 1_000,
        "width_s": drawn.width_ms / 1_000,
        "columns": len(drawn.counts),
        "servers": max(len(live.intervals[-1].servers) if live.intervals else len(names), 1),
        "event_rate": 1_000 / drawn.width_ms,
        "read_rate": None,
        "capacity": capacity or DEFAULT_CAPACITY_PER_S,
        "is_capacity_declared": capacity is not None,
        "views": views,
    }


def _build_rows(drawn: LoadHistoryMap, live: LiveLoad) -> list[dict[str, Any]]:
    """Return the labels of the rows: number, first row key, and where it is now."""
    from bisect import bisect_right

    regions = live.intervals[-1].regions if live.intervals else ()
    starts = [region.start for region in regions]
    rows = []
    for number, start in enumerate(drawn.starts):
        row: dict[str, Any] = {"first": number, "last": number}
        if regions:
            region = regions[max(bisect_right(starts, start) - 1, 0)]
            row["server"] = format_server(region.server)
        if start:
            row["start"] = format_start_key(live, start)
            row["hex"] = start.hex()
        rows.append(row)
    return rows


def _join_restarted_servers(servers: Sequence[str], counts: IntArray) -> tuple[list[str], IntArray]:
    """Return servers without their start codes, and their counts by column."""
    names = sorted({format_server(name) for name in servers})
    joined: IntArray = np.zeros((len(counts), len(names)), np.int64)
    for place, name in enumerate(servers):
        joined[:, names.index(format_server(name))] += counts[:, place]
    return names, joined


def _select_words(load: LoadName, translator: Translator) -> dict[str, str]:
    """Return the labels of a map of a running table, on which the chosen load is in `counts`."""
    words = {**translator.select_table("map"), **translator.select_table("portal.live_map")}
    nothing = {"writes": "nothing", "reads": "no_reads", "both": "no_load"}
    return {
        **words,
        "writes": words[load],
        "nothing": words[nothing[load]],
        "count": words[f"count_{load}"],
        "scale_writes": words[f"scale_{load}"],
        "table_caption_writes": words[f"caption_{load}"],
    }
