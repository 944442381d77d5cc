"""What a judged design needs of a cluster: servers, disk and operations, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import TYPE_CHECKING

from rowkey.cells import FOREVER_S
from rowkey.design import Design
from rowkey.hotspots import compute_even_skew
from rowkey.messages import Message, format_number, pluralize
from rowkey.regions import MAX_FILE_SIZE, REGIONS_PER_SERVER
from rowkey.simulate import ReadLoad
from rowkey.workload import (
    DEFAULT_CAPACITY_PER_S,
    FAIR_UTILIZATION,
    FamilySize,
    count_write_operations,
    estimate_table_bytes,
)

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

HDFS_COPIES = 3
"""Copies of each file, where a family declares no `dfs_replication`. Source: dfs.replication."""
HOURS_PER_MONTH = 730
"""Hours of a twelfth of 365 days."""
GIB = 2**30
MAX_REGIONS_PER_SERVER = REGIONS_PER_SERVER[1]


@dataclass(frozen=True, slots=True)
class ResourceFigure:
    """A figure with the formula that gives it, or the reason why there is none.

    Args:
        value: the figure; None if it is unknown.
        formula: how it follows from the design, with all its numbers; empty if it is unknown.
        reason: why it is unknown, as a sentence without its full stop; else empty.
    """

    value: float | None
    formula: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a design needs.

    Args:
        servers: region servers, so that the busiest is at half of its capacity at most.
        operations_per_s: operations a second of writes and reads at their peak.
        disk_bytes: bytes of the full table on disk, encoded and compressed, in all copies.
        cost_per_month: what servers and disk cost, as far as prices are declared.
        event_disk_bytes: mean bytes of an event on disk in one copy.
        is_measured: whether the bytes were measured by encoding and compressing a sample.
        assumptions: what was assumed or left out, as sentences without their full stops.
    """

    servers: ResourceFigure
    operations_per_s: ResourceFigure
    disk_bytes: ResourceFigure
    cost_per_month: ResourceFigure
    event_disk_bytes: float
    is_measured: bool
    assumptions: tuple[str, ...]


def get_capacity(design: Design) -> tuple[float, bool]:
    """Return the operations a second of one server, and whether the design declares them."""
    declared = design.cluster.capacity_per_s
    return (DEFAULT_CAPACITY_PER_S, False) if declared is None else (declared, True)


def estimate_resources(simulation: Simulation) -> Resources:
    """Return what the design of a simulation needs, at its declared rates and full size.

    Args:
        simulation: a replay of its events.

    Cost: at most 16,384 events are encoded and compressed, in about a second.
    """
    design = simulation.design
    rate, reads = _find_peak_rate(simulation), _sum_read_operations(simulation)
    sizes, problem = _measure_sizes(simulation)
    disk = _estimate_disk(design, sizes, _estimate_kept_events(simulation, sizes))
    operations = ResourceFigure(None, reason=_NO_RATE)
    if rate is not None:
        each = count_write_operations(simulation.event_bytes)
        of_each = f" of {format_number(each, 2)} operations" if each > 1 else ""
        formula = f"{rate:,.0f} writes{of_each} + {reads:,.0f} operations of reads"
        operations = ResourceFigure(rate * each + reads, formula)
    servers = estimate_needed_servers(simulation)
    return Resources(
        servers,
        operations,
        disk,
        _estimate_cost(design, servers, disk),
        sum(one.disk_bytes for one in sizes.values()),
        not problem,
        tuple(_list_assumptions(simulation, sizes, problem)),
    )


_NO_RATE = Message("resources.no_rate", "the rate of the writes is unknown; declare [writes] rate")
_NO_PRICE = "declare price_per_server_hour or price_per_gib_month under [cluster]"


def _find_peak_rate(simulation: Simulation) -> float | None:
    """Return the events a second in the strongest declared burst or the sample's busiest minute."""
    writes, peak = simulation.design.writes, simulation.write_peak
    if writes.rate is None or writes.peak_rate is None or peak is None:
        return writes.peak_rate
    return max(writes.peak_rate, writes.rate * peak.factor)


