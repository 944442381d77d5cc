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

from rowkey.errors import OneMistakeError, RowkeyError, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.catalog.contract import Catalog
    from rowkey.catalog.entry import Entry

SOON = 3
"""Part of its time after which an entry is read again: two tries may fail before it ends."""
AGAIN = 30
"""Part of its time that lies between two tries, so that a catalog that is down is not besieged."""

BACK = "It goes on by itself once the catalog answers."
ANEW = "Open the table again, if it is right so; else restore its catalog."

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
    rowkey.errors.Unsupported: table t: the catalog does not know it any more; expected ...
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
        self._failures = 0
        self._told: tuple[float, RowkeyError] | None = None
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
            if not self.is_over:  # somebody has, or it was read behind them
                return
            if self._failures > failures:
                self._raise_lost()
            try:
                self.renew()
            except Unsupported:
                if self.is_over:
                    raise

    def renew(self) -> Entry:
        """Read the entry now.

        Raises:
            Unsupported: the catalog does not answer, does not know the table, or knows something
                that does not follow from what was read before: it was put back, or the table was
                made anew.
        """
        at, stale_s, before = self.clock(), self.age_s, self._entry
        try:
            found = self.catalog.read(self.table)
        except RowkeyError as problem:
            self._told, self._failures = (stale_s, problem), self._failures + 1
            self._raise_lost()
        if found is None:
            self._refuse("the catalog does not know it any more")
        with self._lock:
            if found.version < self._entry.version and found.follows(before):
                # It was asked before this client has written what it goes by now.
                self._since = max(self._since, at)
                return self._entry
            self._accept(found)
            self._since = max(self._since, at)
            return self._entry

    def _raise_lost(self) -> NoReturn:
        """Tell that the catalog did not answer when it was asked last, and why."""
        assert self._told is not None
        stale_s, problem = self._told
        said, remedy = str(problem), BACK
        if isinstance(problem, OneMistakeError):
            why = problem.mistake
            said, remedy = f"{why.path}: {why.what}", f"{why.remedy} {BACK}".strip()
        what = f"its catalog has not answered for {stale_s:.0f} s: {said}"
        allowed = f"an answer within {self.max_stale_s:g} s"
        raise Unsupported(f"table {self.table}", what, allowed, remedy) from problem

    def _accept(self, found: Entry) -> None:
        """Go by an entry from now on, under the lock, if it follows from what is known.

        If it does not nobody may go by what is known any longer: rows may stand elsewhere.
        """
        known = self._entry
        if not found.follows(known):
            self._since = min(self._since, self.clock() - self.max_stale_s)
            if found.version < known.version:
                self._refuse(f"the catalog has version {found.version} of it, not the last one")
            self._refuse("its catalog was put back, or it was made anew")
        if found.version > known.version:
            self._keep(found)

    def _refuse(self, what: str) -> NoReturn:
        allowed = f"its version {self._entry.version} as it was read here, or what came of that"
        raise Unsupported(f"table {self.table}", what, allowed, ANEW)

    def took(self, entry: Entry) -> None:
        """Go by an entry that this client has written itself, or has found when it wanted to.

        Raises:
            Unsupported: it does not follow from what is known.
        """
        with self._lock:
            if not self._entry.follows(entry):
                self._accept(entry)

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
