"""Sessions with ZooKeeper in which nothing waits longer than it was given.

The calls of kazoo wait for as long as ZooKeeper is away: what is asked then stands in its queue,
is sent when ZooKeeper is back, and once a few hundred requests stand there even asking waits. Here
a request is handed over only while there is a connection and nothing is left unanswered, so that
one that was never handed over has surely changed nothing.

This module imports kazoo; it is imported by who opens a catalog that needs it.
"""

from __future__ import annotations

import os
from functools import partial
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, ClassVar

from kazoo.exceptions import (
    AuthFailedError,
    BadVersionError,
    InvalidACLError,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
    NotReadOnlyCallError,
    RequestTimeoutError,
    RolledBackError,
    RuntimeInconsistency,
    SessionExpiredError,
    SessionMovedError,
    ZookeeperError,
)
from kazoo.protocol.states import EventType

from rowkey.catalog.keeper.ensemble import Away, Denied, Node
from rowkey.catalog.keeper.link import LOG, PAUSE_S, Link

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.catalog.keeper.ensemble import Change

_LOST = (SessionExpiredError, SessionMovedError, RequestTimeoutError)
_DECIDED = -100
_MOVED_ON = (BadVersionError, NoNodeError, NodeExistsError)
_ROLLED_BACK = (RolledBackError, RuntimeInconsistency)
"""Said of a step that was not done because another one could not be."""
_DENIED: Mapping[type[Exception], str] = {
    NoAuthError: "the access list of the node does not allow it (NoAuth)",
    AuthFailedError: "it wants a login, and rowkey logs in to no ZooKeeper",
    InvalidACLError: "it takes no node without an access list of its own (InvalidACL)",
    NotReadOnlyCallError: "the server has lost the others and is read-only",
}


