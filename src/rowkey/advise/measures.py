"""The measures of a comparison, each with the tolerance that chance explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from rowkey.advise.comparison import ComparedDesign, Figure, Measure
from rowkey.advise.resources import ResourceFigure
from rowkey.hotspots import WINDOW_WIDTHS_S, compute_even_deviation
from rowkey.messages import Message
from rowkey.schema import ReadDeclaration, parse_rate
from rowkey.simulate import ReadCost

if TYPE_CHECKING:
    from rowkey.advise.comparison_setup import ComparisonSetup

SKEW_TOLERANCE_SPREADS = 3
"""Standard deviations of an even design that two skews may lie apart by chance, as in a verdict."""
READ_TOLERANCE = 0.01
"""Share by which reads differ that were asked a hundred times of a sample."""
DISK_TOLERANCE = 0.01
"""Share by which measured bytes on disk differ that are from 16,384 events."""
OVERWRITE_TOLERANCE = 0.005
"""Share of the events by which two estimates of overwritten rows differ; see `DistinctCounter`."""


_RESOURCE_MEASURES = (
    ("servers", "servers that the design needs at half of their capacity", 0.0),
    ("operations_per_s", "operations a second of writes and reads at their peak", READ_TOLERANCE),
    ("disk_bytes", "bytes of the full table on disk in all copies", DISK_TOLERANCE),
    ("cost_per_month", "cost of a month by the declared prices", DISK_TOLERANCE),
)
"""Names, meanings and tolerances of what a design needs, as shares of the least figure."""


def build_measures(designs: Sequence[ComparedDesign], setup: ComparisonSetup) -> Iterator[Measure]:
    """Yield all measures in the order in which they are shown."""
    yield from _measure_skews(designs)
    if setup.cluster.capacity_per_s is not None:
        yield _measure_throughput(designs, setup.cluster.capacity_per_s)
    yield from _measure_regions(designs)
    yield from _measure_storage(designs)
    yield from _measure_resources(designs)
    yield _measure_overwrites(designs)
    yield from _measure_findings(designs)
    yield from _measure_reads(designs, setup.reads)


def compute_read_weights(reads: Mapping[str, ReadDeclaration]) -> tuple[dict[str, float], bool]:
    """Return the share of each read, and whether all shares come from declared rates."""
    rates = {name: parse_rate(words.rate) for name, words in reads.items() if words.rate}
    total = sum(rates.values())
    if len(rates) == len(reads) and total:
        return {name: rate / total for name, rate in rates.items()}, True
    return {name: 1 / len(reads) for name in reads}, False


def _measure_skews(designs: Sequence[ComparedDesign]) -> Iterator[Measure]:
    """Yield the measures of skew, one for each window width."""
    servers = designs[0].simulation.design.cluster.servers
    for number, width in enumerate(WINDOW_WIDTHS_S):
        skews = [design.simulation.skews[number] for design in designs]
        spreads = [skew.even_server_deviation or 0.0 for skew in skews]
        figures = [
            _build_skew_figure(design, skew.server_skew, width, skew.reason)
            for design, skew in zip(designs, skews, strict=True)
        ]
        what = f"load of the busiest server, over its fair share, in windows of {width} s"
        yield Measure(
            f"skew_{width}s", what, tuple(figures), tolerance=SKEW_TOLERANCE_SPREADS * max(spreads)
        )
    figures = [
        _build_skew_figure(design, design.simulation.server_shares.mean * servers)
        for design in designs
    ]
    what = (
        "load of the busiest server, over its fair share, in windows of equal numbers of "
        "events, mean"
    )
    yield Measure("skew_equal", what, tuple(figures), tolerance=_compute_equal_spread(designs[0]))


def _build_skew_figure(
    design: ComparedDesign, skew: float | None, width_s: int | None = None, reason: str = ""
) -> Figure:
    """Return the skew of the table over servers, from that of the replayed events."""
    if skew is None:
        return Figure(None, reason=reason)
    simulation = design.simulation
    return Figure(simulation.estimate_table_skew(skew, width_s, simulation.design.cluster.servers))


def _compute_equal_spread(design: ComparedDesign) -> float:
    """Return how much the skew in windows of equal event counts varies by chance."""
    windows = max(design.simulation.window_count, 1)
    events, servers = design.simulation.operation_count, design.simulation.design.cluster.servers
    deviation = float(compute_even_deviation(events / windows, servers))
    return SKEW_TOLERANCE_SPREADS * deviation / sqrt(windows)


def _measure_throughput(designs: Sequence[ComparedDesign], capacity: float) -> Measure:
    """Return the measure of writes per second that the busiest server allows."""
    figures = []
    for design in designs:
        servers = design.simulation.design.cluster.servers
        figures.append(Figure(capacity * servers / max(design.simulation.verdict.skew, 1.0)))
    max_throughput = max(figure.value or 0.0 for figure in figures)
    what = "writes a second at which the busiest server reaches its capacity"
    share = _compute_verdict_spread(designs[0])
    return Measure("throughput", what, tuple(figures), "more", share * max_throughput)


def _compute_verdict_spread(design: ComparedDesign) -> float:
    """Return how much the skew of a verdict varies by chance."""
    simulation = design.simulation
    if simulation.verdict.width_s is None:
        return _compute_equal_spread(design)
    spreads = {skew.width_s: skew.even_server_deviation or 0.0 for skew in simulation.skews}
    return SKEW_TOLERANCE_SPREADS * spreads[simulation.verdict.width_s]


def _measure_regions(designs: Sequence[ComparedDesign]) -> Iterator[Measure]:
    """Yield the measures of regions: their number, and those without a write."""
    counts = tuple(Figure(float(len(design.simulation.regions))) for design in designs)
    yield Measure("regions", "regions that the table is created with", counts, "")
    unused = (len(one.simulation.regions) - one.simulation.used_region_count for one in designs)
    dead = tuple(Figure(float(count)) for count in unused)
    yield Measure("empty_region_count", "regions of the table that get no write", dead)


def _measure_storage(designs: Sequence[ComparedDesign]) -> Iterator[Measure]:
    """Yield the measures of stored bytes and of key encoding time."""
    count = max(designs[0].simulation.operation_count, 1)
    keys = tuple(Figure(design.key_bytes / count) for design in designs)
    yield Measure("key_bytes", "mean bytes of a row key", keys)
    each = tuple(Figure(design.event_bytes / count, design.is_measured) for design in designs)
    what = "mean bytes an event adds to a store before encoding and compression"
    yield Measure("event_bytes", what, each)
    total = tuple(Figure(design.event_bytes, design.is_measured) for design in designs)
    yield Measure(
        "total_bytes",
        "bytes that all events add to a store, including events that overwrite others",
        total,
    )
    reason = Message("figure.no_clock", "encoding was not timed")
    times = tuple(
        Figure(design.encode_us, is_exact=False, reason=reason if design.encode_us is None else "")
        for design in designs
    )
    # Times differ from run to run, so none of them is the best.
    yield Measure("encode_us", "microseconds to encode one row key on this machine", times, "")


def _measure_resources(designs: Sequence[ComparedDesign]) -> Iterator[Measure]:
    """Yield what each design needs and costs, as far as it is known of any of them."""
    sizes = [design.resources for design in designs]
    if all(one.is_measured for one in sizes):
        figures = tuple(Figure(one.event_disk_bytes, is_exact=False) for one in sizes)
        least = min(one.event_disk_bytes for one in sizes)
        what = "mean bytes of an event on disk in one copy, after encoding and compression"
        yield Measure("disk_event_bytes", what, figures, tolerance=DISK_TOLERANCE * least)
    has_rate = any(one.operations_per_s.value is not None for one in sizes)
    has_price = designs[0].simulation.design.cluster.has_price
    is_shown = {"servers": has_rate, "operations_per_s": has_rate, "cost_per_month": has_price}
    for name, what, share in _RESOURCE_MEASURES:
        needs: list[ResourceFigure] = [getattr(one, name) for one in sizes]
        values = [one.value for one in needs if one.value is not None]
        if is_shown.get(name, bool(values)):
            figures = tuple(Figure(one.value, is_exact=False, reason=one.reason) for one in needs)
            yield Measure(name, what, figures, tolerance=share * min(values, default=0.0))


def _measure_overwrites(designs: Sequence[ComparedDesign]) -> Measure:
    """Return the measure of events that overwrite a row."""
    figures = tuple(_build_overwrite_figure(design) for design in designs)
    is_exact = all(figure.is_exact for figure in figures)
    within = 0.0 if is_exact else OVERWRITE_TOLERANCE * designs[0].simulation.operation_count
    what = "events that overwrote an existing row"
    return Measure("overwritten", what, figures, tolerance=within)


def _build_overwrite_figure(design: ComparedDesign) -> Figure:
    """Return the figure of events that overwrote a row; it has no value if they share rows."""
    layout = design.design.layout
    if layout.has_shared_rows:
        reason = Message(
            "figure.shared_rows",
            "not counted: events with one key are columns of one row, told apart by qualifiers",
        )
        return Figure(None, reason=reason)
    if layout.cell_timestamp is not None:
        reason = Message(
            "figure.versions",
            "not counted: events with one key are versions of one row, told apart by {field}",
            field=layout.cell_timestamp.field.name,
        )
        return Figure(None, reason=reason)
    return Figure(float(design.simulation.overwrite_count), design.simulation.is_overwrite_exact)


def _measure_findings(designs: Sequence[ComparedDesign]) -> Iterator[Measure]:
    """Yield the measures of lint findings, one for each severity."""
    names = {"error": "errors", "warning": "warnings", "info": "remarks"}
    for severity, name in names.items():
        results = (one.declared.lint_result for one in designs)  # no key is searched for
        counts = (sum(found.severity == severity for found in one.findings) for one in results)
        figures = tuple(Figure(float(count)) for count in counts)
        yield Measure(name, f"findings of the rules of severity {severity}", figures)


def _measure_reads(
    designs: Sequence[ComparedDesign], reads: Mapping[str, ReadDeclaration]
) -> Iterator[Measure]:
    """Yield the measures of each declared read, and of all reads together."""
    costs = [{cost.name: cost for cost in design.simulation.reads} for design in designs]
    for name in reads:
        results = [one.get(name) for one in costs]  # none of a read that a companion serves
        for measure, what, value in _READ_MEASURES:
            figures = tuple(_build_read_figure(measure, result, value) for result in results)
            yield _build_read_measure(measure, what, figures, name)
        figures = tuple(
            _build_read_figure("rows_returned", result, _count_returned) for result in results
        )
        what = "mean rows of an answer; overwritten rows are missing"
        yield Measure("rows_returned", what, figures, "", read_name=name)
    if len(reads) > 1:
        shares, _ = compute_read_weights(reads)
        for measure, what, mean in _TOTAL_READ_MEASURES:
            figures = tuple(
                _build_weighted_figure(measure, [one.get(name) for name in reads], shares, mean)
                for one in costs
            )
            yield _build_read_measure(measure, what, figures, None)


def _count_returned(result: ReadCost) -> float:
    """Return the mean rows that a read returns."""
    return result.returned_rows


def _build_read_measure(
    name: str, description: str, figures: tuple[Figure, ...], read: str | None
) -> Measure:
    """Return a measure of one read, or of all reads if no read is named."""
    least = min((one.value for one in figures if one.value is not None), default=0.0)
    return Measure(name, description, figures, tolerance=READ_TOLERANCE * least, read_name=read)


_READ_MEASURES: tuple[tuple[str, str, Callable[[ReadCost], float | None]], ...] = (
    ("fan_out", "ranges read for one answer, mean", lambda read: read.fan_out[0]),
    ("read_regions", "regions touched for one answer, mean", lambda read: read.regions[0]),
    ("read_per_returned", "rows read for each row returned", lambda read: read.amplification),
    ("sorted_in_memory", (
                         "1 if rows must be sorted in memory to give the requested order, "
                         "else 0"
                         ),
     lambda read: float(not read.serves_order)),
)  # fmt: skip


FAN_OUT = "fan_out"
"""The measure that praises no read of the whole table, though that is one range."""


def _is_unserved_scan(name: str, result: ReadCost) -> bool:
    """Return whether a figure counts a full scan that the key does not serve."""
    is_served = result.serves_order and not result.residual_fields
    return name == FAN_OUT and result.is_full_scan and not is_served


def _build_read_figure(
    name: str, result: ReadCost | None, compute: Callable[[ReadCost], float | None]
) -> Figure:
    """Return the figure of one read for one design."""
    if result is None:
        return Figure(None, is_exact=False, reason=_OF_COMPANION)
    if result.error:
        return Figure(None, is_exact=False, reason=result.error)
    value, is_full_scan = compute(result), _is_unserved_scan(name, result)
    reason = "" if value is not None else _NO_ROWS
    return Figure(value, is_exact=False, reason=reason, is_full_scan=is_full_scan)


_NO_ROWS = Message("figure.no_rows", "no row is returned")
_OF_COMPANION = Message(
    "figure.of_companion",
    "a companion table serves this read",
)
_WeightedReads = list[tuple[float, "ReadCost"]]


def _compute_read_amplification(weighted_reads: _WeightedReads) -> float | None:
    """Return the rows read per row returned, over reads weighted by their shares."""
    returned = sum(share * read.returned_rows for share, read in weighted_reads)
    return (
        sum(share * read.read_rows for share, read in weighted_reads) / returned
        if returned
        else None
    )


_TOTAL_READ_MEASURES: tuple[tuple[str, str, Callable[[_WeightedReads], float | None]], ...] = (
    ("fan_out", "ranges read for one answer, mean of all reads by their shares",
     lambda shared: sum(share * read.fan_out[0] for share, read in shared)),
    ("read_regions", "regions touched for one answer, mean of all reads by their shares",
     lambda shared: sum(share * read.regions[0] for share, read in shared)),
    ("read_per_returned", "rows read for each row returned, all reads by their shares",
     _compute_read_amplification),
)  # fmt: skip


def _build_weighted_figure(
    name: str,
    costs: Sequence[ReadCost | None],
    shares: Mapping[str, float],
    mean: Callable[[_WeightedReads], float | None],
) -> Figure:
    """Return a figure over all reads of a design, weighted by their shares."""
    results = [read for read in costs if read is not None]
    if len(results) < len(costs):
        what = Message(
            "figure.some_of_companion",
            "companion tables serve some of these reads",
        )
        return Figure(None, is_exact=False, reason=what)
    failed = [read.name for read in results if read.error]
    if failed:
        names = ", ".join(failed)
        what = Message("figure.reads_failed", "could not be run: {reads}", reads=names)
        return Figure(None, is_exact=False, reason=what)
    value = mean([(shares[read.name], read) for read in results])
    full_scan_share = (
        sum(shares[read.name] for read in results if _is_unserved_scan(name, read)) > READ_TOLERANCE
    )
    reason = "" if value is not None else _NO_ROWS
    return Figure(value, is_exact=False, reason=reason, is_full_scan=full_scan_share)
