"""Tables on disk without a server: RocksDB, through rocksdict."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, ClassVar

from rowkey import fork_safety
from rowkey.durable_files import make_directory, sync_directory
from rowkey.engines.contract import Engine, Store
from rowkey.engines.damage import CellInspection, Examination, RepairResult, SalvageResult
from rowkey.engines.embedded_store import (
    STATE_DROPPED,
    build_closed_error,
    build_missing_table_error,
    build_table_exists_error,
)
from rowkey.engines.ordering.row_clock import get_time_ms
from rowkey.engines.requests import TableSpec, check_spec
from rowkey.engines.rocksdb import OpenTable, RocksStore, check_codecs
from rowkey.engines.rocksdb.directory_lock import LOCK_FILE, lock_directory
from rowkey.engines.rocksdb.storage_errors import explain_error
from rowkey.engines.rocksdb_files.descriptor import parse_table_name, to_directory_name
from rowkey.engines.rocksdb_files.table_folder import (
    check_only_own_files,
    find_free_name,
    is_table,
    list_tables,
    prepare_directory,
    remove_dropped_table,
)
from rowkey.engines.rocksdb_salvage.examination import examine_table
from rowkey.engines.rocksdb_salvage.repair import repair_table, save_table
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.messages import format_value
from rowkey.open_file_limit import build_shortage_error, is_shortage
from rowkey.progress import ReportProgress, ignore_progress

if TYPE_CHECKING:
    Clock = Callable[[], int]

CATALOG_FOLDER = ".catalog"
"""The folder of the catalog, next to the tables; no table's name begins with a dot."""

_DROPPED_PREFIX = ".dropped-"


