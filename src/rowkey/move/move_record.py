"""The record of a move in the catalog, changed by compare-and-set, with notes beside it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rowkey.catalog import Catalog, CatalogEntry, TableMove, build_contention_error
from rowkey.errors import Conflict, Unavailable
from rowkey.move.copy_progress import PROGRESS_NOTE
from rowkey.table import SHADOW_NOTE_PREFIX

MAX_WRITE_TRIES = 1_000
"""Times that a change is tried again because another client wrote the entry meanwhile."""
VERIFICATION_NOTE, SETTINGS_NOTE = "move.verification", "move.settings"
HISTORY_NOTE, CAUGHT_UP_NOTE = "move.history", "move.caught_up"
NOTES = (PROGRESS_NOTE, VERIFICATION_NOTE, SETTINGS_NOTE, HISTORY_NOTE, CAUGHT_UP_NOTE)
"""The notes of a move, next to the catalog entry of its source. None holds a password or a URL."""
MAX_HISTORY = 200
"""Steps that the history keeps; the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """The record and the notes of the move of one table.

    Args:
        source: the table whose rows are moved.
        tell_client: called with each changed entry, for the client of this process.
    """

    catalog: Catalog
    source: str
    tell_client: Callable[[CatalogEntry], None] | None = None

    def read_entry(self) -> CatalogEntry:
        """Return the catalog entry of the source.

        Raises:
            Unavailable: the catalog has none, or does not answer.
        """
        entry = self.catalog.read(self.source)
        if entry is None:
            what = "the catalog no longer has an entry for this table"
            raise Unavailable(f"table {self.source}", what, remedy="Restore the catalog.")
        return entry

    def read(self) -> TableMove | None:
        """Return the record, None if no move is under way."""
        return self.read_entry().move

    def change(self, change: Callable[[CatalogEntry], CatalogEntry]) -> CatalogEntry:
        """Change the entry of the source, however often other clients write it meanwhile.

        Args:
            change: returns the changed entry; it may raise an error, or return the entry itself.

        Returns:
            The entry as it is stored now.

        Raises:
            Conflict: other clients change the entry before every attempt to write it.
        """
        for _ in range(MAX_WRITE_TRIES):
            entry = self.read_entry()
            new = change(entry)
            if new is entry:
                return entry
            try:
                version = self.catalog.write(self.source, new, entry.version)
            except Conflict:
                continue
            stored = replace(new, version=version)
            if self.tell_client is not None:
                self.tell_client(stored)
            return stored
        raise build_contention_error(self.source, MAX_WRITE_TRIES)

    def read_note(self, name: str) -> dict[str, Any]:
        """Return a note of the move; empty if there is none, or if it is of no use."""
        text = self.catalog.read_notes(self.source).get(name, "")
        try:
            document = json.loads(text) if text else {}
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    def write_note(self, name: str, document: dict[str, Any] | None) -> None:
        """Write a note of the move; None removes it."""
        text = None if document is None else json.dumps(document)
        self.catalog.write_note(self.source, name, text)

    def add_to_history(self, what: str, **details: Any) -> None:
        """Note a step of the move with its time, for those who look at it later."""
        steps = self.read_note(HISTORY_NOTE).get("steps", [])
        steps.append({"time_ms": time.time_ns() // 1_000_000, "step": what, **details})
        self.write_note(HISTORY_NOTE, {"steps": steps[-MAX_HISTORY:]})

    def remove_notes(self) -> None:
        """Remove all notes of the move but its history."""
        for name in (*NOTES, *self.catalog.read_notes(self.source)):
            if name != HISTORY_NOTE and (name in NOTES or name.startswith(SHADOW_NOTE_PREFIX)):
                self.write_note(name, None)
