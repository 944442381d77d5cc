"""Tables on disk without a server: RocksDB, through rocksdict."""

from __future__ import annotations

import os
import re
import shutil
from itertools import count
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, BinaryIO, ClassVar

from rowkey.descriptors import build_shortage_error, is_shortage
from rowkey.engines.contract import Engine, Store, TableSpec, now_ms
from rowkey.engines.rocksdb import Mended, OpenTable, RocksStore, check_codecs, lock_directory, mend
from rowkey.engines.rocksdb.files import CONFIG
from rowkey.engines.rocksdb.locking import LOCK
from rowkey.engines.rocksdb.mending import ASIDE, Examined, examine
from rowkey.engines.specs import check_spec
from rowkey.errors import Refused, Unsupported, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Clock = Callable[[], int]

_MARK = "rowkey"
"""The file that says a table's directory is whole: the last thing made, the first removed."""

_MARKED = b"rocks 1\n"

CATALOG = ".catalog"
"""Where the designs of the tables lie, beside them; no table's name begins with a point."""

_DROPPED = ".dropped-"

_OURS = re.compile(
    r"CURRENT|IDENTITY|LOCK|LOG(\.old\.\d+)?|(MANIFEST|OPTIONS)-\d+(\.dbtmp)?"
    rf"|\d+\.(log|sst|blob|dbtmp)(\.trash)?|{re.escape(CONFIG)}|{ASIDE}|{_MARK}"
)
"""What lies in a table's directory. Source: filename.cc, and the names that rowkey gives."""


class Rocks(Engine):
    """Tables in a directory: `rocks:PATH`. One process at a time; each table is a RocksDB.

    What has returned survives the death of the process. With `sync` it survives the loss of power
    as well, at the price of a disk's flush for each call.
    """

    name = scheme = "rocks"
    persistent = True
    shared = False
    exclusive = True
    refuses: ClassVar[Mapping[str, str]] = {
        "new_version_behavior": "deletes hide by timestamp here, not by arrival"
    }

    def __init__(self, path: Path, held: BinaryIO, clock: Clock, *, sync: bool) -> None:
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
            Unsupported: it cannot be made or written to, or another process has it.
        """
        path = _path_of(where)
        try:
            path.mkdir(parents=True, exist_ok=True)
            held = lock_directory(path)
        except OSError as problem:
            raise _unusable(path, problem) from problem
        for left in path.glob(f"{_DROPPED}*"):
            if _is_ours(left):
                shutil.rmtree(left, ignore_errors=True)
        return cls(path, held, clock, sync=sync)

    @classmethod
    def is_there(cls, where: str) -> bool:
        """Whether there is a directory that rowkey has made or has a table in.

        Args:
            where: its path.

        Raises:
            Refused: no path is given, or one that no file can have.
            Unsupported: it cannot be looked at.
        """
        path = _path_of(where)
        try:
            path.stat()
            return not path.is_dir() or _holds_lock(path) or bool(_tables_in(path))
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise _unusable(path, problem) from problem

    @classmethod
    def examine(cls, where: str) -> list[Examined]:
        """What is damaged in tables; no file of theirs is changed.

        Args:
            where: the directory, open in no process.

        Returns:
            What was found of each table, in the order of their names; `broken` of one that is
            damaged elsewhere than in a log, and cannot be mended.

        Raises:
            Refused: there is no such directory, or no table in it.
            Unsupported: another process has it.
        """
        with cls._existing(where) as engine:
            return [examine(_directory(Path(where), name)) for name in engine.tables()]

    @classmethod
    def repair(cls, where: str) -> list[Mended]:
        """Cut the logs of tables where they are damaged, so that the tables open again.

        Args:
            where: the directory, open in no process.

        Returns:
            What was done to each table, in the order of their names; it is logged as well.
            `broken` of one that does not open all the same.

        Raises:
            Refused: there is no such directory, or no table in it.
            Unsupported: another process has it.
        """
        with cls._existing(where) as engine:
            return [mend(_directory(Path(where), name)) for name in engine.tables()]

    @classmethod
    def _existing(cls, where: str) -> Rocks:
        """A directory that is there, open."""
        if not cls.is_there(where):
            what, remedy = (
                "there is no such place, and no table",
                "Create one first: rowkey create.",
            )
            raise Refused(f"rocks:{where}", what, remedy=remedy)
        return cls.open(where)

    @property
    def catalog_url(self) -> str:
        return f"file:{self._path / CATALOG}"

    def tables(self) -> list[str]:
        self._check_open()
        return _tables_in(self._path)

    def create(self, spec: TableSpec, progress: Callable[[int, int], None] | None = None) -> Store:
        self._check_open()
        check_spec(spec, self.refuses)
        for family in spec.families:
            check_codecs(family)
        with self._lock:
            if spec.name in self.tables():
                raise Refused("table", f"{shown(spec.name)} is there already", "a new name")
            directory = _directory(self._path, spec.name)
            _make_room(directory)
            table = OpenTable.create(directory, spec, self._clock, sync=self._sync)
            (directory / _MARK).write_bytes(_MARKED)
            _sync_directory(directory)
            self._tables[spec.name] = table
        return RocksStore(table)

    def table(self, name: str) -> Store:
        self._check_open()
        with self._lock:
            table = self._tables.get(name)
            if table is not None and table.files.failed:
                table.close()
                table = None
            if table is None:
                self._check_there(name)
                table = OpenTable.open(_directory(self._path, name), self._clock, sync=self._sync)
                self._tables[name] = table
        return RocksStore(table)

    def _check_there(self, name: str) -> None:
        names = self.tables()
        if name not in names:
            known = ", ".join(names) or "no table, there is none"
            raise Refused("table", f"there is no {shown(name)}", known)

    def drop(self, name: str) -> None:
        self._check_open()
        with self._lock:
            self._check_there(name)
            table = self._tables.pop(name, None)
            if table is not None:
                table.close("dropped")
            directory = _directory(self._path, name)
            (directory / _MARK).unlink()
            gone = _free_name(self._path / f"{_DROPPED}{directory.name}")
            directory.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def _check_open(self) -> None:
        if self._closed:
            raise Refused("engine", "it is closed", "an open engine")

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                for table in self._tables.values():
                    table.close()
            finally:
                self._held.close()


def _path_of(where: str) -> Path:
    """The path of a URL.

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


