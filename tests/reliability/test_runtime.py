"""A disk that fails while a table is used causes errors, no wrong answer and no lost data."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from ramdisk import RAM_FOLDER
from reliability.places import FULL_SIZE, make_place
from reliability.probes import REFUSED, RIGHT, WRONG
from reliability.record import record
from reliability.shim import MODES, build_shim, run_with_shim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RUNTIME = Path(__file__).with_name("runtime.py")
FEW, MANY = 0, 12
"""How many calls fail: the first, 16th, 256th ...; or most of them."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled shim."""
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with a table whose process was killed; the runs use copies."""
    return make_place(tmp_path_factory.mktemp("runtime") / "place", "killed")


def run_with_failures(
    shim: Path, place: Path, folder: Path, modes: Iterable[str], sticky: str, step: int
) -> dict[str, dict[str, Counter[str]]]:
    """Let calls fail; return the number of answers of each verdict, by mode and probe."""
    lines = run_with_shim(shim, RUNTIME, str(place), str(folder), sticky, str(step), *modes)
    found = [json.loads(line) for line in lines]
    assert [] == [one for one in found if one["verdict"] == WRONG]
    verdicts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for one in found:
        verdicts[one["mode"]][one["probe"]][one["verdict"]] += 1
    return verdicts


def test_a_failed_call_gives_an_error_or_the_right_answer(
    shim: Path, place: Path, folder: Path
) -> None:
    """In each mode the first, 16th, 256th ... system call of each probe may fail once."""
    found = run_with_failures(shim, place, folder, MODES, "once", FEW)
    assert set(MODES) == found.keys()
    for verdicts in found.values():
        assert all(counts[RIGHT] for counts in verdicts.values())  # the last run meets no fault
        assert sum(counts[REFUSED] for counts in verdicts.values())


@pytest.mark.long
@pytest.mark.parametrize("sticky", ["once", "sticky"])
@pytest.mark.parametrize("what", MODES)
def test_most_failed_calls_give_an_error_or_the_right_answer(
    what: str, sticky: str, shim: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly every system call of each probe may fail, once or from then on."""
    monkeypatch.setenv(FULL_SIZE, "1")
    place = make_place(folder / "place", "killed")
    verdicts = run_with_failures(shim, place, folder, [what], sticky, MANY)[what]
    figures = {probe: dict(counts) for probe, counts in verdicts.items()}
    record(f"disk {what} {sticky}", {"what": what, "sticky": sticky, "verdicts": figures})
    assert sum(counts[REFUSED] for counts in verdicts.values())
