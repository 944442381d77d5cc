"""Verdicts and claimed figures never exceed what was measured."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_counts import thin_out
from rowkey.advise import compare_designs
from rowkey.design import Design
from rowkey.hotspots import BusiestShares, Skew, compute_even_skew
from rowkey.lint import LintSubject
from rowkey.simulate import choose_design_splits, run, scaled_replay
from rowkey.simulate.verdict import judge_skew
from samples import summarize_sample
from simulate.test_naive import draw_designs, draw_samples, write_rows

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

FIELDS: dict[str, Any] = {"host": {"type": "u32", "distinct": 500}, "ts": "timestamp_ms"}


def simulate_on_servers(key: str, servers: int, **words: Any) -> Simulation:
    """Simulate events generated from a design on some servers."""
    splits = {"algorithm": "uniform", "regions": 16} if key.startswith("[ts]") else "per_bucket"
    writes = {"rate": "5000/s", "for": "20s"}
    given = {"fields": FIELDS, "splits": splits, "writes": writes, **words}
    return run(Design("t", key, cluster={"servers": servers}, **given))


@pytest.mark.parametrize("servers", [2, 3, 8])
def test_a_time_first_key_is_hot_on_any_number_of_servers(servers: int) -> None:
    """A leading time is hot on two servers as on eight."""
    found = simulate_on_servers("[ts][host]", servers)
    assert "hot" == found.verdict.level
    assert pytest.approx(servers) == found.verdict.skew


@pytest.mark.parametrize("servers", [2, 3, 8])
def test_a_salted_key_is_even_on_any_number_of_servers(servers: int) -> None:
    """A salt is even on two servers and on eight."""
    assert "even" == simulate_on_servers(f"[salt({2 * servers})][ts][host]", servers).verdict.level


def judge_even_skew(skew: float, servers: int, even: float = 1.0) -> str:
    """Return the verdict on a skew in windows of ten seconds without noise."""
    measured = Skew(10, server_skew=skew, even_server_skew=even, even_server_deviation=0.0)
    return judge_skew([measured], BusiestShares(0.0, 0.0, 0.0), servers, 1, 1).level


@pytest.mark.parametrize(
    ("servers", "warm", "hot"), [(2, 1.26, 1.5), (3, 1.26, 2.0), (4, 1.26, 2.0), (8, 1.26, 2.0)]
)
def test_hot_begins_at_a_skew_of_1_5_on_two_servers_and_of_2_on_more(
    servers: int, warm: float, hot: float
) -> None:
    """Hot begins at a skew of 1.5 on two servers, and of 2 on three or more."""
    skews = (1.0, warm - 0.02, warm, hot - 0.01, hot, servers)
    expected = ["even", "even", "warm", "warm", "hot", "hot"]
    assert expected == [judge_even_skew(skew, servers) for skew in skews]


@given(st.integers(2, 40), st.floats(1.0, 1.5))
def test_all_load_on_one_server_is_hot(servers: int, even: float) -> None:
    """All load on one server is hot, whatever skew an even design would have."""
    assert "hot" == judge_even_skew(float(servers), servers, even)


@pytest.mark.parametrize(("skew", "width_s", "windows"), [(1.0, 60, 30), (3.9, 600, 3)])
def test_the_worse_of_time_windows_and_event_windows_decides(
    skew: float, width_s: int, windows: int
) -> None:
    """Wide windows of a sparse recording do not hide what its fifty windows of events show."""
    timed = Skew(
        width_s, windows, 1.0, server_skew=skew, even_server_skew=1.0, even_server_deviation=0.01
    )
    shares = BusiestShares(0.2, 6.3 / 8, 1.0)
    verdict = judge_skew([timed], shares, 8, 20_000, 50, width_s * windows)
    assert verdict.width_s is None
    assert pytest.approx(6.3) == verdict.skew


def test_event_windows_that_are_too_short_do_not_count() -> None:
    """What falls on one server for a second is no load of a recording of a minute."""
    timed = Skew(10, 6, 1.0, server_skew=1.1, even_server_skew=1.0, even_server_deviation=0.01)
    assert 10 == judge_skew([timed], BusiestShares(0.2, 1.0, 1.0), 8, 20_000, 50, 60).width_s


def test_few_time_windows_do_not_count_next_to_many_event_windows() -> None:
    """Three windows in which one server happened to be full say less than fifty even ones."""
    timed = Skew(600, 3, 1.0, server_skew=2.5, even_server_skew=1.0, even_server_deviation=0.01)
    assert "even" == judge_skew([timed], BusiestShares(0.2, 0.13, 0.2), 8, 90_000, 50, 1_800).level


def test_one_server_is_never_hot() -> None:
    """One server is never hot, and has no cause."""
    found = simulate_on_servers("[ts][host]", 1)
    assert ("even", []) == (found.verdict.level, found.causes)


@pytest.mark.parametrize("servers", [2, 3, 8])
@pytest.mark.parametrize("events", [60, 100, 200, 1_000])
def test_few_events_of_an_even_design_are_never_hot(servers: int, events: int) -> None:
    """Chance that fills one server makes windows of few events uneven at most, never hot."""
    chance = random.Random(servers)
    sizes = [events * (n + 1) // 50 - events * n // 50 for n in range(50)]
    for _ in range(20):
        windows = [[chance.randrange(servers) for _ in range(size)] for size in sizes]
        shares = [max(Counter(one).values()) / len(one) for one in windows]
        total = max(Counter(place for one in windows for place in one).values()) / events
        measured = BusiestShares(total, sum(shares) / 50, max(shares))
        level = judge_skew([], measured, servers, events, 50).level
        assert level == "even" if events >= 200 else level != "hot"


@pytest.mark.parametrize(("events", "word"), [(1, "even"), (2, "even"), (4, "even"), (20, "hot")])
def test_twenty_events_on_one_of_eight_servers_are_hot_and_two_are_not(
    events: int, word: str
) -> None:
    """Two events on one of eight servers may be chance, and twenty are hot."""
    assert word == judge_skew([], BusiestShares(1.0, 1.0, 1.0), 8, events, min(events, 50)).level


@pytest.mark.parametrize(("burst_windows", "level"), [(0, "even"), (6, "warm"), (15, "hot")])
@pytest.mark.parametrize("step_ms", [5, 60_000], ids=["dense", "sparse"])
def test_a_burst_has_one_verdict_whether_events_are_dense_or_sparse(
    tmp_path: Path, step_ms: int, burst_windows: int, level: str
) -> None:
    """One host that takes all events of some of 50 windows gives one verdict at any rate."""
    chance = random.Random(1)
    bursts = set(chance.sample(range(50), burst_windows))
    hosts = ["batch" if n // 400 in bursts else f"h{chance.randrange(500)}" for n in range(20_000)]
    lines = [f"{host},{10**12 + n * step_ms}" for n, host in enumerate(hosts)]
    sample = tmp_path / "burst.csv"
    sample.write_text("\n".join(["host,ts", *lines]))
    fields = {"host": "text", "ts": "timestamp_ms"}
    design = Design("t", "[bucket(host, 16)][host][ts]", fields=fields, splits="per_bucket")
    verdict = run(design, sample).verdict
    assert ((10 if step_ms == 5 else None), level) == (verdict.width_s, verdict.level)


FLOOR = re.compile(r"cannot fall below (\d+\.\d\d)(?:, in (such windows|windows of (\d+) s))?")


def list_floors(found: Simulation) -> list[tuple[float, float]]:
    """Return each floor that a cause claims, with the skew measured in the same windows."""
    claimed = []
    for cause in found.causes:
        for figure, windows, width in FLOOR.findall(cause.message):
            measured: float | None = found.verdict.skew
            if width:
                measured = next(s.server_skew for s in found.skews if s.width_s == int(width))
            elif windows:
                measured = found.server_shares.mean * found.design.cluster.servers
            assert measured is not None
            claimed.append((float(figure), measured))
    return claimed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples write into."""
    return tmp_path_factory.mktemp("samples")


