"""Judge parts of generated tables and compare with the whole.

Each process of `processes.py` makes all events of a table. Of these the first hour, 1 % of the
events, and all events of 1 % of the entities are judged in turn. What `simulate` predicts for the
rows of an answer is compared with what the whole table shows, and the grade of each part with that
of the whole.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pyarrow as pa

from rowkey import Design
from rowkey.advise import JudgedDesign, judge_simulation
from rowkey.simulate import run

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tools.growth.held_out import HELD_OUT  # noqa: E402
from tools.growth.last_held_out import LAST_HELD_OUT  # noqa: E402
from tools.growth.processes import PROCESSES, TABLE_S, Ints, Process  # noqa: E402

RESULT_FILE = ROOT / "benchmarks" / "growth.json"
PAGE = ROOT / "docs" / "guides" / "samples-and-workloads.md"
START_MS = 1_700_000_000_000 // 86_400_000 * 86_400_000
SPAN_S = 1_800
LIMIT = 50
SERVER_SHARE = 0.4
"""What one of eight servers can do, in parts of the rate: even writes are 31 % of that."""
MIN_ENTITIES = 200
"""Entities that a sample of entities has at least, about: of fewer than 20,000, more than 1 %."""
SAMPLINGS = {"first hour": "period", "1% of events": "events", "1% of entities": "entity"}
"""How parts are taken, and what `[sample] of` calls it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A prediction for one read from a part of a table, next to the truth.

    Args:
        process: its name.
        sampling: how the part was taken.
        read: the name of the read.
        true_rows: rows of an answer in the whole table, mean over the values of all events.
        rows: what was predicted.
        margin: the printed margin.
        grade: the verdict on the design by the part.
        true_grade: the verdict by the whole table.
        peak: the load of the busiest server in its busiest minute, over its share of the mean, by
            the part.
        peak_range: the least and the largest that it may be, if they are printed.
        true_peak: the same by the whole table.
    """

    process: str
    sampling: str
    read: str
    true_rows: float
    rows: float
    margin: float
    grade: str
    true_grade: str
    peak: float
    peak_range: tuple[float, float] | None
    true_peak: float

    @property
    def factor(self) -> float:
        """How many times too many or too few rows were predicted; at least 1."""
        return max(self.rows / self.true_rows, self.true_rows / max(self.rows, 1e-9))

    @property
    def holds(self) -> bool:
        """Whether the truth lies in the printed interval."""
        return abs(self.rows - self.true_rows) <= self.margin + 0.005 * self.true_rows

    @property
    def is_peak_inside(self) -> bool:
        """Whether the peak of the whole table lies in the printed range."""
        low, high = self.peak_range or (0.0, 0.0)
        return low <= self.true_peak <= high


def main() -> None:
    """Run the trials, save them, and write a summary into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of the name of a process")
    only = parser.parse_args().only
    trials: list[Trial] = []
    for process in (*PROCESSES, *HELD_OUT, *LAST_HELD_OUT):
        if only in process.name:
            found = judge_process(process)
            print_trials(found)
            trials += found
    print("\n".join(build_summary(trials)))
    if not only:
        lines = ",\n".join(json.dumps(asdict(one)) for one in trials)
        RESULT_FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        write_summary(trials)


def judge_process(process: Process) -> list[Trial]:
    """Return the trials of a process: three reads for each way of sampling."""
    chance = np.random.default_rng(5)
    entities, times = process.generate(chance)
    order = np.argsort(times, kind="stable")
    # Names are in no order, as those of real entities.
    names = chance.permutation(int(entities.max()) + 1)
    entities, times = names[entities[order]], times[order]
    true_rows = count_answers(entities, times)
    design = build_design(process, len(times) / TABLE_S)
    whole = judge(design, entities, times, {"of": "period"})
    trials = []
    for sampling, part in SAMPLINGS.items():
        share = 0.01
        if sampling == "first hour":
            kept = times < 3_600_000
        elif sampling == "1% of events":
            kept = chance.random(len(times)) < 0.01
        else:
            share = max(0.01, MIN_ENTITIES / len(names))
            kept = (chance.random(len(names)) < share)[entities]
            if share > 0.5:  # nobody takes some of a few
                continue
        if not kept.any():
            continue
        sample: dict[str, object] = {"of": part}
        if part != "period":
            sample["share"] = share
        judged = judge(design, entities[kept], times[kept], sample)
        trials += [
            Trial(
                process.name,
                sampling,
                cost.name,
                true_rows[cost.name],
                round(cost.returned_rows, 3),
                round(cost.margins.returned_rows, 3),
                judged.verdict.grade,
                whole.verdict.grade,
                *find_peak(judged),
                find_peak(whole)[0],
            )
            for cost in judged.simulation.reads
        ]
    return trials


def find_peak(judged: JudgedDesign) -> tuple[float, tuple[float, float] | None]:
    """Return the load of the busiest minute of a server over the mean, and its printed range."""
    peak = judged.simulation.write_peak
    if peak is None:  # hardly above the mean
        return 1.0, None
    if peak.factor_range is None:
        return round(peak.server_factor, 3), None
    low, high = peak.factor_range
    return round(peak.server_factor, 3), (round(low, 3), round(high, 3))


