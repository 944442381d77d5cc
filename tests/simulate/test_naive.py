"""The simulator agrees with a naive one on random designs and random samples."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from example_counts import divide_examples
from rowkey.design import Design
from rowkey.errors import InvalidDesign
from rowkey.simulate import run
from simulate import naive

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 40},
    "kind": {"type": "choice", "of": ["info", "warn", "error"]},
    "n": "i32",
    "note": {"type": "text", "max_bytes": 8, "nullable": True},
    "ts": "timestamp_ms",
}
KEYS = (
    "[ts][host]", "[host][ts]", "[desc(ts)]", "[kind][host][desc(ts)]", "[n][ts]",
    "[bucket(host, 8)][host][ts]", "[bucket(host, ts, 5)][ts][host]", "[mod(ts, 16)][ts][host]",
    "[mod(n, 7, as=decimal)][n][ts:u32]", "[digest(host, 4)][ts]", "[reverse(host)][kind]",
    "[time_bucket(ts, 1m)][host]", "[bucket(time_bucket(ts, 10s), 4)][ts][n]", "[note][ts]",
    "[host:raw][n]", "[truncate(host, 1)][n]", "['x'][bucket(n, 3, as=hex)][n]", "[host][note]",
    "[desc(n)][host:tail]", "[digest(host, n, 2, as=hex)][ts:calendar]", "[code(host)][ts]",
)  # fmt: skip
SPLITS: tuple[Any, ...] = (
    None,
    {"algorithm": "uniform", "regions": 7},
    {"algorithm": "hex_string", "regions": 5},
    {"algorithm": "sample", "regions": 6},
    [r"\x00\x01", r"\x01", "a", "h-4", "x\\x02"],
)


@st.composite
def draw_samples(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw events at short or long intervals, in order, late or in random order."""
    count = draw(st.integers(2, 400))
    chance = draw(st.randoms(use_true_random=False))
    span = draw(st.sampled_from((500, 3_000, 90_000, 5_000_000)))
    step = draw(st.sampled_from((1, 7, 1_000)))
    hosts = draw(st.integers(1, 40))
    times = [chance.randrange(span) // step * step + 1_700_000_000_000 for _ in range(count)]
    if draw(st.booleans()):
        times.sort()
    return [
        {
            "host": f"h-{int(hosts * chance.random() ** 2)}",
            "kind": chance.choice(("info", "warn", "error")),
            "n": chance.randrange(-5, 200),
            "note": chance.choice((None, "a", "bb")),
            "ts": time,
        }
        for time in times
    ]


@st.composite
def draw_designs(draw: st.DrawFn) -> Design:
    """Draw designs on few servers, so that windows have enough events for a skew."""
    words = {
        "splits": draw(st.sampled_from((*SPLITS, "per_bucket"))),
        "cluster": {"servers": draw(st.integers(1, 4))},
        "writes": {"sort": draw(st.booleans())},
    }
    try:
        design = Design("t", draw(st.sampled_from(KEYS)), fields=FIELDS, **words)
        if not design.splits.needs_sample:
            design.splits.compute_boundaries(design.key)
    except InvalidDesign:
        assume(False)
        raise
    return design


def write_rows(folder: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write the rows to a CSV file."""
    path = folder / "sample.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(FIELDS))
        out.writeheader()
        out.writerows(rows)
    return path


def replay_rows(
    design: Design, rows: list[dict[str, Any]], *, second_half: bool
) -> naive.NaiveResult:
    """Return the result of the naive simulator for the rows."""
    if design.writes.is_sorted:
        rows = sorted(rows, key=lambda row: row["ts"])
    keys = [design.key.encode(row) for row in rows]
    half = len(rows) // 2 if second_half or design.splits.needs_sample else 0
    if design.splits.needs_sample:
        splits = naive.choose_splits(keys[:half], design.splits.request.regions or 1)
    else:
        splits = list(design.splits.compute_boundaries(design.key).splits)
    times = [row["ts"] for row in rows[half:]]
    return naive.replay_naively(keys[half:], times, splits, design.cluster.servers)


def get_shares(found: Any) -> tuple[float, float, float]:
    """Return total, mean and worst share of the busiest region or server."""
    return found.total, found.mean, found.worst


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples write into."""
    return tmp_path_factory.mktemp("samples")


@given(design=draw_designs(), rows=draw_samples(), second_half=st.booleans())
def test_a_replay_counts_what_a_naive_replay_counts(
    folder: Path, design: Design, rows: list[dict[str, Any]], second_half: bool
) -> None:
    """Writes, shares, overwritten rows and unused regions agree with the naive count."""
    found = run(design, write_rows(folder, rows), second_half=second_half)
    told = replay_rows(design, rows, second_half=second_half)
    assert told.writes == [region.writes for region in found.regions]
    assert told.writes.count(0) == found.empty_region_count
    assert sum(told.writes) == found.operation_count
    assert told.overwritten == found.overwrite_count
    assert pytest.approx(told.shares["regions"]) == get_shares(found.region_shares)
    assert pytest.approx(told.shares["servers"]) == get_shares(found.server_shares)


@given(design=draw_designs(), rows=draw_samples())
def test_the_skew_of_a_window_is_that_of_a_naive_count(
    folder: Path, design: Design, rows: list[dict[str, Any]]
) -> None:
    """The skew of a full window is the naive one, and a missing skew has a reason."""
    rows = [row for row in rows for _ in range(5)]
    found = run(design, write_rows(folder, rows))
    told = replay_rows(design, rows, second_half=False)
    for skew in found.skews:
        figures = (skew.server_skew, skew.region_skew, skew.one_more_server, skew.double_servers)
        naive_figures = told.skews[skew.width_s]
        if naive_figures is None:
            assert (None, None, None, None) == figures
            assert f"{skew.width_s} s" in skew.reason
        else:
            assert pytest.approx(naive_figures) == figures
            assert not skew.reason


@divide_examples(2)
@given(design=draw_designs(), rows=draw_samples(), seed=st.integers(0, 3))
def test_two_replays_with_the_same_seed_are_equal(
    folder: Path, design: Design, rows: list[dict[str, Any]], seed: int
) -> None:
    """Two runs agree in every figure, and the heat map adds up to all operations."""
    path = write_rows(folder, rows)
    first, second = (run(design, path, seed=seed) for _ in range(2))
    assert _list_figures(first) == _list_figures(second)
    assert first.load_map is not None
    assert first.operation_count == int(first.load_map[2].sum())
    assert [region.writes for region in first.regions] == first.load_map[2].sum(axis=0).tolist()


def _list_figures(found: Simulation) -> object:
    heat = found.load_map[2].tolist() if found.load_map is not None else None
    return (
        found.regions, found.skews, found.server_shares, found.region_shares, found.causes,
        found.verdict, found.overwrite_count, found.key_bytes, heat, found.facts,
    )  # fmt: skip