def _sum_read_operations(simulation: Simulation) -> float:
    """Return the operations a second of all reads that have a rate and can be run."""
    return sum(
        read.rate * cost.operations
        for read, cost in zip(simulation.design.reads, simulation.reads, strict=False)
        if read.rate is not None and not cost.error
    )


def _measure_sizes(simulation: Simulation) -> tuple[dict[str, FamilySize], str]:
    """Return the bytes of an event in each family, and why they could not be measured, if so."""
    design, summary = simulation.design, simulation.source.summary
    reason = "there is no sample"
    if summary is not None:
        layout = simulation.replay.design.layout
        if sizes := summary.measure_family_sizes(layout, design.families, design.writes):
            return dict(sizes), ""
        reason = "they are measured only for a declared [writes] rate"
        if design.writes.rate is not None:
            reason = "the sample lacks some of the fields, or they cannot be encoded"
    estimated = simulation.design.layout.estimate_family_bytes(
        simulation.key_bytes, simulation.facts
    )
    sizes = {name: FamilySize(each, each, is_compressed=False) for name, each in estimated.items()}
    return sizes, (
        f"bytes on disk are estimated from field widths, before encoding and compression: {reason}"
    )


def _estimate_kept_events(
    simulation: Simulation, sizes: Mapping[str, FamilySize]
) -> dict[str, float | None]:
    """Return how many events each family keeps once the table is full; None if unknown."""
    design = simulation.design
    return {
        name: estimate_table_bytes(
            design.layout, design.families, design.writes, {name: 1.0}, simulation.source.row_counts
        )
        for name in sizes
    }


def _estimate_disk(
    design: Design, sizes: Mapping[str, FamilySize], rows: Mapping[str, float | None]
) -> ResourceFigure:
    """Return the bytes of the full table on disk, in all copies."""
    total, parts = 0.0, []
    for name, size in sizes.items():
        family, kept = design.families[name], rows[name]
        if kept is None:
            return ResourceFigure(None, reason=_explain_unknown_size(design, name))
        copies = family.dfs_replication or HDFS_COPIES
        total += kept * size.disk_bytes * copies
        codec = family.compression_compact or family.compression
        parts.append(
            f"{kept:,.0f} events × {size.disk_bytes:,.1f} bytes in {name} (of "
            f"{size.plain_bytes:,.1f}; encoding {family.encoding}, compression {codec}) × "
            f"{copies} {'copy' if copies == 1 else 'copies'}"
        )
    return ResourceFigure(total, " + ".join(parts))


def _explain_unknown_size(design: Design, family: str) -> Message:
    """Return why it is unknown how many events a family keeps."""
    if design.families[family].ttl_s == FOREVER_S:
        return Message(
            "resources.no_ttl",
            "the table has no final size, because family {family} keeps its cells for ever; "
            "declare its ttl",
            family=family,
        )
    return _NO_RATE


def estimate_needed_servers(simulation: Simulation) -> ResourceFigure:
    """Return the servers that bear the load and hold one copy, with a formula or a reason.

    Unknown without a declared rate, and where no number of servers takes enough off one region.

    Args:
        simulation: a replay of the design's events.
    """
    rate = _find_peak_rate(simulation)
    if rate is None:
        return ResourceFigure(None, reason=_NO_RATE)
    if simulation.is_thin:
        reason = Message("resources.few_events", "there are too few events to judge the writes")
        return ResourceFigure(None, reason=reason)
    sizes, _ = _measure_sizes(simulation)
    rows = _estimate_kept_events(simulation, sizes)
    bytes_once = sum(sizes[name].disk_bytes * (rows[name] or 0) for name in sizes)
    writes = rate * count_write_operations(simulation.event_bytes)
    by_load = _estimate_load_servers(
        simulation, writes, _sum_read_operations(simulation), bytes_once
    )
    by_size = bytes_once / (MAX_REGIONS_PER_SERVER * MAX_FILE_SIZE)
    if by_load.value is None or by_load.value >= by_size:
        return by_load
    formula = (
        f"{bytes_once / GIB:,.0f} GiB of one copy / ({MAX_REGIONS_PER_SERVER} regions × "
        f"{MAX_FILE_SIZE / GIB:,.0f} GiB), rounded up"
    )
    return ResourceFigure(ceil(by_size), formula)


