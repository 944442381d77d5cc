"""Renews the leases of open scanners while their readers are busy with something else.

A server closes a scanner that got no request during its lease (60 s by default). One thread of a
client renews those that are not being read, and ends when none is left.
"""

from __future__ import annotations

from collections import deque
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from rowkey import fork_safety
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.scanning.region_scanner import RegionScanner

IDLE_THREAD_S = 5.0
"""Seconds without scanners after which the thread ends; starting another one takes 0.1 ms."""

_MAX_WAIT_S = 0.5
"""The most seconds between two checks, which also close scanners that were dropped unclosed."""


class LeaseHolder(Protocol):
    """A scanner whose lease the lease renewer renews."""

    def renew_if_due(self) -> float | None:
        """Renew the lease of the scanner if it is due; never waits.

        Returns:
            Seconds until it is due again; None if there is no lease to renew.
        """


class LeaseRenewer:
    """One thread that renews leases, and closes region scanners in the background.

    It never waits for a server, so a silent server does not delay the others.

    It references scanners weakly: one that is dropped is collected, and its region scanner closed
    here.

    Args:
        idle_thread_s: seconds without scanners after which the thread ends.
    """

    def __init__(self, idle_thread_s: float = IDLE_THREAD_S) -> None:
        self._idle_thread_s = idle_thread_s
        self._is_closed = False
        self.reset_in_child()
        fork_safety.register_resource(self)

    def reset_in_child(self) -> None:
        """Forget all scanners, which belong to the parent; called in a forked child process."""
        self._condition = Condition(Lock())
        self._holders: WeakSet[LeaseHolder] = WeakSet()
        self._to_close: deque[RegionScanner] = deque()
        self._thread: Thread | None = None

    @classmethod
    def get_for_caller(cls, caller: RetryingCaller) -> LeaseRenewer:
        """Return the lease renewer of a client, and create it for the first scanner."""
        renewer = _RENEWERS.get(caller)
        # `setdefault` is atomic, so that two threads get the same object without a lock.
        return _RENEWERS.setdefault(caller, cls()) if renewer is None else renewer

    @property
    def is_running(self) -> bool:
        """Whether the thread of the lease renewer runs."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def watch_lease(self, scanner: LeaseHolder) -> None:
        """Renew a scanner's lease from now on, until the scanner is closed."""
        with self._condition:
            if scanner not in self._holders:
                self._holders.add(scanner)
                self._ensure_thread()

    def close_when_answered(self, region_scanner: RegionScanner) -> None:
        """Close a region scanner in the background, as soon as its pending answer has come."""
        with self._condition:
            if not self._is_closed:
                self._to_close.append(region_scanner)
                self._ensure_thread()

    def close_later(self, region_scanner: RegionScanner) -> None:
        """Close, in the background, the region scanner of a scan that was garbage collected.

        The garbage collector calls this in any thread, so it takes no lock. If the renewer's thread
        does not run, it is closed when that runs next, or by the server when its lease expires.
        """
        if not self._is_closed:
            self._to_close.append(region_scanner)

    def close(self) -> None:
        """Stop the thread of the lease renewer; never waits."""
        with self._condition:
            self._is_closed = True
            self._to_close.clear()
            self._condition.notify()

    def dump_state(self) -> dict[str, Any]:
        """Return the counts of scanners and of region scanners to close, as JSON values."""
        with self._condition:
            scanners = len(self._holders)
        return {
            "scanners": scanners,
            "region_scanners_to_close": len(self._to_close),
            "is_running": self.is_running,
        }

    def _ensure_thread(self) -> None:
        """Start the thread if it does not run, and wake it; the caller holds the condition."""
        if self._is_closed:
            return
        if not self.is_running:
            thread = Thread(target=self._run_loop, name="rowkey-leases", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the process ends, or can have no more threads: leases expire
                return
            self._thread = thread
        self._condition.notify()

    def _run_loop(self) -> None:
        """Run the thread: renew leases and close scanners, until none is left for a while."""
        idle_since = monotonic()
        while not self._is_closed:
            wait_s = min(_MAX_WAIT_S, self._do_due_work())
            with self._condition:
                if self._is_closed:
                    return
                if self._holders or self._to_close:
                    idle_since = monotonic()
                elif monotonic() - idle_since >= self._idle_thread_s:
                    self._thread = None
                    return
                self._condition.wait(max(0.0, wait_s))

    def _do_due_work(self) -> float:
        """Renew the leases and close the scanners that are due; return the seconds to wait."""
        for _ in range(len(self._to_close)):
            self._close_oldest()
        with self._condition:
            scanners = list(self._holders)
        soonest_s = _MAX_WAIT_S
        while scanners:
            scanner = scanners.pop()
            due_in_s = scanner.renew_if_due()
            if due_in_s is None:
                with self._condition:
                    self._holders.discard(scanner)
            else:
                soonest_s = min(soonest_s, due_in_s)
            del scanner
        return soonest_s

    def _close_oldest(self) -> None:
        """Close the oldest region scanner in the queue; put it back if its answer is pending."""
        try:
            region_scanner = self._to_close.popleft()
        except IndexError:
            return  # the client was closed meanwhile
        if not region_scanner.close() and not self._is_closed:
            self._to_close.append(region_scanner)


_RENEWERS: WeakKeyDictionary[RetryingCaller, LeaseRenewer] = WeakKeyDictionary()
