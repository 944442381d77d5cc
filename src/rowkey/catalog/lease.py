"""How long a client may use what it has read of a table: a change of bucket counts waits for that.

A catalog may be out of reach for a while, and clients go on without it. But a client that changes a
table must know when no client uses the old entry any more. So an entry that was read is good for
some seconds; then it is read again, or nothing is written or read until it can be.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from threading import Lock, Thread, current_thread
from typing import TYPE_CHECKING, NoReturn

from rowkey.errors import OneMistakeError, RowkeyError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.catalog.catalog_entry import CatalogEntry
    from rowkey.catalog.contract import Catalog

REFRESH_DIVISOR = 3
"""An entry is read again after this part of its time: two tries may fail before it ends."""
RETRY_DIVISOR = 30
"""This part of its time lies between two tries, to spare a catalog that is down."""

RECOVERY_HINT = "It goes on by itself once the catalog answers."
REOPEN_HINT = "Open the table again, if it is right so; else restore its catalog."

CLOSE_TIMEOUT_S = 5.0
"""Seconds that a closed lease waits for an answer; then the catalog is closed all the same."""


read_boottime_s: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME)
    if hasattr(time, "CLOCK_BOOTTIME")
    else time.monotonic
)
"""Return seconds that never go back, and on Linux go on while the machine sleeps.

