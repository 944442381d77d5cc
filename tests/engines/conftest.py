"""One bench of every engine, for the tests that all of them must pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engines.benches import BENCHES
from rowkey.cells import Family

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engines.benches import Bench
    from rowkey.engines import Store


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """One engine after the other, each open in an empty place."""
    bench = BENCHES[request.param](tmp_path / "place")
    yield bench
    bench.close()


@pytest.fixture
def store(bench: Bench) -> Store:
    """A table of one family that keeps one version."""
    return bench.create([Family("d")])


@pytest.fixture
def deep(bench: Bench) -> Store:
    """A table of one family that keeps three versions."""
    return bench.create([Family("d", versions=3)])
