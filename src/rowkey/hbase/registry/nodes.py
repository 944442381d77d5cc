"""The nodes of a registry, asked in turn until one answers: the living first."""

from __future__ import annotations

from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from rowkey import forks
from rowkey.hbase.errors import (
    ConnectionLost,
    HBaseError,
    HeaderRefused,
    MalformedAnswer,
    UnknownHost,
)
from rowkey.hbase.registry.contract import NobodyKnows, NobodyThere, NoCluster
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rowkey.hbase.settings import Deadline

A = TypeVar("A")
Address: TypeAlias = tuple[str, int]

LEAST_S = 0.25
"""Seconds that each node is given at least, however many there are: a packet lost on the way is
sent again after 0.2 s. Source: Linux, TCP_RTO_MIN.
"""


class NodeFailed(Exception):
    """A node did not tell what it was asked.

    Args:
        text: why, as the reader shall see it.
        final: whether it will say the same for ever.
    """

    def __init__(self, text: str, *, final: bool = False) -> None:
        super().__init__(text)
        self.final = final


class Said(NamedTuple):
    """What a node said instead of an answer.

    Args:
        node: its "host:port".
        text: what it said, or what was made of its silence.
        final: whether it will say the same for ever.
    """

    node: str
    text: str
    final: bool


def shown(address: Address) -> str:
    """An address as a URL has it.

    >>> shown(("zk1", 2181)), shown(("::1", 2181))
    ('zk1:2181', '[::1]:2181')
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Nodes:
    """Whom to ask next: nodes that answer take turns, and those that failed come last.

    Taking turns, a node whose word is old is not believed again and again.

    Args:
        url: of the registry, for messages.
        first: the nodes to begin with.
        most_s: seconds that one node is given at most.
    """

    def __init__(self, url: str, first: Sequence[Address], most_s: float) -> None:
        self.url, self.most_s = url, most_s
        self.reset_in_child()
        forks.register(self)
        self._turn = count()
        # Of each node: whether it failed when it was last asked, and when that was.
        self._marks = {address: (False, next(self._turn)) for address in first}
        self._answered = False

    def reset_in_child(self) -> None:
        """In a forked child: have a fresh lock."""
        self._lock = Lock()

    def in_turn(self) -> list[Address]:
        """All nodes, in the order in which to ask them."""
        with self._lock:
            return sorted(self._marks, key=self._marks.__getitem__)

    def learn(self, addresses: Iterable[Address]) -> None:
        """Add nodes, to be asked after those that are known to answer."""
        fresh = [address for address in addresses if address not in self._marks]
        if fresh:
            with self._lock:
                for address in fresh:
                    self._marks.setdefault(address, (False, next(self._turn)))

    def ask(self, wanted: str, one: Callable[[Address, Deadline], A], deadline: Deadline) -> A:
        """The first answer of a node.

        Args:
            wanted: what is asked for, for messages.
            one: asks one node, by the deadline it is given; raises `NodeFailed`.
            deadline: of them all; what is left is shared among those not yet asked.

        Raises:
            NobodyKnows: none answered.
            NobodyThere: none could be reached, and none ever was; it may be a name that is not
                resolved for a moment, or a server that dies just now.
            NoCluster: none answered, one said that none ever will, and none ever did.
        """
        said, nodes = [], self.in_turn()
        reached = self._answered
        for place, address in enumerate(nodes):
            if place and deadline.expired:
                said += [Said(shown(left), "not asked in time", False) for left in nodes[place:]]
                break
            share = max(LEAST_S, deadline.left() / (len(nodes) - place))
            try:
                answer = one(address, deadline.sooner(min(self.most_s, share)))
            except (NodeFailed, HBaseError, Malformed) as problem:
                self._mark(address, failed=True)
                reached = reached or not isinstance(problem, _NOT_REACHED)
                said.append(Said(shown(address), *_made_of(problem)))
            else:
                self._mark(address, failed=False)
                return answer
        if not reached:
            raise NobodyThere(self.url, wanted, said)
        lost = any(one.final for one in said) and not self._answered
        raise (NoCluster if lost else NobodyKnows)(self.url, wanted, said)

    def _mark(self, address: Address, *, failed: bool) -> None:
        with self._lock:
            self._marks[address] = (failed, next(self._turn))
            self._answered |= not failed

    def dump(self) -> dict[str, Any]:
        """Each node, and whether it failed when it was last asked."""
        with self._lock:
            return {shown(address): failed for address, (failed, _) in self._marks.items()}


_NOT_REACHED = (ConnectionLost, HeaderRefused, UnknownHost)
"""After these nobody knows whether the node is one of the cluster's at all."""


def _made_of(problem: NodeFailed | HBaseError | Malformed) -> tuple[str, bool]:
    """Why a node did not answer, and whether it never will."""
    if isinstance(problem, NodeFailed):
        return str(problem), problem.final
    if isinstance(problem, HBaseError):
        # A master that starts, or dies, fails in strange ways: what can be retried is not for ever.
        final = isinstance(problem, MalformedAnswer) or not problem.retriable
        return problem.mistake.what, final
    return f"its answer is malformed: {problem.mistake.what}", True
