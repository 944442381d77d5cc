"""Keeps the scanners of a client alive while their readers are busy with something else.

A server forgets a scanner that was not asked for its lease (60 s by default). One thread a client
renews those that nobody reads, and ends when none is left.
"""

from __future__ import annotations

from collections import deque
from threading import Condition, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from rowkey import forks

if TYPE_CHECKING:
    from rowkey.hbase.calling import Caller
    from rowkey.hbase.scanning.source import Source

LINGER_S = 5.0
"""Seconds without scanners after which the thread ends: one is started in 0.1 ms when needed."""

_LOOK_S = 0.5
"""Seconds between two looks at most: then it closes what was dropped without being closed."""


class Kept(Protocol):
    """What a keeper looks after."""

    def keep(self) -> float | None:
        """Renew the lease if that is due.

        Returns:
            Seconds until it is due again; None if there is nothing to be renewed.
        """


class Keeper:
    """One thread that renews leases, and closes what nobody closes.

    It never waits for a server: one that is silent keeps no other from being asked.

    It knows scanners weakly: one that is dropped is collected, and its region scanner closed here.

    Args:
        linger_s: seconds without scanners after which the thread ends.
    """

    def __init__(self, linger_s: float = LINGER_S) -> None:
        self._linger_s = linger_s
        self._is_closed = False
        self.reset_in_child()
        forks.register(self)

    def reset_in_child(self) -> None:
        """In a forked child: look after nothing, for the scanners are the parent's."""
        self._changed = Condition(Lock())
        self._kept: WeakSet[Kept] = WeakSet()
        self._left: deque[Source] = deque()
        self._thread: Thread | None = None

    @classmethod
    def of(cls, caller: Caller) -> Keeper:
        """The keeper of a client: one for each caller."""
        found = _KEEPERS.get(caller)
        # `setdefault` is one step, so that two threads get the same without a lock.
        return _KEEPERS.setdefault(caller, cls()) if found is None else found

    @property
    def is_running(self) -> bool:
        """Whether its thread runs."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def watch(self, scanner: Kept) -> None:
        """Renew this one's lease from now on, until it says that it has none."""
        with self._changed:
            if scanner not in self._kept:
                self._kept.add(scanner)
                self._start()

    def finish(self, source: Source) -> None:
        """Close a region scanner whose answer is still on its way, when it has come."""
        with self._changed:
            if not self._is_closed:
                self._left.append(source)
                self._start()

    def drop(self, source: Source) -> None:
        """Close a region scanner of which nobody knows any more, sooner or later.

        Called while garbage is collected, in whichever thread: so it takes no lock. If the thread
        does not run, it is closed when it runs next, or by the server when its lease is over.
        """
        if not self._is_closed:
            self._left.append(source)

    def close(self) -> None:
        """Renew nothing any more, and close nothing; never waits."""
        with self._changed:
            self._is_closed = True
            self._left.clear()
            self._changed.notify()

    def dump(self) -> dict[str, Any]:
        """What it looks after, for people: scanners, and region scanners still to be closed."""
        with self._changed:
            kept = len(self._kept)
        return {"kept": kept, "to_close": len(self._left), "running": self.is_running}

    def _start(self) -> None:
        if self._is_closed:
            return
        if not self.is_running:
            thread = Thread(target=self._run, name="rowkey-leases", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the process ends, or has no room for a thread: leases run out
                return
            self._thread = thread
        self._changed.notify()

    def _run(self) -> None:
        idle_since = monotonic()
        while not self._is_closed:
            wait_s = min(_LOOK_S, self._look())
            with self._changed:
                if self._is_closed:
                    return
                if self._kept or self._left:
                    idle_since = monotonic()
                elif monotonic() - idle_since >= self._linger_s:
                    self._thread = None
                    return
                self._changed.wait(max(0.0, wait_s))

    def _look(self) -> float:
        """Do what is due; gives the seconds until something is due again."""
        for _ in range(len(self._left)):
            self._close_one()
        with self._changed:
            kept = list(self._kept)
        soonest = _LOOK_S
        while kept:
            scanner = kept.pop()
            due_in = scanner.keep()
            if due_in is None:
                with self._changed:
                    self._kept.discard(scanner)
            else:
                soonest = min(soonest, due_in)
            del scanner
        return soonest

    def _close_one(self) -> None:
        """Close the region scanner that has waited longest, or let it wait for its answer."""
        try:
            source = self._left.popleft()
        except IndexError:
            return  # the client was closed meanwhile
        if not source.close() and not self._is_closed:
            self._left.append(source)


_KEEPERS: WeakKeyDictionary[Caller, Keeper] = WeakKeyDictionary()
