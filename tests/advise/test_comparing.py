"""Comparisons of designs: properties of the figures, and which designs cannot be compared."""

from __future__ import annotations

import os
import time
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from example_counts import thin_out
from rowkey.advise import (
    MAX_DESIGNS,
    Comparison,
    Figure,
    JudgedDesign,
    Measure,
    compare_designs,
    key_search,
)
from rowkey.design import Design
from rowkey.errors import IncomparableDesigns
from rowkey.render import format_comparison
from rowkey.simulate import open_source, run

if TYPE_CHECKING:
    from rowkey.simulate import EventSource

pytestmark = pytest.mark.usefixtures("search_once")

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 8},
    "ts": "timestamp_ms",
    "note": {"type": "text", "max_bytes": 8},
}
KEYS = (
    "[ts][host]", "[host][ts]", "[host]", "[bucket(host, 8)][host][ts]", "[mod(ts, 5)][ts][host]",
    "[bucket(host, ts, 4)][ts][host]", "[salt(4)][ts][host]", "[digest(host, 4)][desc(ts)]",
)  # fmt: skip
SPLITS: tuple[Any, ...] = (
    None, {"algorithm": "uniform", "regions": 4}, {"algorithm": "sample", "regions": 4}
)  # fmt: skip
TAIL = {"name": "tail", "where": "host = ?", "order": "ts desc", "limit": 5, "rate": "30/s"}
RANGE = {"name": "range", "where": "ts >= ? and ts < ?", "span": "1s", "rate": "10/s"}
EVENTS = 6_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 1_200


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sample of 3 s; in the long profile of 15 s."""
    return write_sample(tmp_path_factory.mktemp("sample"), EVENTS)


def write_sample(folder: Path, count: int) -> Path:
    """Write a sample of 400 events a second, of forty hosts of which a few are busy."""
    path, chance = folder / "events.csv", Random(1)
    rows = (f"h-{int(40 * chance.random() ** 2)},{n * 5 // 2},n{n % 7}" for n in range(count))
    path.write_text("\n".join(["host,ts,note", *rows, ""]))
    return path


def build_design(key: str, splits: Any = None, **words: Any) -> Design:
    """Build a design on two servers, with enough events for every window width."""
    given = {"fields": FIELDS, "cluster": {"servers": 2}, "reads": [TAIL, RANGE], **words}
    return Design("logs", key, splits=splits, **given)


def list_figures(found: Comparison, at: int) -> dict[tuple[str, str | None], tuple[float, Figure]]:
    """Return the figures of one design by measure, each with the measure's tolerance."""
    return {(one.name, one.read_name): (one.tolerance, one.figures[at]) for one in found.measures}


def test_a_comparison_reports_the_skew_for_each_window_width(tmp_path: Path) -> None:
    """A comparison has the skews of the simulator for windows of 1 s and of 10 s."""
    sample = write_sample(tmp_path, 6_000)
    designs = [build_design(KEYS[0], reads=[]), build_design(KEYS[3], "per_bucket", reads=[])]
    found = compare_designs(designs, sample)
    simulations = [run(one.design, sample) for one in found.designs]
    for number, width in enumerate((1, 10)):
        skews = [one.skews[number].server_skew for one in simulations]
        assert None not in skews
        assert skews == [one.value for one in found.find_measure(f"skew_{width}s").figures]


design_arguments = st.tuples(st.sampled_from(KEYS), st.sampled_from(SPLITS))


