"""Fixtures that run a test on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.plugin import CLUSTER
from engines.benches import BENCHES
from engines.hbase.bench import HBaseBench
from engines.hbase.exclusions import HBASE, NEEDS_WHOLE_TABLE, find_hbase_bench
from engines.hbase.slots import Slots
from rowkey.cells import Family

if TYPE_CHECKING:
    from engines.benches import Bench
    from rowkey.engines import Engine, Store

HERE = Path(__file__).parent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that takes a bench on every engine, and on HBase where it can be."""
    if "bench" in metafunc.fixturenames and metafunc.definition.path.parent == HERE:
        there = pytest.mark.xdist_group(CLUSTER)
        chosen = find_hbase_bench(metafunc.definition.originalname)
        names = [*BENCHES, *(pytest.param(name, marks=there) for name in chosen)]
        metafunc.parametrize("bench", names, indirect=True)


@pytest.fixture(scope="session")
def hbase_slots(hbase_engine: Engine) -> Slots:
    """Return the parts of prepared tables of the real HBase."""
    return Slots(hbase_engine)


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench | HBaseBench]:
    """Yield each engine in turn, opened in an empty place."""
    if request.param == HBASE:
        engine, slots = map(request.getfixturevalue, ("hbase_engine", "hbase_slots"))
        yield HBaseBench(engine, slots, alone=request.node.originalname in NEEDS_WHOLE_TABLE)
        return
    bench = BENCHES[request.param](tmp_path / "place")
    yield bench
    bench.close()


@pytest.fixture
def store(bench: Bench) -> Store:
    """Return a table of one family that keeps one version."""
    return bench.create([Family("d")])


@pytest.fixture
def versioned_store(bench: Bench) -> Store:
    """Return a table of one family that keeps three versions."""
    return bench.create([Family("d", versions=3)])
