"""The catalog `file`."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from rowkey.catalog.contract import Catalog, check_removed, check_version
from rowkey.catalog.document import checksummed_text, entry_of, read_checksummed, text_of
from rowkey.durable import make_directory, replace_file, sync_directory
from rowkey.errors import Unsupported
from rowkey.open_file_limit import raise_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.catalog.entry import Entry

SUFFIX, NOTES = ".json", ".notes"
LOCK = "catalog.lock"
LOCK_S, LOOK_S = 5.0, 0.005
"""Seconds that the lock is waited for, as other catalogs are; and those between two looks at it."""
BEING_WRITTEN = "catalog.new"
"""One name is enough: only who holds the lock writes it."""


class File(Catalog):
    """One JSON document a table in a directory: `file:PATH`. Processes of one machine may share it.

    A document is written beside the old one, brought to disk, and renamed over it under a lock, so
    that a process that dies leaves the old document or the new one. Readers take no lock. Whoever
    cannot have it within 5 s, for a process that stands still holds it, raises `Unsupported`.

    Args:
        directory: where the documents lie; it is made if it is missing.

    Raises:
        Unsupported: the directory cannot be made.
    """

    name = "file"

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        with self._telling(self.directory):
            make_directory(self.directory)

    @classmethod
    def open(cls, where: str) -> File:
        if not where:
            raise Unsupported("file:", "no directory is named", "file:PATH")
        return cls(where)

    def path(self, table: str) -> Path:
        """Where the document of a table lies."""
        return self.directory / f"{quote(table, safe='')}{SUFFIX}"

    def read(self, table: str) -> Entry | None:
        path = self.path(table)
        with self._telling(path):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                return None
        return entry_of(data, table, str(path))

    def write(self, table: str, entry: Entry, expected: int | None) -> int:
        path = self.path(table)
        with self._telling(path), self._locked():
            found = self.read(table)
            check_version(table, None if found is None else found.version, expected)
            version = (expected or 0) + 1
            replace_file(
                path, text_of(entry, table, version).encode(), self.directory / BEING_WRITTEN
            )
        return version

    def remove(self, table: str, expected: int | None = None) -> None:
        path = self.path(table)
        with self._telling(path), self._locked():
            if expected is not None:
                found = self.read(table)
                check_removed(table, None if found is None else found.version, expected)
            path.unlink(missing_ok=True)
            self._notes(table).unlink(missing_ok=True)
            sync_directory(self.directory)

    def _notes(self, table: str) -> Path:
        return self.path(table).with_suffix(NOTES)

    def notes(self, table: str) -> dict[str, str]:
        path = self._notes(table)
        with self._telling(path):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                return {}
        notes = read_checksummed(data, str(path)).get("notes")
        if not isinstance(notes, dict):
            raise Unsupported(str(path), "it holds no notes", "an object of texts")
        return {str(word): str(text) for word, text in notes.items()}

    def note(self, table: str, word: str, text: str | None) -> None:
        path = self._notes(table)
        with self._telling(path), self._locked():
            kept = {key: told for key, told in self.notes(table).items() if key != word}
            told = kept if text is None else {**kept, word: text}
            replace_file(
                path, checksummed_text({"notes": told}).encode(), self.directory / BEING_WRITTEN
            )

    def tables(self) -> list[str]:
        with self._telling(self.directory):
            names = [path.name for path in self.directory.iterdir()]
        return sorted(unquote(n.removesuffix(SUFFIX)) for n in names if n.endswith(SUFFIX))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of the directory; it falls with the process that holds it.

        Raises:
            Unsupported: another process does not let go of it.
        """
        import fcntl

        path = self.directory / LOCK
        with path.open("ab") as file:
            end = time.monotonic() + LOCK_S
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= end:
                        raise _held(path) from None
                time.sleep(LOOK_S)
            yield

    @contextmanager
    def _telling(self, path: Path) -> Iterator[None]:
        """Raise what the file system refuses as an error that names the file."""
        try:
            yield
        except OSError as problem:
            raise_shortage(problem, path)
            what = problem.strerror or str(problem)
            raise Unsupported(str(path), f"the catalog cannot use it: {what}") from problem


def _held(path: Path) -> Unsupported:
    """The refusal to wait any longer for a lock."""
    what = f"another process has held this lock of the catalog for more than {LOCK_S:g} s"
    remedy = f"Find it by lsof {path}, and go on or end it if it stands still: the lock falls then."
    return Unsupported(str(path), what, remedy=remedy)
