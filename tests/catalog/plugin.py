"""What pytest needs of a ZooKeeper without HBase: one server for the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracles.build import Absent
from oracles.plugin import give_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog.zookeepers import ZooKeeper

GROUP = "zookeeper"


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[ZooKeeper]:
    """A ZooKeeper of one server; skipped where Java or Maven is missing.

    With ROWKEY_REQUIRE_HBASE=1 in the environment their absence fails the test instead. Who kills
    or pauses it restarts or resumes it before the test ends.
    """
    from catalog.zookeepers import ZooKeeper
    from cluster import StartFailed

    try:
        server = ZooKeeper()
    except Absent as absent:
        give_up(str(absent))
    except StartFailed as failed:
        pytest.fail(str(failed), pytrace=False)
    with server:
        yield server


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever works with it runs in one process: there is one."""
    for item in items:
        given = getattr(getattr(item, "callspec", None), "params", {})
        is_named = any(isinstance(one, str) and one == GROUP for one in given.values())
        if is_named or GROUP in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(GROUP))