def _tables_in(place: Path) -> list[str]:
    """Return the names of the tables in a directory, ascending.

    Raises:
        OSError: it cannot be read. From Python 3.12 on `Path.glob` would find no table then.
    """
    marks = (entry / _MARK for entry in place.iterdir())
    return sorted(mark.parent.name.replace("@", ":") for mark in marks if _is_mark(mark))


def _is_mark(path: Path) -> bool:
    """Whether a file is a table's mark, and not a program of this name.

    Where power was lost just after a table was made, it may be empty or of zeros.
    """
    if path.parent.name.startswith(".") or not path.is_file():
        return False
    with path.open("rb") as file:
        begin = file.read(len(_MARKED))
    return begin == _MARKED or not begin.strip(b"\0")


def _holds_lock(place: Path) -> bool:
    """Whether rowkey has opened a directory before: it leaves an empty file there."""
    lock = place / LOCK
    return lock.is_file() and not lock.stat().st_size


def _is_ours(directory: Path) -> bool:
    """Whether a directory is what is left of a table: nothing but a table's files is in it."""
    if directory.is_symlink() or not directory.is_dir():
        return False
    names = [path.name for path in directory.iterdir()]
    return bool(names) and all(map(_OURS.fullmatch, names))


def _make_room(directory: Path) -> None:
    """Remove what a kill amid `create` has left of a table.

    Raises:
        Unsupported: it is something else.
    """
    if _is_ours(directory):
        shutil.rmtree(directory, ignore_errors=True)
    elif os.path.lexists(directory) and not (directory.is_dir() and not any(directory.iterdir())):
        what = "the table would lie there, but it holds something else"
        raise Unsupported(str(directory), what, "an empty directory or none", "Move it away.")


def _free_name(path: Path) -> Path:
    """A path that is not there: this one, or with a number behind it."""
    names = (path.with_name(f"{path.name}@{number}") for number in count())
    return path if not os.path.lexists(path) else next(n for n in names if not os.path.lexists(n))


def _unusable(path: Path, problem: OSError) -> Unsupported:
    """The error of a directory that the system does not give."""
    if is_shortage(problem):
        return build_shortage_error(path)
    what = f"it cannot be used: {problem.strerror or problem}"
    return Unsupported(str(path), what, "a directory to write to")


def _directory(place: Path, table: str) -> Path:
    """Where a table lies; no table's name holds the sign that stands for the colon here."""
    return place / table.replace(":", "@")


def _sync_directory(directory: Path) -> None:
    """Have the names in a directory on disk, where the system can."""
    try:
        number = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)
