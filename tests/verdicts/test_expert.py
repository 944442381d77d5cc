"""Verdicts agree with those that an expert wrote down before; each disagreement is explained."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from example_counts import IS_LONG
from rowkey.advise import JudgedDesign
from rowkey.advise.verdict import GRADES
from rowkey.design import Design
from verdicts.recordings import RECORDINGS, write_recording

HERE = Path(__file__).parent
QUICK_RECORDINGS = ("apache",)
"""One of the recordings with the fewest events, of which `make test` replays two designs;
`make test-long` replays all designs of all recordings."""
RECORDING_NAMES = [
    pytest.param(name, marks=() if name in QUICK_RECORDINGS else pytest.mark.long)
    for name in RECORDINGS
]


@cache
def read_table(name: str) -> dict[str, dict[str, Any]]:
    """Return a table of verdicts, by recording and design."""
    return tomllib.loads((HERE / name).read_text())


def list_designs() -> list[tuple[str, str]]:
    """Return the recording and the name of every design file."""
    return sorted((path.parent.name, path.stem) for path in HERE.glob("designs/*/*.toml"))


def list_entries(name: str) -> list[tuple[str, str]]:
    """Return the recording and the design of every entry in a table of verdicts."""
    return sorted(
        (recording, one) for recording, entry in read_table(name).items() for one in entry
    )


def test_the_table_of_the_expert_has_forty_designs() -> None:
    """The expert's table has forty designs, four for each recording."""
    assert list_designs() == list_entries("expert.toml")
    assert 40 == len(list_designs()) == 4 * len(RECORDINGS)


def test_no_verdict_is_good_where_that_of_the_expert_is_poor() -> None:
    """No verdict is good where the expert's is poor, or the other way round."""
    for recording, name in list_entries("disagreements.toml"):
        verdicts = (read_table(file)[recording][name]["verdict"] for file in
                    ("expert.toml", "disagreements.toml"))  # fmt: skip
        expert, found = (GRADES.index(verdict.lower()) for verdict in verdicts)
        assert 1 == abs(expert - found)


@pytest.mark.parametrize("recording", RECORDING_NAMES)
def test_each_verdict_is_that_of_the_expert_or_has_a_written_reason(
    tmp_path: Path, recording: str
) -> None:
    """Each verdict is that of the expert, or the one whose reason is written down."""
    sample = write_recording(recording, tmp_path)
    expected, found = {}, {}
    disagreements = read_table("disagreements.toml").get(recording, {})
    entries = [*read_table("expert.toml")[recording].items()]
    for name, entry in entries if IS_LONG else entries[1::2]:
        expected[name] = disagreements.get(name, entry)["verdict"]
        design = Design.read(HERE / "designs" / recording / f"{name}.toml")
        found[name] = JudgedDesign(design, sample).verdict.grade.upper()
    assert expected == found
