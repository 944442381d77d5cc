"""The measures of a comparison, each with what of its differences is chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.advise.comparison import Figure, Measure
from rowkey.heat import WIDTHS_S, even_spread
from rowkey.schema import read_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rowkey.advise.agreeing import Scale
    from rowkey.advise.comparison import Compared
    from rowkey.schema import ReadWords
    from rowkey.simulate import ReadResult

SPREADS = 3
"""Standard deviations of an even design that two skews may lie apart by chance, as in a verdict."""
TIMED_WITHIN = 0.1
"""Share by which times of equal work differ from run to run."""
ASKED_WITHIN = 0.01
"""Share by which reads differ that were asked a hundred times of a sample."""
COUNTED_WITHIN = 0.005
"""Share of the events by which two estimates of overwritten rows differ; see `Distinct`."""


def measures_of(designs: Sequence[Compared], scale: Scale) -> Iterator[Measure]:
    """All measures, in the order in which they are told."""
    yield from _skews(designs)
    if scale.capacity is not None:
        yield _throughput(designs, scale.capacity)
    yield from _regions(designs)
    yield from _weights(designs)
    yield _overwritten(designs)
    yield from _findings(designs)
    yield from _reads(designs, scale.reads)


def weights_of(reads: Mapping[str, ReadWords]) -> tuple[dict[str, float], bool]:
    """The share of each read among all, and whether it is from declared rates."""
    rates = {name: read_rate(words.rate) for name, words in reads.items() if words.rate}
    total = sum(rates.values())
    if len(rates) == len(reads) and total:
        return {name: rate / total for name, rate in rates.items()}, True
    return {name: 1 / len(reads) for name in reads}, False


def _skews(designs: Sequence[Compared]) -> Iterator[Measure]:
    for number, width in enumerate(WIDTHS_S):
        skews = [one.simulation.skews[number] for one in designs]
        spreads = [skew.spread_servers or 0.0 for skew in skews]
        figures = (Figure(skew.servers, reason=skew.reason) for skew in skews)
        what = f"load of the fullest server of windows of {width} s over its fair share"
        yield Measure(f"skew_{width}s", what, tuple(figures), within=SPREADS * max(spreads))
    figures = (Figure(_equal_skew(one)) for one in designs)
    what = "the same in windows of equal numbers of events, their median"
    yield Measure("skew_equal", what, tuple(figures), within=_equal_spread(designs[0]))


def _equal_skew(one: Compared) -> float:
    return one.simulation.server_shares.median * one.simulation.design.cluster.servers


def _equal_spread(one: Compared) -> float:
    """The same for windows of equal numbers; half of them never exceed a mean by its spread."""
    events = one.simulation.operations / max(one.simulation.windows, 1)
    return float(even_spread(events, one.simulation.design.cluster.servers))


def _throughput(designs: Sequence[Compared], capacity: float) -> Measure:
    """What the servers bear until the fullest is full, by the skew of the verdict."""
    figures = []
    for one in designs:
        servers = one.simulation.design.cluster.servers
        figures.append(Figure(capacity * servers / max(one.simulation.verdict.skew, 1.0)))
    most = max(figure.value or 0.0 for figure in figures)
    what = "writes a second at which the fullest server is full"
    share = _chance_of_verdict(designs[0])
    return Measure("throughput", what, tuple(figures), "more", share * most)


def _chance_of_verdict(one: Compared) -> float:
    """The share of a verdict's skew that is chance."""
    found = one.simulation
    if found.verdict.width_s is None:
        return _equal_spread(one)
    spreads = {skew.width_s: skew.spread_servers or 0.0 for skew in found.skews}
    return SPREADS * spreads[found.verdict.width_s]


def _regions(designs: Sequence[Compared]) -> Iterator[Measure]:
    counts = tuple(Figure(float(len(one.simulation.regions))) for one in designs)
    yield Measure("regions", "regions it is created with", counts, "")
    dead = tuple(Figure(float(one.simulation.dead)) for one in designs)
    yield Measure("dead_regions", "regions without a write", dead)


def _weights(designs: Sequence[Compared]) -> Iterator[Measure]:
    count = max(designs[0].simulation.operations, 1)
    keys = tuple(Figure(one.key_bytes / count) for one in designs)
    yield Measure("key_bytes", "mean bytes of a row key", keys)
    each = tuple(Figure(one.event_bytes / count, one.is_measured) for one in designs)
    what = "mean bytes an event adds to a store before encoding and compression"
    yield Measure("event_bytes", what, each)
    total = tuple(Figure(one.event_bytes, one.is_measured) for one in designs)
    yield Measure("total_bytes", "the same of all events, those that overwrite others too", total)
    reason = "no clock was given"
    times = tuple(
        Figure(one.encode_us, is_exact=False, reason=reason if one.encode_us is None else "")
        for one in designs
    )
    least = min((one.encode_us for one in designs if one.encode_us is not None), default=0.0)
    what = "microseconds to make a row key, one at a time, on this machine"
    yield Measure("encode_us", what, times, within=TIMED_WITHIN * least)


