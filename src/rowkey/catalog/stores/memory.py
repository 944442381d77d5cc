"""The catalog `memory`."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

from rowkey.catalog.contract import Catalog, check_removed, check_version

if TYPE_CHECKING:
    from rowkey.catalog.entry import Entry


class Memory(Catalog):
    """Entries that live in the process: `memory:` for one catalog, `memory:NAME` to share it."""

    name = "memory"
    _shared: ClassVar[dict[str, Memory]] = {}

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._notes: dict[str, dict[str, str]] = {}
        self._lock = Lock()

    @classmethod
    def open(cls, where: str = "") -> Memory:
        return cls._shared.setdefault(where, cls()) if where else cls()

    def read(self, table: str) -> Entry | None:
        return self._entries.get(table)

    def write(self, table: str, entry: Entry, expected: int | None) -> int:
        with self._lock:
            found = self._entries.get(table)
            check_version(table, None if found is None else found.version, expected)
            version = (expected or 0) + 1
            self._entries[table] = replace(entry, version=version)
        return version

    def remove(self, table: str, expected: int | None = None) -> None:
        with self._lock:
            found = self._entries.get(table)
            check_removed(table, None if found is None else found.version, expected)
            self._entries.pop(table, None)
            self._notes.pop(table, None)

    def notes(self, table: str) -> dict[str, str]:
        return dict(self._notes.get(table, {}))

    def note(self, table: str, word: str, text: str | None) -> None:
        with self._lock:
            kept = {key: told for key, told in self.notes(table).items() if key != word}
            self._notes[table] = kept if text is None else {**kept, word: text}

    def tables(self) -> list[str]:
        return sorted(self._entries)