@settings(max_examples=settings().max_examples // 5)
@given(st.lists(design_arguments, min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_figures_of_a_design_do_not_depend_on_the_order_of_comparison(
    sample: Path, chosen: list[tuple[str, Any]], chance: Random
) -> None:
    """A design has the same figures and best measures at any place of the comparison."""
    order = list(range(len(chosen)))
    chance.shuffle(order)
    designs = [build_design(*words) for words in chosen]
    found = compare_designs(designs, sample)
    other = compare_designs([designs[number] for number in order], sample)
    for place, number in enumerate(order):
        assert list_figures(found, number) == list_figures(other, place)
    for one in found.measures:
        same = other.find_measure(one.name, one.read_name)
        assert set(one.best_designs) == {order[place] for place in same.best_designs}


@settings(max_examples=settings().max_examples // 5)
@given(design_arguments)
def test_a_design_compared_with_itself_has_equal_figures(
    sample: Path, words: tuple[str, Any]
) -> None:
    found = compare_designs(
        [build_design(*words), build_design(*words)], sample, clock=time.perf_counter
    )
    assert list_figures(found, 0) == list_figures(found, 1)
    assert [] == [one.name for one in found.measures if one.best_designs]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (None, ("logs", "logs#2", "logs#3")),
        (["a", "b", "a"], ("a", "b", "a#2")),
        (["a", "a", "a#2"], ("a", "a#2", "a#2#2")),
    ],
)
def test_compared_designs_of_the_same_table_get_different_names(
    names: list[str] | None, expected: tuple[str, ...], sample: Path
) -> None:
    """Designs get the given names, or different names if their tables share one."""
    found = compare_designs([build_design(KEYS[0], reads=[])] * 3, sample, names=names)
    assert expected == tuple(one.name for one in found.designs)


@settings(max_examples=settings().max_examples // 5)
@given(st.lists(design_arguments, min_size=2, max_size=3))
def test_regions_and_load_map_add_up_to_all_events_and_bytes(
    sample: Path, chosen: list[tuple[str, Any]]
) -> None:
    """The writes of all regions and of the load map add up to the events, and so do the bytes."""
    found = compare_designs([build_design(*words, reads=[]) for words in chosen], sample)
    half = any(splits and splits["algorithm"] == "sample" for _, splits in chosen)
    assert (EVENTS, EVENTS // 2 if half else EVENTS) == (found.event_count, found.operation_count)
    each, total = found.find_measure("event_bytes"), found.find_measure("total_bytes")
    for number, one in enumerate(found.designs):
        assert found.operation_count == sum(region.writes for region in one.simulation.regions)
        assert one.simulation.load_map is not None
        assert found.operation_count == one.simulation.load_map[2].sum()
        mean, whole = each.figures[number].value, total.figures[number].value
        assert mean is not None
        assert pytest.approx(whole) == mean * found.operation_count


def test_ranges_per_read_are_averaged_by_the_rates_of_the_reads(sample: Path) -> None:
    """Thirty reads of one range and ten of eight ranges open 2.75 ranges on average."""
    found = compare_designs([build_design(KEYS[3], "per_bucket"), build_design(KEYS[0])], sample)
    assert ({"tail": 0.75, "range": 0.25}, True) == (found.read_weights, found.has_rates)
    assert 0.75 * 1 + 0.25 * 8 == found.find_measure("fan_out").figures[0].value
    results = found.designs[0].simulation.reads
    read = sum(share * one.read_rows for share, one in zip((3, 1), results, strict=True))
    returned = sum(share * one.returned_rows for share, one in zip((3, 1), results, strict=True))
    assert (
        pytest.approx(read / returned) == found.find_measure("read_per_returned").figures[0].value
    )


def test_reads_count_equally_if_one_of_them_has_no_rate(sample: Path) -> None:
    reads = [TAIL, {**RANGE, "rate": None}]
    found = compare_designs([build_design(key, reads=reads) for key in KEYS[:2]], sample)
    assert ({"tail": 0.5, "range": 0.5}, False) == (found.read_weights, found.has_rates)


def test_a_comparison_counts_the_same_findings_as_a_check(sample: Path) -> None:
    """Findings are counted as a check with the same sample counts them."""
    designs = [build_design(key, reads=[TAIL]) for key in (KEYS[2], KEYS[0])]
    found = compare_designs(designs, sample)
    for number, one in enumerate(found.designs):
        said = JudgedDesign(one.design, sample, names_keys=True).lint_result.findings
        counts = [
            found.find_measure(n).figures[number].value for n in ("errors", "warnings", "remarks")
        ]
        assert said == one.lint_result.findings
        assert len(said) == sum(count or 0 for count in counts)


def test_throughput_is_computed_only_if_a_capacity_is_declared(sample: Path) -> None:
    """The throughput is capacity times servers over the skew, if a capacity is declared."""
    plain = compare_designs([build_design(key, reads=[]) for key in KEYS[:2]], sample)
    assert [] == [one for one in plain.measures if one.name == "throughput"]
    capacity = {"servers": 2, "capacity": "1000/s"}
    told = build_design(KEYS[3], "per_bucket", reads=[], cluster=capacity)
    found = compare_designs([build_design(KEYS[0], reads=[]), told], sample)
    skews = [one.simulation.verdict.skew for one in found.designs]
    bears = found.find_measure("throughput")
    assert [2_000 / skew for skew in skews] == [one.value for one in bears.figures]
    assert (1,) == bears.best_designs


def test_time_per_key_is_measured_only_with_a_given_clock(sample: Path) -> None:
    """The time per key is measured by the given clock, and not at all without one."""
    ticks = count()
    designs = [
        build_design(KEYS[0], reads=[]),
        build_design(KEYS[1], reads=[]),
        build_design(KEYS[0], {"algorithm": "hex_string", "regions": 2}, reads=[]),
    ]
    timed = compare_designs(designs, sample, clock=lambda: next(ticks) / 1_000)
    assert 2 * 2 * 7 == next(ticks)
    each_us = 1_000 / min(EVENTS, 2_000)
    assert [each_us] * 3 == pytest.approx([one.encode_us for one in timed.designs])
    readings = iter([0, 1, 0, 2] * 7)
    slower = compare_designs(designs[:2], sample, clock=lambda: next(readings))
    assert slower.designs[0].encode_us != slower.designs[1].encode_us
    assert () == slower.find_measure("encode_us").best_designs
    plain = compare_designs(designs, sample).find_measure("encode_us")
    assert {(None, "encoding was not timed")} == {(one.value, one.reason) for one in plain.figures}


def test_bytes_are_estimated_from_declared_widths_if_the_sample_lacks_a_field(sample: Path) -> None:
    """If the sample lacks a field, the bytes of all designs are estimated from declared widths."""
    more = build_design(KEYS[0], fields={**FIELDS, "body": {"type": "text", "mean_bytes": 100}})
    found = compare_designs([build_design(KEYS[0]), more], sample)
    each = found.find_measure("event_bytes")
    assert [False, False] == [one.is_exact for one in each.figures]
    first, second = (one.value for one in each.figures)
    key = found.find_measure("key_bytes").figures[1].value
    assert first is not None
    assert key is not None
    assert pytest.approx(first + 20 + key + len("d") + len("body") + 100) == second


def test_designs_that_store_versions_report_no_overwritten_rows(sample: Path) -> None:
    """A design that stores versions or wide rows has no overwritten rows, and gives the reason."""
    fields = {**FIELDS, "ts": {"type": "timestamp_ms", "at": "timestamp"}}
    found = compare_designs([build_design("[host]", fields=fields), build_design(KEYS[0])], sample)
    first, second = found.find_measure("overwritten").figures
    why = "not counted: events with one key are versions of one row, told apart by ts"
    assert (None, why) == (first.value, first.reason)
    assert 0 == second.value


@pytest.mark.parametrize(
    ("values", "better", "within", "best"),
    [
        ([1.0, 2.0], "less", 0.0, (0,)),
        ([1.0, 2.0], "more", 0.0, (1,)),
        ([1.0, 2.0], "", 0.0, ()),
        ([1.0, 1.0], "less", 0.0, ()),
        ([1.0, 1.1, 2.0], "less", 0.2, (0, 1)),
        ([1.0, 1.1], "less", 0.2, ()),
        ([None, 1.0, 2.0], "less", 0.0, (1,)),
        ([None, 1.0], "less", 0.0, ()),
        ([None, None], "less", 0.0, ()),
    ],
)
def test_figures_within_the_tolerance_of_the_best_are_marked_best(
    values: list[float | None], better: Any, within: float, best: tuple[int, ...]
) -> None:
    """The best figures are within the tolerance of the best one; equal figures have none."""
    figures = tuple(Figure(value) for value in values)
    assert best == Measure("m", "", figures, better, within).best_designs


@pytest.mark.parametrize("splits", thin_out([["h-4"], {"algorithm": "sample", "regions": 4}], 2))
def test_a_full_table_scan_is_never_marked_best_for_its_one_range(
    sample: Path, splits: Any
) -> None:
    """A design that scans the whole table for a read is never best in its ranges."""
    keys = ("[bucket(host, 4)][host][ts]", "[bucket(ts, 4)][host][ts]", "[ts][host]")
    found = compare_designs([build_design(key, splits, reads=[TAIL]) for key in keys], sample)
    one = found.find_measure("fan_out", "tail")
    assert [1.0, 4.0, 1.0] == [figure.value for figure in one.figures]
    assert [False, False, True] == [figure.is_full_scan for figure in one.figures]
    assert (0,) == one.best_designs
    assert (0,) == found.find_measure("read_per_returned", "tail").best_designs
    lines = list(format_comparison(found))
    assert any(line.split() == ["ranges", "1*", "4", "all"] for line in lines), lines
    assert 1 == sum(line.startswith("all: the read scans the whole table") for line in lines)


def test_parquet_times_without_a_time_zone_are_compared_as_others_are(tmp_path: Path) -> None:
    """A Parquet file whose times have no zone, as pandas writes it, is compared as others are."""
    times = pa.array([1_700_000_000_000 + n for n in range(300)], pa.timestamp("ms"))
    path = tmp_path / "frame.parquet"
    parquet.write_table(pa.table({"host": [f"h{n % 40}" for n in range(300)], "ts": times}), path)
    fields = {"host": "text", "ts": "timestamp_ms"}
    designs = [Design("t", key, fields=fields) for key in ("[host][ts]", "[ts][host]")]
    found = compare_designs(designs, path, clock=iter(range(10_000)).__next__)
    assert all(one.encode_us is not None for one in found.designs)


GOOD = build_design(KEYS[0])
WRONG: dict[str, tuple[list[Design], list[str]]] = {
    "one": ([GOOD], ["designs: 1 design cannot be compared; expected 2 to 8 designs."]),
    "too many": (
        [GOOD] * (MAX_DESIGNS + 1),
        ["designs: 9 designs cannot be compared; expected 2 to 8 designs."],
    ),
    "servers": (
        [GOOD, build_design(KEYS[0], cluster={"servers": 4})],
        [("logs#2: cluster.servers: the value is 4, but 2 in logs. Set the same value in all "
          "designs")],
    ),
    "capacity": (
        [build_design(KEYS[0], cluster={"servers": 2, "capacity": f"{n}/s"}) for n in (10, 20)],
        ["logs#2: cluster.capacity: the value is 20.0, but 10.0 in logs. "],
    ),
    "order": (
        [GOOD, build_design(KEYS[0], writes={"sort": True})],
        ["logs#2: writes.sort: the value is True, but none in logs. "],
    ),
    "time": (
        [GOOD, build_design("[host]", fields={"host": "text"}, reads=[TAIL | {"order": ""}])],
        ["logs#2: writes.time: the value is none, but ts in logs. ",
         "logs#2: read tail: order is '', but 'ts desc' in logs; expected the same read",
         "logs#2: read tail, order", "logs#2: read range, where: there is no field 'ts'"],
    ),
    "reads": (
        [GOOD, build_design(KEYS[0], reads=[{**TAIL, "limit": 6}])],
        ["logs#2: read tail: limit is 6, but 5 in logs; expected the same read"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_incomparable_designs_raise_an_error_naming_the_design_and_its_value(
    name: str, sample: Path
) -> None:
    """Incomparable designs raise an error with the design, its value and the allowed one."""
    designs, said = WRONG[name]
    with pytest.raises(IncomparableDesigns) as refused:
        compare_designs(designs, sample)
    lines = str(refused.value).splitlines()
    assert len(said) == len(lines), lines
    assert [] == [one for one, line in zip(said, lines, strict=True) if not line.startswith(one)]


def test_one_error_lists_the_mistakes_in_cluster_reads_and_sample(sample: Path) -> None:
    fields = {"id": "u32", "ts": "timestamp_ms"}
    other = build_design("[id][ts]", fields=fields, cluster={"servers": 4}, reads=[])
    with pytest.raises(IncomparableDesigns) as refused:
        compare_designs(
            [GOOD, other, build_design(KEYS[1], cluster={"servers": 3})], sample, names="abc"
        )
    paths = [mistake.path for mistake in refused.value.mistakes]
    assert ["b: cluster.servers", "c: cluster.servers", "b: read tail, where"] == paths[:3]
    assert paths[-1].startswith(f"b: {sample}")


def test_a_design_that_skips_events_of_the_sample_is_not_compared(tmp_path: Path) -> None:
    """A design that skips events of the sample is refused: other events would judge it."""
    path = tmp_path / "events.csv"
    rows = [f"h-{n},{n},{'x' * (12 if n == 5 else 3)}" for n in range(40)]
    path.write_text("\n".join(["host,ts,note", *rows, ""]))
    narrow = {**FIELDS, "note": {"type": "text", "max_bytes": 20}}
    with pytest.raises(
        IncomparableDesigns, match="1 event of the sample is stored by other designs but"
    ):
        compare_designs([build_design(KEYS[0]), build_design("[note][ts]", fields=narrow)], path)


def test_designs_with_different_declared_samples_are_refused_by_name(sample: Path) -> None:
    """Designs may declare one sample, and a design without it or with another is named."""
    own = {"sample": {"path": str(sample)}, "reads": []}
    found = compare_designs([build_design(key, **own) for key in KEYS[:2]])
    assert (sample, EVENTS) == (found.path, found.event_count)
    with pytest.raises(IncomparableDesigns, match="b: sample: the design declares no sample; exp"):
        compare_designs([build_design(KEYS[0], **own), GOOD], names="ab")
    with pytest.raises(
        IncomparableDesigns, match=r"b: sample.path: .*other\.csv, but .*events\.csv in a"
    ):
        compare_designs(
            [build_design(KEYS[0], **own), build_design(KEYS[1], sample={"path": "other.csv"})],
            names="ab",
        )


def test_no_better_key_is_searched_for_a_compared_design_with_a_good_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No key is searched for where the verdict names none, though a remark would."""

    def refuse(*_: Any, **__: Any) -> None:
        """Fail, as a search would be in vain."""
        raise AssertionError("a key was searched for")

    count = 4_000
    columns = {"host": [f"h{n * 7_919 % 997}" for n in range(count)], "ts": range(count)}
    events = pa.table({**columns, "note": ["n"] * count})
    read = {"name": "of a time", "where": "ts >= ? and ts < ?", "span": "1m", "rate": "1/h"}
    even = build_design("[bucket(host, 4)][host][ts]", "per_bucket", reads=[read])
    found = compare_designs([even, even], events).designs[0]
    assert any(one.needs_key for one in found.declared.lint_result.findings)
    with monkeypatch.context() as patch:
        patch.setattr(key_search, "search_on_source", refuse)
        assert "good" == found.verdict.grade


def test_a_compared_design_is_judged_by_the_same_events_as_alone(sample: Path) -> None:
    """The events of a compared design, read once for all, are those that it reads by itself."""
    designs = [build_design("[ts][host]", "sample"), build_design("[host][ts]")]
    for one in compare_designs(designs, sample).designs:
        for source, keeps_all in (
            (one.declared.source, False),
            (one.declared.searched_source, True),
        ):
            own = open_source(
                one.design, sample, None, second_half=False, seed=0, keeps_all_fields=keeps_all
            )
            assert own.first_replayed == source.first_replayed
            assert own.has_all_fields == source.has_all_fields
            assert own.facts == source.facts
            assert list_rows(own) == list_rows(source)


def list_rows(source: EventSource) -> pa.Table:
    """Return the events of a source as a table."""
    return pa.Table.from_batches([events.rows for events in source.stream()])