def _estimate_load_servers(
    simulation: Simulation, writes: float, reads: float, bytes_once: float
) -> ResourceFigure:
    """Return how many servers bear the load if the skews of writes and reads stay.

    A further server takes nothing off the busiest region, and a single one takes all. HBase splits
    the regions of a table that outgrows them.
    """
    capacity, is_declared = get_capacity(simulation.design)
    bearable = FAIR_UTILIZATION * capacity
    grown_regions = ceil(bytes_once / MAX_FILE_SIZE)
    regions = max(simulation.used_region_count, grown_regions, 1)
    all_regions = max(len(simulation.regions), grown_regions)
    region_writes = writes * _compute_region_share(simulation, all_regions)
    read_share, read_skew = _measure_reads(simulation, regions, all_regions)
    region_load = region_writes + reads * read_share
    limit = f"({FAIR_UTILIZATION:.0%} of {capacity:,.0f}{'' if is_declared else ' assumed'})"
    if writes + reads <= bearable:
        total = f"({writes:,.0f} writes + {reads:,.0f} operations of reads)"
        return ResourceFigure(1, f"{total} / {limit}, rounded up")
    if region_load > bearable:
        reason = Message(
            "resources.busiest_region",
            "no number of servers is enough: the busiest region, of {regions} with writes, "
            "takes {load} operations a second, and a server should take {bearable} at most, "
            "{share} of its capacity",
            regions=f"{regions:,}",
            load=f"{region_load:,.0f}",
            bearable=f"{bearable:,.0f}",
            share=f"{FAIR_UTILIZATION:.0%}",
        )
        return ResourceFigure(None, reason=reason)
    skew = _compute_peak_skew(simulation)
    by_skew = min(ceil((writes * skew + reads * read_skew) / bearable), regions)
    by_region = ceil(reads / (bearable - region_writes)) if region_writes < bearable else 1
    if by_region > by_skew:
        formula = f"{reads:,.0f} operations of reads / ({limit} - {region_writes:,.0f} writes of "
        return ResourceFigure(by_region, f"{formula}the busiest region), rounded up")
    uneven = f" × skew {read_skew:.2f}" if read_skew > 1 else ""
    total = f"({writes:,.0f} writes × skew {skew:.2f} + {reads:,.0f} operations of reads{uneven})"
    at_most = f", at most {pluralize(regions, 'region')}" if by_skew == regions else ""
    return ResourceFigure(by_skew, f"{total} / {limit}, rounded up{at_most}")


def estimate_mean_skew(simulation: Simulation) -> float:
    """Return the busiest server's load over a fair share of the mean rate, in a table at its rate.

    What chance adds in a sample it does not show.
    """
    verdict = simulation.verdict
    even_skew = verdict.even_skew if verdict.level == "even" else 1.0
    return max(verdict.skew / max(even_skew, 1.0), 1.0)


def _compute_peak_skew(simulation: Simulation) -> float:
    """Return the busiest server's load over a fair share of the peak rate."""
    skew, peak = estimate_mean_skew(simulation), simulation.write_peak
    writes = simulation.design.writes
    rate, peak_rate = writes.rate, _find_peak_rate(simulation)
    if peak is not None and rate and peak_rate:
        busiest = max((writes.peak_rate or rate) * skew, rate * peak.server_factor)
        skew = busiest / peak_rate
    return max(skew, 1.0)


def _measure_reads(
    simulation: Simulation, used_regions: int, all_regions: int
) -> tuple[float, float]:
    """Return the busiest region's share of the reads that have a rate, and their skew over servers.

    What chance explains counts as even over the regions in use.

    Args:
        simulation: the replay.
        used_regions: regions with rows of the table at its full size.
        all_regions: its regions, with as uneven reads.
    """
    rated = [load for load in simulation.read_loads if load.is_rate_declared]
    if not rated:
        return 0.0, 1.0
    load = reduce(ReadLoad.add, rated)
    share, skew = 1 / used_regions, 1.0
    if not load.regions.is_within_chance:
        places = len(load.regions.operations)
        share = max(
            share, _spread_excess(load.regions.skew, load.regions.even_skew, places, all_regions)
        )
    if not load.servers.is_within_chance:
        skew = max(load.servers.skew, 1.0)
    return share, skew


