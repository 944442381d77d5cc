"""The catalog `file`: a directory of JSON documents."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

from rowkey.catalog.catalog_entry import CatalogEntry
from rowkey.catalog.contract import NOTES_REMEDY, Catalog, check_removal, check_version
from rowkey.catalog.entry_document import (
    format_checksummed,
    format_entry,
    parse_checksummed,
    parse_entry,
)
from rowkey.durable_files import (
    make_directory,
    open_regular_file,
    read_regular_file,
    replace_file,
    sync_directory,
)
from rowkey.errors import CorruptionError, InvalidArgument, Unavailable
from rowkey.messages import format_value
from rowkey.open_file_limit import raise_shortage

MAX_DOCUMENT_BYTES = 1 << 28
"""The largest entry or notes; an entry has the ids of all values of `code`."""
ENTRY_SUFFIX, NOTES_SUFFIX = ".json", ".notes"
LOCK_FILE = "catalog.lock"
LOCK_TIMEOUT_S, LOCK_POLL_S = 5.0, 0.005
"""Seconds that a write waits for the lock, and seconds between two attempts to take it."""
TEMPORARY_FILE = "catalog.new"
"""One name is enough: only the process that has the lock writes this file."""


class FileCatalog(Catalog):
    """One JSON document a table in a directory: `file:PATH`. Processes of one machine may share it.

    A document is written next to the old one, brought to disk, and renamed over it under a lock, so
    that a process that dies leaves the old document or the new one. Readers take no lock. A write
    that does not get the lock within 5 s, because another process hangs, raises `Unavailable`.

    Args:
        directory: the directory of the documents; it is created if it is missing.

    Raises:
        Unavailable: the directory cannot be made.
    """

    name = "file"

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        with self._translate_errors(self.directory):
            make_directory(self.directory)

    @classmethod
    def open(cls, location: str) -> FileCatalog:
        """Open the catalog in a directory, which is created if it is missing."""
        if not location:
            raise InvalidArgument("catalog", "the URL 'file:' names no directory", "file:PATH")
        return cls(location)

    def get_path(self, table: str) -> Path:
        """Return the path of the document with a table's entry."""
        return self.directory / f"{quote(table, safe='')}{ENTRY_SUFFIX}"

    def read(self, table: str) -> CatalogEntry | None:
        path = self.get_path(table)
        with self._translate_errors(path):
            try:
                data = read_regular_file(path, MAX_DOCUMENT_BYTES)
            except FileNotFoundError:
                return None
        return parse_entry(data, table, str(path))

    def write(self, table: str, entry: CatalogEntry, expected_version: int | None) -> int:
        path = self.get_path(table)
        with self._translate_errors(path), self._lock_directory():
            found = self.read(table)
            check_version(table, None if found is None else found.version, expected_version)
            version = (expected_version or 0) + 1
            replace_file(
                path, format_entry(entry, table, version).encode(), self.directory / TEMPORARY_FILE
            )
        return version

    def remove(self, table: str, expected_version: int | None = None) -> None:
        path = self.get_path(table)
        with self._translate_errors(path), self._lock_directory():
            if expected_version is not None:
                found = self.read(table)
                check_removal(table, None if found is None else found.version, expected_version)
            path.unlink(missing_ok=True)
            self._get_notes_path(table).unlink(missing_ok=True)
            sync_directory(self.directory)

    def _get_notes_path(self, table: str) -> Path:
        return self.get_path(table).with_suffix(NOTES_SUFFIX)

    def read_notes(self, table: str) -> dict[str, str]:
        path = self._get_notes_path(table)
        with self._translate_errors(path):
            try:
                data = read_regular_file(path, MAX_DOCUMENT_BYTES)
            except FileNotFoundError:
                return {}
        document = parse_checksummed(data, str(path), NOTES_REMEDY)
        if document.get("table") != table:
            what = f"the document has the notes of table {document.get('table')!r}"
            raise CorruptionError(str(path), what, f"those of table {table!r}", NOTES_REMEDY)
        notes = document.get("notes")
        if not isinstance(notes, dict):
            what = f"the field `notes` is {format_value(notes)}, not a JSON object"
            raise Unavailable(str(path), what, remedy=NOTES_REMEDY)
        return {str(name): str(text) for name, text in notes.items()}

    def write_note(self, table: str, note_name: str, text: str | None) -> None:
        path = self._get_notes_path(table)
        with self._translate_errors(path), self._lock_directory():
            notes = dict(self.read_notes(table))
            notes.pop(note_name, None)
            if text is not None:
                notes[note_name] = text
            document = format_checksummed({"table": table, "notes": notes})
            replace_file(path, document.encode(), self.directory / TEMPORARY_FILE)

    def list_tables(self) -> list[str]:
        with self._translate_errors(self.directory):
            names = [path.name for path in self.directory.iterdir()]
        return sorted(
            unquote(n.removesuffix(ENTRY_SUFFIX)) for n in names if n.endswith(ENTRY_SUFFIX)
        )

    @contextmanager
    def _lock_directory(self) -> Iterator[None]:
        """Lock the directory for a `with` block; the lock ends with the process at the latest.

        Raises:
            Unavailable: another process does not release it in time.
        """
        import fcntl

        path = self.directory / LOCK_FILE
        with open_regular_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, "ab") as file:
            end = time.monotonic() + LOCK_TIMEOUT_S
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= end:
                        raise _build_lock_error(path) from None
                time.sleep(LOCK_POLL_S)
            yield

    @contextmanager
    def _translate_errors(self, path: Path) -> Iterator[None]:
        """Convert errors of the file system to `Unavailable`, with the name of the file."""
        try:
            yield
        except OSError as problem:
            raise_shortage(problem, path)
            what = problem.strerror or str(problem)
            remedy = (
                "Check the permissions and the space of the catalog's directory, then try again."
            )
            what = f"the file of the catalog cannot be read or written: {what}"
            if isinstance(problem, NotADirectoryError | FileExistsError):
                remedy = "A part of the path is a file: give another path, or move the file away."
            raise Unavailable(str(path), what, remedy=remedy) from problem


def _build_lock_error(path: Path) -> Unavailable:
    """Return the error of a lock that another process did not release in time."""
    what = f"another process has held this lock of the catalog for more than {LOCK_TIMEOUT_S:g} s"
    remedy = f"Find it by lsof {path}, and resume or end it if it hangs: that releases the lock."
    return Unavailable(str(path), what, remedy=remedy)