class RocksEngine(Engine):
    """Tables in a directory: `rocks:PATH`; each table is a RocksDB, for one process at a time.

    Several engines of one process may have the directory open, but each table only one of them.

    An acknowledged write survives the death of the process. With `sync` it survives a power cut
    too, at the price of a disk flush for each call. A directory on a full or read-only disk can
    still be read.
    """

    name = scheme = "rocks"
    is_persistent = True
    is_shared = False
    is_exclusive = True
    unsupported_features: ClassVar[Mapping[str, str]] = {
        "new_version_behavior": "a delete hides cells by timestamp, even cells written after it"
    }

    def __init__(self, path: Path, clock: Clock, *, sync: bool) -> None:
        self._path, self._clock, self._sync = path, clock, sync
        self._directory_lock = lock_directory(path, self)
        self._tables: dict[str, OpenTable] = {}
        self._lock = RLock()
        self._closed = False

    @classmethod
    def open(
        cls,
        location: str,
        *,
        sync: bool = False,
        clock: Clock = get_time_ms,
        timeout_s: float | None = None,
    ) -> RocksEngine:
        """Open a directory of tables, and create it if it does not exist.

        Args:
            location: the path of the directory.
            sync: whether every write is on disk before the call returns.
            clock: milliseconds since 1970.
            timeout_s: without effect.

        Raises:
            InvalidArgument: the path is missing, is not UTF-8, or contains an invalid character.
            Unavailable: the directory cannot be created or read, or another process has it open.
        """
        del timeout_s
        path = _parse_path(location)
        try:
            make_directory(path)
            engine = cls(path, clock, sync=sync)
        except OSError as problem:
            raise _build_unusable_error(path, problem) from problem
        if engine._directory_lock.is_shared:
            return engine
        with suppress(OSError):  # a disk that may only be read
            for leftover in list(path.iterdir()):
                if leftover.name.startswith(_DROPPED_PREFIX):
                    remove_dropped_table(leftover)
        return engine

    @classmethod
    def is_initialized(cls, location: str) -> bool:
        """Return whether a directory was opened by rowkey before, or contains a table.

        Args:
            location: the path of the directory.

        Raises:
            InvalidArgument: the path is missing or invalid.
            Unavailable: the directory cannot be read.
        """
        path = _parse_path(location)
        try:
            path.stat()
            return not path.is_dir() or _has_lock_file(path) or bool(list_tables(path))
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise _build_unusable_error(path, problem) from problem

    def examine(
        self,
        name: str,
        progress: ReportProgress = ignore_progress,
        inspect_cells: CellInspection | None = None,
    ) -> Examination:
        """Close a table, read every block of its files, and report the damage; change no file.

        Args:
            progress: called with the number of cells read, and with about how many there are.
            inspect_cells: called once all is read, if the table has no damage.

        Raises:
            InvalidArgument: there is no such table.
            Unavailable: the disk cannot be read.
        """
        directory = self._close_table(name)
        return examine_table(directory, progress, inspect_cells, now_ms=self._clock())

    def repair(self, name: str) -> RepairResult:
        """Repair a table in place: rewrite its descriptor, and cut its logs at the first damage.

        Raises:
            CorruptionError: other files are damaged; nothing was changed.
            Unavailable: a file cannot be read or written; a repair can be repeated.
        """
        directory = self._close_table(name)
        try:
            return repair_table(directory)
        except OSError as problem:
            raise explain_error(directory, problem) from problem

    def save_into(
        self,
        target: RocksEngine,
        name: str,
        *,
        keep_incomplete: bool = False,
        progress: ReportProgress = ignore_progress,
    ) -> SalvageResult:
        """Copy the readable rows of a table into a new table of the same name elsewhere.

        Args:
            target: the engine of the directory to save into.
            keep_incomplete: whether to save rows that lack cells or may hold older values.
            progress: called with the number of cells read or saved, and with about how many.

        Raises:
            CorruptionError: nothing of the table can be read.
            InvalidArgument: the target has a table of this name.
            Unavailable: the target's directory holds other files.
        """
        directory = target.get_directory(name)
        if name in target.list_tables():
            what = f"the target directory has a table {format_value(name)} already"
            raise InvalidArgument("target", what, remedy="Save into another directory.")
        try:
            prepare_directory(directory)
        except OSError as problem:
            raise _build_unusable_error(directory, problem) from problem
        source = self._close_table(name)
        try:
            return save_table(source, directory, keep_incomplete=keep_incomplete, progress=progress)
        except OSError as problem:
            raise explain_error(directory, problem) from problem

    def _close_table(self, name: str) -> Path:
        """Close a table if it is open, and return its directory."""
        self._check_open()
        self._check_table_exists(name)
        self._directory_lock.claim_table(name, self)
        table = self._tables.pop(name, None)
        if table is not None:
            table.close()
        return self.get_directory(name)

    @property
    def catalog_url(self) -> str:
        """Return the URL of the catalog, a folder next to the tables."""
        return f"file:{self._path / CATALOG_FOLDER}"

    def list_tables(self) -> list[str]:
        self._check_open()
        try:
            return list_tables(self._path)
        except OSError as problem:
            raise _build_unusable_error(self._path, problem) from problem

    def get_directory(self, name: str) -> Path:
        """Return the directory of a table, whether or not the table exists."""
        return self._path / to_directory_name(name)

    def create_table(self, spec: TableSpec, progress: ReportProgress | None = None) -> Store:
        """Create a table in a directory of its own, and open it."""
        self._check_open()
        check_spec(spec, self.unsupported_features)
        for family in spec.families:
            check_codecs(family)
        with self._lock:
            if spec.name in self.list_tables():
                raise build_table_exists_error(spec.name)
            self._directory_lock.claim_table(spec.name, self)
            directory = self.get_directory(spec.name)
            try:
                prepare_directory(directory)
                table = OpenTable.create(directory, spec, self._clock, sync=self._sync)
            except BaseException as problem:
                self._directory_lock.release_tables(self, [spec.name])
                if isinstance(problem, OSError):
                    raise _build_unusable_error(directory, problem) from problem
                raise
            self._tables[spec.name] = table
        return RocksStore(table)

    def open_table(self, name: str) -> Store:
        """Open a table, or share it if it is open; reopen it if a write has failed."""
        self._check_open()
        with self._lock:
            table = self._tables.get(name)
            if table is not None and table.database.has_failed:
                table.close()
                table = None
            if table is None:
                self._check_table_exists(name)
                self._directory_lock.claim_table(name, self)
                try:
                    table = OpenTable.open(
                        self.get_directory(name), name, self._clock, sync=self._sync
                    )
                except BaseException:
                    self._directory_lock.release_tables(self, [name])
                    raise
                self._tables[name] = table
        return RocksStore(table)

    def _check_table_exists(self, name: str) -> None:
        directory = self.get_directory(name)
        with suppress(OSError):  # the list of all tables says what is wrong
            if parse_table_name(directory) == name and is_table(directory):
                return
        table_names = self.list_tables()
        if name not in table_names:
            raise build_missing_table_error(name, table_names)

    def drop_table(self, name: str) -> None:
        """Delete a table and its files, unless its directory holds files of others.

        Raises:
            InvalidArgument: there is no table of this name.
            CorruptionError: the descriptor is damaged, so that it may not be a table of rowkey.
            Unavailable: the directory holds files that rowkey did not write.
        """
        self._check_open()
        with self._lock:
            self._check_table_exists(name)
            self._directory_lock.claim_table(name, self)
            directory = self.get_directory(name)
            check_only_own_files(directory)
            table = self._tables.pop(name, None)
            if table is not None:
                table.close(STATE_DROPPED)
            try:
                dropped_directory = find_free_name(
                    self._path / f"{_DROPPED_PREFIX}{directory.name}"
                )
                directory.rename(dropped_directory)
                sync_directory(self._path)
                remove_dropped_table(dropped_directory)
            except OSError as problem:
                raise _build_unusable_error(directory, problem) from problem
            self._directory_lock.release_tables(self, [name])

    def _check_open(self) -> None:
        """Raise Closed if the engine was closed, or opened before a fork."""
        if self._directory_lock.is_inherited:
            raise fork_safety.build_inherited_error(f"rocks:{self._path}")
        if self._closed:
            raise build_closed_error("engine", f"rocks:{self._path}")

    def close(self) -> None:
        """Close all tables and release the lock of the directory; closing twice is harmless."""
        if self._directory_lock.is_inherited:
            raise fork_safety.build_inherited_error(f"rocks:{self._path}")
        with self._lock:
            if self._closed:
                return
            self._closed = True
            with ExitStack() as stack:  # whatever one of them raises, the others are closed
                stack.callback(self._directory_lock.release, self)
                for table in self._tables.values():
                    stack.callback(table.close)


