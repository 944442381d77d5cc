"""Both registries against a real cluster: they say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.hbase.connection import Servers
from rowkey.hbase.registry import NobodyThere, NoCluster, parse_url
from rowkey.hbase.settings import Deadline, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster import Cluster

SETTINGS = Settings()


@pytest.fixture
def servers() -> Iterator[Servers]:
    """Connections, closed at the end."""
    opened = Servers(SETTINGS)
    yield opened
    opened.close()


def test_both_registries_say_the_same(hbase_cluster: Cluster, servers: Servers) -> None:
    """Id, master and server of hbase:meta, by ZooKeeper and by the master, as the judge has it."""
    urls = (f"hbase://{hbase_cluster.zookeeper}", f"hbase+master://{hbase_cluster.master}")
    until = Deadline.after(60)
    told = [
        (str(one.master(until)), str(one.meta(until)), one.cluster_id(until))
        for one in (parse_url(url).open(servers, SETTINGS) for url in urls)
    ]
    assert told[0] == told[1]
    status = hbase_cluster.judge.status()
    assert (status.master, True) == (told[0][0], told[0][1] in status.live)


def test_region_servers_answer_as_well(hbase_cluster: Cluster, servers: Servers) -> None:
    """A region server's address is as good as a master's."""
    until = Deadline.after(60)
    nodes = [f"127.0.0.1:{port}" for port in hbase_cluster.state.ports.servers]
    asked = parse_url(f"hbase+master://{','.join(nodes)}").open(servers, SETTINGS)
    assert hbase_cluster.judge.status().master == str(asked.master(until))


def test_ports_that_are_no_registry_say_so(hbase_cluster: Cluster, servers: Servers) -> None:
    """ZooKeeper asked as a master, a master asked as ZooKeeper, and a root that is not there."""
    # ZooKeeper only hangs up, as a master does that dies: that may pass, and is tried a few times.
    urls = {
        f"hbase+master://{hbase_cluster.zookeeper}": NobodyThere,
        f"hbase://{hbase_cluster.master}": NoCluster,
        f"hbase://{hbase_cluster.zookeeper}/elsewhere": NoCluster,
    }
    for url, kind in urls.items():
        with pytest.raises(kind, match=r"no node told where hbase:meta is; 127\.0\.0\.1:"):
            parse_url(url).open(servers, SETTINGS).meta(Deadline.after(60))
