"""The catalog `memory`: entries in the memory of the process."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import ClassVar

from rowkey.catalog.catalog_entry import CatalogEntry
from rowkey.catalog.contract import Catalog, check_removal, check_version


class MemoryCatalog(Catalog):
    """Entries in memory: `memory:` for a catalog of its own, `memory:NAME` for a shared one."""

    name = "memory"
    _shared_catalogs: ClassVar[dict[str, MemoryCatalog]] = {}

    def __init__(self) -> None:
        self._entries: dict[str, CatalogEntry] = {}
        self._notes: dict[str, dict[str, str]] = {}
        self._lock = Lock()

    @classmethod
    def open(cls, location: str = "") -> MemoryCatalog:
        """Return a new catalog, or the catalog that all callers of this name share."""
        return cls._shared_catalogs.setdefault(location, cls()) if location else cls()

    def read(self, table: str) -> CatalogEntry | None:
        return self._entries.get(table)

    def write(self, table: str, entry: CatalogEntry, expected_version: int | None) -> int:
        with self._lock:
            stored = self._entries.get(table)
            check_version(table, None if stored is None else stored.version, expected_version)
            version = (expected_version or 0) + 1
            self._entries[table] = replace(entry, version=version)
        return version

    def remove(self, table: str, expected_version: int | None = None) -> None:
        with self._lock:
            stored = self._entries.get(table)
            check_removal(table, None if stored is None else stored.version, expected_version)
            self._entries.pop(table, None)
            self._notes.pop(table, None)

    def read_notes(self, table: str) -> dict[str, str]:
        return dict(self._notes.get(table, {}))

    def write_note(self, table: str, note_name: str, text: str | None) -> None:
        with self._lock:
            notes = self.read_notes(table)
            notes.pop(note_name, None)
            self._notes[table] = notes if text is None else {**notes, note_name: text}

    def list_tables(self) -> list[str]:
        return sorted(self._entries)
