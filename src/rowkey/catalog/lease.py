"""The time for which a client may use the catalog entry that it has read of a table.

A catalog may be out of reach for a while, and clients go on without it. But a client that changes a
table must know when no client uses the old entry any more. So an entry that was read may be used
for some seconds; then it is read again, or no row is written or read until it can be. A change of
bucket counts waits for this time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread, current_thread
from typing import NoReturn

from rowkey.boottime import read_boottime_s
from rowkey.catalog.catalog_entry import CatalogEntry
from rowkey.catalog.contract import Catalog
from rowkey.errors import OneMistakeError, RowkeyError, Unavailable

REFRESH_DIVISOR = 3
"""An entry is read again after this part of its time: two tries may fail before it ends."""
RETRY_DIVISOR = 30
"""This part of its time lies between two tries, to spare a catalog that is down."""

RECOVERY_HINT = "Reads and writes go on by themselves once the catalog answers."
REOPEN_HINT = (
    "If the table was created again, open it again; else restore its catalog from a newer backup."
)

CLOSE_TIMEOUT_S = 5.0
"""Seconds that a closed lease waits for an answer; then the catalog is closed all the same."""


class Lease:
    """The entry of a table that a client has read, for as long as the client may use it.

    Every read and write of the table gets the entry here. One thread at a time reads the entry
    again in the background; readers and writers wait for it only when the time is over.

    Args:
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
    rowkey.errors.Unavailable: table t: the catalog no longer has an entry for this table...
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
        """Use an entry, and its limit of staleness, from now on."""
        self._entry = entry
        given = self._stale_limit_s
        self.max_stale_s = entry.max_stale_s if given is None else min(given, entry.max_stale_s)
        self._refresh_after_s = self.max_stale_s / REFRESH_DIVISOR

    def _ensure_fresh(self) -> None:
        """Start to read the entry again in the background; if it has expired, read it and wait."""
        if not self.is_expired:
            self.start_refresh()
            return
        self._renew_older(self.max_stale_s)

    def try_renewal(self) -> None:
        """Read the entry again now; if the catalog does not answer, the entry is used on.

        Raises:
            Unavailable: the catalog does not answer, and the entry has expired.
        """
        self._renew_older(self.max_stale_s / 2)

    def _renew_older(self, age_s: float) -> None:
        """Read the entry again, one thread for all, unless a thread has read it lately.

        Args:
            age_s: the seconds from which the entry is read again.
        """
        failures = self._failure_count
        with self._renewal_lock:
            if self.age_s < age_s:  # another thread has renewed it
                return
            if self._failure_count > failures:
                if self.is_expired:
                    self._raise_unavailable()
                return
            try:
                self.renew_entry()
            except Unavailable:
                if self.is_expired:
                    raise

    def renew_entry(self) -> CatalogEntry:
        """Read the table's entry from the catalog now, which renews the lease.

        Raises:
            Unavailable: the catalog does not answer, has no entry, or has one that is not a
                successor of the entry read before: the catalog was restored, or the table was
                created again.
        """
        at, stale_s, previous_entry = self.clock(), self.age_s, self._entry
        try:
            entry = self.catalog.read(self.table)
        except RowkeyError as problem:
            self._last_failure, self._failure_count = (stale_s, problem), self._failure_count + 1
            self._raise_unavailable()
        if entry is None:
            self._raise_mismatch("the catalog no longer has an entry for this table")
        with self._lock:
            if entry.version < self._entry.version and entry.is_successor_of(previous_entry):
                # This entry was read before the client wrote the one that it uses now.
                self._read_at_s = max(self._read_at_s, at)
                return self._entry
            self._accept_successor(entry)
            self._read_at_s = max(self._read_at_s, at)
            return self._entry

    def _raise_unavailable(self) -> NoReturn:
        """Raise `Unavailable` with the reason why the last read of the catalog failed."""
        assert self._last_failure is not None
        stale_s, problem = self._last_failure
        reason, remedy = str(problem), RECOVERY_HINT
        if isinstance(problem, OneMistakeError):
            why = problem.mistake
            reason, remedy = f"{why.path}: {why.problem}", f"{why.remedy} {RECOVERY_HINT}".strip()
        what = f"its catalog has not answered for {stale_s:.0f} s: {reason}"
        allowed = f"an answer within {self.max_stale_s:g} s" if stale_s >= self.max_stale_s else ""
        raise Unavailable(f"table {self.table}", what, allowed, remedy) from problem

    def _accept_successor(self, entry: CatalogEntry) -> None:
        """Use an entry from now on if it is a successor of the current one; call under the lock.

        If it is not, the current one may not be used any longer: rows may be stored under other
        row keys than it says.
        """
        current_entry = self._entry
        if not entry.is_successor_of(current_entry):
            self._read_at_s = min(self._read_at_s, self.clock() - self.max_stale_s)
            if entry.version < current_entry.version:
                self._raise_mismatch(
                    f"the catalog has an older entry than was read before, version {entry.version}"
                )
            self._raise_mismatch(
                "its catalog was restored from a backup, or the table was created again"
            )
        if entry.declaration != current_entry.declaration:
            self._require_same_companions(entry)
        if entry.version > current_entry.version:
            self._set_entry(entry)

    def _require_same_companions(self, entry: CatalogEntry) -> None:
        """Raise if a table has other companions in an entry than in the known one.

        This client has not opened them, so that its writes would not reach them.

        Raises:
            Unavailable: it has others.
        """
        names, known_names = entry.companion_names, self._entry.companion_names
        if names != known_names:
            self._read_at_s = min(self._read_at_s, self.clock() - self.max_stale_s)
            what = (
                f"the table has the companions {', '.join(names) or 'none'} now, and this client "
                f"has opened it with {', '.join(known_names) or 'none'}, so a row that was written "
                "just now may be missing in a companion"
            )
            remedy = "Open the table again, by its name or with a design that declares them."
            raise Unavailable(f"table {self.table}", what, remedy=remedy)

    def _raise_mismatch(self, problem: str) -> NoReturn:
        """Raise `Unavailable` for an entry that is not a successor of the known one."""
        allowed = f"version {self._entry.version} of the table's entry, or a later version"
        raise Unavailable(f"table {self.table}", problem, allowed, REOPEN_HINT)

    def adopt_entry(self, entry: CatalogEntry) -> None:
        """Use an entry that this client wrote or read, unless the known one is the same or later.

        Raises:
            Unavailable: neither entry follows from the other.
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

        A read that fails is repeated until the entry expires.
        """
        with self._lock:
            if self.clock() >= self._next_try_s:
                self._start_thread()

    def _start_thread(self) -> None:
        """Start the thread that reads the entry, if none runs; call under the lock."""
        if self._thread is None and not self._is_closed:
            self._thread = Thread(target=self._read_in_background, name="rowkey-lease", daemon=True)
            self._thread.start()

    def _read_in_background(self) -> None:
        """Read the entry again, and once more if it was reported to change meanwhile."""
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
        """Stop the background reads, waiting briefly for one under way; may be called twice."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is not None and thread is not current_thread():
            thread.join(CLOSE_TIMEOUT_S)