@given(design=draw_designs(), rows=draw_samples(), times=st.sampled_from((1, 5)))
def test_no_cause_explains_more_skew_than_was_measured(
    folder: Path, design: Design, rows: list[dict[str, Any]], times: int
) -> None:
    """A floor is at most the measured skew, and no cause explains more than the worst width."""
    found = run(design, write_rows(folder, [row for row in rows for _ in range(times)]))
    assert [] == [pair for pair in list_floors(found) if pair[0] > pair[1] + 1e-9]
    servers = design.cluster.servers
    measured = [found.verdict.skew, found.server_shares.mean * servers]
    most = max([*measured, *(skew.server_skew or 0.0 for skew in found.skews)])
    assert [] == [cause for cause in found.causes if cause.bound > max(most, 1.0) + 1e-9]
    if found.verdict.level == "even":
        even = max(found.verdict.even_skew, 1.0)
        idle = [
            c.code for c in found.causes if c.explained_skew <= even and c.code != "missed_splits"
        ]
        assert [] == idle


def test_unequal_regions_have_no_least_skew() -> None:
    """Unequal regions have no floor, since they may be more even than equal ones."""
    found = simulate_on_servers("[bucket(host, ts, 10)][ts][host]", 8)
    (cause,) = found.causes
    assert "integer_imbalance" == cause.code
    assert [] == list_floors(found)
    assert f"a skew of 1.60; {found.verdict.skew:.2f} was measured" in cause.message
    assert min(1.6, found.verdict.skew) == cause.explained_skew >= cause.bound