Source: clock_gettime(2), CLOCK_BOOTTIME of Linux; its CLOCK_MONOTONIC stops in a suspend.
"""


class Lease:
    """The entry of a table that a client has read, for as long as the client may use it.

    Every read and write of the table gets the entry here. One thread at a time reads the entry
    again in the background; readers and writers wait for it only when the time is over.

    Args:
        catalog: the table's catalog.
        table: its name.
        entry: the entry that was read.
        max_stale_s: the most seconds that it may be used; never longer than the entry says.
        clock: seconds that never go back, and go on while the process stands still.
        read_at_s: when the entry was read, by that clock; now if None.

    >>> from functools import partial
    >>> from rowkey.catalog import CatalogEntry, open_catalog
    >>> from rowkey.design import Design
    >>> entry = CatalogEntry.from_design(Design("t", "[id]", fields={"id": "u64"}), (), 0)
    >>> catalog, now = open_catalog("memory:"), [0.0]
    >>> lease = Lease(catalog, "t", entry, clock=partial(now.__getitem__, 0))
    >>> now[0] = 59.0
    >>> lease.get_entry() is entry
    True
    >>> now[0] = 60.0
    >>> lease.get_entry()
    Traceback (most recent call last):
    rowkey.errors.Unavailable: table t: the catalog does not know it any more; expected ...
    """

    def __init__(
        self,
        catalog: Catalog,
        table: str,
        entry: CatalogEntry,
        max_stale_s: float | None = None,
        clock: Callable[[], float] = read_boottime_s,
        *,
        read_at_s: float | None = None,
    ) -> None:
        self.catalog = catalog
        self.table = table
        self.clock = clock
        self._stale_limit_s = max_stale_s
        self._read_at_s = clock() if read_at_s is None else read_at_s
        self._next_try_s = self._read_at_s
        self._lock = Lock()
        self._renewal_lock = Lock()
        self._failure_count = 0
        self._last_failure: tuple[float, RowkeyError] | None = None
        self._thread: Thread | None = None
        self._is_changed = False
        self._is_closed = False
        self._set_entry(entry)
        catalog.watch(table, self.notify_change)

    def get_entry(self) -> CatalogEntry:
        """Return the entry, read again if it is too old to be used.

        Raises:
            Unavailable: it was read too long ago, and the catalog does not answer.

        Cost: 0.1 µs; a read of the catalog where the table was not used for long.
        """
        if self.clock() - self._read_at_s >= self._refresh_after_s:
            self._ensure_fresh()
        return self._entry

    @property
    def last_entry(self) -> CatalogEntry:
        """The entry that was read last, whether it may still be used or not."""
        return self._entry

    @property
    def age_s(self) -> float:
        """The seconds since the known entry was read."""
        return self.clock() - self._read_at_s

    @property
    def is_expired(self) -> bool:
        """Whether the known entry may not be used any more."""
        return self.age_s >= self.max_stale_s

    def _set_entry(self, entry: CatalogEntry) -> None:
        """Use an entry from now on."""
        self._entry = entry
        given = self._stale_limit_s
        self.max_stale_s = entry.max_stale_s if given is None else min(given, entry.max_stale_s)
        self._refresh_after_s = self.max_stale_s / REFRESH_DIVISOR

    def _ensure_fresh(self) -> None:
        """Start to read the entry again in the background, or wait for it if it has expired."""
        if not self.is_expired:
            self.start_refresh()
            return
        failures = self._failure_count
        with self._renewal_lock:  # one thread reads for all
            if not self.is_expired:  # another thread has renewed it
                return
            if self._failure_count > failures:
                self._raise_unavailable()
            try:
                self.renew_entry()
            except Unavailable:
                if self.is_expired:
                    raise

    def renew_entry(self) -> CatalogEntry:
        """Read the entry now.

        Raises:
            Unavailable: the catalog does not answer, does not know the table, or knows something
                that does not follow from what was read before: it was put back, or the table was
                created again.
        """
        at, stale_s, before = self.clock(), self.age_s, self._entry
        try:
            found = self.catalog.read(self.table)
        except RowkeyError as problem:
            self._last_failure, self._failure_count = (stale_s, problem), self._failure_count + 1
            self._raise_unavailable()
        if found is None:
            self._raise_mismatch("the catalog does not know it any more")
        with self._lock:
            if found.version < self._entry.version and found.is_successor_of(before):
                # It was read before this client has written the entry that it uses now.
                self._read_at_s = max(self._read_at_s, at)
                return self._entry
            self._accept_successor(found)
            self._read_at_s = max(self._read_at_s, at)
            return self._entry

    def _raise_unavailable(self) -> NoReturn:
        """Raise the error of the last read of the catalog."""
        assert self._last_failure is not None
        stale_s, problem = self._last_failure
        said, remedy = str(problem), RECOVERY_HINT
        if isinstance(problem, OneMistakeError):
            why = problem.mistake
            said, remedy = f"{why.path}: {why.problem}", f"{why.remedy} {RECOVERY_HINT}".strip()
        what = f"its catalog has not answered for {stale_s:.0f} s: {said}"
        allowed = f"an answer within {self.max_stale_s:g} s"
        raise Unavailable(f"table {self.table}", what, allowed, remedy) from problem

    def _accept_successor(self, entry: CatalogEntry) -> None:
        """Use an entry from now on, under the lock, if it follows from the known one.

        If it does not, the known one may not be used any longer: rows may stand elsewhere.
        """
        known = self._entry
        if not entry.is_successor_of(known):
            self._read_at_s = min(self._read_at_s, self.clock() - self.max_stale_s)
            if entry.version < known.version:
                self._raise_mismatch(
                    f"the catalog has version {entry.version} of it, not the last one"
                )
            self._raise_mismatch("its catalog was put back, or it was created again")
        if entry.version > known.version:
            self._set_entry(entry)

    def _raise_mismatch(self, problem: str) -> NoReturn:
        """Raise the error of an entry that does not follow from the known one."""
        allowed = f"its version {self._entry.version} as it was read here, or what came of that"
        raise Unavailable(f"table {self.table}", problem, allowed, REOPEN_HINT)

    def adopt_entry(self, entry: CatalogEntry) -> None:
        """Use an entry that this client has written itself, or has just read.

        Raises:
            Unavailable: it does not follow from what is known.
        """
        with self._lock:
            if not self._entry.is_successor_of(entry):
                self._accept_successor(entry)

    def notify_change(self) -> None:
        """Read the entry again in the background, because it may have changed."""
        with self._lock:
            self._is_changed = True
            self._start_thread()

    def start_refresh(self) -> None:
        """Read the entry again in the background, unless that is under way or was just tried.

        What does not come is asked for again, until the time is over.
        """
        with self._lock:
            if self.clock() >= self._next_try_s:
                self._start_thread()

    def _start_thread(self) -> None:
        """Start the reading thread if there is none; called under the lock."""
        if self._thread is None and not self._is_closed:
            self._thread = Thread(target=self._read_in_background, name="rowkey-lease", daemon=True)
            self._thread.start()

    def _read_in_background(self) -> None:
        """Read the entry until no change was notified meanwhile."""
        is_wanted = True
        while is_wanted:
            self._is_changed = False
            # An error is raised when the time is over, to the thread that waits for the entry.
            with suppress(Exception):
                self.renew_entry()
            with self._lock:
                self._next_try_s = self.clock() + self.max_stale_s / RETRY_DIVISOR
                is_wanted = self._is_changed and not self._is_closed
                if not is_wanted:
                    self._thread = None

    def close(self) -> None:
        """Stop reading, and wait a while for a read under way; closing twice is harmless."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is not None and thread is not current_thread():
            thread.join(CLOSE_TIMEOUT_S)
