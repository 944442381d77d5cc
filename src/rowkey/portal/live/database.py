"""The SQLite file in which a portal stores the load of tables and its alerts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from rowkey.durable_files import make_directory

SCHEMA_VERSION = 1
"""The version of the tables; a file with another one is not used."""
BUSY_TIMEOUT_S = 5.0
"""Seconds to wait for another process that writes into the file."""
_SCHEMA = """
CREATE TABLE layouts (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, content BLOB NOT NULL);
CREATE TABLE load_columns (
  table_name TEXT NOT NULL, layer INTEGER NOT NULL, start_ms INTEGER NOT NULL,
  length_ms INTEGER NOT NULL, layout INTEGER NOT NULL REFERENCES layouts (id),
  counts BLOB NOT NULL, servers TEXT NOT NULL
);
CREATE UNIQUE INDEX load_column_places ON load_columns (table_name, layer, start_ms);
CREATE INDEX load_column_layouts ON load_columns (layout);
CREATE INDEX load_column_times ON load_columns (start_ms);
CREATE TABLE alerts (
  id INTEGER PRIMARY KEY, table_name TEXT NOT NULL, event TEXT NOT NULL, at_ms INTEGER NOT NULL,
  document TEXT NOT NULL, delivery TEXT NOT NULL
);
CREATE INDEX alert_tables ON alerts (table_name, id);
"""


class LiveDatabase:
    """The SQLite file of one portal; safe for several threads, and after a crash.

    Committed changes survive the death of the process.

    Args:
        path: the file; it is created by the first `change`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction for a `with` block; an error takes it back.

        Raises:
            sqlite3.Error: the file cannot be written, or another version wrote it.
            OSError: its folder cannot be created.
        """
        with self._lock:
            make_directory(self.path.parent)
            connection = self._connect()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection | None]:
        """Lend the connection for a `with` block that only reads; None if there is no file yet.

        Raises:
            sqlite3.Error: the file cannot be read, or another version wrote it.
        """
        with self._lock:
            is_there = self._connection is not None or self.path.is_file()
            yield self._connect() if is_there else None

    def measure_bytes(self) -> int:
        """Return the size of the file, with its write-ahead log."""
        paths = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(path.stat().st_size for path in paths if path.is_file())

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _connect(self) -> sqlite3.Connection:
        """Return the open connection, with the tables created in a new file."""
        if self._connection is None:
            # The files that SQLite puts beside it get the same permissions.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(
                self.path, BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


def _prepare(connection: sqlite3.Connection) -> None:
    """Set up a connection, and create the tables in an empty file."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, SCHEMA_VERSION):
        what = f"the file has version {version} of its tables; expected {SCHEMA_VERSION}"
        raise sqlite3.DatabaseError(what)
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # counts in a new file only
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 4194304")
    if version == 0:
        steps = f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;"
        connection.executescript(steps)
