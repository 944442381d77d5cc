"""Tables on disk without a server: RocksDB, through rocksdict."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, BinaryIO, ClassVar

from rowkey.engines.contract import Engine, Store, TableSpec, now_ms
from rowkey.engines.rocksdb import Mended, OpenTable, RocksStore, check_codecs, lock_directory, mend
from rowkey.engines.rocksdb.mending import Examined, examine
from rowkey.engines.specs import check_spec
from rowkey.errors import Refused, Unsupported, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Clock = Callable[[], int]

_MARK = "rowkey"
"""The file that says a table's directory is whole: the last thing made, the first removed."""

CATALOG = ".catalog"
"""Where the designs of the tables lie, beside them; no table's name begins with a point."""

_DROPPED = ".dropped-"


class Rocks(Engine):
    """Tables in a directory: `rocks:PATH`. One process at a time; each table is a RocksDB.

    What has returned survives the death of the process. With `sync` it survives the loss of power
    as well, at the price of a disk's flush for each call.
    """

    name = "rocks"
    persistent = True
    shared = False
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
            Refused: no path is given, or one that no file can have.
            Unsupported: it cannot be made or written to, or another process has it.
        """
        path = _path_of(where)
        try:
            path.mkdir(parents=True, exist_ok=True)
            held = lock_directory(path)
        except OSError as problem:
            raise _unusable(path, problem) from problem
        for left in path.glob(f"{_DROPPED}*"):
            shutil.rmtree(left, ignore_errors=True)
        return cls(path, held, clock, sync=sync)

    @classmethod
    def is_there(cls, where: str) -> bool:
        """Whether there is a directory to open, so that opening it makes none.

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
        return True

    @classmethod
    def examine(cls, where: str) -> list[Examined]:
        """What is damaged in the logs of tables; nothing is changed.

        Args:
            where: the directory, open in no process.

        Returns:
            What was found of each table, in the order of their names.

        Raises:
            Refused: there is no such directory.
            Unsupported: another process has it; or it is damaged elsewhere than in a log.
        """
        with cls._existing(where) as engine:
            found = [examine(_directory(Path(where), name)) for name in engine.tables()]
            for name, one in zip(engine.tables(), found, strict=True):
                if not one.log:
                    engine.table(name)
            return found

    @classmethod
    def repair(cls, where: str) -> list[Mended]:
        """Cut the logs of tables where they are damaged, so that the tables open again.

        Args:
            where: the directory, open in no process.

        Returns:
            What was done to each table, in the order of their names; it is logged as well.

        Raises:
            Refused: there is no such directory.
            Unsupported: another process has it, or something else than a log is damaged.
        """
        with cls._existing(where) as engine:
            return [mend(_directory(Path(where), name)) for name in engine.tables()]

    @classmethod
    def _existing(cls, where: str) -> Rocks:
        """A directory that is there, open."""
        if not cls.is_there(where):
            raise Refused("url", f"there is no directory {shown(where)}", "rocks:PATH")
        return cls.open(where)

    @property
    def catalog_url(self) -> str:
        return f"file:{self._path / CATALOG}"

    def tables(self) -> list[str]:
        self._check_open()
        marks = self._path.glob(f"*/{_MARK}")
        return sorted(mark.parent.name.replace("@", ":") for mark in marks)

    def create(self, spec: TableSpec) -> Store:
        self._check_open()
        check_spec(spec, self.refuses)
        for family in spec.families:
            check_codecs(family)
        with self._lock:
            if spec.name in self.tables():
                raise Refused("table", f"{shown(spec.name)} is there already", "a new name")
            directory = _directory(self._path, spec.name)
            shutil.rmtree(directory, ignore_errors=True)
            table = OpenTable.create(directory, spec, self._clock, sync=self._sync)
            (directory / _MARK).write_text("rocks 1\n", "ascii")
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
            gone = self._path / f"{_DROPPED}{directory.name}"
            shutil.rmtree(gone, ignore_errors=True)
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
        is_path = b"\0" not in os.fsencode(where)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        what = f"{shown(where)} holds a character that no path has"
        raise Refused("url", what, "rocks:PATH")
    return Path(where)


def _unusable(path: Path, problem: OSError) -> Unsupported:
    """The error of a directory that the system does not give."""
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
