"""The demonstration, its picture and the lock files."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree as ET

import pytest
from pyarrow import parquet
from tools import demo as program

from docs.blocks import ROOT
from rowkey import Design, simulate

EXAMPLES = ROOT / "src" / "rowkey" / "examples"
ACCESS_LOG = "apache_access.log.gz"
PICTURE = ROOT / "docs" / "picture.svg"
PICTURE_BYTES_MOST = 120_000
REPORT_BYTES_MOST = 250_000
"""What fits a mail."""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
FLIGHTS, REQUESTS = (None, None) if IS_LONG else (800, 300)
"""Rows of the recordings that are judged."""
RECORDINGS = ("flights", "apache") if IS_LONG else ("flights",)
"""Folders of examples; the report of the other one is opened in a browser by `tests/render`."""


@pytest.fixture(scope="module")
def demo(search_once: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return the demonstration's output into a pipe and the folder that it fills.

    It gets the first rows of one recording, and whole recordings in `make test-long`.
    """
    del search_once
    examples = tmp_path_factory.mktemp("examples")
    for path in list_designs():
        (examples / path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, examples / path.parent.name)
    flights = parquet.read_table(EXAMPLES / "flights.parquet").slice(0, FLIGHTS)
    parquet.write_table(flights, examples / "flights.parquet")
    lines = gzip.decompress((EXAMPLES / ACCESS_LOG).read_bytes()).splitlines(keepends=True)
    (examples / ACCESS_LOG).write_bytes(gzip.compress(b"".join(lines[:REQUESTS])))
    folder = tmp_path_factory.mktemp("demo")
    out, err = StringIO(), StringIO()
    with (
        patch.object(sys, "argv", ["demo.py", str(folder), "--examples", str(examples)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        program.main()
    assert "" == err.getvalue()
    return out.getvalue(), folder


def list_designs() -> list[Path]:
    """Return the design files of the recordings."""
    return [path for name in RECORDINGS for path in (EXAMPLES / name).glob("*.toml")]


def documents(folder: Path) -> dict[str, Any]:
    """Return the JSON of every design of the demonstration by data set and name."""
    return {
        path.relative_to(folder).with_suffix("").as_posix(): json.loads(path.read_text("utf-8"))
        for path in sorted(folder.glob("*/*.json"))
    }


def test_the_demo_judges_every_shipped_design(demo: tuple[str, Path]) -> None:
    """Each shipped design has a text and a JSON document with the same verdict."""
    _, folder = demo
    found = documents(folder)
    designs = {p.relative_to(EXAMPLES).with_suffix("").as_posix() for p in list_designs()}
    assert len(designs) >= 3 * len(RECORDINGS)
    assert designs == found.keys()
    for name, document in found.items():
        text = (folder / f"{name}.txt").read_text("utf-8")
        first = document["verdict"]["assessments"][0]
        grade, subject = document["verdict"]["grade"], f"{first['topic']} {first['name']}".strip()
        assert f"\n{grade.upper()}: {subject}: " in text


def test_the_demo_shows_time_first_keys_hot_and_hashed_buckets_even(demo: tuple[str, Path]) -> None:
    """Keys that begin with the time are hot, mod is hot on whole hours, and hash is not."""
    verdicts = {name: one["writes"]["level"] for name, one in documents(demo[1]).items()}
    assert {"hot"} == {verdicts[f"{name}/time_first"] for name in RECORDINGS}
    assert ("hot", "even") == (verdicts["flights/mod"], verdicts["flights/hashed"])


def test_the_demo_shows_that_no_design_serves_both_reads_in_one_range(
    demo: tuple[str, Path],
) -> None:
    """Each read is one range of one design and a whole scan of another."""
    for document in documents(demo[1]).values():
        assert 2 == len(document["reads"])
    lines = [x for x in demo[0].splitlines() if "  the whole table" in x and "read " not in x]
    assert 2 * len(RECORDINGS) == len(lines)
    assert [] == [line for line in lines if "1 range" not in line.replace("16 ranges", "")]


def test_the_demo_writes_one_small_report_per_recording(demo: tuple[str, Path]) -> None:
    """Each recording has one small report, named in the text, that compares its designs."""
    text, folder = demo
    reports = sorted(folder.glob("*/report.html"))
    assert {path.parent.name for path in folder.glob("*/*.json")} == {
        p.parent.name for p in reports
    }
    assert "/*/report.html" in text
    for path in reports:
        page = path.read_text("utf-8")
        assert len(page.encode()) < REPORT_BYTES_MOST
        assert 3 == page.count('data-map="') == page.count('class="small-map"')
        assert page.index('id="comparison"') < page.index('id="d1"')


def test_the_demo_prints_plain_text_in_a_pipe(demo: tuple[str, Path]) -> None:
    """In a pipe the demonstration has no colours or cut columns, and names the next step."""
    text, folder = demo
    assert "\x1b" not in text
    assert "…" not in text
    assert [] == [line for line in text.splitlines() if len(line) > 100 and str(folder) not in line]
    for word in ("docs/tutorial.md", "rowkey advise ", "*.json"):
        assert word in text


def test_the_demo_ends_with_the_keys_to_use(demo: tuple[str, Path]) -> None:
    """The last part names the keys to use in place of the usual remedy, and writes their files."""
    text, folder = demo
    last = text.partition("What to do")[2]
    for name in RECORDINGS:
        files = sorted((folder / name).glob("better*.toml"))
        assert files
        for file in files:
            assert Design.read(file).declaration.key in last
            assert file.name in last


PICTURED = ("time_first", "mod", "hashed") if IS_LONG else ("hashed",)


def test_the_picture_shows_the_verdicts_of_the_shipped_designs() -> None:
    """The picture is small, valid, and shows the verdicts on the whole recording."""
    told = " ".join(ET.parse(PICTURE).getroot().itertext())
    assert PICTURE.stat().st_size < PICTURE_BYTES_MOST
    for name in PICTURED:
        judged = simulate.run(Design.read(EXAMPLES / f"flights/{name}.toml"), second_half=True)
        assert str(judged.design.key) in told
        assert f"{judged.verdict.level.upper()}  {judged.verdict.skew:.2f}×" in told
        share = judged.region_shares.total
        assert f"busiest of {len(judged.regions)} regions: {share:.0%}" in told


@pytest.mark.parametrize("name", ["run", "dev"])
def test_lock_files_pin_every_dependency_with_hashes(name: str) -> None:
    """A lock pins each dependency with hashes and names no index."""
    text = (ROOT / "requirements" / f"{name}.lock").read_text("utf-8")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = declared["dependency-groups"]
    wanted = declared["project"]["dependencies"] + groups["build"]
    wanted += [one for one in groups["dev"] if isinstance(one, str)] if name == "dev" else []
    names = {re.split(r"[<>=!~ ]", one)[0] for one in wanted}
    pins = re.findall(r"^([\w.-]+)==\S+(.*)\\\n    --hash=sha256:", text, re.MULTILINE)
    assert set() == names - {pin for pin, _ in pins}
    assert len(pins) == sum("==" in line for line in text.splitlines())
    assert "://" not in text
