"""The designs of `examples/sources` with their findings and simulations, computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rowkey.advise import JudgedDesign
from rowkey.design import Design
from rowkey.explanations import explain_read
from rowkey.plan import bind_example, bind_read
from simulate.naive import replay_naively

if TYPE_CHECKING:
    from rowkey.explanations import Explanation
    from rowkey.findings import Finding
    from rowkey.lint import LintResult
    from rowkey.simulate import ReadCost, Simulation
    from simulate.naive import NaiveResult

SOURCES = Path(__file__).parents[2] / "examples" / "sources"
NAMES = sorted(
    path.relative_to(SOURCES).with_suffix("").as_posix() for path in SOURCES.glob("*/*.toml")
)
SERVERS = 8

Row = dict[str, Any]


@cache
def read_design(name: str) -> Design:
    """Return a design by its folder and file, `logs/mod_100`."""
    return Design.read(SOURCES / f"{name}.toml")


def change_design(name: str, **words: Any) -> Design:
    """Return a design with other options; options of a field replace its own."""
    declared = read_design(name).declaration.model_dump(by_alias=True, exclude_defaults=True)
    fields = {**declared["fields"], **words.pop("fields", {})}
    return Design(**{**declared, "fields": fields, **words})


@cache
def judge_example(name: str) -> JudgedDesign:
    """Return a design with what judging it finds, under its recording if it has one."""
    return JudgedDesign(read_design(name))


def check_example(name: str) -> LintResult:
    """Return the findings of a design."""
    return judge_example(name).lint_result


def get_finding(name: str, rule: str) -> Finding:
    """Return the only finding of a rule in a design."""
    [one] = [one for one in check_example(name).findings if one.name == rule]
    return one


def list_rules(name: str) -> list[str]:
    """Return the names of the rules with findings in a design, with repetitions."""
    return sorted(one.name for one in check_example(name).findings)


def simulate_example(name: str) -> Simulation:
    """Return the simulation of a design."""
    return judge_example(name).simulation


def list_causes(name: str) -> list[str]:
    """Return the causes that a simulation names."""
    return sorted(one.code for one in simulate_example(name).causes)


def get_skew(name: str, width_s: int = 10) -> float:
    """Return the skew over servers in windows of a width."""
    [one] = [one for one in simulate_example(name).skews if one.width_s == width_s]
    assert one.server_skew is not None, one.reason
    return one.server_skew


def get_read_costs(name: str, read_name: str) -> ReadCost:
    """Return the measured costs of a declared read in a simulation."""
    [one] = [one for one in simulate_example(name).reads if one.name == read_name]
    return one


def explain_declared_read(name: str, read_name: str) -> Explanation:
    """Explain a declared read with example values."""
    design = read_design(name)
    [one] = [one for one in design.reads if one.name == read_name]
    return explain_read(design.key, bind_example(one), limit=one.limit)


def explain_conditions(
    design: Design, where: str, values: Sequence[Any], order: str = ""
) -> Explanation:
    """Explain a read of given conditions on a design."""
    return explain_read(design.key, bind_read(where, order, values, design.fields))


@cache
def list_rows(name: str, *, is_whole: bool = False) -> list[Row]:
    """Return the replayed events in order of arrival, or all, of which reads are asked."""
    source = simulate_example(name).source
    earlier = source.read_earlier_events() if is_whole else ()
    events = chain(earlier, source.read_replayed_events())
    table = pa.Table.from_batches(one.rows for one in events)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return _parse_rows(sink.getvalue().to_pybytes())


@cache
def _parse_rows(data: bytes) -> list[Row]:
    """Return the rows of an Arrow stream; designs with the same events share them."""
    rows: list[Row] = pa.ipc.open_stream(data).read_all().to_pylist()
    return rows


@cache
def list_times(name: str) -> list[int]:
    """Return the times of the replayed events, in milliseconds since 1970."""
    times: list[int] = []
    for events in simulate_example(name).source.read_replayed_events():
        assert events.clock_ms is not None
        times += events.clock_ms.tolist()
    return times


def recount(
    name: str,
    key: Callable[[Mapping[str, Any]], bytes],
    splits: Sequence[bytes],
    times_ms: Sequence[int] | None = None,
    servers: int = SERVERS,
) -> NaiveResult:
    """Replay the events of a design under other keys and splits, one by one.

    Args:
        name: the design with the events.
        key: returns the row key of an event.
        splits: the split keys.
        times_ms: the time of each event; its field `ts` if None.
        servers: the number of servers.
    """
    events = list_rows(name)
    if times_ms is None:
        times_ms = [to_milliseconds(event["ts"]) for event in events]
    return replay_naively([key(event) for event in events], list(times_ms), list(splits), servers)


def to_milliseconds(instant: Any) -> int:
    """Return an instant as milliseconds since 1970."""
    return round(instant.timestamp() * 1_000) if hasattr(instant, "timestamp") else int(instant)


def measure_runs(wanted: set[bytes], ordered: Sequence[bytes]) -> tuple[int, int]:
    """Return how many runs some keys form, and the number of keys from the first to the last."""
    places = [place for place, one in enumerate(ordered) if one in wanted]
    gaps = sum(after - before > 1 for before, after in pairwise(places))
    return gaps + 1, places[-1] - places[0] + 1
