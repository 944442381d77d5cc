"""Causes of hot spots that follow from the declaration of a design alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rowkey.design import Design
from rowkey.hotspots import find_clock_field, predict_causes
from rowkey.hotspots.region_coverage import count_regions_of_numbers
from rowkey.lint import check_design
from rowkey.regions import Boundaries
from rowkey.schema import FieldFacts
from rowkey.simulate import run
from samples import summarize_sample

START = 1_704_067_200
HOSTS = {"type": "text", "max_bytes": 16, "distinct": 1_000}
FIELDS: dict[str, Any] = {
    "host": HOSTS,
    "sensor": {"type": "text", "max_bytes": 16, "distinct": 47},
    "tenant": {"type": "text", "max_bytes": 16, "distinct": 1},
    "whale": {**HOSTS, "draw": {"kind": "zipf", "theta": 1.2}},
    "listed": {**HOSTS, "heavy": ["00000000"], "draw": {"kind": "zipf", "theta": 1.5}},
    "status": {"type": "choice", "of": ["new", "paid", "sent"], "distinct": 3},
    "state": {"type": "choice", "of": ["a", "b", "c", "d"]},
    "kind": {"type": "text", "max_bytes": 8, "distinct": 2},
    "id": {"type": "u64", "distinct": 1_000_000},
    "uuid": "uuid",
    "address": "ipv6",
    "number": "u64",
    "line": {"type": "text", "max_bytes": 16},
    "ts": "timestamp_s",
    "ms": "timestamp_ms",
}
DECIMAL = [f"{n}0" for n in range(1, 10)]
UNIFORM = {"algorithm": "uniform", "regions": 16}
HEX_STRING = {"algorithm": "hex_string", "regions": 16}


def build_design(key: str, splits: Any = "per_bucket", writes: Any = None) -> Design:
    """Build a design over the fields of this file on eight servers."""
    words = {"time": "ts", **(writes or {})}
    return Design("t", key, fields=FIELDS, splits=splits, writes=words, cluster={"servers": 8})


CASES: list[tuple[str, Any, Any, dict[str, float]]] = [
    ("[ts][host]", UNIFORM, None, {"moving_front": 8}),
    ("[desc(ts)][host]", UNIFORM, None, {"moving_front": 8}),
    ("[time_bucket(ts, 1h)][host][ts]", UNIFORM, None, {"moving_front": 8}),
    ("[tenant][ts]", ["a", "b", "c", "d", "e", "f", "g"], None, {"moving_front": 8}),
    ("[ts][host]", ["a"], None, {"moving_front": 8}),
    ("[id]", UNIFORM, {"arrival": "sequential"}, {"moving_front": 8}),
    ("[host][ts]", "sample", None, {}),
    ("[ts][host]", "sample", None, {"moving_front": 8}),
    ("[ts][host]", {"algorithm": "uniform"}, None, {"moving_front": 8}),
    ("[bucket(sensor, 16)][sensor]", {"algorithm": "uniform"}, None, {}),
    ("[ts][host]", UNIFORM, {"arrival": "random"}, {}),
    ("[ts][host]", UNIFORM, {"arrival": "per(host)", "period": "1m"}, {"moving_front": 8}),
    ("[bucket(host, 16)][host][ts]", "per_bucket", {"arrival": "bulk_sorted"}, {"moving_front": 8}),
    ("[salt(16)][host][ts]", "per_bucket", {"arrival": "bulk_sorted"}, {}),
    ("[bucket(host, 16)][host][ts]", "per_bucket", None, {}),
    ("[bucket(host, ts, 16)][ts]", "per_bucket", None, {}),
    ("[salt(16)][ts]", "per_bucket", None, {}),
    ("[mod(ts, 16)][ts][host]", "per_bucket", None, {"time_only_bucket": 8}),
    ("[mod(ms, 16)][ms][host]", "per_bucket", None, {}),
    ("[bucket(ts, 16)][ts][host]", "per_bucket", None, {"time_only_bucket": 8}),
    ("[bucket(time_bucket(ms, 1m), 16)][ms]", "per_bucket", None, {"time_only_bucket": 8}),
    ("[digest(ts, 4)][host]", UNIFORM, None, {"time_only_bucket": 8}),
    ("[mod(ts, 16)][ts]", "per_bucket", {"arrival": "random"}, {}),
    ("[bucket(sensor, 16)][sensor][ts]", "per_bucket", None, {"few_entities": 1.627}),
    ("[bucket(status, id, 16)][id]", "per_bucket", None, {}),
    ("[status][id]", "per_bucket", None, {"few_entities": 8 / 3, "integer_imbalance": 8 / 3}),
    ("[state][ts]", {"algorithm": "per_bucket", "regions": 8}, None, {"few_entities": 2}),
    ("[kind][host][ts]", [*"bcdefgh"], None, {"few_entities": 4}),
    ("[kind][host][ts]", [f"b\\x000000{n}" for n in "1234567"], None, {}),  # within a kind
    ("[bucket(whale, 16)][whale][ts]", "per_bucket", None, {"hot_entity": 8 * 0.2312}),
    ("[bucket(whale, ts, 16)][whale][ts]", "per_bucket", None, {}),
    ("[salt(16)][whale]", "per_bucket", None, {}),
    ("[whale]", ["0001", "0002"], None, {"integer_imbalance": 8 / 3, "hot_row": 1.85}),
    ("[whale]", [f"{n:08}" for n in range(1, 16)], None, {"hot_row": 1.85}),
    ("[bucket(host, 10)][host][ts]", "per_bucket", None, {"integer_imbalance": 1.6}),
    ("[bucket(host, 3)][host][ts]", "per_bucket", None, {"integer_imbalance": 8 / 3}),
    ("[ts][host]", ["a", "b"], None, {"moving_front": 8}),
    ("[status][host]", UNIFORM, None, {"missed_splits": 8}),
    ("[bucket(host, 256, as=hex)][host]", DECIMAL, None, {"missed_splits": 3.5}),
    ("[bucket(host, 16)][host]", ["0", "8", "@"], None, {"missed_splits": 8}),
    ("['log-'][digest(host, 4)][ts]", UNIFORM, None, {"missed_splits": 8}),
    ("[digest(host, 4)][ts]", UNIFORM, None, {}),
    ("[uuid][ts]", HEX_STRING, None, {"missed_splits": 8 * (1 - 0x66 / 256)}),
    ("[uuid][ts]", UNIFORM, None, {}),
    ("[uuid][ts]", ["0", "8", "@"], None, {"integer_imbalance": 2}),
    ("[number][ts]", HEX_STRING, None, {"missed_splits": 8 * (1 - 0x66 / 256)}),
    ("[number][ts]", UNIFORM, None, {"missed_splits": 8}),
    ("[digest(host, 4)][ts]", HEX_STRING, None, {"missed_splits": 8 * (1 - 0x66 / 256)}),
    ("[id][ts]", UNIFORM, None, {"missed_splits": 8}),
    ("[id][ts]", ["\\x00\\x00\\x00\\x00\\x00\\x08"], None, {"integer_imbalance": 4}),
    ("[host][ts]", UNIFORM, None, {"missed_splits": 1}),
    ("[number]", {"algorithm": "uniform", "regions": 500}, None, {"missed_splits": 8}),
    ("[line]", {"algorithm": "uniform", "regions": 500}, None, {"missed_splits": 1}),
    ("[desc(line)]", {"algorithm": "uniform", "regions": 500}, None, {"missed_splits": 1}),
    ("[address][ts]", UNIFORM, None, {"missed_splits": 4}),
    ("[address][ts]", ["\\x28"], None, {"integer_imbalance": 4}),
    ("[host:raw][ts]", UNIFORM, None, {}),
    ("[host][ts]", HEX_STRING, None, {}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "splits", "writes", "expected"), CASES)
def test_causes_are_predicted_from_the_declaration_with_their_skew(
    key: str, splits: Any, writes: Any, expected: dict[str, float]
) -> None:
    """The predicted causes are those that the declaration implies, each with its skew."""
    causes = predict_causes(build_design(key, splits, writes))
    found = {one.code: one.explained_skew for one in causes}
    assert pytest.approx(expected, rel=0.01) == found


@pytest.mark.parametrize(
    ("step", "n", "reached"),
    [(3_600, 16, 1), (300, 16, 4), (300, 10, 1), (86_400, 7, 7), (1, 16, 16)],
)
def test_the_time_step_of_a_sample_decides_the_predicted_remainders(
    step: int, n: int, reached: int
) -> None:
    """The step of a sample's times decides how many remainders are predicted."""
    facts = {"ts": FieldFacts(value_count=100, distinct_count=90, step=step, rising_share=1.0)}
    (cause,) = (
        one
        for one in predict_causes(build_design(f"[mod(ts, {n})][ts][host]"), facts)
        if one.code == "time_only_bucket"
    )
    assert (reached, step) == (cause.evidence["reached"], cause.evidence["step_s"])
    if reached < n:
        assert f"they reach {reached} of {n} values" in cause.message
    else:
        assert f"all events of the same {step:,} s go to one of {n} values" in cause.message


