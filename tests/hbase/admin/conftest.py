"""The administration of the real cluster, through one client for the session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from rowkey.hbase.client import connect

if TYPE_CHECKING:
    from cluster import Cluster
    from rowkey.hbase.admin import Admin


@pytest.fixture(scope="session")
def admin(hbase_cluster: Cluster) -> Iterator[Admin]:
    """Return the administration of the cluster, by the address of its master."""
    with connect(f"hbase+master://{hbase_cluster.master}") as client:
        yield client.admin
