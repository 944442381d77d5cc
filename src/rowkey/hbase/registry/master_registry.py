"""The registry `hbase+master://`: the masters, and all servers that they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock
from time import monotonic
from typing import Any, ClassVar, TypeVar

from rowkey import fork_safety
from rowkey.hbase.connection import ServerConnection, ServerConnections
from rowkey.hbase.connection.handshake import format_address
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.registry.contract import Address, NodeFailed, Registry, RegistryNodes
from rowkey.hbase.requests.registry import (
    GetActiveMaster,
    GetBootstrapNodes,
    GetClusterId,
    GetMasters,
    GetMetaRegionLocations,
)
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import ServerName

A = TypeVar("A")

NODE_REFRESH_S = 300.0
"""Seconds after which the nodes are looked up again.

Source: hbase.client.bootstrap.refresh_interval_secs, RegistryEndpointsRefresher.
"""


class MasterRegistry(Registry):
    """Calls masters, and region servers once they are known; needs no ZooKeeper.

    When all masters are dead, region servers still answer where hbase:meta is.

    Args:
        nodes: masters, or region servers.
        connections: the connections to HBase's servers.
        settings: `call_timeout_s` is the most that one server may take.

    Cost: one RPC for a lookup.
    Source: HBase book, "Rpc based registry" (HBASE-18095, HBASE-26149).
    """

    scheme: ClassVar[str] = "hbase+master"
    default_port: ClassVar[int] = 16000
    default_root: ClassVar[str] = ""

    def __init__(
        self, nodes: Sequence[Address], connections: ServerConnections, settings: Settings
    ) -> None:
        url = f"{self.scheme}://{','.join(map(format_address, nodes))}"
        self._connections = connections
        self._nodes = RegistryNodes(url, nodes, settings.call_timeout_s)
        self._refresh_at = 0.0
        self.reset_in_child()
        fork_safety.register_resource(self)

    def reset_in_child(self) -> None:
        """Create a new lock; called in a forked child process."""
        self._lock = Lock()

    @classmethod
    def open(
        cls, nodes: Sequence[Address], root: str, connections: ServerConnections, settings: Settings
    ) -> MasterRegistry:
        """Return a registry that asks these masters or region servers."""
        return cls(nodes, connections, settings)

    def get_cluster_id(self, deadline: Deadline) -> str:
        return self._ask_nodes("the cluster's id", GetClusterId(), deadline)

    def get_master(self, deadline: Deadline) -> ServerName:
        master = self._ask_nodes("which master is active", GetActiveMaster(), deadline)
        assert master is not None, "an empty answer was returned"
        return master

    def get_meta_server(self, deadline: Deadline) -> ServerName:
        return self._ask_nodes("where hbase:meta is", GetMetaRegionLocations(), deadline)[0]

    def _ask_nodes(self, subject: str, request: Request[A], deadline: Deadline) -> A:
        """Send a request to one server after the other; return the first answer that is not empty.

        An answer about hbase:meta that lacks its replica 0 counts as empty.
        """

        def ask(address: Address, until: Deadline) -> A:
            connection = self._connections.get_connection(address, request.service, until)
            answer = _send_request(connection, request, until)
            if not answer or (isinstance(answer, dict) and 0 not in answer):
                raise NodeFailed("the server does not know the answer yet")
            self._refresh_nodes(connection, until)
            return answer

        return self._nodes.ask_nodes(subject, ask, deadline)

    def _refresh_nodes(self, connection: ServerConnection, deadline: Deadline) -> None:
        """Look up more servers to ask, every few minutes; a failure is ignored."""
        with self._lock:
            if monotonic() < self._refresh_at:
                return
            self._refresh_at = monotonic() + NODE_REFRESH_S
        try:
            masters = _send_request(connection, GetMasters(), deadline)
            bootstrap_nodes = _send_request(connection, GetBootstrapNodes(), deadline)
        except ValueError:  # every error of a server is one
            return
        self.learn_servers([*(server for server, _ in masters), *bootstrap_nodes])

    def learn_servers(self, servers: Iterable[ServerName]) -> None:
        """Add servers of the cluster, which are asked from now on, too."""
        self._nodes.add_nodes(server.address for server in servers)

    def close(self) -> None:
        """Do nothing: the connections belong to `ServerConnections`."""

    def dump_state(self) -> dict[str, Any]:
        """Return the URL, and whether each server failed when it was last asked."""
        return {"url": self._nodes.url, "failed": self._nodes.dump_state()}


def _send_request(connection: ServerConnection, request: Request[A], deadline: Deadline) -> A:
    param, cells = request.encode(b"")
    call = connection.send(request.method, param, cells, deadline=deadline)
    return request.decode(call.result(deadline))
