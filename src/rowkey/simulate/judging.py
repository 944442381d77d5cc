"""A design under a workload: where operations land, how hot it gets, when and why."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rowkey.errors import counted
from rowkey.heat import CAUSES, Evidence, Finding, Measured
from rowkey.open_file_limit import explains_shortage
from rowkey.regions import Boundaries, Growth, grow
from rowkey.schema import SURE
from rowkey.simulate.cut import cut_by_source, source_of
from rowkey.simulate.reads import Asked, ReadResult
from rowkey.simulate.replay import Replay, keys_of
from rowkey.simulate.scaled import at_declared_rate
from rowkey.simulate.simulation import Region, Simulation
from rowkey.simulate.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rowkey.design import Design
    from rowkey.simulate.source import Source
    from rowkey.simulate.verdict import Verdict

IN_ORDER = 0.5
"""Share of times not below all before them, under which rows are taken to be in another order; with
three of ten events late it is still 0.7."""


@explains_shortage
def run(
    design: Design,
    sample: str | Path | None = None,
    *,
    format_words: Mapping[str, Any] | None = None,
    second_half: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Judge a design by a recorded sample, or by events made from its file.

    Where the boundaries follow from the sample, they are quantiles of its first half and only its
    second half is replayed, for no design may know its future.

    Args:
        design: the design.
        sample: a file of recorded events; the design's own `[sample]` if None, and events made from
            the file if it has none.
        format_words: how the file is read, whatever the design says. If None, the design's
            `[sample] format` holds for another file too, unless that file's name tells another
            kind; where nothing is declared the name tells it.
        second_half: replay only the second half, so that designs are compared on equal events.
        seed: where randomness begins: the same seed gives the same result.
        progress: told how many events are done, and of how many.

    Raises:
        SampleError: the sample cannot be read or does not fit, or is needed and missing.
        DeclarationError: the boundaries cannot be cut.

    Cost: 30 to 300 ns an event; memory does not grow with their number.
    """
    source = source_of(design, sample, format_words, second_half=second_half, seed=seed)
    return run_on(design, source, seed=seed, progress=progress)


