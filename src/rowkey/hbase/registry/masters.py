"""The registry `hbase+master://`: the masters themselves, and every server ever heard of."""

from __future__ import annotations

from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rowkey import forks
from rowkey.hbase.registry.contract import Registry
from rowkey.hbase.registry.nodes import NodeFailed, Nodes, shown
from rowkey.hbase.requests.active_master import GetActiveMaster
from rowkey.hbase.requests.bootstrap_nodes import GetBootstrapNodes
from rowkey.hbase.requests.cluster_id import GetClusterId
from rowkey.hbase.requests.masters import GetMasters
from rowkey.hbase.requests.meta_locations import GetMetaRegionLocations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rowkey.hbase.connection import Connection, Servers
    from rowkey.hbase.messages.contract import Request
    from rowkey.hbase.registry.nodes import Address
    from rowkey.hbase.settings import Deadline, Settings
    from rowkey.hbase.wire.names import Server

A = TypeVar("A")

REFRESH_S = 300.0
"""Seconds after which other nodes are asked for anew.

Source: hbase.client.bootstrap.refresh_interval_secs, RegistryEndpointsRefresher.
"""


class Masters(Registry):
    """Asks masters, and region servers too once they are known; no ZooKeeper is needed.

    With all masters dead, region servers go on answering where hbase:meta is.

    Args:
        nodes: masters, or region servers.
        servers: the connections.
        settings: `call_s` bounds what one server may take.

    Cost: one RPC for a question.
    Source: HBase book, "Rpc based registry" (HBASE-18095, HBASE-26149).
    """

    scheme: ClassVar[str] = "hbase+master"
    port: ClassVar[int] = 16000
    root: ClassVar[str] = ""
    asks: ClassVar[str] = "HBase"

    def __init__(self, nodes: Sequence[Address], servers: Servers, settings: Settings) -> None:
        url = f"{self.scheme}://{','.join(map(shown, nodes))}"
        self._servers = servers
        self._nodes = Nodes(url, nodes, settings.call_s)
        self._refresh_at = 0.0
        self.reset_in_child()
        forks.register(self)

    def reset_in_child(self) -> None:
        """In a forked child: have a fresh lock."""
        self._lock = Lock()

    @classmethod
    def open(
        cls, nodes: Sequence[Address], root: str, servers: Servers, settings: Settings
    ) -> Masters:
        return cls(nodes, servers, settings)

    def cluster_id(self, deadline: Deadline) -> str:
        return self._ask("the cluster's id", GetClusterId(), deadline)

    def master(self, deadline: Deadline) -> Server:
        found = self._ask("which master is active", GetActiveMaster(), deadline)
        assert found is not None, "an empty answer was taken for one"
        return found

    def meta(self, deadline: Deadline) -> Server:
        return self._ask("where hbase:meta is", GetMetaRegionLocations(), deadline)[0]

    def _ask(self, wanted: str, request: Request[A], deadline: Deadline) -> A:
        """The first answer that is not empty; one of hbase:meta without its replica 0 is empty."""

        def ask(address: Address, until: Deadline) -> A:
            connection = self._servers.connection(address, request.service, until)
            answer = _answer(connection, request, until)
            if not answer or (isinstance(answer, dict) and 0 not in answer):
                raise NodeFailed("it does not know (yet)")
            self._refresh(connection, until)
            return answer

        return self._nodes.ask(wanted, ask, deadline)

    def _refresh(self, connection: Connection, until: Deadline) -> None:
        """Ask who else could be asked, now and then; that nobody tells is no failure."""
        with self._lock:
            if monotonic() < self._refresh_at:
                return
            self._refresh_at = monotonic() + REFRESH_S
        try:
            masters = _answer(connection, GetMasters(), until)
            others = _answer(connection, GetBootstrapNodes(), until)
        except ValueError:  # every error of a server is one
            return
        self.learn([*(server for server, _ in masters), *others])

    def learn(self, servers: Iterable[Server]) -> None:
        self._nodes.learn(server.address for server in servers)

    def close(self) -> None:
        """The connections belong to `Servers`."""

    def dump(self) -> dict[str, Any]:
        return {"url": self._nodes.url, "failed": self._nodes.dump()}


def _answer(connection: Connection, request: Request[A], until: Deadline) -> A:
    param, cells = request.encode(b"")
    call = connection.send(request.method, param, cells, deadline=until)
    return request.decode(call.result(until))
