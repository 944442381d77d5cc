"""What a catalog answers: entries by table, changed only by who has seen their last version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import Conflict, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.catalog.entry import Entry
    from rowkey.engines import Engine


CATALOG_TABLE = "rowkey.catalog"
"""The table in which the kind `table` remembers the others of an engine."""


class Catalog(ABC):
    """Remembers tables for everyone who opens them.

    Every write is all or nothing, and of several at once on the same version one wins: a client
    reads, decides, and writes if nothing has changed meanwhile.
    """

    name: ClassVar[str]
    """The scheme of its URLs."""

    @classmethod
    @abstractmethod
    def open(cls, where: str) -> Catalog:
        """Open the catalog.

        Args:
            where: what stands behind the scheme and its colon.

        Raises:
            Unsupported: it cannot be reached.
        """

    @classmethod
    def beside(cls, engine: Engine, url: str) -> Catalog:
        """Open the catalog that the kind's name alone means: it is where the tables are.

        Args:
            engine: where they are; it stays open when the catalog is closed.
            url: the engine's, for messages.

        Raises:
            Unsupported: the kind needs a place of its own.
        """
        raise Unsupported("catalog", f"{cls.name!r} alone names no place", f"{cls.name}:WHERE")

    @abstractmethod
    def read(self, table: str) -> Entry | None:
        """The entry of a table, with its version; None if there is none.

        Raises:
            Unsupported: what is stored cannot be read, or is no entry.
        """

    @abstractmethod
    def write(self, table: str, entry: Entry, expected: int | None) -> int:
        """Replace the entry of a table.

        Args:
            table: its name.
            entry: the new entry; its own version says nothing.
            expected: the version that was read, or None if there was no entry.

        Returns:
            The version that the entry has now.

        Raises:
            Conflict: the entry has another version, or there is one, or none.
            Unsupported: it cannot be stored.
        """

    @abstractmethod
    def remove(self, table: str, expected: int | None = None) -> None:
        """Forget a table and its notes; forgetting one that is not known is harmless.

        Args:
            table: its name.
            expected: the version that was read; None forgets whatever there is.

        Raises:
            Conflict: there is an entry of another version.
        """

    @abstractmethod
    def notes(self, table: str) -> dict[str, str]:
        """What was noted of a table beside its entry, by word."""

    @abstractmethod
    def note(self, table: str, word: str, text: str | None) -> None:
        """Note something small of a table, such as how far a load has come; None forgets it.

        It has no version: of several who note the same word at once, one is right.
        """

    @abstractmethod
    def tables(self) -> list[str]:
        """The names of the tables that are remembered, ascending."""

    def watch(self, table: str, changed: Callable[[], None]) -> None:  # noqa: B027 - most cannot
        """Have somebody told when the entry of a table may have changed.

        A catalog that cannot notice it does nothing: who asks reads the entry now and then as well.

        Args:
            table: its name.
            changed: called from any thread, any number of times; it must return at once.
        """

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Let go of what the catalog holds; closing twice is harmless."""


def check_removed(table: str, found: int | None, expected: int | None) -> None:
    """Refuse to forget an entry that is not the one that was read.

    Raises:
        Conflict: they differ.
    """
    if found is not None and expected is not None:
        check_version(table, found, expected)


def check_version(table: str, found: int | None, expected: int | None) -> None:
    """Refuse to replace an entry that is not the one that was read.

    Args:
        table: the table's name.
        found: the version that the entry has; None if there is none.
        expected: the version that was read; None if there was no entry.

    Raises:
        Conflict: they differ.
    """
    if found != expected:
        raise Conflict(f"table {table}", f"its entry is {_said(found)}", _said(expected))


def _said(version: int | None) -> str:
    return "none" if version is None else f"version {version}"