def run_on(
    design: Design,
    source: Source,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Judge a design by events that were opened for it by `source_of`.

    Args:
        design: the design.
        source: the events.
        seed: where randomness begins, as it was given to `source_of`.
        progress: told how many events are done, and of how many.

    Raises:
        DeclarationError: the boundaries cannot be cut.

    Cost: as `run`, without the first look at the events.
    """
    cut = cut_by_source(design, source, seed)
    boundaries = cut.boundaries
    replay = Replay(design, boundaries, source.count, seed)
    for events in source.replayed():
        replay.add(events)
        if progress is not None:
            progress(replay.operations, source.count)
    return _concluded(design, source, boundaries, cut.remarks, replay, seed)


def _concluded(
    design: Design,
    source: Source,
    boundaries: Boundaries,
    remarks: tuple[str, ...],
    replay: Replay,
    seed: int,
) -> Simulation:
    """Everything that follows once all events are counted."""
    rows = replay.reservoir.rows()
    keys = keys_of(design, rows)
    key_bytes = sum(map(len, keys)) / max(len(keys), 1)
    evidence, verdict = _shown(design, source, boundaries, replay, (rows, keys))
    first, heat = replay.matrix.dense()
    return Simulation(
        design=design,
        source=source,
        boundaries=boundaries,
        remarks=(*remarks, *_on_few(replay.operations), *_on_order(design, source)),
        regions=_regions(boundaries, replay),
        operations=replay.operations,
        skews=tuple(evidence.skews),
        windows=replay.equal.windows,
        server_shares=evidence.server_shares,
        region_shares=evidence.region_shares,
        overwritten=replay.rows.repeats if not design.layout.shares_rows else 0,
        overwritten_exact=replay.rows.is_exact,
        key_bytes=key_bytes,
        event_bytes=design.layout.event_bytes(key_bytes, source.facts),
        heat=(first, replay.matrix.width_s, heat) if replay.is_timed else None,
        reads=_reads(design, boundaries, rows, keys, replay.rows.count),
        causes=causes_of(evidence),
        growth=_growth(design, source, keys, boundaries, key_bytes),
        scaled=at_declared_rate(design, source, boundaries, rows, seed),
        facts=source.facts,
        verdict=verdict,
        late=max(window.late for window in replay.windows),
        seed=seed,
    )


def _shown(
    design: Design,
    source: Source,
    boundaries: Boundaries,
    replay: Replay,
    kept: tuple[Any, list[bytes]],
) -> tuple[Evidence, Verdict]:
    """What a replay shows of its heat, and the verdict on it.

    Args:
        design: the design.
        source: its events.
        boundaries: the regions they fell into.
        replay: the events, counted.
        kept: some of their rows, and the keys of these.
    """
    skews = tuple(window.skew() for window in replay.windows)
    servers = replay.equal.shares(replay.placements)
    verdict = judge(skews, servers, design.cluster.servers, replay.operations, replay.equal.windows)
    rows, keys = kept
    evidence = Evidence(
        design,
        source.facts,
        boundaries,
        replay.placements,
        replay.writes,
        skews,
        Measured(verdict.skew, verdict.even, verdict.width_s, verdict.word == "even"),
        replay.equal.shares(),
        servers,
        rows,
        keys,
        _regions_of(boundaries, keys),
        replay.equal.windows_of(replay.reservoir.numbers()),
    )
    return evidence, verdict


def _regions(boundaries: Boundaries, replay: Replay) -> tuple[Region, ...]:
    """The regions, each with its server and the writes it took."""
    servers = replay.placements.tables[0].tolist()
    return tuple(
        Region(start, stop, server, int(writes))
        for (start, stop), server, writes in zip(
            boundaries.regions, servers, replay.writes, strict=True
        )
    )


def _regions_of(boundaries: Boundaries, keys: Sequence[bytes]) -> Any:
    import numpy as np

    return np.array([boundaries.locate_one(key) for key in keys], np.int64)


def causes_of(evidence: Evidence) -> list[Finding]:
    """The causes that a replay, or a table in use, shows; the one that explains most first.

    None from fewer events than tell a share, an order or a number of values.
    """
    if len(evidence.keys) < SURE:
        return []
    widths = (*(skew.width_s for skew in evidence.skews), None)
    most = max(evidence.skew_at(width) or 1.0 for width in widths)
    found: list[Finding] = []
    for cause in CAUSES.values():
        finding = cause.recognise(evidence)
        if finding is not None and (cause.of_regions or _explains(finding, evidence.measured)):
            found.append(replace(finding, bound=min(finding.bound, most)))
    return sorted(found, key=lambda finding: -finding.bound)


def _explains(finding: Finding, measured: Measured) -> bool:
    """Whether there is something to explain: of what is even, no more than chance makes is not."""
    return not measured.is_even or finding.bound > max(measured.even, 1.0)


def _on_few(events: int) -> Iterator[str]:
    """A remark where too few events were replayed to tell why they lie as they do."""
    if 0 < events < SURE:
        yield f"{counted(events, 'event')} came; why they lie so is judged from {SURE} on"


def _on_order(design: Design, source: Source) -> Iterator[str]:
    """A remark where the rows of a sample are in no order of their times."""
    time = design.writes.time
    known = source.facts.get(time.name) if time is not None else None
    if source.kind != "sample" or design.writes.sort or known is None or known.rising is None:
        return
    if known.rising < IN_ORDER:
        yield (
            f"the times of this recording do not rise with its rows: {1 - known.rising:.0%} of "
            f"them lie before an earlier row's; if rows are not in the order of their arrival, "
            f"declare [writes] sort = true"
        )


def _reads(
    design: Design, boundaries: Boundaries, rows: Any, keys: Sequence[bytes], total: int
) -> list[ReadResult]:
    if not design.reads or not keys:
        return []
    from rowkey.keys import Columns

    columns = Columns.of(rows, [design.fields[name] for name in rows.schema.names])
    asked = Asked(design, boundaries, columns, keys, total)
    return [asked.ask(read) for read in design.reads]


def _growth(
    design: Design,
    source: Source,
    keys: Sequence[bytes],
    boundaries: Boundaries,
    key_bytes: float,
) -> Growth | None:
    """What becomes of the regions as the table fills to the size that the file implies."""
    import numpy as np

    size = source.demand_of(design).size
    if not size or len(keys) < 2 or not key_bytes:
        return None
    keys = _standing(keys, max(family.versions for family in design.families.values()))
    ranked = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    ranks = np.array([ranked[key] for key in keys], np.int64)
    ordered = list(ranked)
    starts = [bisect_left(ordered, split) for split in boundaries.splits]
    return grow(
        ranks,
        max(size // len(keys), 1),
        boundaries=starts,
        servers=design.cluster.servers,
    )


def _standing(keys: Sequence[bytes], versions: int) -> list[bytes]:
    """Row keys in their order, each as often as versions of it are kept."""
    seen: dict[bytes, int] = {}
    standing = []
    for key in keys:
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= versions:
            standing.append(key)
    return standing