def build_design(process: Process, rate: float) -> dict[str, Any]:
    """Return the options of the design of a process; its servers are small, so that grades differ.

    Args:
        process: the process.
        rate: its events a second.
    """
    return {
        "key": "[bucket(entity, 16)][entity]" + ("[ts]" if process.step_s else "[desc(ts)][id]"),
        "splits": "per_bucket",
        "fields": {
            "entity": {"type": "text", "max_bytes": 12},
            "ts": "timestamp_ms",
            "id": "u64",
        },
        "families": {"d": {"ttl": f"{TABLE_S}s"}},
        "cluster": {"servers": 8, "capacity": f"{SERVER_SHARE * rate:.6f}/s"},
        "writes": {"rate": f"{rate:.6f}/s", "time": "ts"},
        "reads": [
            {"name": "all", "where": "entity = ?", "rate": f"{rate / 1_000:.6f}/s"},
            {
                "name": "latest",
                "where": "entity = ?",
                "order": "ts desc",
                "limit": LIMIT,
                "rate": f"{rate / 40:.6f}/s",
            },
            {
                "name": "span",
                "where": "entity = ? and ts >= ? and ts < ?",
                "span": f"{SPAN_S}s",
                "rate": f"{rate / 100:.6f}/s",
            },
        ],
    }


def judge(
    design: dict[str, Any], entities: Ints, times: Ints, sample: dict[str, object]
) -> JudgedDesign:
    """Return the design judged by some events."""
    table = pa.table(
        {
            "entity": np.char.add("e", entities.astype(str)),
            "ts": START_MS + times,
            "id": np.arange(len(times)),
        }
    )
    return judge_simulation(run(Design("t", sample=sample, **design), table))


def count_answers(entities: Ints, times: Ints) -> dict[str, float]:
    """Return the rows of an answer of each read in the whole table, by the values of its events."""
    counts = np.bincount(entities).astype(np.float64)
    by_entity = np.lexsort((times, entities))
    ordered = entities[by_entity] * (TABLE_S * 2_000) + times[by_entity]
    span_ms = SPAN_S * 1000
    begins = np.minimum(ordered % (TABLE_S * 2_000), TABLE_S * 1000 - span_ms)
    begins = entities[by_entity] * (TABLE_S * 2_000) + begins
    inside = np.searchsorted(ordered, begins + span_ms) - np.searchsorted(ordered, begins)
    return {
        "all": float(counts @ counts / counts.sum()),
        "latest": float(counts @ np.minimum(counts, LIMIT) / counts.sum()),
        "span": float(inside.mean()),
    }


def print_trials(trials: list[Trial]) -> None:
    """Print the trials of a process, a line each."""
    for one in trials:
        mark = " " if one.holds else "*"
        print(
            f"{one.process:36} {one.sampling:15} {one.read:7} {one.true_rows:12,.1f} "
            f"{one.rows:12,.1f} ± {one.margin:<10,.1f}{one.factor:9.2f} x {mark} "
            f"{one.grade} ({one.true_grade}), peak {one.peak} {one.peak_range} ({one.true_peak})"
        )
    sys.stdout.flush()


def build_summary(trials: list[Trial]) -> list[str]:
    """Return how good the predictions are: by process, sampling and read, as a table."""
    sets = {"developed with": PROCESSES, "held out": HELD_OUT, "made last": LAST_HELD_OUT}
    groups = [
        (name, [one for one in trials if one.process in {each.name for each in processes}])
        for name, processes in sets.items()
    ]
    groups += [(name, [one for one in trials if one.sampling == name]) for name in SAMPLINGS]
    reads = dict.fromkeys(one.read for one in trials)
    groups += [(f"`{name}`", [one for one in trials if one.read == name]) for name in reads]
    return [
        "| trials | number | median error | within 1.5 × | margin holds | same grade | peak |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {name} | {len(group)} | {median(one.factor for one in group) - 1:.0%} "
            f"| {fmean(one.factor <= 1.5 for one in group):.0%} "
            f"| {fmean(one.holds for one in group):.0%} "
            f"| {fmean(one.grade == one.true_grade for one in group):.0%} "
            f"| {format_peaks(group)} |"
            for name, group in groups
            if group
        ),
    ]


def format_peaks(trials: list[Trial]) -> str:
    """Return in how many trials with a printed range of the peak it holds; a dash without any."""
    inside = [one.is_peak_inside for one in trials if one.peak_range is not None]
    return f"{fmean(inside):.0%}" if inside else "-"


def read_trials() -> list[Trial]:
    """Return the committed trials."""
    trials = json.loads(RESULT_FILE.read_text(encoding="utf-8"))
    return [
        Trial(**one | {"peak_range": one["peak_range"] and tuple(one["peak_range"])})
        for one in trials
    ]


def write_summary(trials: list[Trial]) -> None:
    """Write the table of a summary into the page that has it."""
    text = PAGE.read_text(encoding="utf-8")
    head, *_ = table = build_summary(trials)
    before, _, rest = text.partition(head)
    PAGE.write_text(before + "\n".join(table) + rest[rest.index("\n\n") :], encoding="utf-8")


if __name__ == "__main__":
    main()
