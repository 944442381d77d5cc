"""The read cause `newest_region`."""

from __future__ import annotations

from collections.abc import Iterator

from rowkey.array_libraries import pc
from rowkey.hotspots.read_contract import ReadCause
from rowkey.hotspots.read_load_result import ReadCauseFinding, ReadLoadResult
from rowkey.messages import Message

NEWEST_SHARE = 0.05
"""Share of the sampled rows that count as the newest."""
MIN_NEWEST_SHARE_IN_REGION = 0.5
"""Share of the newest rows that the busiest region must hold."""

REMEDY = Message(
    "read_hot_spot.newest_cached", "Cache the newest rows, or ask for them less often."
)


class NewestRegionCause(ReadCause):
    """A read asks for the newest rows, and one region holds most of them.

    The key begins with a time, so the newest rows of all entities lie together. A bucket before it
    spreads them, and each answer then asks every bucket, which helps where it reads many rows.
    """

    name = "newest_region"

    @classmethod
    def recognise(cls, result: ReadLoadResult) -> ReadCauseFinding | None:
        """Return the cause if the busiest region holds most of the newest rows."""
        region, server = result.busiest_region, result.busiest_server
        if int(result.region_servers[region]) != server:
            return None
        for name in _list_open_times(result):
            share = _measure_newest_share(result, name)
            if share < MIN_NEWEST_SHARE_IN_REGION:
                continue
            message = Message(
                "read_hot_spot.newest",
                "the read asks for the newest rows, and region {region} holds them",
                region=region,
            )
            region_share = float(result.region_operations[region]) / result.busiest_operations
            return ReadCauseFinding(
                cls.name,
                message,
                REMEDY,
                explained_share=share * min(region_share, 1.0),
                evidence={"fields": [name], "region": region, "newest_share": share},
                needs_key=True,
            )
        return None


def _list_open_times(result: ReadLoadResult) -> Iterator[str]:
    """Yield the times of which the latest is asked for, if the key has no given field before.

    That is so if only a lower bound tests them, or if the read declares `age = "latest"`. Rows of a
    given field lie together, newest or not.
    """
    read = result.read
    is_latest = read.age is not None and read.age.shape == "latest"
    operators: dict[str, set[str]] = {}
    for condition in read.conditions:
        if read.fields[condition.field].type.unit_ns is not None:
            operators.setdefault(condition.field, set()).add(condition.operator)
    for name, tests in operators.items():
        parts = list(result.design.key.parts)
        place = next((n for n, part in enumerate(parts) if name in part.fields), None)
        is_open = tests <= {">", ">="} or (is_latest and name in read.time_ranges)
        if place is None or not is_open:
            continue
        earlier = {one for part in parts[:place] for one in part.fields}
        if not earlier & set(result.lookup_fields):
            yield name


def _measure_newest_share(result: ReadLoadResult, name: str) -> float:
    """Return the share of the newest sampled rows that lie in the busiest region."""
    times = result.rows.column(name)
    count = max(int(NEWEST_SHARE * (len(times) - times.null_count)), 1)
    newest = pc.array_sort_indices(times, order="descending").to_numpy()[:count]
    if not len(newest):
        return 0.0
    return float((result.row_regions[newest] == result.busiest_region).mean())
