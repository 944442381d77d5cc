"""Fixtures for the real HBase: a cluster per process, started when a test first needs it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracles.build import OracleUnavailable
from oracles.plugin import give_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster import Cluster, Judge, JudgedEngine
    from rowkey.engines import Engine

CLUSTER, SECOND_CLUSTER = "hbase_cluster", "hbase_cluster_2"
"""The groups of the tests that use a cluster: each group has a process and a cluster of its own, as
both wait for servers most of the time."""
SECOND_FOLDERS = ("cluster", "docs", "hbase", "move", "observe", "render")
"""The folders of the second group: about half of the time."""
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
        _claim(tmp_path_factory.getbasetemp().parent)
    try:
        cluster = Cluster.start()
    except StartFailed as failed:
        pytest.fail(str(failed), pytrace=False)
    with cluster:
        yield cluster


def _claim(folder: Path) -> None:
    """Fail in a third process that would start a cluster, since a test lacks its group."""
    for name in (CLUSTER, SECOND_CLUSTER):
        try:
            (folder / name).touch(exist_ok=False)
        except FileExistsError:
            continue
        return
    what = (
        "two other processes of this run have a cluster; mark the test "
        f"xdist_group({CLUSTER!r}) or xdist_group({SECOND_CLUSTER!r})"
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
    """Mark all tests that use a cluster, and run each half of them in one process."""
    names = {CLUSTER, SECOND_CLUSTER}
    for item in items:
        if not any(names.intersection(group.args) for group in item.iter_markers("xdist_group")):
            if CLUSTER not in getattr(item, "fixturenames", ()) and item.path.parent != HERE:
                continue
            is_second = item.path.relative_to(HERE.parent).parts[0] in SECOND_FOLDERS
            item.add_marker(pytest.mark.xdist_group(SECOND_CLUSTER if is_second else CLUSTER))
        item.add_marker(pytest.mark.cluster)
