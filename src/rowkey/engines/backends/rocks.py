"""Tables on disk without a server: RocksDB, through rocksdict."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, ClassVar

from rowkey import forks
from rowkey.durable import make_directory, sync_directory
from rowkey.engines.contract import Engine, Store
from rowkey.engines.requests import TableSpec, now_ms
from rowkey.engines.rocksdb import OpenTable, RocksStore, check_codecs
from rowkey.engines.rocksdb.locking import LOCK, DirectoryLock
from rowkey.engines.rocksdb_files.descriptor import directory_name
from rowkey.engines.rocksdb_files.table_folder import (
    check_own,
    find_free_name,
    list_tables,
    prepare_directory,
    remove_dropped,
)
from rowkey.engines.rocksdb_salvage.examination import examine_table, ignore_progress
from rowkey.engines.rocksdb_salvage.repair import repair_table, save_table
from rowkey.engines.specs import check_spec
from rowkey.errors import Refused, Unsupported, shown
from rowkey.open_file_limit import build_shortage_error, is_shortage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rowkey.engines.damage import Examination, Repair, Saved

    Clock = Callable[[], int]

CATALOG = ".catalog"
"""Where the designs of the tables lie, next to them; no table's name begins with a point."""

_DROPPED = ".dropped-"


class Rocks(Engine):
    """Tables in a directory: `rocks:PATH`. One process at a time; each table is a RocksDB.

    What has returned survives the death of the process. With `sync` it survives the loss of power
    as well, at the price of a disk's flush for each call. A directory on a disk that is full or
    may only be read can be read, not written.
    """

    name = scheme = "rocks"
    persistent = True
    shared = False
    exclusive = True
    refuses: ClassVar[Mapping[str, str]] = {
        "new_version_behavior": "deletes hide by timestamp here, not by arrival"
    }

    def __init__(self, path: Path, held: DirectoryLock, clock: Clock, *, sync: bool) -> None:
        self._path, self._held, self._clock, self._sync = path, held, clock, sync
        self._tables: dict[str, OpenTable] = {}
        self._lock = RLock()
        self._closed = False

    @classmethod
    def open(cls, where: str, *, sync: bool = False, clock: Clock = now_ms) -> Rocks:
        """Open a directory, which is made if there is none.

        Args:
            where: its path.
            sync: whether every write is on disk before the call returns.
            clock: gives the time of day in ms.

        Raises:
            Refused: no path is given, or one that no file can have, or that is no UTF-8.
            Unsupported: it cannot be made or read, or another process has it.
        """
        path = _path_of(where)
        try:
            make_directory(path)
            held = DirectoryLock(path)
        except OSError as problem:
            raise _unusable(path, problem) from problem
        with suppress(OSError):  # a disk that may only be read
            for left in list(path.iterdir()):
                if left.name.startswith(_DROPPED):
                    remove_dropped(left)
        return cls(path, held, clock, sync=sync)

    @classmethod
    def is_there(cls, where: str) -> bool:
        """Return whether there is a directory that rowkey has made or has a table in.

        Args:
            where: its path.

        Raises:
            Refused: no path is given, or one that no file can have.
            Unsupported: it cannot be looked at.
        """
        path = _path_of(where)
        try:
            path.stat()
            return not path.is_dir() or _holds_lock(path) or bool(list_tables(path))
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise _unusable(path, problem) from problem

    def examine(
        self, name: str, progress: Callable[[int, int], None] = ignore_progress
    ) -> Examination:
        """Read every block of every file of a table; no file is changed.

        Args:
            name: the table's.
            progress: told how many cells were read, and of about how many.

        Raises:
            Refused: there is no such table.
            Unsupported: the disk cannot be read.
        """
        return examine_table(self._closed_directory(name), progress)

    def repair(self, name: str) -> Repair:
        """Mend a table where it lies: its descriptor, and its logs up to the first damage.

        Raises:
            CorruptionError: it is damaged elsewhere; nothing was changed.
        """
        return repair_table(self._closed_directory(name))

    def save_into(
        self,
        target: Rocks,
        name: str,
        *,
        keep_incomplete: bool = False,
        progress: Callable[[int, int], None] = ignore_progress,
    ) -> Saved:
        """Save what can be read of a table into one of the same name in another directory.

        Args:
            target: that directory, open.
            name: the table's.
            keep_incomplete: whether rows are saved that lack cells, or may be older than they were.
            progress: told how many cells were read or saved, and of about how many.

        Raises:
            CorruptionError: not even what the table is can be read.
            Unsupported: there is something in the way.
        """
        directory = target.directory(name)
        if name in target.tables():
            raise Refused("table", f"{shown(name)} is there already", "a place without it")
        try:
            prepare_directory(directory)
        except OSError as problem:
            raise _unusable(directory, problem) from problem
        return save_table(
            self._closed_directory(name),
            directory,
            keep_incomplete=keep_incomplete,
            progress=progress,
        )

    def _closed_directory(self, name: str) -> Path:
        """Return where a table lies that is not open."""
        self._check_open()
        self._check_there(name)
        table = self._tables.pop(name, None)
        if table is not None:
            table.close()
        return self.directory(name)

    @property
    def catalog_url(self) -> str:
        return f"file:{self._path / CATALOG}"

    def tables(self) -> list[str]:
        self._check_open()
        try:
            return list_tables(self._path)
        except OSError as problem:
            raise _unusable(self._path, problem) from problem

    def directory(self, name: str) -> Path:
        """Return where a table lies."""
        return self._path / directory_name(name)

    def create(self, spec: TableSpec, progress: Callable[[int, int], None] | None = None) -> Store:
        self._check_open()
        check_spec(spec, self.refuses)
        for family in spec.families:
            check_codecs(family)
        with self._lock:
            if spec.name in self.tables():
                raise Refused("table", f"{shown(spec.name)} is there already", "a new name")
            directory = self.directory(spec.name)
            try:
                prepare_directory(directory)
                table = OpenTable.create(directory, spec, self._clock, sync=self._sync)
            except OSError as problem:
                raise _unusable(directory, problem) from problem
            self._tables[spec.name] = table
        return RocksStore(table)

    def table(self, name: str) -> Store:
        self._check_open()
        with self._lock:
            table = self._tables.get(name)
            if table is not None and table.database.failed:
                table.close()
                table = None
            if table is None:
                self._check_there(name)
                table = OpenTable.open(self.directory(name), name, self._clock, sync=self._sync)
                self._tables[name] = table
        return RocksStore(table)

    def _check_there(self, name: str) -> None:
        names = self.tables()
        if name not in names:
            known = ", ".join(names) or "no table, there is none"
            raise Refused("table", f"there is no {shown(name)}", known)

    def drop(self, name: str) -> None:
        """Remove a table and its files; a directory that holds anything else is refused.

        Raises:
            Refused: there is none of that name.
            CorruptionError: its descriptor is damaged: whether it is a table is not known.
            Unsupported: its directory holds files that are not of rowkey.
        """
        self._check_open()
        with self._lock:
            self._check_there(name)
            directory = self.directory(name)
            check_own(directory)
            table = self._tables.pop(name, None)
            if table is not None:
                table.close("dropped")
            try:
                gone = find_free_name(self._path / f"{_DROPPED}{directory.name}")
                directory.rename(gone)
                sync_directory(self._path)
                remove_dropped(gone)
            except OSError as problem:
                raise _unusable(directory, problem) from problem

    def _check_open(self) -> None:
        if self._held.is_inherited:
            raise forks.inherited_error(f"rocks:{self._path}")
        if self._closed:
            raise Refused("engine", "it is closed", "an open engine")

    def close(self) -> None:
        if self._held.is_inherited:
            raise forks.inherited_error(f"rocks:{self._path}")
        with self._lock:
            if self._closed:
                return
            self._closed = True
            with ExitStack() as stack:  # whatever one of them raises, the others are closed
                stack.callback(self._held.release)
                for table in self._tables.values():
                    stack.callback(table.close)


def _path_of(where: str) -> Path:
    """Return the path of a URL.

    Raises:
        Refused: there is none, or none that a file can have.
    """
    if not where:
        raise Refused("url", "rocks: names no directory", "rocks:PATH")
    try:
        # The shell's bytes that are no UTF-8 are lone surrogates here, which no catalog can name.
        is_path = "\0" not in where and bool(where.encode("utf-8") and os.fsencode(where))
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        bytes_of_shell = any("\udc80" <= sign <= "\udcff" for sign in where)
        what = "bytes that are no UTF-8" if bytes_of_shell else "a character that no path has"
        raise Refused("url", f"{shown(where)} holds {what}", "rocks:PATH")
    return Path(where)


def _holds_lock(place: Path) -> bool:
    """Return whether rowkey has opened a directory before: it leaves an empty file there."""
    lock = place / LOCK
    return lock.is_file() and not lock.stat().st_size


def _unusable(path: Path, problem: OSError) -> Unsupported:
    """Return the error of a directory that the system does not give."""
    if is_shortage(problem):
        return build_shortage_error(path)
    what = f"it cannot be used: {problem.strerror or problem}"
    return Unsupported(str(path), what, "a directory to write to")
