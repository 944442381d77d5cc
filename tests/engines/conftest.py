"""One bench of every engine, for the tests that all of them must pass."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.plugin import CLUSTER
from engines.benches import BENCHES
from engines.hbase.bench import HBaseBench
from engines.hbase.chosen import ALONE, HBASE, find_hbase_bench
from engines.hbase.slots import Slots
from rowkey.cells import Family

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engines.benches import Bench
    from rowkey.engines import Engine, Store

HERE = Path(__file__).parent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test that takes a bench is run on every engine, and on a real HBase where it can be."""
    if "bench" in metafunc.fixturenames and metafunc.definition.path.parent == HERE:
        there = pytest.mark.xdist_group(CLUSTER)
        chosen = find_hbase_bench(metafunc.definition.originalname)
        names = [*BENCHES, *(pytest.param(name, marks=there) for name in chosen)]
        metafunc.parametrize("bench", names, indirect=True)


@pytest.fixture(scope="session")
def hbase_slots(hbase_engine: Engine) -> Slots:
    """Parts of prepared tables of the real HBase."""
    return Slots(hbase_engine)


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench | HBaseBench]:
    """One engine after the other, each open in an empty place."""
    if request.param == HBASE:
        engine, slots = map(request.getfixturevalue, ("hbase_engine", "hbase_slots"))
        yield HBaseBench(engine, slots, alone=request.node.originalname in ALONE)
        return
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
