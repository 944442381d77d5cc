"""The interface of a catalog: entries by table, replaced only by clients that read the last one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rowkey.catalog.catalog_entry import CatalogEntry
from rowkey.errors import Conflict, InvalidArgument

if TYPE_CHECKING:
    from rowkey.engines import Engine


NOTES_REMEDY = (
    "Delete this document, which only says how far loads have come: an interrupted load of this "
    "table then starts again at its first row."
)
"""What to do about damaged notes, which say how far loads of files have come."""

CATALOG_TABLE = "rowkey.catalog"
"""The table in which a catalog of type `table` keeps the entries of an engine's other tables."""


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
        """Open the catalog at a location.

        Args:
            location: its URL without the scheme and the colon.

        Raises:
            Unavailable: it cannot be reached.
        """

    @classmethod
    def open_on_engine(cls, engine: Engine, url: str) -> Catalog:
        """Open a catalog of this type that an engine stores next to its tables.

        Args:
            engine: the engine; it stays open when the catalog is closed.
            url: the engine's, for messages.

        Raises:
            InvalidArgument: catalogs of this type are not stored on an engine.
        """
        what = f"{cls.name!r} alone does not say where the catalog is"
        raise InvalidArgument("catalog", what, f"{cls.name}:WHERE")

    @abstractmethod
    def read(self, table: str) -> CatalogEntry | None:
        """Return the entry of a table, with its version; None if there is none.

        Raises:
            CorruptionError: the stored entry is damaged.
            Unavailable: it cannot be read, or is not an entry of the table.
        """

    @abstractmethod
    def write(self, table: str, entry: CatalogEntry, expected_version: int | None) -> int:
        """Replace the entry of a table.

        Args:
            table: its name.
            entry: the new entry; its own version is ignored.
            expected_version: the version that was read, or None if there was no entry.

        Returns:
            The version that the entry has now.

        Raises:
            Conflict: there is an entry of another version, or none.
            Unavailable: it cannot be stored.
        """

    @abstractmethod
    def remove(self, table: str, expected_version: int | None = None) -> None:
        """Remove the entry of a table and its notes; a missing entry is no error.

        Args:
            table: its name.
            expected_version: the version that was read; None removes any version.

        Raises:
            Conflict: there is an entry of another version.
        """

    @abstractmethod
    def read_notes(self, table: str) -> dict[str, str]:
        """Return the notes of a table, small texts next to its entry, by name.

        Raises:
            CorruptionError: the stored notes are damaged.
            Unavailable: they cannot be read.
        """

    @abstractmethod
    def write_note(self, table: str, note_name: str, text: str | None) -> None:
        """Write a note of a table, such as how far a load has come; None removes it.

        It has no version: of several clients that write the same note at once, one wins.
        """

    @abstractmethod
    def list_tables(self) -> list[str]:
        """Return the names of the tables that have an entry, ascending."""

    def watch(self, table: str, callback: Callable[[], None]) -> None:  # noqa: B027 - most cannot
        """Call a function when the entry of a table may have changed.

        A catalog that cannot notice changes does nothing, so the caller also reads at intervals.

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
        stored, expected = map(_format_version, (stored_version, expected_version))
        what = f"another client changed its catalog entry meanwhile: the catalog now has {stored}"
        remedy = "Read the entry again, then repeat the change."
        if stored_version is None:
            remedy = "Check whether the table was dropped, then open it again."
        raise Conflict(f"table {table}", what, f"{expected}, as it was read", remedy)


def _format_version(version: int | None) -> str:
    """Return the version of an entry as a message shows it: `version 3`, or `no entry`."""
    return "no entry" if version is None else f"version {version}"


def build_contention_error(table: str, attempts: int) -> Conflict:
    """Return the error of a catalog entry that other clients changed before each of many writes."""
    what = f"other clients changed its catalog entry before each of {attempts:,} attempts to write"
    return Conflict(f"table {table}", what, remedy="Try again when fewer clients change the table.")