def _overwritten(designs: Sequence[Compared]) -> Measure:
    figures = tuple(_overwritten_by(one) for one in designs)
    is_exact = all(figure.is_exact for figure in figures)
    within = 0.0 if is_exact else COUNTED_WITHIN * designs[0].simulation.operations
    what = "events that wrote a row that stood already"
    return Measure("overwritten", what, figures, within=within)


def _overwritten_by(one: Compared) -> Figure:
    """Events that overwrote others; what is meant to share a row is counted by nobody."""
    layout = one.design.layout
    if layout.shares_rows:
        return Figure(None, reason="events share rows, apart by their qualifiers")
    if layout.stamp is not None:
        name = layout.stamp.field.name
        return Figure(None, reason=f"events of one row are its versions, apart by {name}")
    return Figure(float(one.simulation.overwritten), one.simulation.overwritten_exact)


def _findings(designs: Sequence[Compared]) -> Iterator[Measure]:
    names = {"error": "errors", "warning": "warnings", "info": "remarks"}
    for severity, name in names.items():
        counts = (
            sum(found.severity == severity for found in one.findings.found) for one in designs
        )
        figures = tuple(Figure(float(count)) for count in counts)
        yield Measure(name, f"findings of the rules of severity {severity}", figures)


def _reads(designs: Sequence[Compared], reads: Mapping[str, ReadWords]) -> Iterator[Measure]:
    for number, name in enumerate(reads):
        results = [one.simulation.reads[number] for one in designs]
        for measure, what, value in _OF_READ:
            figures = tuple(_asked(measure, result, value) for result in results)
            yield _read_measure(measure, what, figures, name)
        figures = tuple(_asked("rows_returned", result, _returned) for result in results)
        what = "rows of an answer, mean; fewer where others were overwritten"
        yield Measure("rows_returned", what, figures, "", read=name)
    if len(reads) > 1:
        shares, _ = weights_of(reads)
        for measure, what, mean in _OF_ALL:
            figures = tuple(
                _weighed(measure, one.simulation.reads, shares, mean) for one in designs
            )
            yield _read_measure(measure, what, figures, None)


def _returned(result: ReadResult) -> float:
    return result.returned


def _read_measure(name: str, what: str, figures: tuple[Figure, ...], read: str | None) -> Measure:
    least = min((one.value for one in figures if one.value is not None), default=0.0)
    return Measure(name, what, figures, within=ASKED_WITHIN * least, read=read)


_OF_READ: tuple[tuple[str, str, Callable[[ReadResult], float | None]], ...] = (
    ("fan_out", "ranges read for one answer, mean", lambda read: read.fan_out[0]),
    ("read_regions", "regions touched for one answer, mean", lambda read: read.regions[0]),
    ("read_per_returned", "rows read for each row returned", lambda read: read.amplification),
    ("sorted_in_memory", "1 where rows come in another order than asked, else 0",
     lambda read: float(not read.serves_order)),
)  # fmt: skip


OF_RANGES = "fan_out"
"""The measure that praises no read of the whole table, though that is one range."""


def _is_whole(name: str, result: ReadResult) -> bool:
    """Whether the key serves nothing of what is asked: the first rows in its order are served."""
    is_served = result.serves_order and not result.residual
    return name == OF_RANGES and result.is_full_scan and not is_served


def _asked(name: str, result: ReadResult, value: Callable[[ReadResult], float | None]) -> Figure:
    if result.error:
        return Figure(None, is_exact=False, reason=result.error)
    found, whole = value(result), _is_whole(name, result)
    reason = "" if found is not None else "no row is returned"
    return Figure(found, is_exact=False, reason=reason, is_whole=whole)


_Shared = list[tuple[float, "ReadResult"]]


def _per_row(shared: _Shared) -> float | None:
    """Rows read for each row returned, over reads that come as often as their shares say."""
    returned = sum(share * read.returned for share, read in shared)
    return sum(share * read.read for share, read in shared) / returned if returned else None


_OF_ALL: tuple[tuple[str, str, Callable[[_Shared], float | None]], ...] = (
    ("fan_out", "ranges read for one answer, mean of all reads by their shares",
     lambda shared: sum(share * read.fan_out[0] for share, read in shared)),
    ("read_regions", "regions touched for one answer, mean of all reads by their shares",
     lambda shared: sum(share * read.regions[0] for share, read in shared)),
    ("read_per_returned", "rows read for each row returned, all reads by their shares", _per_row),
)  # fmt: skip


def _weighed(
    name: str,
    results: Sequence[ReadResult],
    shares: Mapping[str, float],
    mean: Callable[[_Shared], float | None],
) -> Figure:
    failed = [read.name for read in results if read.error]
    if failed:
        return Figure(None, is_exact=False, reason=f"not asked: {', '.join(failed)}")
    found = mean([(shares[read.name], read) for read in results])
    whole = sum(shares[read.name] for read in results if _is_whole(name, read)) > ASKED_WITHIN
    reason = "" if found is not None else "no row is returned"
    return Figure(found, is_exact=False, reason=reason, is_whole=whole)
