"""The engine of a portal: open while it is used, or all the time if others can open it too."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, nullcontext
from threading import RLock
from typing import TYPE_CHECKING, Any

from rowkey.engines import ENGINES, open_engine
from rowkey.errors import InvalidArgument
from rowkey.table import create_table, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.design import Design
    from rowkey.engines import Engine
    from rowkey.table import Table


class EngineSession:
    """Opens the engine that a portal shows.

    An engine that only one process can have open is closed after each use, so that commands and
    long work in other processes can open it. Another one stays open.

    Args:
        url: its URL; None for a portal that shows design files only.
    """

    def __init__(self, url: str | None) -> None:
        self.url = url
        self._lock = RLock()
        self._engine: Engine | None = None

    @contextmanager
    def open(self) -> Iterator[Engine]:
        """Open the engine for the time of a `with` block.

        Of an engine of one process, blocks of several threads run one after the other.

        Raises:
            InvalidArgument: the portal has no engine, or nothing is stored at its URL.
            Unavailable: the engine cannot be reached, or another process has it open.
        """
        url = self.require_url()
        with ExitStack() as stack:
            stack.enter_context(self._lock)
            engine = self._engine or open_engine(url, create=False)
            if engine.is_exclusive:
                stack.enter_context(engine)
            else:
                self._engine = engine
                stack.close()  # others may use it at the same time
            yield engine

    @contextmanager
    def open_table(self, name: str) -> Iterator[Table]:
        """Open a table for the time of a `with` block, on an engine of its own.

        Raises:
            InvalidArgument: the portal has no engine, or that has no such table.
            Unavailable: as for `open`.
        """
        url = self.require_url()
        with self.wait_for_pages(), open_table(name, url, create=False) as table:
            yield table

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
        url = self.require_url()
        with self.wait_for_pages(), create_table(design, url, **arguments) as table:
            yield table

    @contextmanager
    def wait_for_pages(self) -> Iterator[None]:
        """Keep other threads from opening an engine of one process, for a `with` block.

        Another thread than that of the block may close what it opens.
        """
        with self._lock if self._is_exclusive else nullcontext():
            yield

    @property
    def _is_exclusive(self) -> bool:
        """Whether only one process at a time can have the engine open, and only once."""
        scheme = self.require_url().partition(":")[0]
        return any(one.is_exclusive for one in ENGINES.values() if one.scheme == scheme)

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
