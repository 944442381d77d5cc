"""A session with ZooKeeper that a process shares and that is opened again whenever it is lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from time import monotonic, sleep
from typing import Any, ClassVar, TypeVar

from kazoo.exceptions import (
    BadVersionError,
    NodeExistsError,
    NoNodeError,
    RolledBackError,
    RuntimeInconsistency,
)
from kazoo.protocol.states import EventType

from rowkey.zookeeper.connection import (
    LOG,
    MIN_RETRY_PAUSE_S,
    ZooKeeperConnection,
    compute_remaining_s,
    describe_denial,
)
from rowkey.zookeeper.contract import Znode, ZnodeChange, ZooKeeperDenied, ZooKeeperUnreachable

R = TypeVar("R")

_CONFLICT_ERRORS = (BadVersionError, NoNodeError, NodeExistsError)
_ROLLBACK_ERRORS = (RolledBackError, RuntimeInconsistency)
"""Errors of a step that was not done because another one could not be."""


class ZooKeeperSession:
    """A ZooKeeper session that all users of one ensemble in a process share.

    Args:
        hosts: `host:port` of each server, with commas between them.
    """

    _shared_sessions: ClassVar[dict[tuple[int, str], ZooKeeperSession]] = {}
    _shared_lock: ClassVar[Lock] = Lock()

    def __init__(self, hosts: str) -> None:
        self.hosts = hosts
        self.user_count = 0
        self._reset()
        self._watches: set[_Watch] = set()

    def _reset(self) -> None:
        """Create a new lock and no connection, also after a fork."""
        self._request_lock = Lock()
        self._connection: ZooKeeperConnection | None = None
        self._pid = os.getpid()

    @classmethod
    def acquire(cls, hosts: str) -> ZooKeeperSession:
        """Return the shared session of an ensemble; the caller must call `release`."""
        with cls._shared_lock:
            session = cls._shared_sessions.setdefault((os.getpid(), hosts), cls(hosts))
            session.user_count += 1
            return session

    def release(self) -> None:
        """Release the shared session; the last user's call closes it."""
        with self._shared_lock:
            self.user_count -= 1
            if self.user_count or self._pid != os.getpid():
                return
            self._shared_sessions.pop((self._pid, self.hosts), None)
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def read_znodes(self, paths: Sequence[str], deadline_s: float) -> list[Znode | None]:
        """Read znodes, None for a missing one; read again if the connection is lost."""
        return self._read(lambda connection: connection.read_znodes(paths, deadline_s), deadline_s)

    def list_children(self, path: str, deadline_s: float) -> list[str]:
        """Return the names of a znode's children; read again if the connection is lost."""
        return self._read(lambda connection: connection.list_children(path, deadline_s), deadline_s)

    def _read(self, read: Callable[[ZooKeeperConnection], R], deadline_s: float) -> R:
        """Read on the shared connection; read again after a loss, until the deadline."""
        while True:
            try:
                with self._lock_connection(deadline_s) as connection:
                    return read(connection)
            except ZooKeeperUnreachable as unreachable:
                if not unreachable.is_sent or monotonic() >= deadline_s:
                    raise

    def change_znodes(self, steps: Sequence[ZnodeChange], deadline_s: float) -> bool:
        """Change znodes in one transaction; all steps are done, or none.

        Returns:
            Whether they were done; otherwise a znode is not as a step says it must be.

        Raises:
            ZooKeeperUnreachable: no answer came in time; whether they were done is known only if
                nothing was sent.
            ZooKeeperDenied: one may not be changed.
        """

        def request(client: Any) -> list[Any]:
            transaction = client.transaction()
            for step in steps:
                _add_step(transaction, step)
            return [transaction.commit_async()]

        with self._lock_connection(deadline_s) as connection:
            (answer,) = connection.send_requests(request, deadline_s)
        results = (answer.exception, *(answer.value or ()))
        problems = [result for result in results if isinstance(result, Exception)]
        for problem in problems:
            if not isinstance(problem, (*_CONFLICT_ERRORS, *_ROLLBACK_ERRORS)):
                raise ZooKeeperDenied(describe_denial(problem))
        return not problems

    def watch_znode(self, path: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever a znode may have changed.

        A thread of the session calls it, also without reason and after each loss of the
        connection; it must not take long.

        Returns:
            The function that ends the watch.
        """
        watch = _Watch(path, callback)
        self._watches.add(watch)
        connection = self._connection
        if connection is not None and connection.is_connected:
            self._arm_watch(connection, watch)
        return partial(self._watches.discard, watch)

    def _arm_watch(self, connection: ZooKeeperConnection, watch: _Watch) -> None:
        """Ask the server to report the next change of a znode.

        The callback is called once that is arranged: it then reads what has changed before, and
        is called again for what changes later.
        """

        def handle_event(event: Any) -> None:
            """Arm the watch again after a change; that also calls the callback."""
            # NONE: the connection is lost; on the next one all watches are armed again.
            if (
                event.type != EventType.NONE
                and connection is self._connection
                and watch in self._watches
            ):
                self._arm_watch(connection, watch)

        def notify_armed(_: Any) -> None:
            """Call the callback when the server has armed the watch."""
            if watch in self._watches:
                watch.notify()

        connection.client.exists_async(watch.path, watch=handle_event).rawlink(notify_armed)

    def _rearm_watches(self, connection: ZooKeeperConnection) -> None:
        """Arm all watches on a new connection: znodes may have changed before it was made."""
        for watch in tuple(self._watches):
            if connection is self._connection and connection.is_connected:
                self._arm_watch(connection, watch)

    @contextmanager
    def _lock_connection(self, deadline_s: float) -> Iterator[ZooKeeperConnection]:
        """Lock the connection for one call, and wait until it is ready.

        Raises:
            ZooKeeperUnreachable: other threads hold it until the deadline, or there is none.
        """
        if self._pid != os.getpid():
            self._reset()
        if not self._request_lock.acquire(timeout=compute_remaining_s(deadline_s)):
            reason, connection = "other threads are waiting for answers", self._connection
            if connection is not None:
                reason = connection.get_last_reason(reason)
            raise ZooKeeperUnreachable(reason, is_sent=False)
        try:
            yield self._wait_until_ready(deadline_s)
        finally:
            self._request_lock.release()

    def _wait_until_ready(self, deadline_s: float) -> ZooKeeperConnection:
        """Wait until the connection is ready, and return it; a dead one is replaced."""
        while True:
            connection = self._renew_connection(deadline_s)
            try:
                connection.wait_until_ready(deadline_s)
            except ZooKeeperUnreachable:
                if not connection.is_dead or not compute_remaining_s(deadline_s):
                    raise
            else:
                return connection

    def _renew_connection(self, deadline_s: float) -> ZooKeeperConnection:
        """Return the connection, or a new one if it is dead."""
        if self._connection is not None:
            if not self._connection.is_dead:
                return self._connection
            self._connection.close(wait_s=0.0)
            # A server whose answers make no sense is not called without pause.
            sleep(min(MIN_RETRY_PAUSE_S, compute_remaining_s(deadline_s)))
        self._connection = ZooKeeperConnection(self.hosts, self._rearm_watches)
        return self._connection


class _Watch:
    """A function to call when a znode changes."""

    def __init__(self, path: str, callback: Callable[[], None]) -> None:
        self.path, self._callback = path, callback

    def notify(self) -> None:
        """Call the callback, and log what it raises."""
        try:
            self._callback()
        except Exception:  # noqa: BLE001 - whatever it is, the other watches are still notified
            LOG.exception("the callback of a watch on znode %s has failed", self.path)


def _add_step(transaction: Any, step: ZnodeChange) -> None:
    if step.operation == "check":
        transaction.check(step.path, step.version)
    elif step.operation == "set":
        transaction.set_data(step.path, step.data, step.version)
    elif step.operation == "create":
        transaction.create(step.path, step.data)
    else:
        transaction.delete(step.path, step.version)
