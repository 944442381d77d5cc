"""Tables on disk without a server: RocksDB, through rocksdict."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, ClassVar

from rowkey import forks
from rowkey.engines.contract import Engine, Store, TableSpec, now_ms
from rowkey.engines.rocksdb import OpenTable, RocksStore, check_codecs
from rowkey.engines.rocksdb.descriptor import (
    CREATING,
    DESCRIPTOR,
    directory_name,
    read_descriptor,
    sync_directory,
    table_of_directory,
)
from rowkey.engines.rocksdb.directory import holds_database, list_foreign
from rowkey.engines.rocksdb.examination import Examination, examine_table, ignore_progress
from rowkey.engines.rocksdb.locking import LOCK, DirectoryLock
from rowkey.engines.rocksdb.repair import Repair, Saved, repair_table, save_table
from rowkey.engines.specs import check_spec
from rowkey.errors import CorruptionError, Refused, Unsupported, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Clock = Callable[[], int]

CATALOG = ".catalog"
"""Where the designs of the tables lie, next to them; no table's name begins with a point."""

_DROPPED = ".dropped-"
_NAMED = 3
"""Files that an error names of many."""


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
            _make_directory(path)
            held = DirectoryLock(path)
        except OSError as problem:
            raise _unusable(path, problem) from problem
        with suppress(OSError):  # a disk that may only be read
            for left in path.glob(f"{_DROPPED}*"):
                _remove_dropped(left)
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
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise _unusable(path, problem) from problem
        return not path.is_dir() or _holds_lock(path) or bool(_tables_in(path))

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
        _prepare_directory(directory)
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
        return _tables_in(self._path)

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
                _prepare_directory(directory)
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
            _check_own(directory)
            table = self._tables.pop(name, None)
            if table is not None:
                table.close("dropped")
            gone = _free_name(self._path / f"{_DROPPED}{directory.name}")
            directory.rename(gone)
            sync_directory(self._path)
            _remove_dropped(gone)

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
            try:
                for table in self._tables.values():
                    table.close()
            finally:
                self._held.release()


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


def _make_directory(path: Path) -> None:
    """Make a directory and those above it, each on disk before what lies in it."""
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        directory.mkdir(exist_ok=True)
        sync_directory(directory.parent)


def _tables_in(place: Path) -> list[str]:
    """Return the names of the tables in a directory, ascending, damaged ones among them."""
    return sorted(table_of_directory(path) for path in place.iterdir() if _is_table(path))


def _is_table(directory: Path) -> bool:
    """Return whether a directory holds a table, which may be damaged.

    One that is still being created is none.
    """
    if directory.name.startswith(".") or directory.is_symlink() or not directory.is_dir():
        return False
    try:
        return read_descriptor(directory).state != CREATING
    except (CorruptionError, Unsupported):
        return holds_database(directory)


def _holds_lock(place: Path) -> bool:
    """Return whether rowkey has opened a directory before: it leaves an empty file there."""
    lock = place / LOCK
    return lock.is_file() and not lock.stat().st_size


def _prepare_directory(directory: Path) -> None:
    """Make an empty directory, in place of what a kill has left of a table being created.

    Raises:
        Unsupported: there is something else.
    """
    if os.path.lexists(directory):
        if directory.is_symlink() or not directory.is_dir():
            raise _occupied(directory, [directory])
        content = list(directory.iterdir())
        if content:
            if not _is_half_created(directory):
                raise _occupied(directory, sorted(content))
            _remove_files(directory)
    _make_directory(directory)


def _is_half_created(directory: Path) -> bool:
    """Return whether a directory holds what a kill has left of a table being created, and no more.

    Its descriptor says so: of such a table nothing was acknowledged.
    """
    try:
        is_half_created = read_descriptor(directory).state == CREATING
    except (CorruptionError, Unsupported):
        return False
    return is_half_created and not list_foreign(directory)


def _check_own(directory: Path) -> None:
    """Raise unless a directory holds a table and nothing else.

    Raises:
        CorruptionError: its descriptor is damaged.
        Unsupported: it holds something else.
    """
    read_descriptor(directory)
    foreign = list_foreign(directory)
    if foreign:
        what = f"it holds {_named(foreign)}, which is not of rowkey, and would be removed"
        raise Unsupported(str(directory), what, "files of the table", "Move it away.")


def _remove_dropped(directory: Path) -> None:
    """Remove what is left of a table that was dropped; what is anything else stays."""
    try:
        _check_own(directory)
    except (CorruptionError, Unsupported):
        return
    _remove_files(directory)
    with suppress(OSError):
        directory.rmdir()


def _remove_files(directory: Path) -> None:
    """Remove the files of a table, its descriptor last."""
    for path in directory.iterdir():
        if path.name == DESCRIPTOR:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    (directory / DESCRIPTOR).unlink(missing_ok=True)


def _occupied(directory: Path, content: list[Path]) -> Unsupported:
    what = f"the table would lie there, but it holds something else: {_named(content)}"
    return Unsupported(str(directory), what, "an empty directory or none", "Move it away.")


def _named(paths: list[Path]) -> str:
    """Return the first few names."""
    names = ", ".join(path.name for path in paths[:_NAMED])
    return f"{names} and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else names


def _free_name(path: Path) -> Path:
    """Return a path that is not there: this one, or with a number after it."""
    names = (path.with_name(f"{path.name}@{number}") for number in count())
    return path if not os.path.lexists(path) else next(n for n in names if not os.path.lexists(n))


def _unusable(path: Path, problem: OSError) -> Unsupported:
    """Return the error of a directory that the system does not give."""
    what = f"it cannot be used: {problem.strerror or problem}"
    return Unsupported(str(path), what, "a directory to write to")
