"""Why a running table is hot: the causes of a simulation, recognised in what was counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.design import Design
from rowkey.heat import Evidence, Measured, Placements, Shares, Skew, declared_facts
from rowkey.observe.looking import ENOUGH
from rowkey.regions import Boundaries
from rowkey.simulate import causes_of
from rowkey.workload import Events, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from rowkey.heat import Finding
    from rowkey.observe.counting import Interval
    from rowkey.observe.judging import Standing
    from rowkey.observe.looking import Look


def causes(
    design: Design,
    looks: Sequence[tuple[Interval, Look]],
    intervals: Sequence[Interval],
    found: Standing,
) -> list[Finding]:
    """Why the writes of a table lie unevenly, the cause that explains most first.

    Args:
        design: the table's design.
        looks: what came in some of the intervals; of all of them the regions are the same.
        intervals: what the regions did, all of it known, in the order of time.
        found: what that comes to.
    """
    import numpy as np
    import pyarrow as pa

    read = [(each, one) for each, one in looks if one.keys]
    if not read or not intervals or found.skew is None or found.even is None:
        return []
    judged = _of_servers(design, found.servers)
    kept = as_counted([len(one.keys) for _, one in read], [i.total("writes") for i, _ in read])
    batches = [one.rows.take(which) for (_, one), which in zip(read, kept, strict=True)]
    rows = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    keys = [one.keys[at] for (_, one), which in zip(read, kept, strict=True) for at in which]
    windows = np.repeat(np.arange(len(read)), [len(which) for which in kept])
    last = intervals[-1]
    boundaries = Boundaries(start for start, _ in last.bounds[1:])
    counts = np.array([[one.writes or 0 for one in each.regions] for each in intervals])
    numbers = {server: number for number, server in enumerate(last.servers)}
    places = np.array([numbers[one.server] for one in last.regions])
    placements = Placements(len(boundaries), len(last.servers), standing=places)
    profile = Profile(judged.wanted_fields())
    profile.add(Events(rows, None))
    evidence = Evidence(
        judged,
        {**declared_facts(judged), **profile.facts()},
        boundaries,
        placements,
        counts.sum(axis=0),
        (Skew(_width_s(intervals), found.windows, 1.0, found.skew, even_servers=found.even),),
        Measured(found.skew, found.even, _width_s(intervals), found.word == "even"),
        _shares(counts),
        _shares(placements.by_server(counts)),
        rows,
        keys,
        np.array([boundaries.locate_one(key) for key in keys], np.int64),
        windows,
    )
    return causes_of(evidence)


def as_counted(read: Sequence[int], written: Sequence[int]) -> list[np.ndarray[Any, Any]]:
    """Which rows of each look make a sample of all writes, for a busy interval is read in part.

    Of each as large a share as of the one that was read least, as far as that leaves enough rows.

    Args:
        read: rows of each look, at least one.
        written: what was counted in its interval.

    >>> [len(which) for which in as_counted([2_000, 1_500], [2_000, 15_000])]
    [200, 1500]
    """
    import numpy as np

    rows = np.array(read)
    each = np.array(written) / rows
    kept = rows
    for most in sorted(filter(None, each.tolist()), reverse=True):
        kept = np.maximum((rows * np.minimum(each / most, 1)).astype(np.int64), 1)
        if kept.sum() >= min(ENOUGH, rows.sum()):
            break
    return [np.arange(few) * many // few for few, many in zip(kept, rows, strict=True)]


def _of_servers(design: Design, servers: int) -> Design:
    """The design for as many servers as there are, whatever it declares."""
    if servers == design.cluster.servers:
        return design
    words = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    return Design(**{**words, "cluster": {**words.get("cluster", {}), "servers": servers}})


def _width_s(intervals: Sequence[Interval]) -> int:
    """Seconds of an interval, whole ones."""
    return max(round(sum(one.length_s for one in intervals) / len(intervals)), 1)


def _shares(counts: np.ndarray[Any, Any]) -> Shares:
    """The busiest place's shares, of a row for each interval and a column for each place."""
    import numpy as np

    totals, sums = counts.sum(axis=0), counts.sum(axis=1)
    busiest = np.sort(counts.max(axis=1)[sums > 0] / sums[sums > 0])
    if not len(busiest):
        return Shares(0.0, 0.0, 0.0)
    share = float(totals.max() / totals.sum())
    return Shares(share, float(busiest[len(busiest) // 2]), float(busiest[-1]))
