"""The engine of a portal: opened once for all pages and steps that use it at the same time."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from rowkey.engines import ENGINES, open_engine
from rowkey.errors import InvalidArgument
from rowkey.move import Move
from rowkey.table import create_table, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.design import Design
    from rowkey.engines import Engine
    from rowkey.table import Table


class EngineSession:
    """Opens the engine that a portal shows; all pages and steps share it while they use it.

    An engine that only one process can have open is closed after its last use, so that commands and
    long work in other processes can open it. Another one stays open.

    Args:
        url: its URL; None for a portal that shows design files only.
    """

    def __init__(self, url: str | None) -> None:
        self.url = url
        self._lock = Lock()
        self._engine: Engine | None = None
        self._user_count = 0

    @contextmanager
    def open(self, *, create: bool = False) -> Iterator[Engine]:
        """Open the engine for the time of a `with` block, which other blocks may share.

        Args:
            create: whether its folder is created if nothing is stored there.

        Raises:
            InvalidArgument: the portal has no engine, or nothing is stored at its URL.
            Unavailable: the engine cannot be reached, or another process has it open.
        """
        with self._lend(opens=True, create=create) as engine:
            assert engine is not None, "it is opened"
            yield engine

    @contextmanager
    def share(self) -> Iterator[Engine | None]:
        """Lend the engine for the time of a `with` block, unless others would be kept from it.

        Yields:
            The engine; None for one of one process that no other block has open.

        Raises:
            InvalidArgument: the portal has no engine, or nothing is stored at its URL.
            Unavailable: the engine cannot be reached.
        """
        with self._lend(opens=not self.is_exclusive, create=False) as engine:
            yield engine

    @contextmanager
    def _lend(self, *, opens: bool, create: bool) -> Iterator[Engine | None]:
        """Lend the engine for the time of a `with` block; None if it is not to be opened for it."""
        url = self.require_url()
        with self._lock:
            if self._engine is None and opens:
                self._engine = open_engine(url, create=create)
            engine = self._engine
            self._user_count += engine is not None
        try:
            yield engine
        finally:
            with self._lock:
                self._user_count -= engine is not None
                is_last = engine is not None and self._engine is engine and not self._user_count
                if engine is not None and is_last and engine.is_exclusive:
                    self._engine = None
                    engine.close()  # before another block opens it again

    @contextmanager
    def open_table(self, name: str) -> Iterator[Table]:
        """Open a table for the time of a `with` block.

        Raises:
            InvalidArgument: the portal has no engine, or that has no such table.
            Unavailable: as for `open`.
        """
        with (
            self.open() as engine,
            open_table(name, self.require_url(), create=False, engine=engine) as table,
        ):
            yield table

    @contextmanager
    def open_move(self, name: str) -> Iterator[Move]:
        """Open the move of a table for the time of a `with` block.

        Raises:
            InvalidArgument: the portal has no engine, or that has no such table.
            Unavailable: as for `open`.
        """
        with self.open() as engine, Move(name, self.require_url(), engine=engine) as move:
            yield move

    @contextmanager
    def create_table(self, design: Design, **arguments: Any) -> Iterator[Table]:
        """Create a table, and lend it for the time of a `with` block.

        Args:
            design: its design.
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
            Unavailable: as for `open`.
        """
        self.require_url()
        try:
            with self.open() as engine:
                return engine.has_table(name)
        except InvalidArgument:  # nothing is stored at its URL
            return False

    @property
    def is_exclusive(self) -> bool:
        """Whether only one process at a time can have the engine open, and only once."""
        return self._engine_class.is_exclusive

    @property
    def is_empty(self) -> bool:
        """Whether nothing is stored at the URL yet, so that there is no engine to open."""
        location = self.require_url().partition(":")[2]
        return not self._engine_class.is_initialized(location)

    @property
    def _engine_class(self) -> type[Engine]:
        """The class of the engine that the URL names."""
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
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
