"""The progress line of work that has several phases, by a clock that the test moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from cli.command import run
from example_counts import cover_each
from rowkey import Design
from rowkey.advise import JudgedDesign, compare_designs, draft_design
from rowkey.cli.options import REPLAY_WEIGHTS
from rowkey.cli.screen import ProgressBar
from rowkey.progress import Progress, ReportProgress

ROW_COUNT = 120_000
SHORT_ROW_COUNT = 20_000
DESIGN = """
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = "text"
ts   = "timestamp_ms"
"""
COSTS_S = [
    {"reading": 1.5e-6, "replaying": 1e-6},
    {"reading": 3e-6, "replaying": 1e-6},
    {"reading": 6e-6, "replaying": 1e-6},
]
"""Seconds of an event in each phase: of fast and of slow formats."""
CAUSES_S = 0.002


class FakeClock:
    """A clock that moves as far as the reported work costs.

    Args:
        costs_s: seconds of an event by phase.
    """

    def __init__(self, costs_s: dict[str, float]) -> None:
        self.now_s = 100.0
        self.costs_s = costs_s
        self.counts: dict[str, int] = {}

    def __call__(self) -> float:
        return self.now_s

    def spend(self, phase: str, count: int) -> None:
        """Move on by the cost of the events since the last report of a phase."""
        cost_s = self.costs_s.get(phase)
        self.now_s += CAUSES_S if cost_s is None else cost_s * (count - self.counts.get(phase, 0))
        self.counts[phase] = count


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a CSV file of so many events that each phase reports several times."""
    return write_events(tmp_path_factory.mktemp("events"), ROW_COUNT)


@pytest.fixture(scope="module")
def short_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a CSV file of fewer events."""
    return write_events(tmp_path_factory.mktemp("events"), SHORT_ROW_COUNT)


def write_events(folder: Path, count: int) -> Path:
    """Write a CSV file of some events and return its path."""
    path = folder / "events.csv"
    rows = (f"web-{n % 97},{1_700_000_000_000 + n}\n" for n in range(count))
    path.write_text("host,ts\n" + "".join(rows))
    return path


def judge_one(sample: Path, progress: ReportProgress) -> None:
    """Judge one design."""
    judged = JudgedDesign(Design.loads(DESIGN), sample, progress=progress)
    assert judged.simulation.verdict.level in ("even", "warm")


def judge_three(sample: Path, progress: ReportProgress) -> None:
    """Compare three designs."""
    keys = ("[bucket(host, 16)]", "[bucket(host, 8)]", "[bucket(host, 32)]")
    designs = [Design.loads(DESIGN.replace(keys[0], key)) for key in keys]
    compare_designs(designs, sample, progress=progress)


@cache
def record_reports(judge: Callable[[Path, ReportProgress], None], sample: Path) -> list[Progress]:
    """Return the reports of a judgement."""
    reports: list[Progress] = []
    judge(sample, reports.append)
    return reports


@pytest.mark.parametrize(
    ("costs_s", "judge"),
    cover_each([*COSTS_S], [judge_one, judge_three]),
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_the_estimated_time_left_is_right_within_a_factor_of_two(
    judge: Callable[[Path, ReportProgress], None], costs_s: dict[str, float], sample: Path
) -> None:
    """After a tenth of the work the time left is between half and twice the real one."""
    clock = FakeClock(costs_s)
    bar = ProgressBar(weights=REPLAY_WEIGHTS, as_json=True, clock=clock)
    estimates: list[tuple[float, float]] = []
    reports = record_reports(judge, sample)
    start_s = clock.now_s
    for one in reports:
        clock.spend(one.phase, one.done)
        bar(one)
        if (remaining_s := bar.remaining_s) is not None:
            estimates.append((clock.now_s, remaining_s))
    whole_s = clock.now_s - start_s
    late = [(now_s, left_s) for now_s, left_s in estimates if now_s - start_s > whole_s / 10]
    assert ["reading", "replaying"] == list(dict.fromkeys(one.phase for one in reports))[:2]
    assert len(late) > 2
    for now_s, left_s in late:
        real_s = whole_s - (now_s - start_s)
        assert real_s / 2 - CAUSES_S <= left_s <= 2 * real_s + CAUSES_S


def test_drafting_reports_the_progress_of_each_pass(short_sample: Path) -> None:
    """Drafting a design reports the reading, then the replay under its key."""
    told: list[Progress] = []
    draft_design(short_sample, progress=told.append)
    phases = list(dict.fromkeys(one.phase for one in told))
    assert ["reading", "replaying", "searching causes"] == phases[:3]
    assert all(0 <= one.done <= one.total for one in told if "causes" not in one.phase)
    assert Progress("reading", SHORT_ROW_COUNT, SHORT_ROW_COUNT) in told


def test_no_time_left_is_shown_if_the_number_of_phases_is_unknown() -> None:
    """Where the number of phases is unknown, no time is shown instead of a wrong one."""
    clock = FakeClock({"reading": 1.0})
    bar = ProgressBar(weights={}, as_json=True, clock=clock)
    for count in (0, 10):
        clock.spend("reading", count)
        bar(Progress("reading", count, 20))
    assert 1.0 == bar.progress.rate
    assert bar.remaining_s is None


def test_json_progress_of_one_phase_has_its_rate_and_time_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A line of JSON has the rate and the seconds that are left at that rate."""
    clock = FakeClock({"rows": 0.5})
    with ProgressBar({"rows": "loading"}, as_json=True, clock=clock) as bar:
        bar(Progress("rows", 100, 160, "rows"))  # of an interrupted load
        clock.spend("rows", 20)
        bar(Progress("rows", 120, 160, "rows"))
    first, last = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    names = ("what", "done", "total", "rate", "seconds_left")
    assert ("loading", 100, 160, 0.0, None) == tuple(first[name] for name in names)
    assert ("loading", 120, 160, 2.0, 20.0) == tuple(last[name] for name in names)


def test_json_progress_has_the_last_report_of_each_phase(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """JSON has the last report of each phase, also if it comes soon after another one."""
    with ProgressBar(as_json=True, clock=lambda: 100.0) as bar:
        for phase in ("copy", "verify"):
            for count in (0, 1, 2):
                bar(Progress(phase, count, unit="rows"))
    lines = map(json.loads, capsys.readouterr().err.splitlines())
    assert [("copy", 0), ("copy", 2), ("verify", 0), ("verify", 2)] == [
        (line["what"], line["done"]) for line in lines
    ]


@pytest.mark.parametrize(
    "arguments", [["simulate", "logs.toml", "-f", "json", "--sample"], ["init", "-o", "draft.toml"]]
)
def test_simulate_and_init_print_a_progress_line_for_each_phase(
    arguments: list[str], short_sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`simulate` and `init` print at least a line of JSON for each phase."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs.toml").write_text(DESIGN)
    found = run(*arguments, short_sample, "--progress", "json")
    lines = [json.loads(line) for line in found.err.splitlines() if line.startswith("{")]
    assert "reading" == lines[0]["what"]
    assert any("replaying" in line["what"] for line in lines)
