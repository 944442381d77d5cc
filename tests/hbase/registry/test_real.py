"""Both registries of a real cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.registry import ClusterNotFound, RegistryUnreachable, parse_url
from rowkey.hbase.settings import Deadline, Settings

if TYPE_CHECKING:
    from cluster import Cluster

SETTINGS = Settings()


@pytest.fixture
def servers() -> Iterator[ServerConnections]:
    """Yield connections, closed at the end."""
    opened = ServerConnections(SETTINGS)
    yield opened
    opened.close()


def test_zookeeper_and_master_registries_return_the_same_answers(
    hbase_cluster: Cluster, servers: ServerConnections
) -> None:
    """ZooKeeper and the master return the same id, master and server of hbase:meta."""
    urls = (f"hbase://{hbase_cluster.zookeeper}", f"hbase+master://{hbase_cluster.master}")
    until = Deadline.from_now(60)
    told = [
        (str(one.get_master(until)), str(one.get_meta_server(until)), one.get_cluster_id(until))
        for one in (parse_url(url).open_registry(servers, SETTINGS) for url in urls)
    ]
    assert told[0] == told[1]
    status = hbase_cluster.judge.status()
    assert (status.master, True) == (told[0][0], told[0][1] in status.live)


def test_region_servers_answer_registry_lookups(
    hbase_cluster: Cluster, servers: ServerConnections
) -> None:
    """The address of a region server works as well as that of a master."""
    until = Deadline.from_now(60)
    nodes = [f"127.0.0.1:{port}" for port in hbase_cluster.state.ports.servers]
    asked = parse_url(f"hbase+master://{','.join(nodes)}").open_registry(servers, SETTINGS)
    assert hbase_cluster.judge.status().master == str(asked.get_master(until))


def test_wrong_ports_and_roots_raise_the_right_errors(
    hbase_cluster: Cluster, servers: ServerConnections
) -> None:
    """ZooKeeper's port, a master's port and a missing root raise the right errors."""
    # ZooKeeper only hangs up, as a master does that dies: that may pass, and is tried a few times.
    urls = {
        f"hbase+master://{hbase_cluster.zookeeper}": RegistryUnreachable,
        f"hbase://{hbase_cluster.master}": ClusterNotFound,
        f"hbase://{hbase_cluster.zookeeper}/elsewhere": ClusterNotFound,
    }
    for url, kind in urls.items():
        with pytest.raises(
            kind, match=r"no server at this URL knows where hbase:meta is; 127\.0\.0\.1:"
        ):
            parse_url(url).open_registry(servers, SETTINGS).get_meta_server(Deadline.from_now(60))
