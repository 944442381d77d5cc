"""A table of the real cluster for each file of tests, and a sender of single requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from hbase.requests.speaker import RequestSender

if TYPE_CHECKING:
    from cluster import Cluster


@pytest.fixture(scope="session")
def request_sender(hbase_cluster: Cluster) -> Iterator[RequestSender]:
    """Return a sender of single requests to the servers of the cluster."""
    speaks = RequestSender(hbase_cluster)
    yield speaks
    speaks.close()


@pytest.fixture(scope="module")
def table(hbase_cluster: Cluster) -> Iterator[str]:
    """Return a table of one region with the families d and e, which keep many versions."""
    name = f"q{uuid4().hex[:12]}"
    hbase_cluster.judge.create(name, {"d": {"VERSIONS": "10"}, "e": {"VERSIONS": "10"}})
    yield name
    hbase_cluster.judge.drop(name)
