"""The designs of `examples/sources`, judged once each: what is found in them, and simulated."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rowkey
from rowkey.design import Design
from rowkey.explanations import explain_read
from rowkey.lint import check_design, summarize_sample
from rowkey.plan import bind_example, bind_read
from simulate.naive import replay

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.explanations import Explanation
    from rowkey.lint import Finding, LintResult
    from rowkey.simulate import ReadCost, Simulation
    from simulate.naive import Naive

SOURCES = Path(__file__).parents[2] / "examples" / "sources"
NAMES = sorted(
    path.relative_to(SOURCES).with_suffix("").as_posix() for path in SOURCES.glob("*/*.toml")
)
SERVERS = 8

Row = dict[str, Any]


def read(name: str) -> Design:
    """A design by its folder and file, `logs/mod_100`."""
    return Design.read(SOURCES / f"{name}.toml")


def changed(name: str, **words: Any) -> Design:
    """A design with other words; a field's words take the place of its own."""
    declared = read(name).declaration.model_dump(by_alias=True, exclude_defaults=True)
    fields = {**declared["fields"], **words.pop("fields", {})}
    return Design(**{**declared, "fields": fields, **words})


@cache
def findings(name: str) -> LintResult:
    """What `check` finds in a design, under its recording if it has one."""
    design = read(name)
    sample = design.sample_path
    return check_design(design, None if sample is None else summarize_sample(design, sample))


def found(name: str, rule: str) -> Finding:
    """The one finding of a rule in a design."""
    [one] = [one for one in findings(name).findings if one.name == rule]
    return one


def rules(name: str) -> list[str]:
    """The names of the rules that find something in a design, each as often as it does."""
    return sorted(one.name for one in findings(name).findings)


@cache
def simulated(name: str) -> Simulation:
    """What `simulate` measures of a design."""
    return rowkey.simulate.run(read(name))


def causes(name: str) -> list[str]:
    """The causes that a simulation names."""
    return sorted(one.code for one in simulated(name).causes)


def skew(name: str, width_s: int = 10) -> float:
    """The skew over servers that a simulation measures in windows of some width."""
    [one] = [one for one in simulated(name).skews if one.width_s == width_s]
    assert one.server_skew is not None, one.reason
    return one.server_skew


def asked(name: str, read_name: str) -> ReadCost:
    """What a declared read cost in a simulation."""
    [one] = [one for one in simulated(name).reads if one.name == read_name]
    return one


def explained(name: str, read_name: str) -> Explanation:
    """How a declared read runs, with example values."""
    design = read(name)
    [one] = [one for one in design.reads if one.name == read_name]
    return explain_read(design.key, bind_example(one), limit=one.limit)


def explained_of(design: Design, where: str, values: Sequence[Any], order: str = "") -> Explanation:
    """How a read in words runs on a design."""
    return explain_read(design.key, bind_read(where, order, values, design.fields))


@cache
def rows(name: str) -> list[Row]:
    """The events that a simulation replays, in the order in which they come."""
    made: list[Row] = []
    for events in simulated(name).source.read_replayed_events():
        made += events.rows.to_pylist()
    return made


@cache
def clock(name: str) -> list[int]:
    """When each of those events comes, in milliseconds since 1970."""
    times: list[int] = []
    for events in simulated(name).source.read_replayed_events():
        assert events.clock_ms is not None
        times += events.clock_ms.tolist()
    return times


def by_hand(
    name: str,
    key: Callable[[Mapping[str, Any]], bytes],
    splits: Sequence[bytes],
    times_ms: Sequence[int] | None = None,
    servers: int = SERVERS,
) -> Naive:
    """The same events under keys and splits that a test makes itself, counted one by one.

    Args:
        name: the design whose events are taken.
        key: makes a row key.
        splits: where regions begin.
        times_ms: when each event comes; its own `ts` if None.
        servers: how many servers there are.
    """
    events = rows(name)
    if times_ms is None:
        times_ms = [milliseconds(event["ts"]) for event in events]
    return replay([key(event) for event in events], list(times_ms), list(splits), servers)


def milliseconds(instant: Any) -> int:
    """An instant as milliseconds since 1970."""
    return round(instant.timestamp() * 1_000) if hasattr(instant, "timestamp") else int(instant)


def runs(wanted: set[bytes], ordered: Sequence[bytes]) -> tuple[int, int]:
    """How many runs some keys form among all, and how many keys lie from the first to the last."""
    places = [place for place, one in enumerate(ordered) if one in wanted]
    gaps = sum(after - before > 1 for before, after in pairwise(places))
    return gaps + 1, places[-1] - places[0] + 1
