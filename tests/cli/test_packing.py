"""`check` and `simulate` report the bytes that packed cells save."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import LOGS, run

PACKED_DESIGN = LOGS.replace(
    "[writes]", 'n = { type = "u8", pack = "p" }\nm = { type = "u8", pack = "p" }\n\n[writes]'
)
SAMPLE = '\n[sample]\npath = "rows.csv"\n'
KEY = 1 + 3 + 8
"""The bytes of the key: a bucket, a host of two characters with its end, and the time."""
CELL = 20 + KEY + 1 + 1
"""The bytes of a cell with one-byte family and qualifier, without the value."""
TOGETHER, ALONE = CELL + 1 + 2 + 2, 2 * (CELL + 1)
"""A map of two small numbers; two cells of one byte."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a packed design and its recording."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs.toml").write_text(PACKED_DESIGN + SAMPLE)
    rows = [f"h{n % 7},{1_609_459_200_000 + n},{n % 100},5" for n in range(500)]
    (tmp_path / "rows.csv").write_text("\n".join(["host,ts,n,m", *rows]))
    return tmp_path


@pytest.mark.parametrize("verb", ["check", "simulate"])
def test_check_reports_the_exact_bytes_saved_by_packing_a_sample(folder: Path, verb: str) -> None:
    """With a sample the saved bytes are exact, in text and in JSON."""
    del folder
    words = f"{ALONE:.1f}: packing saves {1 - TOGETHER / ALONE:.0%}, measured on 500 events"
    told = " ".join(run(verb, "logs.toml", *_list_extra_options(verb)).out.split())
    assert "packed into d:p: n, m " in told
    assert (
        f"cells take {TOGETHER:.1f} bytes; with a cell for each field they would take {words}"
        in (told)
    )
    document = json.loads(run(verb, "logs.toml", "-f", "json", *_list_extra_options(verb)).out)[
        "packing"
    ]
    assert [{"cell": "d:p", "fields": ["n", "m"]}] == document["cells"]
    assert (500, TOGETHER, ALONE) == tuple(document[n] for n in ("events", "bytes", "bytes_alone"))


def _list_extra_options(verb: str) -> list[str]:
    return ["--fail-on", "never"] if verb == "simulate" else []


def test_check_estimates_the_bytes_saved_by_packing_without_a_sample(folder: Path) -> None:
    """Without a usable sample the saved bytes are estimated from declared widths."""
    for sample in ("host,ts\na,1\n", None):
        if sample is None:
            (folder / "rows.csv").unlink()
        else:
            (folder / "rows.csv").write_text(sample)
        done = run("check", "logs.toml", "--fail-on", "never")
        assert 0 == done.code
        assert "an event's cells take about " in done.out
        assert "estimated from field widths, because no sample has the fields" in done.out


def test_check_reports_no_saved_bytes_for_a_design_that_packs_nothing(folder: Path) -> None:
    """A design without packs has no such line, and null in JSON."""
    (folder / "logs.toml").write_text(LOGS)
    assert "pack" not in run("check", "logs.toml").out
    assert None is json.loads(run("check", "logs.toml", "-f", "json").out)["packing"]
