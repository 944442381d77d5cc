"""What a registry tells: where the master and the first regions are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from threading import Lock
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from rowkey import fork_safety
from rowkey.errors import Unavailable
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.connection.handshake import format_address
from rowkey.hbase.errors import (
    ConnectionLost,
    HBaseError,
    HeaderRefused,
    InvalidRequest,
    MalformedAnswer,
    UnknownHost,
)
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import WireFormatError

A = TypeVar("A")
Address: TypeAlias = tuple[str, int]

MIN_NODE_S = 0.25
"""Seconds that each node may take at least, however many there are: a lost packet is sent again
after 0.2 s. Source: Linux, TCP_RTO_MIN.
"""


class NodeFailed(Exception):
    """One server of a registry did not give the answer.

    Args:
        text: why.
        is_permanent: whether a retry cannot help.
    """

    def __init__(self, text: str, *, is_permanent: bool = False) -> None:
        super().__init__(text)
        self.is_permanent = is_permanent


class NodeFailure(NamedTuple):
    """Why one server of a registry did not give the answer.

    Args:
        node: its "host:port".
        text: why it did not answer.
        is_permanent: whether a retry cannot help.
    """

    node: str
    text: str
    is_permanent: bool


class RegistryNodes:
    """The servers of a registry, asked in turn; those that failed are asked last.

    With round robin, a node whose data is old is not used for every lookup.

    Args:
        url: the registry's URL, for messages.
        addresses: the first nodes.
        max_node_s: the most seconds that one node may take.
    """

    def __init__(self, url: str, addresses: Sequence[Address], max_node_s: float) -> None:
        self.url, self.max_node_s = url, max_node_s
        self.reset_in_child()
        fork_safety.register_resource(self)
        self._turn_counter = count()
        # Of each node: whether it failed when it was last tried, and the number of that try.
        self._node_marks = {address: (False, next(self._turn_counter)) for address in addresses}
        self._has_answered = False

    def reset_in_child(self) -> None:
        """Create a new lock; called in a forked child process."""
        self._lock = Lock()

    def list_in_order(self) -> list[Address]:
        """Return the addresses of all servers, in the order to ask them."""
        with self._lock:
            return sorted(self._node_marks, key=self._node_marks.__getitem__)

    def add_nodes(self, addresses: Iterable[Address]) -> None:
        """Add servers, to be asked after those that are known to answer."""
        fresh = [address for address in addresses if address not in self._node_marks]
        if fresh:
            with self._lock:
                for address in fresh:
                    self._node_marks.setdefault(address, (False, next(self._turn_counter)))

    def ask_nodes(
        self, what: str, ask_node: Callable[[Address, Deadline], A], deadline: Deadline
    ) -> A:
        """Ask one server after the other; return the first answer.

        Args:
            what: what is looked up, for messages.
            ask_node: asks one node, by the deadline that it gets; raises `NodeFailed`.
            deadline: of the lookup; the nodes not yet tried share the time that is left.

        Raises:
            RegistryUnavailable: none answered.
            RegistryUnreachable: none could be reached, and none ever was; a retry may help if a
                name server failed, or a server was dying.
            ClusterNotFound: none answered, one said that a retry cannot help, and none ever
                answered before.
        """
        failures, nodes = [], self.list_in_order()
        reached = self._has_answered
        for index, address in enumerate(nodes):
            if index and deadline.is_expired:
                failures += [
                    NodeFailure(
                        format_address(node),
                        "the server was not asked, because no time was left",
                        False,
                    )
                    for node in nodes[index:]
                ]
                break
            share_s = max(MIN_NODE_S, deadline.get_remaining_s() / (len(nodes) - index))
            try:
                answer = ask_node(address, deadline.shorten_to(min(self.max_node_s, share_s)))
            except (NodeFailed, HBaseError, WireFormatError) as problem:
                self._mark_node(address, has_failed=True)
                reached = reached or not isinstance(problem, _UNREACHED_ERRORS)
                failures.append(NodeFailure(format_address(address), *_explain_failure(problem)))
            else:
                self._mark_node(address, has_failed=False)
                return answer
        if not reached:
            raise RegistryUnreachable(self.url, what, failures)
        is_permanent = any(failure.is_permanent for failure in failures) and not self._has_answered
        raise (ClusterNotFound if is_permanent else RegistryUnavailable)(self.url, what, failures)

    def _mark_node(self, address: Address, *, has_failed: bool) -> None:
        """Record whether a server failed, and that it was asked now."""
        with self._lock:
            self._node_marks[address] = (has_failed, next(self._turn_counter))
            self._has_answered |= not has_failed

    def dump_state(self) -> dict[str, Any]:
        """Return for each server whether it failed when it was last asked."""
        with self._lock:
            return {
                format_address(address): failed for address, (failed, _) in self._node_marks.items()
            }


_UNREACHED_ERRORS = (ConnectionLost, HeaderRefused, UnknownHost)
"""After these errors it is unknown whether the node belongs to a cluster at all."""


def _explain_failure(problem: NodeFailed | HBaseError | WireFormatError) -> tuple[str, bool]:
    """Return why a server did not give the answer, and whether a retry cannot help."""
    if isinstance(problem, NodeFailed):
        return str(problem), problem.is_permanent
    if isinstance(problem, HBaseError):
        # A master that starts or dies fails in strange ways: what can be retried is not permanent.
        is_permanent = isinstance(problem, MalformedAnswer) or not problem.is_retriable
        return problem.mistake.problem, is_permanent
    return f"the answer is malformed: {problem.mistake.problem}", True


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
        subject: what was looked up.
    """

    def __init__(self, path: str, subject: str, failures: Sequence[NodeFailure]) -> None:
        self.failures = tuple(failures)
        lines = [f"{one.node}: {one.text}" for one in self.failures[:_MAX_NODES_SHOWN]]
        if len(self.failures) > _MAX_NODES_SHOWN:
            lines.append(f"and {len(self.failures) - _MAX_NODES_SHOWN} more servers")
        super().__init__(path, f"no server at this URL knows {subject}; {'; '.join(lines)}")


_MAX_NODES_SHOWN = 3
"""Nodes that the text lists: most ensembles have three; `failures` has all."""


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
