"""A disk that fails while a table is used: answers are right or refused, and nothing is lost."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from ramdisk import RAM
from reliability.places import make_place
from reliability.probes import REFUSED, RIGHT, WRONG
from reliability.record import record
from reliability.shim import MODES, build_shim, run_with_shim

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNTIME = Path(__file__).with_name("runtime.py")
FEW, MANY = 1, 12
"""How many calls fail: the first, second, fourth ...; or most of them."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shim, compiled."""
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory."""
    with TemporaryDirectory(dir=RAM) as folder:
        yield Path(folder)


def fail(shim: Path, folder: Path, what: str, sticky: str, step: int) -> dict[str, Counter[str]]:
    """Let calls fail in each probe; return how many answers there were of each verdict."""
    place = make_place(folder / "place", "killed")
    lines = run_with_shim(shim, RUNTIME, str(place), str(folder), what, sticky, str(step))
    found = [json.loads(line) for line in lines]
    assert [] == [one for one in found if one["verdict"] == WRONG]
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        verdicts[one["probe"]][one["verdict"]] += 1
    return verdicts


@pytest.mark.parametrize("what", MODES)
def test_a_call_that_fails_is_told(what: str, shim: Path, folder: Path) -> None:
    """Some calls of each probe fail once."""
    verdicts = fail(shim, folder, what, "once", FEW)
    assert all(counts[RIGHT] for counts in verdicts.values())  # once a probe meets no fault
    assert sum(counts[REFUSED] for counts in verdicts.values())


@pytest.mark.long
@pytest.mark.parametrize("sticky", ["once", "sticky"])
@pytest.mark.parametrize("what", MODES)
def test_each_call_that_fails_is_told(what: str, sticky: str, shim: Path, folder: Path) -> None:
    """Nearly every call of each probe fails, once or from then on."""
    verdicts = fail(shim, folder, what, sticky, MANY)
    figures = {probe: dict(counts) for probe, counts in verdicts.items()}
    record(f"disk {what} {sticky}", {"what": what, "sticky": sticky, "verdicts": figures})
    assert sum(counts[REFUSED] for counts in verdicts.values())
