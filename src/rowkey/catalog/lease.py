"""How long a client may go on with what it has read of a table: what a change of buckets waits for.

A catalog may be out of reach for a while, and nobody stops for that. But whoever changes a table
must know when nobody goes by the old entry any more. So an entry that was read is good for some
seconds; then it is read again, or nothing is written or read until it can be.
"""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Lock, Thread, current_thread
from typing import TYPE_CHECKING, NoReturn

from rowkey.errors import RowkeyError, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.catalog.contract import Catalog
    from rowkey.catalog.entry import Entry

SOON = 3
"""Part of its time after which an entry is read again: two tries may fail before it ends."""
AGAIN = 30
"""Part of its time that lies between two tries, so that a catalog that is down is not besieged."""

CLOSING_S = 5.0
"""Seconds that a closed lease waits for an answer; then the catalog is closed under it."""


def awake_or_asleep_s() -> float:
    """Seconds that never go back, and go on while the machine sleeps, where it can tell.

    Source: clock_gettime(2), CLOCK_BOOTTIME of Linux; its CLOCK_MONOTONIC stops in a suspend.
    """
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class Lease:
    """What a client knows of a table, for as long as it may go by that.

    It is asked before every read and write. One thread at a time reads the entry again in the
    background; nobody waits for it until the time is over. Several threads may ask.

    Args:
        catalog: where the table is remembered.
        table: its name.
        entry: what was read of it.
        max_stale_s: seconds that it may go on at most; never longer than the entry says.
        clock: seconds that never go back, and go on while the process stands still.
        since: when the entry was asked for, by that clock; now if None.

    >>> from functools import partial
    >>> from rowkey.catalog import Entry, open_catalog
    >>> from rowkey.design import Design
    >>> entry = Entry.of(Design("t", "[id]", fields={"id": "u64"}), (), 0)
    >>> catalog, now = open_catalog("memory:"), [0.0]
    >>> lease = Lease(catalog, "t", entry, clock=partial(now.__getitem__, 0))
    >>> now[0] = 59.0
    >>> lease.entry() is entry
    True
    >>> now[0] = 60.0
    >>> lease.entry()
    Traceback (most recent call last):
    rowkey.errors.Unsupported: table t: the catalog does not know it any more. Open it again, ...
    """

    def __init__(
        self,
        catalog: Catalog,
        table: str,
        entry: Entry,
        max_stale_s: float | None = None,
        clock: Callable[[], float] = awake_or_asleep_s,
        *,
        since: float | None = None,
    ) -> None:
        self.catalog = catalog
        self.table = table
        self.clock = clock
        self._most_s = max_stale_s
        self._since = clock() if since is None else since
        self._next = self._since
        self._lock = Lock()
        self._waiting = Lock()
        self._failures, self._told = 0, ""
        self._thread: Thread | None = None
        self._is_changed = False
        self._is_closed = False
        self._keep(entry)
        catalog.watch(table, self.changed)

    def entry(self) -> Entry:
        """What the table is, as far as this client may still go by it.

        Raises:
            Unsupported: it was read too long ago, and the catalog does not answer.

        Cost: 0.1 µs; a read of the catalog where the table was not used for long.
        """
        if self.clock() - self._since >= self._soon_s:
            self._look()
        return self._entry

    @property
    def known(self) -> Entry:
        """What was read last, whether anyone may still go by it or not."""
        return self._entry

    @property
    def age_s(self) -> float:
        """Seconds since the catalog was asked for what is known."""
        return self.clock() - self._since

    @property
    def is_over(self) -> bool:
        """Whether nobody may go by what is known any more."""
        return self.age_s >= self.max_stale_s

    def _keep(self, entry: Entry) -> None:
        """Go by an entry from now on."""
        self._entry = entry
        given = self._most_s
        self.max_stale_s = entry.max_stale_s if given is None else min(given, entry.max_stale_s)
        self._soon_s = self.max_stale_s / SOON

    def _look(self) -> None:
        """Have the entry read again: behind those who ask, or before they go on."""
        if not self.is_over:
            self.refresh()
            return
        failures = self._failures
        with self._waiting:  # one asks for all
            if self._failures > failures:
                raise Unsupported(f"table {self.table}", self._told, self._allowed)
            if self.is_over:
                self.renew()

    @property
    def _allowed(self) -> str:
        return f"at most {self.max_stale_s:g} s"

    def renew(self) -> Entry:
        """Read the entry now.

        Raises:
            Unsupported: the catalog does not answer, does not know the table, or knows less of it
                than was read before.
        """
        at, stale_s = self.clock(), self.age_s
        try:
            found = self.catalog.read(self.table)
        except RowkeyError as problem:
            what = f"its catalog has not answered for {stale_s:.0f} s: {problem}"
            self._told, self._failures = what, self._failures + 1
            raise Unsupported(f"table {self.table}", what, self._allowed) from problem
        if found is None:
            self._refuse("the catalog does not know it any more")
        with self._lock:
            if found.version < self._entry.version:
                self._refuse(f"the catalog has version {found.version} of it, not the last one")
            self._since = max(self._since, at)
            if found.version > self._entry.version:
                self._keep(found)
            return self._entry

    def _refuse(self, what: str) -> NoReturn:
        remedy = "Open it again, if it was made anew; else restore its catalog."
        raise Unsupported(f"table {self.table}", what, remedy=remedy)

    def took(self, entry: Entry) -> None:
        """Go by an entry that this client has written itself."""
        with self._lock:
            if entry.version > self._entry.version:
                self._keep(entry)

    def changed(self) -> None:
        """Have the entry read again in the background, for somebody has seen it change."""
        with self._lock:
            self._is_changed = True
            self._start()

    def refresh(self) -> None:
        """Have the entry read again in the background, unless that is being done or was just tried.

        What does not come is asked for again, until the time is over.
        """
        with self._lock:
            if self.clock() >= self._next:
                self._start()

    def _start(self) -> None:
        """Start the thread that reads, under the lock, if there is none."""
        if self._thread is None and not self._is_closed:
            self._thread = Thread(target=self._read_behind, name="rowkey-lease", daemon=True)
            self._thread.start()

    def _read_behind(self) -> None:
        is_wanted = True
        while is_wanted:
            self._is_changed = False
            # Whatever is wrong is told once the time is over and somebody waits for the answer.
            with suppress(Exception):
                self.renew()
            with self._lock:
                self._next = self.clock() + self.max_stale_s / AGAIN
                is_wanted = self._is_changed and not self._is_closed
                if not is_wanted:
                    self._thread = None

    def close(self) -> None:
        """Ask no more; what is being asked is waited for a while. Closing twice is harmless."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is not None and thread is not current_thread():
            thread.join(CLOSING_S)
