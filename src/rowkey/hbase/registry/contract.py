"""The contract of registries, and their errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Unavailable
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.errors import HBaseError, InvalidRequest
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import ServerName

if TYPE_CHECKING:
    from rowkey.hbase.registry.nodes import Address, NodeReply


class Registry(ABC):
    """Finds the active master and the server of hbase:meta; each call looks them up again.

    Only which nodes answer is remembered: a caller looks up a server because the last location
    was wrong. Threads may share a registry.
    """

    scheme: ClassVar[str]
    """The scheme of its URLs, without `://`."""

    default_port: ClassVar[int]
    """Port of a node that names none."""

    default_root: ClassVar[str]
    """Path of a URL that names none; empty if its URLs have no path."""

    @classmethod
    @abstractmethod
    def open(
        cls, nodes: Sequence[Address], root: str, connections: ServerConnections, settings: Settings
    ) -> Registry:
        """Return a registry that asks these servers; it connects when it is first used.

        Args:
            nodes: host and port of each node, one or more.
            root: the path of the URL.
            connections: the connections to HBase's servers.
            settings: limits of one attempt.
        """

    @abstractmethod
    def get_cluster_id(self, deadline: Deadline) -> str:
        """Return the id of the cluster.

        Raises:
            RegistryUnavailable: no node answered in time.
            ClusterNotFound: a node answered that there is no cluster, and no node ever answered
                anything else.
        """

    @abstractmethod
    def get_master(self, deadline: Deadline) -> ServerName:
        """Return the active master; one that has just died is returned until its session expires.

        Raises:
            RegistryUnavailable: no node answered in time, or no master is active.
            ClusterNotFound: as above.
        """

    @abstractmethod
    def get_meta_server(self, deadline: Deadline) -> ServerName:
        """Return the region server that holds hbase:meta.

        Raises:
            RegistryUnavailable: no node answered in time, or hbase:meta is not open.
            ClusterNotFound: as above.
        """

    @abstractmethod
    def learn_servers(self, servers: Iterable[ServerName]) -> None:
        """Add region servers and masters that the registry may ask from now on."""

    @abstractmethod
    def close(self) -> None:
        """Close the registry; never waits."""

    @abstractmethod
    def dump_state(self) -> dict[str, Any]:
        """Return the state of the registry as JSON values."""


class _AllNodesFailed(HBaseError):
    """No server of a registry answered; the error lists the failure of each.

    Args:
        path: the registry's URL.
        wanted: what was looked up.
        replies: the failure of each node.
    """

    def __init__(self, path: str, subject: str, replies: Sequence[NodeReply]) -> None:
        self.replies = tuple(replies)
        lines = [f"{reply.node}: {reply.text}" for reply in self.replies[:_MAX_NODES_SHOWN]]
        if len(self.replies) > _MAX_NODES_SHOWN:
            lines.append(f"and {len(self.replies) - _MAX_NODES_SHOWN} more servers")
        super().__init__(path, f"no server at this URL knows {subject}; {'; '.join(lines)}")


_MAX_NODES_SHOWN = 3
"""Nodes that the text lists: most ensembles have three; `replies` has all."""


class RegistryUnavailable(_AllNodesFailed, Unavailable):
    """No server of the registry has the answer now; a later call may succeed."""

    is_retriable = True
    advice = "Check that the cluster runs and has an active master, then try again."


class RegistryUnreachable(RegistryUnavailable):
    """No server of the URL was ever reached: the URL is wrong, or the cluster does not run."""

    is_likely_permanent = True
    advice = "Check the hosts and ports of the URL, and whether the cluster runs."


class ClusterNotFound(_AllNodesFailed, InvalidRequest):
    """There is no cluster at the URL, or not one that this client can use: a retry cannot help."""

    is_retriable = False
    advice = "Check the hosts, the ports and the root znode (zookeeper.znode.parent) of the URL."
