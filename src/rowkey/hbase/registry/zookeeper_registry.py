"""The registry `hbase://`: the znodes that the servers of a cluster write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Any, ClassVar

from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.connection.handshake import format_address
from rowkey.hbase.errors import ConnectionLost
from rowkey.hbase.registry.contract import Address, NodeFailed, Registry, RegistryNodes
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError
from rowkey.zookeeper import NotZooKeeper, Znode, ZooKeeperDenied, ZooKeeperUnreachable

META_OPEN_STATE = 3
"""The state OPEN of hbase:meta. Source: ClusterStatus.proto, RegionState.State."""

CLOSE_TIMEOUT_S = 0.5
"""The longest that a lookup waits for a server to end its session; the answer is there by then."""

_REGION_STATES = (
    "OFFLINE",
    "PENDING_OPEN",
    "OPENING",
    "OPEN",
    "PENDING_CLOSE",
    "CLOSING",
    "CLOSED",
)


class ZooKeeperRegistry(Registry):
    """Reads the znodes of a cluster; a session lasts as long as one lookup.

    Args:
        nodes: host and port of each server of the ensemble.
        root: the cluster's znode, the value of zookeeper.znode.parent.
        settings: `connect_timeout_s` is the most that one server may take.

    Cost: 6 ms for a lookup: ZooKeeper writes each session to its log; the first one loads kazoo.
    Source: HBase book, "zookeeper.znode.parent"; ZNodePaths; measured on 3.8.
    """

    scheme: ClassVar[str] = "hbase"
    default_port: ClassVar[int] = 2181
    default_root: ClassVar[str] = "/hbase"

    def __init__(self, nodes: Sequence[Address], root: str, settings: Settings) -> None:
        url = f"{self.scheme}://{','.join(map(format_address, nodes))}{root}"
        self._root = root
        self._nodes = RegistryNodes(url, nodes, settings.connect_timeout_s)

    @classmethod
    def open(
        cls, nodes: Sequence[Address], root: str, connections: ServerConnections, settings: Settings
    ) -> ZooKeeperRegistry:
        """Return a registry that reads the znodes of a ZooKeeper ensemble."""
        return cls(nodes, root, settings)

    def get_cluster_id(self, deadline: Deadline) -> str:
        """Return the id of the cluster, from znode hbaseid."""

        def read(address: Address, until: Deadline) -> str:
            path = f"{self._root}/hbaseid"
            cluster_id = ProtoMessage(self._read_protobuf(address, path, until)).get_text(1)
            if not cluster_id:
                raise NodeFailed(f"znode {path} holds no cluster id", is_permanent=True)
            return cluster_id

        return self._nodes.ask_nodes("the cluster's id", read, deadline)

    def get_master(self, deadline: Deadline) -> ServerName:
        """Return the active master, from znode master."""

        def read(address: Address, until: Deadline) -> ServerName:
            path = f"{self._root}/master"
            return _parse_server(self._read_protobuf(address, path, until), path)

        return self._nodes.ask_nodes("which master is active", read, deadline)

    def get_meta_server(self, deadline: Deadline) -> ServerName:
        """Return the region server that holds hbase:meta, from znode meta-region-server."""

        def read(address: Address, until: Deadline) -> ServerName:
            path = f"{self._root}/meta-region-server"
            data = self._read_protobuf(address, path, until)
            server = _parse_server(data, path)
            state = ProtoMessage(data).get_uint(3, META_OPEN_STATE)
            if state != META_OPEN_STATE:
                name = _REGION_STATES[state] if state < len(_REGION_STATES) else str(state)
                raise NodeFailed(f"hbase:meta is {name} on {server}, not OPEN")
            return server

        return self._nodes.ask_nodes("where hbase:meta is", read, deadline)

    def _read_protobuf(self, address: Address, path: str, deadline: Deadline) -> bytes:
        """Return the protobuf that a znode of the cluster holds.

        A missing master or hbase:meta may come back; without the id there is no cluster.

        Raises:
            ConnectionLost: the server cannot be reached.
            NodeFailed: the server did not answer, or the znode does not hold a protobuf.
        """
        id_path = f"{self._root}/hbaseid"
        cluster_id, znode = self._read_znodes(address, (id_path, path), deadline)
        if znode is not None:
            return extract_protobuf(znode.data, path)
        if cluster_id is None:
            raise NodeFailed(f"there is no znode {id_path}", is_permanent=True)
        raise NodeFailed(f"there is no znode {path}")

    def _read_znodes(
        self, address: Address, paths: tuple[str, ...], deadline: Deadline
    ) -> list[Znode | None]:
        """Read znodes from one ZooKeeper server, in a session for this call only.

        Raises:
            ConnectionLost: the server cannot be reached.
            NodeFailed: it denies the znodes, or does not answer as ZooKeeper does.
        """
        # kazoo is imported by the first lookup: clients of a master registry do not need it.
        from rowkey.zookeeper import ZooKeeperConnection

        node = format_address(address)
        connection = None
        try:
            connection = ZooKeeperConnection(
                node, connect_timeout_s=deadline.get_remaining_s(), max_rounds=1
            )
            expires_at = monotonic() + deadline.get_remaining_s()
            connection.wait_until_ready(expires_at)
            return connection.read_znodes(paths, expires_at)
        except ZooKeeperDenied as denied:
            raise NodeFailed(f"znode {paths[-1]}: {denied}", is_permanent=True) from denied
        except ZooKeeperUnreachable as unreachable:
            if connection is not None and not connection.has_reached_server:
                raise ConnectionLost(node, unreachable.reason, server=node) from unreachable
            is_permanent = isinstance(unreachable, NotZooKeeper)
            raise NodeFailed(unreachable.reason, is_permanent=is_permanent) from unreachable
        finally:
            if connection is not None:
                connection.close(min(CLOSE_TIMEOUT_S, deadline.get_remaining_s()))

    def learn_servers(self, servers: Iterable[ServerName]) -> None:
        """Do nothing: the servers of HBase are not servers of ZooKeeper."""

    def close(self) -> None:
        """Do nothing: there is no session between lookups."""

    def dump_state(self) -> dict[str, Any]:
        """Return the URL, and whether each server failed when it was last asked."""
        return {"url": self._nodes.url, "failed": self._nodes.dump_state()}


def extract_protobuf(data: bytes, path: str) -> bytes:
    r"""Return the protobuf in a znode of HBase, without the header before it.

    Raises:
        NodeFailed: the data is something else.

    Source: RecoverableZooKeeper.removeMetaData, ProtobufMagic.

    >>> extract_protobuf(b"\xff\x00\x00\x00\x02idPBUF\x08\x01", "/hbase/x")
    b'\x08\x01'
    """
    if data[:1] == b"\xff":
        data = data[5 + int.from_bytes(data[1:5], "big") :]
    if data[:4] != b"PBUF":
        raise NodeFailed(
            f"znode {path} holds {data[:20]!r}, which HBase did not write", is_permanent=True
        )
    return data[4:]


def _parse_server(data: bytes, path: str) -> ServerName:
    """Return the server that a znode of HBase names.

    Raises:
        NodeFailed: the znode names no server, or is malformed.

    Source: ZooKeeper.proto, Master, MetaRegionServer.
    """
    try:
        server = ProtoMessage(data).get_message(1)
        if server is None:
            raise NodeFailed(f"znode {path} names no server", is_permanent=True)
        return ServerName.from_message(server)
    except WireFormatError as problem:
        what = f"znode {path} is malformed: {problem.mistake.problem}"
        raise NodeFailed(what, is_permanent=True) from problem
