"""The engine of a portal: opened once for all pages and steps that use it at the same time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any, TypeVar

from rowkey.design import Design
from rowkey.engines import ENGINES, Engine, open_engine
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.move import Move
from rowkey.table import Table, create_table, open_table

Result = TypeVar("Result")

QUICK_TIMEOUT_S = 3.0
"""Seconds that a call of a quick engine may take with all its attempts."""
ANSWER_LIMIT_S = 5.0
"""Seconds after which a user who asked for something gets an answer, whatever the engine does."""
MAX_LATE_CALLS = 16
"""Calls that may still hang after those who wait were answered; with more, none is begun."""
_POLL_S = 0.05
"""Seconds between two looks at whether the engine has been found not to answer."""


class EngineSession:
    """Opens the engine that a portal shows; all pages and steps share it while they use it.

    An engine that only one process can have open is closed after its last use, so that commands and
    long work in other processes can open it. Another one stays open, twice: a step waits as long as
    an engine does by itself, and a quick one fails after seconds, for all that somebody waits for.

    Args:
        url: its URL; None for a portal that shows design files only.
    """

    def __init__(self, url: str | None) -> None:
        self.url = url
        self.find_outage: Callable[[str], str] = lambda _: ""
        """Returns since when and why a table, or with "" the engine, does not answer, as the
        portal's watch has found."""
        self._lock = Lock()
        self._engines: dict[bool, Engine] = {}
        self._user_counts: Counter[bool] = Counter()
        self._late_calls: dict[bool, set[Future[Any]]] = {True: set(), False: set()}

    def ask(
        self, work: Callable[[], Result], limit_s: float = ANSWER_LIMIT_S, *, table: str = ""
    ) -> Result:
        """Return what some work with the engine returns that a user waits for.

        Args:
            work: uses the engine; it may still run when the call has ended.
            limit_s: seconds that it may take.
            table: the table that it reads; empty for none.

        Raises:
            Unavailable: the engine or the table does not answer, or not in time.
        """
        self.require_answers(table)
        return self.call(work, limit_s, stops_with=table)

    def require_answers(self, table: str = "") -> None:
        """Raise if the engine, or a table, is known not to answer, so that nobody waits for it.

        Raises:
            Unavailable: it does not.
        """
        if outage := self.find_outage(table):
            remedy = "The portal asks again every few seconds: see Live."
            raise Unavailable(self.require_url(), outage, remedy=remedy)

    def call(
        self, work: Callable[[], Result], limit_s: float, *, stops_with: str | None = None
    ) -> Result:
        """Return what some work returns, which runs in a thread of its own and may hang.

        Args:
            work: the work; it may still run when the call has ended.
            limit_s: seconds that it may take.
            stops_with: the table, or "", with whose outage the call ends, as a user waits for it.

        Raises:
            Unavailable: it took too long, or other calls that did still run.
        """
        late_calls = self._late_calls[stops_with is not None]  # users keep no thread from the watch
        if len(late_calls) >= MAX_LATE_CALLS:
            what = f"{MAX_LATE_CALLS} earlier calls have had no answer yet"
            raise Unavailable(self.require_url(), what, remedy="Try again later.")
        outcome: Future[Result] = Future()

        def run() -> None:
            try:
                outcome.set_result(work())
            except BaseException as problem:  # noqa: BLE001 - raised in the thread that waits
                outcome.set_exception(problem)

        Thread(target=run, name="rowkey call", daemon=True).start()
        deadline_s = time.monotonic() + limit_s
        while not wait([outcome], _POLL_S).done:
            is_out = stops_with is not None and bool(self.find_outage(stops_with))
            if time.monotonic() < deadline_s and not is_out:
                continue
            late_calls.add(outcome)
            outcome.add_done_callback(late_calls.discard)
            if stops_with is not None:
                self.require_answers(stops_with)
            what = f"there was no answer within {limit_s:g} s"
            raise Unavailable(self.require_url(), what, remedy="Try again later.")
        return outcome.result()

    @contextmanager
    def open(self, *, create: bool = False, quick: bool = False) -> Iterator[Engine]:
        """Open the engine for the time of a `with` block, which other blocks may share.

        Args:
            create: whether its folder is created if nothing is stored there.
            quick: whether each of its calls fails after seconds, because a user waits.

        Raises:
            InvalidArgument: the portal has no engine, or nothing is stored at its URL.
            Unavailable: the engine cannot be reached, or another process has it open.
        """
        with self._lend(opens=True, create=create, quick=quick) as engine:
            assert engine is not None, "it is opened"
            yield engine

    @contextmanager
    def share(self) -> Iterator[Engine | None]:
        """Lend the quick engine for a `with` block, unless others would be kept from it.

        Yields:
            The engine; None for one of one process that no other block has open.

        Raises:
            InvalidArgument: the portal has no engine, or nothing is stored at its URL.
            Unavailable: the engine cannot be reached.
        """
        with self._lend(opens=not self.is_exclusive, create=False, quick=True) as engine:
            yield engine

    @contextmanager
    def _lend(self, *, opens: bool, create: bool, quick: bool) -> Iterator[Engine | None]:
        """Lend the engine for the time of a `with` block; None if it is not to be opened for it."""
        url = self.require_url()
        quick = quick and self._engine_class.is_shared  # others are on no server
        with self._lock:
            if quick not in self._engines and opens:
                limit_s = QUICK_TIMEOUT_S if quick else None
                self._engines[quick] = open_engine(url, create=create, timeout_s=limit_s)
            engine = self._engines.get(quick)
            self._user_counts[quick] += engine is not None
        try:
            yield engine
        finally:
            with self._lock:
                self._user_counts[quick] -= engine is not None
                is_last = engine is not None and self._engines.get(quick) is engine
                is_last = is_last and not self._user_counts[quick]
                if engine is not None and is_last and engine.is_exclusive:
                    del self._engines[quick]
                    engine.close()  # before another block opens it again

    @contextmanager
    def open_table(self, name: str, *, quick: bool = False) -> Iterator[Table]:
        """Open a table for the time of a `with` block.

        Args:
            quick: as for `open`.

        Raises:
            InvalidArgument: the portal has no engine, or that has no such table.
            Unavailable: as for `open`.
        """
        with (
            self.open(quick=quick) as engine,
            open_table(name, self.require_url(), create=False, engine=engine) as table,
        ):
            yield table

    @contextmanager
    def open_move(self, name: str, *, quick: bool = False) -> Iterator[Move]:
        """Open the move of a table for the time of a `with` block.

        Args:
            quick: as for `open`.

        Raises:
            InvalidArgument: the portal has no engine, or that has no such table.
            Unavailable: as for `open`.
        """
        with (
            self.open(quick=quick) as engine,
            Move(name, self.require_url(), engine=engine) as move,
        ):
            yield move

    @contextmanager
    def create_table(self, design: Design, **arguments: Any) -> Iterator[Table]:
        """Create a table, and lend it for the time of a `with` block.

        Args:
            arguments: those of `rowkey.table.create_table`.

        Raises:
            InvalidArgument: the portal has no engine, or the table exists.
            Unavailable: as for `open`.
        """
        with (
            self.open(create=True) as engine,
            create_table(design, self.require_url(), engine=engine, **arguments) as table,
        ):
            yield table

    def has_table(self, name: str) -> bool:
        """Return whether the engine has a table; an engine that stores nothing yet has none.

        Raises:
            InvalidArgument: the portal has no engine.
            Unavailable: the engine does not answer, or not in time.
        """
        self.require_url()

        def look() -> bool:
            with self.open(quick=True) as engine:
                return engine.has_table(name)

        try:
            return self.ask(look)
        except InvalidArgument:  # nothing is stored at its URL
            return False

    @property
    def is_exclusive(self) -> bool:
        """Whether only one process at a time can have the engine open, and only once."""
        return self._engine_class.is_exclusive

    @property
    def is_open(self) -> bool:
        """Whether a block has the engine open now, or one had it that stays open."""
        return bool(self._engines)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is stored at the URL yet, so that there is no engine to open."""
        location = self.require_url().partition(":")[2]
        return not self._engine_class.is_initialized(location)

    @property
    def _engine_class(self) -> type[Engine]:
        scheme = self.require_url().partition(":")[0]
        return next(one for one in ENGINES.values() if one.scheme == scheme)

    def require_url(self) -> str:
        """Return the URL of the engine.

        Raises:
            InvalidArgument: the portal has none.
        """
        if self.url is None:
            what = "the portal was started without tables"
            raise InvalidArgument("--on", what, remedy="Start it with --on URL.")
        return self.url

    def close(self) -> None:
        """Close the engine if it is open; closing twice is harmless."""
        if self._lock.acquire(timeout=ANSWER_LIMIT_S):  # which a call that hangs may hold
            engines, self._engines = self._engines, {}
            self._lock.release()
            for engine in engines.values():
                engine.close()