def _parse_path(location: str) -> Path:
    """Return the directory that the location of a `rocks:` URL names.

    Raises:
        InvalidArgument: the path is missing, or contains bytes that no path can have.
    """
    if not location:
        remedy = "Write the path of a directory, as in rocks:./data."
        raise InvalidArgument("url", "the URL rocks: names no directory", "rocks:PATH", remedy)
    try:
        # The shell's bytes that are not UTF-8 are lone surrogates here, which no catalog can name.
        is_path = "\0" not in location and bool(location.encode("utf-8") and os.fsencode(location))
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        bytes_of_shell = any("\udc80" <= sign <= "\udcff" for sign in location)
        what = "bytes that are not UTF-8" if bytes_of_shell else "a character that no path can have"
        remedy = "Rename the directory." if bytes_of_shell else "Remove the character."
        problem = f"{format_value(location)} contains {what}"
        raise InvalidArgument("url", problem, "rocks:PATH", remedy)
    return Path(location)


def _has_lock_file(directory: Path) -> bool:
    """Return whether a directory has the empty lock file that rowkey creates on opening."""
    lock = directory / LOCK_FILE
    return lock.is_file() and not lock.stat().st_size


def _build_unusable_error(path: Path, problem: OSError) -> Unavailable:
    """Return the error for a directory that the system does not let us read or write."""
    if is_shortage(problem):
        return build_shortage_error(path)
    what = f"the directory cannot be used: {problem.strerror or problem}"
    remedy = "Check the path, its permissions and the free space, and try again."
    if isinstance(problem, NotADirectoryError | FileExistsError):
        remedy = "A part of the path is a file: give another path, or move the file away."
    if problem.filename and Path(problem.filename).name == LOCK_FILE:
        path, remedy = Path(problem.filename), "Remove what is in the place of the lock file."
    return Unavailable(str(path), what, "a directory to read and write", remedy)
