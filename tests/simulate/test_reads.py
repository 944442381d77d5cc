"""Measured costs of declared reads agree with a loop over a small table."""

from __future__ import annotations

import csv
import os
import random
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.design import Design
from rowkey.keys import bind_key
from rowkey.plan import Plan, plan_read
from rowkey.schema import Equal
from rowkey.simulate import read_simulator, run
from rowkey.simulate.trial_values import TRIALS_PER_READ

if TYPE_CHECKING:
    from rowkey.simulate import ReadCost

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 8},
    "kind": {"type": "choice", "of": ["info", "warn", "error"]},
    "level": {"type": "u8", "nullable": True},
    "ts": "timestamp_s",
}
HOUR = 3_600
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
TRIALS = read_simulator._TRIAL_ORDER[: None if IS_LONG else 20]
"""The trials of which a loop over the table checks the mean cost."""
Row = dict[str, Any]
Test = "Callable[[Row, Row], bool]"

READS: dict[str, tuple[dict[str, str], Callable[[Row, Row], bool]]] = {
    "host": ({"where": "host = ?"}, lambda row, asked: row["host"] == asked["host"]),
    "span": (
        {"where": "host = ? and ts >= ? and ts < ?", "span": "1h"},
        lambda row, asked: (
            row["host"] == asked["host"] and asked["ts"] <= row["ts"] < asked["ts"] + HOUR
        ),
    ),
    "window": (
        {"where": "ts between ? and ?", "span": "10m"},
        lambda row, asked: asked["ts"] <= row["ts"] <= asked["ts"] + 600,
    ),
    "kind": ({"where": "kind = 'warn'"}, lambda row, asked: row["kind"] == "warn"),
    "kinds": (
        {"where": "kind in ('warn', 'error') and host = :h"},
        lambda row, asked: row["kind"] != "info" and row["host"] == asked["host"],
    ),
    "grave": ({"where": "kind >= 'warn'"}, lambda row, asked: row["kind"] != "info"),
    "start": (
        {"where": "host starts with ?"},
        lambda row, asked: row["host"][:2] == asked["host"][:2],
    ),
    "level": ({"where": "level = ?"}, lambda row, asked: row["level"] == asked["level"]),
    "later": ({"where": "ts > ?"}, lambda row, asked: row["ts"] > asked["ts"]),
    "upto": (
        {"where": "ts <= ?", "span": "1h"},
        lambda row, asked: row["ts"] <= asked["ts"] + HOUR,
    ),
    "capped": (
        {"where": "level between ? and 200"},
        lambda row, asked: row["level"] is not None and asked["level"] <= row["level"] <= 200,
    ),
    "all": ({"where": ""}, lambda row, asked: True),
}
KEYS = (
    "[host][kind][ts]", "[bucket(host, 4)][host][desc(ts)][kind]", "[ts][host][kind]",
    "[salt(3)][host][kind][ts]", "[kind][host][ts]", "[mod(ts, 16)][ts][host][kind]",
    "[level][host][ts][kind]", "[digest(host, 2)][ts][kind]",
)  # fmt: skip
CASES = [
    (key, name)
    for number, key in enumerate(KEYS)
    for place, name in enumerate(READS)
    if IS_LONG or (number + place) % 2
]
"""Every second pair of a key and a read; all of them in the long tests."""


def make_rows(count: int = 400, seed: int = 5) -> list[Row]:
    """Return rows over a day, some of them twice."""
    chance = random.Random(seed)
    return [
        {
            "host": f"h{chance.randrange(12)}",
            "kind": chance.choice(("info", "warn", "error")),
            "level": chance.choice((None, 0, 7, 255)),
            "ts": 1_700_000_000 + chance.randrange(400) * 216,
        }
        for _ in range(count)
    ]


def write_rows(folder: Path, rows: list[Row]) -> Path:
    """Write the rows as CSV, with an empty value for null."""
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, list(FIELDS))
        out.writeheader()
        out.writerows(rows)
    return path


def build_design(key: str, read: Mapping[str, Any], splits: Any = None) -> Design:
    """Build a design with one read."""
    return Design(
        "t", key, fields=FIELDS, splits=splits, writes={"time": "ts", "sort": False},
        reads=[{"name": "it", **read}],
    )  # fmt: skip


