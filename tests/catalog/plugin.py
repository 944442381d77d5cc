"""The pytest fixture of a ZooKeeper without HBase: one server per session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from oracles.build import OracleUnavailable
from oracles.plugin import give_up

if TYPE_CHECKING:
    from catalog.zookeepers import ZooKeeper

GROUP = "zookeeper"


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[ZooKeeper]:
    """Start a ZooKeeper of one server; skip the test if Java or Maven is missing.

    With ROWKEY_REQUIRE_HBASE=1 in the environment a missing program fails the test instead. A test
    that kills or pauses the server restarts or resumes it before the test ends.
    """
    from catalog.zookeepers import ZooKeeper
    from cluster import StartFailed

    try:
        server = ZooKeeper()
    except OracleUnavailable as absent:
        give_up(str(absent))
    except StartFailed as failed:
        pytest.fail(str(failed), pytrace=False)
    with server:
        yield server


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests of the ZooKeeper in one process, since there is one server."""
    for item in items:
        given = getattr(getattr(item, "callspec", None), "params", {})
        is_named = any(isinstance(one, str) and one == GROUP for one in given.values())
        if is_named or GROUP in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(GROUP))
