"""The registry `hbase://`: what the servers write into ZooKeeper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.hbase.registry.contract import Registry
from rowkey.hbase.registry.nodes import NodeFailed, Nodes, shown
from rowkey.hbase.registry.session import NodeMissing, Session
from rowkey.hbase.wire.names import Server
from rowkey.hbase.wire.proto import Malformed, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rowkey.hbase.connection import Servers
    from rowkey.hbase.registry.nodes import Address
    from rowkey.hbase.settings import Deadline, Settings

OPEN = 3
"""State of hbase:meta where it can be asked. Source: ClusterStatus.proto, RegionState.State."""

_STATES = ("OFFLINE", "PENDING_OPEN", "OPENING", "OPEN", "PENDING_CLOSE", "CLOSING", "CLOSED")


class ZooKeeper(Registry):
    """Reads the znodes of a cluster; a session lasts as long as one lookup.

    Args:
        nodes: servers of the ensemble.
        root: the cluster's znode, as zookeeper.znode.parent has it.
        settings: `connect_s` bounds what one server may take.

    Cost: 3 ms to 5 ms for a lookup: ZooKeeper writes down each session.
    Source: HBase book, "zookeeper.znode.parent"; ZNodePaths; measured on 2.6.4.
    """

    scheme: ClassVar[str] = "hbase"
    port: ClassVar[int] = 2181
    root: ClassVar[str] = "/hbase"
    asks: ClassVar[str] = "ZooKeeper"

    def __init__(self, nodes: Sequence[Address], root: str, settings: Settings) -> None:
        url = f"{self.scheme}://{','.join(map(shown, nodes))}{root}"
        self._root, self._settings = root, settings
        self._nodes = Nodes(url, nodes, settings.connect_s)

    @classmethod
    def open(
        cls, nodes: Sequence[Address], root: str, servers: Servers, settings: Settings
    ) -> ZooKeeper:
        return cls(nodes, root, settings)

    def cluster_id(self, deadline: Deadline) -> str:
        def ask(address: Address, until: Deadline) -> str:
            path = f"{self._root}/hbaseid"
            found = Message(self._read(address, path, until)).text(1)
            if not found:
                raise NodeFailed(f"znode {path}: no cluster id in it", final=True)
            return found

        return self._nodes.ask("the cluster's id", ask, deadline)

    def master(self, deadline: Deadline) -> Server:
        def ask(address: Address, until: Deadline) -> Server:
            path = f"{self._root}/master"
            return _server(self._read(address, path, until), path)

        return self._nodes.ask("which master is active", ask, deadline)

    def meta(self, deadline: Deadline) -> Server:
        def ask(address: Address, until: Deadline) -> Server:
            path = f"{self._root}/meta-region-server"
            data = self._read(address, path, until)
            server, state = _server(data, path), Message(data).uint(3, OPEN)
            if state != OPEN:
                word = _STATES[state] if state < len(_STATES) else str(state)
                raise NodeFailed(f"hbase:meta is {word} on {server}, not OPEN")
            return server

        return self._nodes.ask("where hbase:meta is", ask, deadline)

    def _read(self, address: Address, path: str, until: Deadline) -> bytes:
        """The protobuf that a znode of the cluster holds.

        A znode that comes and goes is missing for ever only where the cluster's own is missing too.
        """
        with Session(address, self._settings, until) as session:
            try:
                data = session.read(path)
            except NodeMissing as missing:
                if not path.endswith("/hbaseid"):
                    session.read(f"{self._root}/hbaseid")
                    missing.final = False
                raise
        return protobuf_of(data, path)

    def learn(self, servers: Iterable[Server]) -> None:
        """HBase's servers are none of ZooKeeper's."""

    def close(self) -> None:
        """Nothing is held between lookups."""

    def dump(self) -> dict[str, Any]:
        return {"url": self._nodes.url, "failed": self._nodes.dump()}


def protobuf_of(data: bytes, path: str) -> bytes:
    r"""The protobuf in a znode: FF, the length of the writer's id, that id, PBUF, the protobuf.

    Raises:
        NodeFailed: the data is something else.

    Source: RecoverableZooKeeper.removeMetaData, ProtobufMagic.

    >>> protobuf_of(b"\xff\x00\x00\x00\x02idPBUF\x08\x01", "/hbase/x")
    b'\x08\x01'
    """
    if data[:1] == b"\xff":
        data = data[5 + int.from_bytes(data[1:5], "big") :]
    if data[:4] != b"PBUF":
        raise NodeFailed(f"znode {path} holds {data[:20]!r}, which is not HBase's", final=True)
    return data[4:]


def _server(data: bytes, path: str) -> Server:
    """The server that a znode names. Source: ZooKeeper.proto, Master and MetaRegionServer."""
    try:
        named = Message(data).message(1)
        if named is None:
            raise NodeFailed(f"znode {path} names no server", final=True)
        return Server.read(named)
    except Malformed as problem:
        raise NodeFailed(f"znode {path}: {problem.mistake.what}", final=True) from problem