def count_costs(
    design: Design, rows: list[Row], test: Callable[[Row, Row], bool]
) -> dict[str, float]:
    """Return mean costs of the read, each counted by a loop over the table."""
    table = {design.key.encode(row, salt=0): row for row in rows}
    read, regions = design.reads[0], design.splits.compute_boundaries(design.key).regions
    able = [row for row in rows if all(row[one.field] is not None for one in read.conditions)]
    ordered = _choose_asked_rows(design, able)
    totals = {"fan_out": 0.0, "regions": 0.0, "read": 0.0, "returned": 0.0}
    for number in TRIALS:
        asked = _end_within_sample(design, rows, ordered[number])
        plan = plan_read(
            design.key, read.build_bounds(_choose_parameters(design, asked)), read.order
        )
        totals["fan_out"] += len(plan.ranges)
        totals["read"] += sum(plan.has_key(key) for key in table)
        totals["returned"] += sum(test(row, asked) for row in table.values())
        totals["regions"] += sum(
            any(
                (not stop or r.start < stop) and (not r.stop or start < r.stop) for r in plan.ranges
            )
            for start, stop in regions
        )
    return {name: total / len(TRIALS) for name, total in totals.items()}


def _choose_asked_rows(design: Design, rows: list[Row]) -> list[Row]:
    """Return a row of mean size of each hundredth of the rows, sorted by their sizes.

    The size of a row is how many rows have the same values in the fields that the read gives.
    """
    given = [one.field for one in design.reads[0].conditions if one.operator in ("=", "in")]

    def get_values(row: Row) -> tuple[Any, ...]:
        values = (("info", "warn", "error").index(row[n]) if n == "kind" else row[n] for n in given)
        return tuple((value is None, value or 0) for value in values)

    sizes = Counter(map(get_values, rows))
    ordered = sorted(rows, key=lambda row: (sizes[get_values(row)], get_values(row)))
    chosen, count = [], len(rows)
    for n in range(TRIALS_PER_READ):
        part = ordered[count * n // TRIALS_PER_READ : count * (n + 1) // TRIALS_PER_READ]
        part = part or [ordered[count * n // TRIALS_PER_READ]]
        mean = sum(sizes[get_values(row)] for row in part) / len(part)
        distance = min(abs(sizes[get_values(row)] - mean) for row in part)
        near = [row for row in part if abs(sizes[get_values(row)] - mean) == distance]
        alike = [row for row in near if sizes[get_values(row)] == sizes[get_values(near[0])]]
        chosen.append(alike[(len(alike) - 1) // 2])
    return chosen


def _end_within_sample(design: Design, rows: list[Row], asked: Row) -> Row:
    """Return a row whose time is so early that a range of both ends ends within the sample."""
    read = design.reads[0]
    tests = "".join(condition.operator for condition in read.conditions if condition.field == "ts")
    if read.span is None or not (">" in tests or "between" in tests):
        return asked
    times = [row["ts"] for row in rows]
    latest = max(times) - read.span.nanoseconds // 1_000_000_000
    return {**asked, "ts": max(min(asked["ts"], latest), min(times))}


def _choose_parameters(design: Design, asked: Row) -> dict[int | str, Any]:
    """Return the values of a read: a range begins at a row's value and has the read's span."""
    read, values = design.reads[0], {}
    span = 0 if read.span is None else read.span.nanoseconds // 1_000_000_000
    for condition in read.conditions:
        for place, operand in enumerate(condition.operands):
            if not hasattr(operand, "name"):
                continue
            value: Any = asked[condition.field]
            if condition.operator == "starts":
                value = value[:2]
            if condition.operator in ("<", "<=") or (condition.operator == "between" and place):
                value += span
            values[operand.name] = value
    return values


def get_means(found: ReadCost) -> dict[str, float]:
    """Return the means of a result."""
    return {
        "fan_out": found.fan_out[0],
        "regions": found.regions[0],
        "read": found.read_rows,
        "returned": found.returned_rows,
    }


@pytest.mark.parametrize(("key", "name"), CASES)
def test_read_costs_equal_those_of_a_loop_over_the_table(
    tmp_path: Path, key: str, name: str
) -> None:
    """Ranges, regions, rows read and rows returned agree with a loop over the table."""
    words, test = READS[name]
    salted = key.startswith("[salt")
    splits = None if salted else [r"\x01", "h", "h2", "h5"]
    design = build_design(key, words, splits)
    rows = make_rows(150)
    simulation = run(design, write_rows(tmp_path, rows))
    found = replace(simulation, max_read_trials=len(TRIALS)).reads[0]
    assert not found.error
    expected = count_costs(design, rows, test)
    if salted:  # the salt of a row is drawn, so that equal rows may stand twice
        del expected["read"], expected["returned"]
    assert pytest.approx(expected) == {name: get_means(found)[name] for name in expected}
    if found.returned_rows and not salted:
        assert pytest.approx(expected["read"] / expected["returned"]) == found.amplification


def test_a_limited_read_in_key_order_stops_at_its_limit(tmp_path: Path) -> None:
    """A limit of five in the order of the key reads five rows of each range, asked at once."""
    read = {"where": "host = ?", "order": "ts desc", "limit": 5}
    path = write_rows(tmp_path, make_rows())
    served = run(build_design("[host][desc(ts)][kind]", read), path).reads[0]
    merged = run(build_design("[kind][host][desc(ts)]", read), path).reads[0]
    unserved = run(build_design("[host][level][ts]", read), path).reads[0]
    assert (5.0, 5.0, True) == (served.returned_rows, served.read_rows, served.serves_order)
    assert pytest.approx(15.0, rel=0.01) == merged.read_rows
    assert (5.0, 3, True) == (merged.returned_rows, merged.fan_out[1], merged.serves_order)
    assert (5.0, False) == (unserved.returned_rows, unserved.serves_order)
    assert unserved.read_rows > 25


@pytest.mark.parametrize("buckets", [16, 64])
def test_a_hundredth_of_the_rows_predicts_the_rows_that_a_merge_requests(
    tmp_path: Path, buckets: int
) -> None:
    """Each range is asked for rows, also those of which the sample has none; never too few."""
    chance = random.Random(3)
    rows = [{**row, "ts": row["ts"] + chance.randrange(216)} for row in make_rows(10_000)]
    costs = []
    for step, sample in ((1, {}), (100, {"share": "1%", "of": "events"})):
        design = Design(
            "t", f"[bucket(ts, {buckets})][kind][ts][host]", fields=FIELDS, sample=sample,
            reads=[{"name": "it", "where": "kind = ?", "limit": 50}],
            writes={"time": "ts", "sort": False}, families={"d": {"ttl": "1d"}},
        )  # fmt: skip
        costs.append(run(design, write_rows(tmp_path, rows[::step])).reads[0])
    whole, part = costs
    assert 50 == part.returned_rows <= part.read_rows
    assert pytest.approx(whole.read_rows, rel=0.1) == part.read_rows


@pytest.mark.parametrize(
    ("key", "order"),
    [
        ("[kind][ts][host]", "ts asc"),
        pytest.param("[kind][ts][host]", "ts desc", marks=pytest.mark.long),
        pytest.param("[kind][desc(ts)][host]", "ts desc", marks=pytest.mark.long),
        ("[bucket(host, 4)][kind][ts][host]", "ts desc"),
        pytest.param("[bucket(host, 4)][kind][ts][host]", "ts asc", marks=pytest.mark.long),
        ("[kind][ts][host]", None),
    ],
)
def test_a_limited_read_touches_only_the_regions_of_its_rows(
    tmp_path: Path, key: str, order: str | None
) -> None:
    rows = make_rows(600)
    read: dict[str, Any] = {"where": "kind = ?", "limit": 10}
    if order is not None:
        read["order"] = order
    keys = sorted({bind_key(key, FIELDS).encode(row) for row in rows})
    splits = keys[30::30]
    shown = ["".join(f"\\x{byte:02X}" for byte in split) for split in splits]
    design = build_design(key, read, shown)
    found = run(design, write_rows(tmp_path, rows)).reads[0]
    assert (10.0, True) == (found.returned_rows, found.serves_order)
    touched_by_kind = {}
    for kind in ("info", "warn", "error"):
        plan = plan_read(design.key, {"kind": Equal(kind)}, design.reads[0].order)
        touched_by_kind[kind] = _list_touched_regions(plan, keys, splits, 10)
    asked = [row["kind"] for row in _choose_asked_rows(design, rows)]
    touched = [touched_by_kind[kind] for kind in asked]
    assert pytest.approx(sum(touched) / TRIALS_PER_READ) == found.regions[0]
    assert max(touched) == found.regions[1] < len(splits) + 1


def _list_touched_regions(plan: Plan, keys: list[bytes], splits: list[bytes], limit: int) -> int:
    """Return the regions that a merge of all ranges touches until it has its rows.

    Of each range the merge has read one row more than it returned.
    """
    backwards = plan.serves_backwards and not plan.serves_order
    held = {
        one: [k for k in keys if one.has_key(k)][:: -1 if backwards else 1] for one in plan.ranges
    }
    merged = [(k[len(one.prefix) :], k) for one, inside in held.items() for k in inside]
    taken = [k for _, k in sorted(merged, reverse=backwards)[:limit]]
    seen: set[int] = set()
    for one, inside in held.items():
        mine = [k for k in inside if k in taken]
        upto = inside[min(len(mine), len(inside) - 1)]
        if taken[-1] in mine:
            upto = taken[-1]
        edge = bisect_left(splits, one.stop) if one.stop else len(splits)
        region = bisect_right(splits, upto)
        seen |= {*range(region, edge + 1)} if backwards else {
            *range(bisect_right(splits, one.start), region + 1)
        }  # fmt: skip
    return len(seen)


def test_a_range_without_a_span_is_assumed_and_remarked(tmp_path: Path) -> None:
    """A range without a span is assumed to be 1 % of the times, and a remark names the option."""
    read = {"where": "ts >= ? and ts < ?"}
    found = run(build_design("[ts][host][kind]", read), write_rows(tmp_path, make_rows())).reads[0]
    assert "1% of its span; declare `span` to change that" in found.assumption


def test_a_condition_written_twice_costs_what_it_costs_once(tmp_path: Path) -> None:
    sample = write_rows(tmp_path, make_rows())
    once, twice = (
        run(build_design("[host][ts]", {"where": where}), sample).reads[0]
        for where in ("host = ?", "host = ? and host = ?")
    )
    assert once == twice


def test_a_range_on_a_field_that_is_always_null_has_no_cost(tmp_path: Path) -> None:
    """A range on a field that is always null has no cost, and a remark says so."""
    rows = [{**row, "level": None} for row in make_rows(50)]
    read = {"where": "level > ?"}
    found = run(build_design("[host][ts]", read), write_rows(tmp_path, rows)).reads[0]
    assert "no row of the sample has a value in all fields that its conditions test" in found.error


def test_read_costs_of_a_sample_are_scaled_to_the_rows_of_the_table() -> None:
    """Costs measured on a sample of a long workload are scaled to the table's rows."""
    fields = {
        "host": {"type": "text", "max_bytes": 8, "distinct": 100},
        "ts": "timestamp_ms",
    }
    design = Design(
        "t", "[host][ts]", fields=fields, writes={"rate": "1000/s", "for": "3m"},
        reads=[{"name": "it", "where": "host = ?"}],
    )  # fmt: skip
    found = run(design).reads[0]
    assert pytest.approx(1_800, rel=0.03) == found.returned_rows
    assert 1.0 == found.amplification


def test_a_read_of_many_ranges_is_measured_fewer_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read of many ranges is measured fewer times, with values from the whole sample."""
    sample, read = write_rows(tmp_path, make_rows()), {"where": "host = ?"}
    design = build_design("[bucket(kind, 16)][host][kind][ts]", read)
    often = run(design, sample).reads[0]
    monkeypatch.setattr(read_simulator, "MAX_TOTAL_RANGES", 20 * 16)
    seldom = run(design, sample).reads[0]
    assert (16.0, 16, "") == (*often.fan_out, often.assumption)
    assert (
        "measured with 20 trials instead of 100, because one trial reads 16 ranges"
        == seldom.assumption
    )
    assert often.fan_out == seldom.fan_out
    assert pytest.approx(often.returned_rows, rel=0.1) == seldom.returned_rows
    assert pytest.approx(often.read_rows, rel=0.1) == seldom.read_rows


def test_trials_are_fair_to_hosts_that_come_in_periods(tmp_path: Path) -> None:
    """Hosts that come every hundredth row, or seldom, have their share of the trials each."""
    rows = [
        {"host": f"h{n % 100 if n % 100 < 60 else n % 7 + 60}", "kind": "info", "level": 7,
         "ts": 1_700_000_000 + n} for n in range(20_000)
    ]  # fmt: skip
    sizes = Counter(row["host"] for row in rows)
    exact = sum(size**2 for size in sizes.values()) / len(rows)
    design = build_design("[host][ts][kind]", {"where": "host = ?"})
    (found,) = run(design, write_rows(tmp_path, rows)).reads
    assert pytest.approx(exact, rel=0.01) == found.returned_rows