@pytest.mark.parametrize("greatest_share", [0.8, 0.95, 0.999])
def test_a_status_that_most_events_have_is_no_moving_front(greatest_share: float) -> None:
    """The greatest value is never below those before it, and says nothing of the others."""
    chance = np.random.default_rng(2)
    rows = {
        "status": np.where(chance.random(5_000) < greatest_share, "open", "closed"),
        "ts": 1_700_000_000_000 + 1_000 * np.arange(5_000),
    }
    fields = {"status": "text", "ts": "timestamp_ms"}
    design = Design("t", "[status][ts]", fields=fields, writes={"time": "ts"})
    facts = run(design, pa.table(rows)).facts
    assert (facts["status"].rising_share or 0) >= 0.75
    assert find_clock_field(design, facts) is None
    by_time = Design("t", "[ts][status]", fields=fields, writes={"time": "ts"})
    assert "ts" == find_clock_field(by_time, facts)


@pytest.mark.parametrize("every", [5, pytest.param(20, marks=pytest.mark.long)])
def test_a_distribution_that_prefers_the_newest_values_is_a_predicted_front(every: int) -> None:
    """A draw that prefers the newest values is predicted as a front, as a replay measures it."""
    values = 16_384
    draw = {"kind": "latest", "every": every}
    fields = {"id": {"type": "u64", "distinct": values, "draw": draw}, "ts": "timestamp_ms"}
    splits = ["\\x00" * 6 + f"\\x{n * 4:02X}" for n in range(1, 16)]
    lasting = f"{values * every // 4_000 + 1}s"
    writes = {"rate": "4000/s", "for": lasting}
    design = Design("t", "[id][ts]", fields=fields, splits=splits, writes=writes)
    [cause] = predict_causes(design)
    newest = sum(k**-0.99 for k in range(1, values // 16 + 1))
    share = newest / sum(k**-0.99 for k in range(1, values + 1))
    assert "moving_front" == cause.code
    assert pytest.approx(8 * share) == cause.bound
    assert f"one region takes {share:.0%} of the writes" in cause.message
    replayed = run(design)
    assert "moving_front" in [one.code for one in replayed.causes]
    assert pytest.approx(share, abs=0.12) == replayed.region_shares.mean


@pytest.mark.parametrize(("theta", "expected"), [(0.99, ["moving_front"]), (0.4, [])])
def test_a_front_is_predicted_only_if_the_newest_tenth_takes_half_of_the_events(
    theta: float, expected: list[str]
) -> None:
    """A front is predicted only if the newest tenth of the values takes half of the events."""
    draw = {"kind": "latest", "theta": theta}
    fields = {"id": {"type": "u64", "distinct": 10_000, "draw": draw}, "ts": "timestamp_ms"}
    design = Design("t", "[id][ts]", fields=fields, splits=["a"])
    found = [one.code for one in predict_causes(design)]
    assert expected == [code for code in found if code == "moving_front"]


def test_predicted_causes_are_sorted_by_their_skew() -> None:
    """Predicted causes are sorted by the skew that they explain."""
    bounds = [one.bound for one in predict_causes(build_design("[whale]", ["0001", "0002"]))]
    assert 2 == len(bounds)
    assert sorted(bounds, reverse=True) == bounds


def test_a_sample_in_no_order_of_time_predicts_no_front() -> None:
    """A recording in no order of time is no front if rows are declared to arrive in its order."""
    facts = {"ts": FieldFacts(value_count=1_000, distinct_count=900, rising_share=0.01)}
    unsorted = build_design("[ts][host]", UNIFORM, {"sort": False})
    assert [] == predict_causes(unsorted, facts)
    for writes in ({}, {"sort": True}):
        ordered = build_design("[ts][host]", UNIFORM, writes)
        assert ["moving_front"] == [one.code for one in predict_causes(ordered, facts)]


@pytest.mark.parametrize(
    ("key", "cut", "inside"),
    [
        ("[whale][id]", [f"00000000\0{500_000:016x}"], None),
        ("[whale][id]", [f"00000000\0{7:016x}"], 1),
        ("[whale][id]", [f"00000000\0{900_000:016x}"], 0.9),
        ("[whale:raw][id]", [f"00000000{500_000:016x}"], None),
        ("[whale:raw][id]", [f"00000000{7:016x}"], 1),
        ("[whale][id]", ["00000001"], 1),
        ("[whale][ts]", [f"00000000\0{START + 7:016x}"], 1),
        ("[bucket(whale, 2)][whale][id]", ["\1"], 1),
        ("[bucket(whale, id, 16, 2)][whale][id]", [chr(n) for n in range(1, 16)], 1),
        ("[bucket(whale, ts, 16, 2)][whale][ts]", [chr(n) for n in range(1, 16)], 1),
        ("[bucket(listed, id, 16, 2)][listed][id]", [chr(n) for n in range(1, 16)], 0.5),
        ("[bucket(listed, ts, 16, 2)][listed][ts]", [chr(n) for n in range(1, 16)], 0.5),
        ("[bucket(listed, ts, 16, 8)][listed][ts]", [chr(n) for n in range(1, 16)], None),
        ("[bucket(whale, id, 16)][whale][id]", [chr(n) for n in range(1, 16)], None),
        ("[digest(whale, id, 2)][whale][id]", [chr(n) for n in range(1, 16)], None),
    ],
)
def test_a_heavy_value_counts_by_its_fullest_region(
    key: str, cut: list[str], inside: float | None
) -> None:
    """A heavy value counts by its fullest region; a boundary within its times does not help."""
    design = build_design(key, splits=["0"])
    splits = {*map(encode_split, cut), *(f"{n:08d}".encode() for n in range(100, 800, 100))}
    found = predict_causes(design, None, Boundaries(sorted(splits)))
    figures = [one.evidence["inside"] for one in found if one.code == "hot_entity"]
    assert pytest.approx([] if inside is None else [inside], abs=0.02) == figures


def encode_split(cut: str) -> bytes:
    """Return a split key of text, whose last 16 digits, if any, are 8 bytes in hexadecimal."""
    return cut[:-16].encode() + bytes.fromhex(cut[-16:]) if len(cut) > 16 else cut.encode()


@pytest.mark.parametrize(
    "pieces", [1, 2, *(pytest.param(n, marks=pytest.mark.long) for n in (3, 4, 6)), 8]
)
@pytest.mark.parametrize("least", [0.0, 0.9])
def test_a_heavy_value_divided_by_boundaries_is_predicted_as_replayed(
    pieces: int, least: float, tmp_path: Path
) -> None:
    """A heavy value that boundaries divide is predicted by its fullest region, as replayed."""
    chance = Random(pieces)
    items = [int(chance.uniform(least, 1) * 2**32) for _ in range(8_000)]
    rows = [("hot" if n % 5 < 3 else f"v{n * 7919 % 997}", item) for n, item in enumerate(items)]
    sample = tmp_path / "rows.csv"
    sample.write_text("user,item\n" + "".join(f"{user},{item}\n" for user, item in rows))
    cuts = [f"hot\\x00{_escape_number(n * 2**32 // pieces)}" for n in range(1, pieces)]
    fields = {"user": {"type": "text", "max_bytes": 9}, "item": "u32"}
    splits = ["a", *cuts, "v3", "v5", "v7"]
    design = Design("t", "[user][item]", fields=fields, splits=splits, cluster={"servers": 5})
    most = max(Counter(item * pieces // 2**32 for (user, item) in rows if user == "hot").values())
    findings = check_design(design, summarize_sample(design, sample)).causes
    told = [one.evidence["inside"] for one in findings if one.code == "hot_entity"]
    inside, share, servers = most / 4_800, most / 8_000, 5
    is_hot = share * servers >= 1.1 or share > max(1.5 / (len(splits) + 1), 0.5 / servers)
    assert pytest.approx([inside] if is_hot else []) == told
    replayed = [one.code for one in run(design, sample).causes if one.code == "hot_entity"]
    assert bool(replayed) == is_hot


def _escape_number(number: int) -> str:
    return "".join(f"\\x{byte:02X}" for byte in number.to_bytes(4, "big"))


def test_a_heavy_value_outside_the_list_of_a_bounded_spread_is_found(tmp_path: Path) -> None:
    stars = {"uid1": 0.3, "uid2": 0.25}
    chance = Random(1)
    others = [f"u{n}" for n in range(400)]
    rows = [
        (chance.choices([*stars, chance.choice(others)], [*stars.values(), 0.45])[0], n)
        for n in range(4_000)
    ]
    sample = tmp_path / "rows.csv"
    sample.write_text("star,fan\n" + "".join(f"{star},f{fan}\n" for star, fan in rows))
    text = {"type": "text", "max_bytes": 12}
    for heavy, expected in ((["uid1", "uid2"], None), (["uid1"], "uid2"), (["uid2"], "uid1")):
        design = Design(
            "follows",
            "[bucket(star, fan, 16, 8)][star][fan]",
            fields={"star": {**text, "heavy": heavy}, "fan": text},
            splits="per_bucket",
        )
        causes = [
            *check_design(design, summarize_sample(design, sample)).causes,
            *run(design, sample).causes,
        ]
        named = [(one.code, one.evidence["value"]) for one in causes]
        assert ([("hot_entity", f"star {expected}")] * 2 if expected else []) == named


@pytest.mark.parametrize(
    ("kind", "splits", "is_missed"),
    [("u64", 16, True), ("u32", 16, False), ("u32", "40", True), ("u64", "sample", False)],
)
def test_splits_that_the_sampled_keys_never_reach_are_reported(
    kind: str, splits: int | str, is_missed: bool, tmp_path: Path
) -> None:
    """Numbers below 2^32 in eight bytes lie in one of 16 even regions, which check reports."""
    rows = [n * 2_654_435_761 % 2**32 for n in range(4_000)]
    sample = tmp_path / "rows.csv"
    sample.write_text("user,v\n" + "".join(f"{user},{n}\n" for n, user in enumerate(rows)))
    cut: Any = {"algorithm": "uniform", "regions": splits}
    if splits == "sample":
        cut = {"algorithm": "sample", "regions": 16}
    elif isinstance(splits, str):
        cut = [f"\\x00\\x{n:02X}" for n in range(1, 16)]
    design = Design("m", "[user]", fields={"user": kind, "v": "u32"}, splits=cut)
    found = [
        one
        for one in check_design(design, summarize_sample(design, sample)).findings
        if one.code == "RK201"
    ]
    assert [is_missed, is_missed] == [
        bool(found),
        "missed_splits" in [one.code for one in run(design, sample).causes],
    ]
    boundaries = (
        Counter(
            design.splits.compute_boundaries(design.key).locate_key(design.key.encode({"user": n}))
            for n in rows
        )
        if is_missed
        else {}
    )
    for one in found:
        assert 16 - len(boundaries) == one.evidence["empty"]
        assert max(boundaries.values()) / 4_000 == one.evidence["share"]


@pytest.mark.parametrize(
    ("distinct", "message"),
    [
        (None, "If user has at most 1,000,000 values and they count up"),
        (70_000_000, "If the 70,000,000 values of user count up"),
    ],
)
def test_possibly_rising_numbers_are_reported_as_information_only(
    distinct: int | None, message: str
) -> None:
    """Without a sample, possibly rising numbers are reported as information, not as a warning."""
    user: dict[str, Any] = (
        {"type": "u64"} if distinct is None else {"type": "u64", "distinct": distinct}
    )
    writes = {"rate": "4000/s", "for": "10s"}
    design = Design("m", "[user]", fields={"user": user}, splits=UNIFORM, writes=writes)
    [told] = [one for one in check_design(design).findings if one.code == "RK201"]
    assert "info" == told.severity
    assert message in told.message
    assert "user reaches only 1 of 16 regions" in told.message
    assert ["missed_splits"] == [one.code for one in run(design).causes]


@pytest.mark.parametrize("number", ["u8", "i8", "u16", "i16"])
@pytest.mark.parametrize("key", ["[n]", "[desc(n)]"])
def test_numbers_that_may_take_every_value_of_their_type_are_not_assumed_to_rise(
    key: str, number: str
) -> None:
    assert [] == predict_causes(Design("m", key, fields={"n": number}, splits=UNIFORM))


@pytest.mark.parametrize(("key", "reached"), [("[n:i8]", 9), ("[desc(n:i8)]", 8)])
def test_declared_numbers_beyond_the_encoding_of_the_key_do_not_count(
    key: str, reached: int
) -> None:
    """Of the declared numbers those from 0 to 127 count, which the encoding in the key holds."""
    field = {"type": "i16", "distinct": 129, "draw": {"kind": "hotspot"}}
    design = Design("m", key, fields={"n": field}, splits=UNIFORM)
    assert [] == predict_causes(design)
    boundaries = design.splits.compute_boundaries(design.key)
    assert reached == count_regions_of_numbers(design, 129, boundaries)


def test_sampled_numbers_in_no_order_predict_no_front(tmp_path: Path) -> None:
    """Sixty sampled numbers in no order suffice to predict that numbers do not rise."""
    design = Design("m", "[user]", fields={"user": "u64"}, splits=UNIFORM)
    rows = tmp_path / "rows.csv"
    rows.write_text("user\n" + "".join(f"{n * 0x9E3779B97F4A7C15 % 2**64}\n" for n in range(60)))
    told = check_design(design, summarize_sample(design, rows)).findings
    assert "RK201" not in {one.code for one in told}


@pytest.mark.parametrize(
    ("key", "splits", "remedy"),
    [
        ("[uuid][ts]", HEX_STRING, 'splits = { algorithm = "uniform", regions = 16 }, b'),
        ("[digest(host, 8)][ts]", HEX_STRING, 'splits = { algorithm = "uniform", regions = 16 }'),
        ("[digest(host, 8, as=hex)][ts]", UNIFORM, 'splits = { algorithm = "hex_string", regions'),
        ("[number][ts]", HEX_STRING, 'splits = "sample" and declare [sample] path = '),
        ("[status][id]", UNIFORM, 'splits = "per_bucket", which'),
    ],
)
def test_splits_that_miss_the_keys_get_a_remedy_with_splits_that_fit(
    key: str, splits: Any, remedy: str
) -> None:
    """The remedy is equal steps for even bytes, else a sample together with its recording."""
    (found,) = (
        one for one in predict_causes(build_design(key, splits)) if one.code == "missed_splits"
    )
    assert remedy in found.remedy


def test_regions_within_a_bucket_get_quantile_splits_as_remedy(tmp_path: Path) -> None:
    """More regions than buckets miss the bytes of texts; quantiles of as many regions are told."""
    path = tmp_path / "rows.csv"
    path.write_text("host,ts\n" + "".join(f"h{n % 900},{n}\n" for n in range(4_000)))
    splits = {"algorithm": "per_bucket", "regions": 64}
    design = build_design("[bucket(host, 8)][host][ts]", splits)
    (found,) = (one for one in run(design, path).causes if one.code == "missed_splits")
    assert 'Use splits = { algorithm = "sample", regions = 64 }' in found.remedy
    followed = build_design("[bucket(host, 8)][host][ts]", {**splits, "algorithm": "sample"})
    assert "missed_splits" not in [one.code for one in run(followed, path).causes]


def test_a_design_with_a_declared_sample_is_not_asked_for_one() -> None:
    """Where the design declares a recording, the remedy names its quantiles alone."""
    words = {"fields": FIELDS, "splits": HEX_STRING, "sample": {"path": "rows.csv"}}
    (found,) = predict_causes(Design("t", "[number][ts]", **words, writes={"time": "ts"}))
    assert 'Use splits = "sample", which splits at quantiles of sampled keys.' == found.remedy