def test_the_bound_of_a_burst_is_that_of_the_windows_of_the_verdict(tmp_path: Path) -> None:
    chance = random.Random(3)
    start, lines = 1_700_000_000, ["host,ts"]
    for n in range(30_000):
        busy = n // 2_000
        lines.append(
            f"{busy if chance.random() < 0.5 else chance.randrange(30, 500)},{start + n // 200}"
        )
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    fields = {"host": "u32", "ts": "timestamp_s"}
    found = run(
        Design("t", "[bucket(host, 16)][host][ts]", fields=fields, splits="per_bucket"), path
    )
    (cause,) = found.causes
    assert ("hot_entity", 10) == (cause.code, cause.evidence["windows"]["width_s"])
    assert "windows of 10 s" == found.verdict.basis
    assert pytest.approx(4, rel=0.1) == cause.bound
    assert 1 == len(list_floors(found))


@pytest.mark.parametrize(
    ("writes", "late", "expected"),
    [({}, 0, 1), ({"sort": True}, 0, 0), ({"sort": False}, 0, 0), ({}, 3, 0)],
)
def test_shuffled_rows_are_remarked_with_the_sort_option(
    tmp_path: Path, writes: dict[str, bool], late: int, expected: int
) -> None:
    """Shuffled rows are distinguished from late ones, and the remark names the sort option."""
    chance = random.Random(1)
    times = list(range(1_700_000_000_000, 1_700_000_300_000, 15))
    if late:
        times = [t - chance.randrange(60_000) if chance.random() < late / 10 else t for t in times]
    else:
        chance.shuffle(times)
    path = tmp_path / "rows.csv"
    path.write_text("host,ts\n" + "".join(f"{n % 97},{time}\n" for n, time in enumerate(times)))
    splits = {"algorithm": "sample", "regions": 16}
    design = Design("t", "[ts][host]", fields=FIELDS, splits=splits, writes=writes)
    remarks = [one for one in run(design, path).remarks if "[writes] sort = false" in one]
    assert expected == len(remarks)
    assert all(one.startswith("the times in this sample do not rise") for one in remarks)


def test_no_window_is_longer_than_the_replayed_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events of twenty seconds have no figure for windows of a minute."""
    monkeypatch.setattr(scaled_replay, "MAX_EVENTS", 400_000)
    path = tmp_path / "rows.csv"
    path.write_text(
        "host,ts\n" + "".join(f"{n % 97},{1_700_000_000_000 + n}\n" for n in range(2_000))
    )
    design = Design(
        "t", "[bucket(host, ts, 16)][host][ts]", splits="per_bucket",
        fields={**FIELDS, "host": "u32"},
        writes={"rate": "20000/s"},
    )  # fmt: skip
    scaled = run(design, path).scaled_run
    assert scaled is not None
    assert [True, True, False, False] == [skew.server_skew is not None for skew in scaled.skews]
    reasons = [skew.reason for skew in scaled.skews]
    assert [
        "",
        "",
        *(
            f"the generated events span only 20 s, which is less than a window of {n} s"
            for n in (60, 600)
        ),
    ] == reasons


def test_the_even_skew_is_that_of_as_many_random_events() -> None:
    """The even figure of windows with equal counts is that of as many random events."""
    verdict = judge_skew([], BusiestShares(0.5, 0.5, 0.5), 8, 20_000, 50)
    assert float(compute_even_skew(400.0, 8)) == verdict.even_skew


def test_empty_regions_do_not_keep_a_full_region_from_splitting() -> None:
    """A full region splits although the other fifteen stay empty."""
    found = run(
        Design(
            "t",
            "[id][ts]",
            fields={"id": {"type": "u32", "distinct": 100}, "ts": "timestamp_ms"},
            splits={"algorithm": "uniform", "regions": 16},
            families={"d": {"ttl": "365d"}},
            writes={"rate": "1000/s", "for": "10s"},
        )
    )
    assert found.growth is not None
    assert found.growth.region_count == 16 + len(found.growth.splits) > 16
    assert [0] * 15 == list(found.growth.sizes_bytes[-15:])
    assert 15 == found.empty_region_count


@pytest.mark.parametrize("splits", thin_out(["sample", {"algorithm": "uniform"}], 2))
def test_all_commands_use_the_same_event_size(splits: Any, tmp_path: Path) -> None:
    """`check`, `simulate`, `compare` and `splits` use the same size of an event."""
    path = tmp_path / "rows.csv"
    lines = (f"h{n * 7919 % 997},{1_700_000_000 + n // 10},{'x' * (n % 700)}" for n in range(4_000))
    path.write_text("host,ts,line\n" + "\n".join(lines))
    design = Design(
        "t",
        "[host][ts]",
        fields={"host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s", "line": "text"},
        families={"d": {"ttl": "3d"}},
        splits=splits,
        writes={"rate": "5000/s", "time": "ts"},
    )
    subject = LintSubject(design, summarize_sample(design, path))
    compared = compare_designs([design, design], path, names=["a", "b"])
    cut = [
        subject.boundaries,
        run(design, path).boundaries,
        choose_design_splits(design, path).boundaries,
    ]
    counts = [len(one or ()) for one in cut]
    counts += [len(one.simulation.boundaries) for one in compared.designs]
    assert [subject.sizing.regions] * 5 == counts
