"""The interface of a catalog: entries by table, replaced only by clients that read the last one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import Conflict, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.catalog.catalog_entry import CatalogEntry
    from rowkey.engines import Engine


NOTES_REMEDY = "Delete it; an interrupted load of this table then starts again at its first row."
"""What to do about damaged notes, which say how far loads of files have come."""

CATALOG_TABLE = "rowkey.catalog"
"""The table in which the kind `table` remembers the others of an engine."""


class Catalog(ABC):
    """Keeps the entries of tables for all clients.

    Every write is all or nothing, and of several at once on the same version one wins: a client
    reads, decides, and writes if nothing has changed meanwhile.
    """

    name: ClassVar[str]
    """The scheme of its URLs."""

    @classmethod
    @abstractmethod
    def open(cls, location: str) -> Catalog:
        """Open the catalog.

        Args:
            location: what stands behind the scheme and its colon.

        Raises:
            Unavailable: it cannot be reached.
        """

    @classmethod
    def open_on_engine(cls, engine: Engine, url: str) -> Catalog:
        """Open the catalog of this type that lies next to the tables of an engine.

        Args:
            engine: where they are; it stays open when the catalog is closed.
            url: the engine's, for messages.

        Raises:
            Unavailable: the kind needs a place of its own.
        """
        raise InvalidArgument("catalog", f"{cls.name!r} alone names no place", f"{cls.name}:WHERE")

    @abstractmethod
    def read(self, table: str) -> CatalogEntry | None:
        """Return the entry of a table, with its version; None if there is none.

        Raises:
            Unavailable: what is stored cannot be read, or is no entry.
        """

    @abstractmethod
    def write(self, table: str, entry: CatalogEntry, expected_version: int | None) -> int:
        """Replace the entry of a table.

        Args:
            table: its name.
            entry: the new entry; its own version says nothing.
            expected_version: the version that was read, or None if there was no entry.

        Returns:
            The version that the entry has now.

        Raises:
            Conflict: the entry has another version, or there is one, or none.
            Unavailable: it cannot be stored.
        """

    @abstractmethod
    def remove(self, table: str, expected_version: int | None = None) -> None:
        """Remove the entry of a table and its notes; a missing entry is no error.

        Args:
            table: its name.
            expected_version: the version that was read; None forgets whatever there is.

        Raises:
            Conflict: there is an entry of another version.
        """

    @abstractmethod
    def read_notes(self, table: str) -> dict[str, str]:
        """Return the notes of a table, small texts next to its entry, by name."""

    @abstractmethod
    def write_note(self, table: str, note_name: str, text: str | None) -> None:
        """Write a note of a table, such as how far a load has come; None removes it.

        It has no version: of several who note the same word at once, one is right.
        """

    @abstractmethod
    def list_tables(self) -> list[str]:
        """Return the names of the tables that have an entry, ascending."""

    def watch(self, table: str, callback: Callable[[], None]) -> None:  # noqa: B027 - most cannot
        """Call a function when the entry of a table may have changed.

        A catalog that cannot notice it does nothing: who asks reads the entry now and then as well.

        Args:
            table: its name.
            callback: called from any thread, any number of times; it must return at once.
        """

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Close the catalog; closing twice is harmless."""


def check_removal(table: str, stored_version: int | None, expected_version: int | None) -> None:
    """Raise unless the entry to remove is the one that was read.

    Raises:
        Conflict: they differ.
    """
    if stored_version is not None and expected_version is not None:
        check_version(table, stored_version, expected_version)


def check_version(table: str, stored_version: int | None, expected_version: int | None) -> None:
    """Raise unless the entry to replace is the one that was read.

    Args:
        table: the table's name.
        stored_version: the version that the entry has; None if there is none.
        expected_version: the version that was read; None if there was no entry.

    Raises:
        Conflict: they differ.
    """
    if stored_version != expected_version:
        raise Conflict(
            f"table {table}",
            f"its entry is {_format_version(stored_version)}",
            _format_version(expected_version),
        )


def _format_version(version: int | None) -> str:
    """Return a version as a message shows it."""
    return "none" if version is None else f"version {version}"
