"""A table with a damaged file gives right answers or errors."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from ramdisk import RAM_FOLDER
from reliability.matrix import CRASHED, Outcome, damage_files
from reliability.places import FULL_SIZE, STATES, make_place
from reliability.probes import REFUSED, RIGHT, WRONG
from reliability.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

FEW_FAULTS = {"flip": 1, "truncation": 1, "zeros": 1, "deletion": 1}
MANY_FAULTS = {"flip": 40, "truncation": 10, "zeros": 10, "deletion": 1}


def check_outcomes(outcomes: list[Outcome]) -> None:
    """Require that no answer is wrong and no process crashed."""
    assert [] == [wrong for one in outcomes for wrong in one.wrong]
    assert 0 == sum(one.count(WRONG) + one.count(CRASHED) for one in outcomes)
    by_file = {one.file for one in outcomes if one.count(REFUSED)}
    assert {"*.sst", "MANIFEST", "t/CURRENT", "t/descriptor.json"} <= by_file
    harmless = {one.file for one in outcomes if not one.count(REFUSED)}
    assert {"t/high-water", "OPTIONS", "t/rocksdict-config.json"} <= harmless
    assert sum(one.count(RIGHT) for one in outcomes)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        yield Path(folder)


def test_one_fault_of_each_kind_in_each_type_of_file(folder: Path) -> None:
    """A damaged file of a table whose process was killed gives no wrong answer."""
    place = make_place(folder / "place", "killed")
    check_outcomes(damage_files(place, folder, "killed", FEW_FAULTS))


@pytest.mark.long
@pytest.mark.parametrize("state", STATES)
def test_many_faults_in_each_file(
    state: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with one of 40 flipped bits, 10 cuts or 10 runs of zeros gives no wrong answer."""
    monkeypatch.setenv(FULL_SIZE, "1")
    place = make_place(folder / "place", state)
    outcomes = damage_files(place, folder, state, MANY_FAULTS)
    record(f"files {state}", [one.document() for one in outcomes])
    check_outcomes(outcomes)
