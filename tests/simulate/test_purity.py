"""The same design, events and seed always give the same figures."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from rowkey import Design, simulate
from rowkey.advise import judge_simulation
from rowkey.keys import TRANSFORMS
from rowkey.render import build_simulation_document
from rowkey.workload import DISTRIBUTIONS

KEYS = {
    "bucket": "[bucket(host, 16)][host][ts]",
    "code": "[code(host)][ts]",
    "desc": "[desc(ts)][host]",
    "digest": "[digest(host, 4)][host][ts]",
    "mod": "[mod(ts, 16)][ts][host]",
    "pad": "[pad(host, 40)][ts]",
    "reverse": "[reverse(host)][ts]",
    "salt": "[salt(16)][host][ts]",
    "time_bucket": "[time_bucket(ts, 1h)][host][ts]",
    "time_slice": "[host][time_slice(ts, 1h)]",
    "truncate": "[truncate(host, 2)][host][ts]",
}
DRAWS: dict[str, dict[str, Any]] = {name: {"kind": name} for name in DISTRIBUTIONS}
DRAWS["hotspot"] |= {"values": 0.1, "events": 0.5}


def declare(key: str, draw: str = "zipf") -> Design:
    """Build a design whose events come from a declared distribution."""
    return Design(
        "t",
        key,
        fields={
            "host": {"type": "text", "max_bytes": 40, "distinct": 50, "draw": DRAWS[draw]},
            "ts": "timestamp_ms",
        },
        splits={"algorithm": "uniform", "regions": 8},
        writes={"rate": "20/s", "for": "100s"},
    )


def list_figures(design: Design, seed: int) -> dict[str, Any]:
    """Return all figures of a simulation."""
    return build_simulation_document(judge_simulation(simulate.run(design, seed=seed)))


def test_the_purity_test_covers_every_transform_and_distribution() -> None:
    """Each transform and distribution is in the lists of this file."""
    assert (set(TRANSFORMS), set(DISTRIBUTIONS)) == (set(KEYS), set(DRAWS))


@pytest.mark.parametrize("transform", sorted(KEYS))
def test_a_second_run_gives_the_same_figures(transform: str) -> None:
    """A second run, a rebuilt design and a pickled design give the same figures."""
    design = declare(KEYS[transform])
    list_figures(design, 1)
    copy = pickle.loads(pickle.dumps(design))
    assert (
        list_figures(design, 0)
        == list_figures(declare(KEYS[transform]), 0)
        == list_figures(copy, 0)
    )


@pytest.mark.parametrize("draw", sorted(DRAWS))
def test_the_events_of_every_distribution_depend_only_on_the_seed(draw: str) -> None:
    """Events of a distribution are the same for the same seed."""
    design = declare(KEYS["salt"], draw)
    assert list_figures(design, 3) == list_figures(declare(KEYS["salt"], draw), 3)


def test_a_salted_sample_gives_the_same_splits_in_each_run(tmp_path: Path) -> None:
    """Boundaries and figures of a recorded sample do not change from run to run."""
    path = tmp_path / "sample.csv"
    path.write_text(
        "host,ts\n" + "".join(f"h{n % 7},{1_600_000_000_000 + n}\n" for n in range(999))
    )
    design = Design(
        "t",
        "[salt(16)][host][ts]",
        fields={"host": "text", "ts": "timestamp_ms"},
        splits={"algorithm": "sample", "regions": 8},
        sample={"path": str(path)},
    )
    assert list_figures(design, 0) == list_figures(design, 0)
