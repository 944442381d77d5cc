"""Fixtures for the real HBase: one cluster per session, started when a test first needs it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracles.build import OracleUnavailable
from oracles.plugin import give_up

if TYPE_CHECKING:
    from cluster import Cluster, Judge, JudgedEngine
    from rowkey.engines import Engine

CLUSTER = "hbase_cluster"
HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def hbase_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start ZooKeeper, a master and three region servers; skip without Java or Maven.

    With ROWKEY_REQUIRE_HBASE=1 in the environment their absence fails the test instead. A test that
    ends or pauses a process restarts or resumes it before the test ends.
    """
    yield from start_cluster(tmp_path_factory)


def start_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a cluster and end it with the session."""
    from cluster import Cluster, StartFailed, find_programs

    try:
        find_programs()
    except OracleUnavailable as absent:
        give_up(str(absent))
    if "PYTEST_XDIST_WORKER" in os.environ:
        _claim(tmp_path_factory.getbasetemp().parent / CLUSTER)
    try:
        cluster = Cluster.start()
    except StartFailed as failed:
        pytest.fail(str(failed), pytrace=False)
    with cluster:
        yield cluster


def _claim(place: Path) -> None:
    """Fail in a second process that would start a cluster, since a test lacks its group."""
    try:
        place.touch(exist_ok=False)
    except FileExistsError:
        what = (
            f"another process of this run has the cluster; mark the test xdist_group({CLUSTER!r})"
        )
        pytest.fail(what, pytrace=False)


@pytest.fixture(scope="session")
def hbase_judge(hbase_cluster: Cluster) -> Judge:
    """Return the official Java client of the cluster."""
    return hbase_cluster.judge


@pytest.fixture(scope="session")
def hbase_url(hbase_cluster: Cluster) -> str:
    """Return the URL of the cluster by its ZooKeeper."""
    return hbase_cluster.url


@pytest.fixture(scope="session")
def hbase_engine(hbase_url: str) -> Iterator[Engine]:
    """Return the cluster as an engine, through rowkey's own client."""
    from rowkey.engines import open_engine

    with open_engine(hbase_url) as engine:
        yield engine


@pytest.fixture(scope="session")
def judged_engine(hbase_cluster: Cluster) -> JudgedEngine:
    """Return the cluster as an engine, through the official client."""
    from cluster import JudgedEngine

    return JudgedEngine(hbase_cluster)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests that use the cluster, and run them in one process, since there is one."""
    for item in items:
        if CLUSTER in getattr(item, "fixturenames", ()) or item.path.parent == HERE:
            item.add_marker(pytest.mark.xdist_group(CLUSTER))
        if any(CLUSTER in group.args for group in item.iter_markers("xdist_group")):
            item.add_marker(pytest.mark.cluster)