def _compute_region_share(simulation: Simulation, grown_regions: int) -> float:
    """Return the share of the writes at the peak rate that one region takes, without chance.

    Its writes are those in the windows of the verdict at the declared rate, or those in the busiest
    minute of the sample, whichever are more. No further server takes any of them off the region.

    Args:
        simulation: the replay.
        grown_regions: regions of the table at its full size, with as uneven writes.
    """
    verdict, regions = simulation.verdict, len(simulation.regions)
    skews = {skew.width_s: (skew.region_skew, skew.even_region_skew) for skew in simulation.skews}
    measured, even = skews.get(verdict.width_s or 0, (None, None))
    if measured is None or even is None:
        measured = simulation.region_shares.mean * regions
        events = simulation.operation_count / max(simulation.window_count, 1)
        even = float(compute_even_skew(events, regions))
    if simulation.count_draws(verdict.width_s) is not None:
        measured = simulation.estimate_table_skew(measured, verdict.width_s, regions)
        even = 1.0
    share, peak = _spread_excess(measured, even, regions, grown_regions), simulation.write_peak
    writes, peak_rate = simulation.design.writes, _find_peak_rate(simulation)
    if peak is None or not writes.rate or not peak_rate:
        return share
    peak_share = _spread_excess(peak.region_skew, peak.even_region_skew, regions, grown_regions)
    usual = (writes.peak_rate or writes.rate) * share
    return max(usual, writes.rate * peak.factor * peak_share) / peak_rate


def _spread_excess(skew: float, even_skew: float, regions: int, grown_regions: int) -> float:
    """Return the share of the busiest of more regions, which are as uneven beyond chance.

    >>> _spread_excess(4.0, 1.0, 4, 100), _spread_excess(1.1, 1.1, 4, 100)
    (1.0, 0.01)
    """
    if even_skew >= regions:
        return 1 / grown_regions
    excess = max(skew - even_skew, 0.0) / (regions - even_skew)
    return (1 + excess * (grown_regions - 1)) / grown_regions


def _estimate_cost(design: Design, servers: ResourceFigure, disk: ResourceFigure) -> ResourceFigure:
    """Return the cost of a month by the declared prices."""
    cluster, cost, parts = design.cluster, 0.0, []
    if not cluster.has_price:
        return ResourceFigure(None, reason=_NO_PRICE)
    if cluster.price_per_server_hour is not None:
        if servers.value is None:
            return ResourceFigure(None, reason=servers.reason)
        cost += servers.value * HOURS_PER_MONTH * cluster.price_per_server_hour
        price = _format_price(cluster.price_per_server_hour)
        parts.append(f"{pluralize(int(servers.value), 'server')} × {HOURS_PER_MONTH} h × {price}")
    if cluster.price_per_gib_month is not None:
        if disk.value is None:
            return ResourceFigure(None, reason=disk.reason)
        cost += disk.value / GIB * cluster.price_per_gib_month
        price = _format_price(cluster.price_per_gib_month)
        parts.append(f"{disk.value / GIB:,.1f} GiB × {price}")
    return ResourceFigure(cost, " + ".join(parts))


def _format_price(price: float) -> str:
    """Return a price without a trailing point."""
    return f"{price:,.10g}"


def _list_assumptions(
    simulation: Simulation, sizes: Mapping[str, FamilySize], problem: str
) -> Iterator[str]:
    """Yield why bytes were not measured or compressed, and which reads are not counted."""
    design = simulation.design
    if problem:
        yield problem
    for name, size in sizes.items():
        if not problem and not size.is_compressed:
            family = design.families[name]
            codec = family.compression_compact or family.compression
            yield f"bytes on disk of family {name} are not compressed: {codec} is not available"
    names = [read.name for read in design.reads if read.rate is None]
    if names:
        yield f"reads without a rate are not counted: {', '.join(names)}"
