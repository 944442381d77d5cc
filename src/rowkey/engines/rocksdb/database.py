"""One RocksDB in one directory: checked, opened, written, closed."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from rowkey.engines.pairs import library
from rowkey.engines.pairs.source import PairSource
from rowkey.engines.rocksdb.options import changed_options, database_options, family_options
from rowkey.engines.rocksdb.storage_errors import (
    explain_error,
    is_lock_of_this_process,
    is_not_writable,
)
from rowkey.engines.rocksdb_files.directory import (
    META,
    Inspection,
    check_safe_to_open,
    inspect_database,
    move_unreferenced,
)
from rowkey.engines.rocksdb_files.high_water import HIGH_WATER, HighWaterMark
from rowkey.engines.rocksdb_files.linked_folder import LinkedFolder
from rowkey.engines.rocksdb_files.settings import write_settings
from rowkey.errors import CorruptionError, OneMistakeError, RowkeyError, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rocksdict import ColumnFamily, Rdict, WriteBatch

    from rowkey.cells import Family

    LinkedDatabase = tuple[Rdict, LinkedFolder]

LOG = logging.getLogger("rowkey.engines.rocks")

_PREFIX = "f_"
_LOCK_WAIT_S = 2.0
"""Seconds that a database is waited for that this process is just closing."""


def column_family(family: str) -> str:
    """Return the name under which RocksDB keeps a family; never `META`, always plain ASCII.

    >>> column_family("d")
    'f_d'
    """
    return _PREFIX + quote(family, safe="")


def family_name(column_family: str) -> str | None:
    """Return the family that RocksDB keeps under a name; None if that holds none.

    >>> family_name(column_family("d")), family_name("default")
    ('d', None)
    """
    if not column_family.startswith(_PREFIX):
        return None
    return unquote(column_family.removeprefix(_PREFIX))


class Database:
    """A RocksDB that is open.

    Args:
        directory: where it lies.
        db: the open database.
        families: names of its families.
        mark: the high-water mark; None if it is open for reading only.

    A write that fails, for want of space say, is the last one: RocksDB takes no other until it is
    opened again. `failed` says so.
    """

    def __init__(
        self, directory: Path, db: Rdict, families: Iterable[str], mark: HighWaterMark | None
    ) -> None:
        self.directory, self.meta, self.failed = directory, db, False
        self._mark = mark
        self._folder: LinkedFolder | None = None
        self.sources: dict[str, PairSource] = {}
        self.handles: dict[str, ColumnFamily] = {}
        self._sync, self._lazy = library.WriteOptions(), library.WriteOptions()
        self._sync.sync = True
        self.meta_source = PairSource(db, self.explain)
        for family in families:
            self._find_family(family)

    @property
    def is_read_only(self) -> bool:
        """Whether it can only be read."""
        return self._mark is None

    def _find_family(self, family: str) -> None:
        name = column_family(family)
        self.sources[family] = PairSource(self.meta.get_column_family(name), self.explain)
        self.handles[family] = self.meta.get_column_family_handle(name)

    def explain(self, problem: Exception) -> OneMistakeError:
        """Return what an error of RocksDB means."""
        return explain_error(self.directory, problem)

    def explaining(self) -> AbstractContextManager[None]:
        """Raise errors of RocksDB as what they mean."""
        return _explaining(self.directory)

    @classmethod
    def create(cls, directory: Path, families: Sequence[Family]) -> Database:
        """Make a RocksDB in a directory that has none."""
        options = database_options(create=True)
        column_families = {column_family(one.name): family_options(one) for one in families}
        names = [one.name for one in families]
        try:
            db = library.Rdict(_path_of(directory), options, column_families)
            mark = HighWaterMark(directory / HIGH_WATER, db.latest_sequence_number())
            return cls(directory, db, names, mark)
        except Exception as problem:
            raise explain_error(directory, problem) from problem

    @classmethod
    def open(cls, directory: Path, families: Sequence[Family], *, repair: bool = False) -> Database:
        """Open a RocksDB that is there, after it was checked; for reading where a disk is full.

        Args:
            directory: where it lies.
            families: the families that it has.
            repair: whether to go on where the logs end early or are damaged, and to drop the rest.

        Raises:
            CorruptionError: it is damaged, or files are missing; nothing was changed.
            Unsupported: another process has it.
        """
        with _explaining(directory):
            check_safe_to_open(directory)
        found = check_database(directory, families, repair=repair)
        assert found.manifest is not None
        for warning in found.warnings:
            LOG.warning("%s", warning)
        options = database_options(repair=repair)
        try:
            moved = move_unreferenced(directory, found.manifest)
            write_settings(directory)
            db = _open_unlocked(directory, options, _options_of(found, families))
        except Exception as problem:
            if is_not_writable(directory, problem):
                return cls._open_to_read(directory, families, problem)
            raise explain_error(directory, problem) from problem
        for path in moved:
            LOG.info("%s: nothing refers to it; kept here for some days", path)
        try:
            sequence = db.latest_sequence_number()
            if not repair:
                _check_recovered(directory, sequence, found)
            mark = HighWaterMark(directory / HIGH_WATER, sequence)
            return cls(directory, db, [one.name for one in families], mark)
        except Exception as problem:
            with suppress(Exception):  # what went wrong first is told
                db.close()
            raise explain_error(directory, problem) from problem

    @classmethod
    def _open_to_read(
        cls, directory: Path, families: Sequence[Family], reason: Exception
    ) -> Database:
        LOG.warning("%s: open for reading only: %s", directory, reason)
        found = check_database(directory, families)  # RocksDB may have changed it before it failed
        db, folder = open_linked(directory, found, families)
        opened = cls(directory, db, [one.name for one in families], None)
        opened._folder = folder
        return opened

    def alter(self, family: Family) -> None:
        """Give a family other options, or make room for a new one."""
        self.check_writable()
        with self.explaining():
            if family.name in self.sources:
                self.sources[family.name].family.set_options(changed_options(family))
                return
            name = column_family(family.name)
            if name not in library.Rdict.list_cf(_path_of(self.directory)):
                self.meta.create_column_family(name, family_options(family)).close()
            self._find_family(family.name)

    def start_batch(self) -> WriteBatch:
        """Return an empty batch of changes."""
        batch: WriteBatch = library.WriteBatch(raw_mode=True)
        return batch

    def check_writable(self) -> None:
        """Raise unless it can be written.

        Raises:
            Unsupported: it is open for reading only.
        """
        if self._mark is None:
            what = "it is open for reading only: its disk was full or read-only when it was opened"
            raise Unsupported(str(self.directory), what, remedy="Mend that, and open it again.")

    def write(self, batch: WriteBatch, *, sync: bool) -> None:
        """Apply a batch whole.

        Raises:
            Unsupported: it could not be written; nothing of it can be read.
        """
        mark = self._mark
        if mark is None:
            self.check_writable()
            return
        try:
            self.meta.write(batch, self._sync if sync else self._lazy)
            mark.raise_to(self.meta.latest_sequence_number(), durable=sync)
        except Exception as problem:
            self.failed = True
            raise self.explain(problem) from problem

    def flush(self) -> None:
        """Write what is in memory to files."""
        self.check_writable()
        with self.explaining():
            sequence = self.meta.latest_sequence_number()
            for source in self.sources.values():
                source.family.flush()
            self.meta.flush()
            assert self._mark is not None
            self._mark.raise_to(sequence, durable=True)

    def compact(self) -> None:
        """Merge the files of each family.

        Raises:
            CorruptionError: a block is damaged, or could not be read.
        """
        self.check_writable()
        before = self._background_errors()
        with self.explaining():
            for source in self.sources.values():
                source.family.flush()
                source.family.compact_range(None, None)
        if self._background_errors() > before:
            self.failed = True
            what = "a compaction failed: a block is damaged, or the disk did not answer"
            remedy = "`rowkey verify` tells what is damaged."
            raise CorruptionError(str(self.directory), what, remedy=remedy)

    def _background_errors(self) -> int:
        return self.meta.property_int_value("rocksdb.background-errors") or 0

    def size_bytes(self) -> int:
        """Return the bytes of its files."""
        with self.explaining():
            return sum(map(_size_of, self.directory.iterdir()))

    def close(self) -> None:
        """Let go of the directory; iterators that still live hold it until they are gone.

        Raises:
            Unsupported: what was in memory could not be written; it is in the log, and read from
                there when the table is opened. Not if that was said before.
        """
        self.handles.clear()
        problems = []
        for database in (*(source.family for source in self.sources.values()), self.meta):
            try:
                database.close()
            except Exception as problem:  # noqa: BLE001  # all must be closed, then it is told
                problems.append(self.explain(problem))
        self.sources.clear()
        if self._mark is not None:
            self._mark.close()
        if self._folder is not None:
            self._folder.close()
        if problems and not self.failed:
            raise problems[0]

    def leak(self) -> None:
        """In a forked child: keep what belongs to the parent from being closed here."""
        library.leak(self)


@contextmanager
def _explaining(directory: Path) -> Iterator[None]:
    try:
        yield
    except RowkeyError:
        raise
    except Exception as problem:
        raise explain_error(directory, problem) from problem


def check_database(
    directory: Path, families: Sequence[Family], *, repair: bool = False
) -> Inspection:
    """Return what is in a directory, once nothing in it is damaged or missing.

    Args:
        directory: where it lies.
        families: the families that it must have.
        repair: whether damage to logs is passed over.

    Raises:
        CorruptionError: the first damage; how many more there are is said as well.
        Unsupported: a file cannot be read.
    """
    try:
        found = inspect_database(directory, [META, *(column_family(one.name) for one in families)])
    except OSError as problem:
        raise explain_error(directory, problem) from problem
    problems = found.problems if repair else found.problems + found.log_problems
    if problems:
        raise problems[0]
    return found


def _check_recovered(directory: Path, sequence: int, found: Inspection) -> None:
    """Raise unless all changes were recovered that the logs hold.

    Raises:
        CorruptionError: some are missing.
    """
    if sequence < found.last_change:
        what = f"only {sequence:,} of {found.last_change:,} changes were recovered from its logs"
        raise CorruptionError(str(directory), what)


def open_linked(directory: Path, found: Inspection, families: Sequence[Family]) -> LinkedDatabase:
    """Return a database that is open to be read, from links to its files: none is changed.

    Raises:
        CorruptionError: it is damaged.
        Unsupported: it cannot be opened.
    """
    assert found.manifest is not None
    names = {"CURRENT", found.manifest_name, *(one.name for one in found.manifest.files.values())}
    logs = [path for path, _ in found.logs]
    folder = LinkedFolder(directory, [*(directory / name for name in sorted(names)), *logs])
    options, access = _options_of(found, families), library.AccessType.read_only()
    try:
        return library.Rdict(str(folder.path), database_options(), options, access), folder
    except Exception as problem:
        folder.close()
        raise explain_error(directory, problem) from problem


def _options_of(found: Inspection, families: Sequence[Family]) -> dict[str, Any]:
    """Return the options of all column families that a database has."""
    given = {column_family(one.name): family_options(one) for one in families}
    assert found.manifest is not None
    for name in found.manifest.families.values():
        if name != META and name not in given:  # a kill while a family was added
            given[name] = library.Options(raw_mode=True)
    return given


def _open_unlocked(directory: Path, options: Any, families: dict[str, Any]) -> Rdict:
    """Open a database; one that this process is just closing is waited for."""
    end = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            db: Rdict = library.Rdict(_path_of(directory), options, families)
        except Exception as problem:
            if not is_lock_of_this_process(problem) or time.monotonic() > end:
                raise
            time.sleep(0.005)
        else:
            return db


def _path_of(directory: Path) -> str:
    """Return the path under which RocksDB opens a directory.

    A forked child inherits RocksDB's list of the paths that are locked in its process; there it
    must go by another one.
    """
    return str(directory) + "/." * library.generation


def _size_of(path: Path) -> int:
    """Return the bytes of a file, 0 for one that RocksDB has just removed."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0
