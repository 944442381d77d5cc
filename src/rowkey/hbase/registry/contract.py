"""What a registry answers: where to begin, for who knows nothing of a cluster but an address."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Unsupported
from rowkey.hbase.errors import AskedWrongly, HBaseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rowkey.hbase.connection import Servers
    from rowkey.hbase.registry.nodes import Address, Said
    from rowkey.hbase.settings import Deadline, Settings
    from rowkey.hbase.wire.names import Server


class Registry(ABC):
    """Knows where the master and hbase:meta are, and asks again each time it is asked.

    Nothing is remembered but which nodes answer: whoever asks has just found out that what was
    told before is no longer true. Threads may share one.
    """

    scheme: ClassVar[str]
    """What its URLs begin with, without `://`."""

    port: ClassVar[int]
    """Port of a node that names none."""

    root: ClassVar[str]
    """Path of a URL that names none; empty if its URLs have no path."""

    asks: ClassVar[str]
    """What its nodes are, in a word: ZooKeeper, HBase."""

    @classmethod
    @abstractmethod
    def open(
        cls, nodes: Sequence[Address], root: str, servers: Servers, settings: Settings
    ) -> Registry:
        """A registry of these nodes; nobody is asked yet.

        Args:
            nodes: one or more.
            root: the path of the URL.
            servers: connections to HBase's servers.
            settings: limits of one attempt.
        """

    @abstractmethod
    def cluster_id(self, deadline: Deadline) -> str:
        """The id of the cluster.

        Raises:
            NobodyKnows: no node told it in time.
            NoCluster: a node told that there is none, and no node ever told anything else.
        """

    @abstractmethod
    def master(self, deadline: Deadline) -> Server:
        """The active master; one that has just died is named until its session is over.

        Raises:
            NobodyKnows: no node told it in time, or there is none now.
            NoCluster: as above.
        """

    @abstractmethod
    def meta(self, deadline: Deadline) -> Server:
        """The server of hbase:meta.

        Raises:
            NobodyKnows: no node told it in time, or it is open nowhere now.
            NoCluster: as above.
        """

    @abstractmethod
    def learn(self, servers: Iterable[Server]) -> None:
        """Take note of servers of the cluster; a registry that can ask them, will."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held; never waits."""

    @abstractmethod
    def dump(self) -> dict[str, Any]:
        """What there is to see, for people."""


class _NodesAsked(HBaseError):
    """What all nodes said, each for itself.

    Args:
        path: the registry's URL.
        wanted: what was asked for.
        said: what each node said.
    """

    def __init__(self, path: str, wanted: str, said: Sequence[Said]) -> None:
        self.said = tuple(said)
        shown = [f"{one.node} said: {one.text}" for one in self.said[:_SAID_SHOWN]]
        if len(self.said) > _SAID_SHOWN:
            shown.append(f"and {len(self.said) - _SAID_SHOWN} more nodes")
        super().__init__(path, f"no node told {wanted}; {'; '.join(shown)}")


_SAID_SHOWN = 3
"""Nodes that the text names: an ensemble mostly has three; `said` has all."""


class NobodyKnows(_NodesAsked, Unsupported):
    """No node of the registry told what was asked; it may be told later."""

    retriable = True


class NobodyThere(NobodyKnows):
    """No node could be reached, and none ever was: most often the URL is another cluster's."""

    few_times = True
    advice = "Check the hosts and ports of the URL, and whether the cluster runs."


class NoCluster(_NodesAsked, AskedWrongly):
    """There is no cluster behind the URL that could be spoken to: asking again does not help."""

    retriable = False
    advice = "Check the hosts, the ports and the root znode (zookeeper.znode.parent) of the URL."