class Session:
    """The connection to an ensemble that all catalogs of a process share; kazoo renews it.

    Args:
        hosts: `host:port` of each server, with commas between them.
    """

    _shared: ClassVar[dict[tuple[int, str], Session]] = {}
    _sharing: ClassVar[Lock] = Lock()

    def __init__(self, hosts: str) -> None:
        self.hosts = hosts
        self.users = 0
        self._start()
        self._watches: set[_Watch] = set()

    def _start(self) -> None:
        """Begin anew, with nobody else using it."""
        self._turn = Lock()
        self._unanswered: Sequence[Any] = ()
        self._link: Link | None = None
        self._pid = os.getpid()

    @classmethod
    def of(cls, hosts: str) -> Session:
        """The session with an ensemble, begun if there is none; give it back by `release`."""
        with cls._sharing:
            found = cls._shared.setdefault((os.getpid(), hosts), cls(hosts))
            found.users += 1
            return found

    def release(self) -> None:
        """Let go of it; whoever is the last ends it. It waits for `END_S` at most."""
        with self._sharing:
            self.users -= 1
            if self.users or self._pid != os.getpid():
                return
            self._shared.pop((self._pid, self.hosts), None)
            link, self._link = self._link, None
        if link is not None:
            link.end()

    def look(self, paths: Sequence[str], until: float) -> list[Node | None]:
        """What nodes hold, no older than the call; None for one that is missing.

        They are read in this order, in one round trip.

        Args:
            paths: of the nodes.
            until: when it must be over, by the monotonic clock.

        Raises:
            Away: no answer came in time.
            Denied: one may not be read.

        Cost: one round trip, and one more from the server to its leader.
        """

        def request(client: Any) -> list[Any]:
            return [client.get_async(path) for path in paths]

        answers = self._read(paths[0], request, until)
        return [None if found is None else _node(*found) for found in answers]

    def names(self, path: str, until: float) -> list[str]:
        """The names below a node, in no order; none if it is missing. Errors as of `look`."""
        (found,) = self._read(path, lambda client: [client.get_children_async(path)], until)
        return list(found or ())

    def _read(self, path: str, request: Callable[[Any], list[Any]], until: float) -> list[Any]:
        """Answers of nodes, asked again where a connection was lost; None for one missing."""

        def synced(client: Any) -> list[Any]:
            # A server answers from its own copy, which may be behind; after a sync it is not.
            return [client.sync_async(path), *request(client)]

        while True:
            try:
                return [_answer(one) for one in self._ask(synced, until)][1:]
            except Away as away:
                if not away.sent or monotonic() >= until:
                    raise

    def change(self, steps: Sequence[Change], until: float) -> bool:
        """Change nodes; all steps are done, or none.

        Returns:
            Whether they were done; otherwise a node is not as a step says it must be.

        Raises:
            Away: no answer came in time; whether they were done is known only if nothing was sent.
            Denied: one may not be changed.
        """

        def request(client: Any) -> list[Any]:
            transaction = client.transaction()
            for step in steps:
                _add(transaction, step)
            return [transaction.commit_async()]

        (answered,) = self._ask(request, until)
        told = (answered.exception, *(answered.value or ()))
        problems = [one for one in told if isinstance(one, Exception)]
        for one in problems:
            if not isinstance(one, (*_MOVED_ON, *_ROLLED_BACK)):
                raise Denied(_denied(one))
        return not problems

    def watch(self, path: str, changed: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever a node may have changed.

        It is called by a thread of the session, also without reason and after each loss of the
        connection, and must not take long.

        Returns:
            What ends it.
        """
        watch = _Watch(path, changed)
        self._watches.add(watch)
        link = self._link
        if link is not None and link.live.is_set():
            self._arm(link, watch)
        return partial(self._watches.discard, watch)

    def _arm(self, link: Link, watch: _Watch) -> None:
        """Let a node tell of its next change; once it has told, it says nothing more.

        Who watches is told once that is arranged: what has changed before is read then, and what
        changes after it is told again.
        """

        def told(event: Any) -> None:
            # NONE: the connection is lost; with the next one all are armed again.
            if event.type != EventType.NONE and link is self._link and watch in self._watches:
                self._arm(link, watch)

        def armed(_: Any) -> None:
            if watch in self._watches:
                watch.tell()

        link.client.exists_async(watch.path, watch=told).rawlink(armed)

    def _connected(self, link: Link) -> None:
        """There is a connection again: nodes may have changed meanwhile."""
        for watch in tuple(self._watches):
            if link is self._link and link.live.is_set():
                self._arm(link, watch)

    def _ask(self, request: Callable[[Any], Sequence[Any]], until: float) -> list[Any]:
        """The answers to requests that are sent at once, each a value or an error.

        Args:
            request: hands them over to a client of kazoo.
            until: when it must be over.

        Raises:
            Away: one was not answered.
        """
        if self._pid != os.getpid():
            self._start()  # a child of a fork has none of its parent's threads
        if not self._turn.acquire(timeout=_left(until)):
            known = self._link and self._link.reasons.last
            raise Away(known or "others wait for its answers", sent=False)
        try:
            link = self._ready(until)
            asked = self._unanswered = list(request(link.client))
            for one in asked:
                if not one.wait(_left(until)):
                    raise Away(link.reasons.last or "it answers nothing", sent=True)
            self._unanswered = ()
        finally:
            self._turn.release()
        for one in asked:
            if isinstance(one.exception, Exception) and _is_lost(one.exception):
                told = f"{type(one.exception).__name__} {one.exception}".strip()
                raise Away(link.reasons.last or told, sent=True)
        return asked

    def _ready(self, until: float) -> Link:
        """A link that is connected, and on which nothing is unanswered.

        Raises:
            Away: there is none in time.
        """
        while True:
            link = self._renewed(until)
            if not link.wait(_left(until)):
                if link.is_over and _left(until):
                    continue
                raise Away(link.reasons.last or "no server answers", sent=False)
            if not all(one.wait(_left(until)) for one in self._unanswered):
                raise Away("it has not answered what was asked before", sent=False)
            self._unanswered = ()
            if link.live.is_set():
                return link

    def _renewed(self, until: float) -> Link:
        """The link that there is, or another one if that is over."""
        if self._link is not None:
            if not self._link.is_over:
                return self._link
            self._link.end(wait_s=0.0)
            sleep(min(PAUSE_S, _left(until)))  # a server that makes no sense is not besieged
        self._unanswered = ()
        self._link = Link(self.hosts, self._connected)
        return self._link


class _Watch:
    """Who is to be told of the changes of a node."""

    def __init__(self, path: str, changed: Callable[[], None]) -> None:
        self.path, self._changed = path, changed

    def tell(self) -> None:
        """Call the function; what it raises is its own affair."""
        try:
            self._changed()
        except Exception:  # noqa: BLE001 - whatever it is, others are still to be told
            LOG.exception("what was to be told of a change has failed")


def _left(until: float) -> float:
    return max(0.0, until - monotonic())


def _answer(one: Any) -> Any:
    """What a request was answered with; None where the node is missing.

    Raises:
        Denied: with an error.
    """
    if isinstance(one.exception, Exception):
        if isinstance(one.exception, NoNodeError):
            return None
        raise Denied(_denied(one.exception))
    return one.value


def _is_lost(problem: Exception) -> bool:
    """Whether a problem leaves open what became of a request; the server's own word does not.

    Source: KeeperException.Code: what the server decides is -100 or below.
    """
    if isinstance(problem, _LOST) or not isinstance(problem, ZookeeperError):
        return True
    return bool(problem.code > _DECIDED)


def _denied(problem: Exception) -> str:
    found = (why for kind, why in _DENIED.items() if isinstance(problem, kind))
    said = f": {problem}" if str(problem) else ""
    return next(found, f"ZooKeeper answers {type(problem).__name__}{said}")


def _node(data: bytes | None, stat: Any) -> Node:
    return Node(data or b"", stat.version, stat.czxid)


def _add(transaction: Any, step: Change) -> None:
    """Give a step to a transaction of kazoo."""
    if step.what == "check":
        transaction.check(step.path, step.version)
    elif step.what == "set":
        transaction.set_data(step.path, step.data, step.version)
    elif step.what == "create":
        transaction.create(step.path, step.data)
    else:
        transaction.delete(step.path, step.version)
