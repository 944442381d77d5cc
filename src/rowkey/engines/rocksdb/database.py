"""One RocksDB database in one directory: checked, opened, written, closed."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from rowkey.cells import Family
from rowkey.durable_files import read_regular_file
from rowkey.engines.pairs import library
from rowkey.engines.pairs.pair_source import PairSource
from rowkey.engines.rocksdb.options import (
    build_changed_options,
    build_database_options,
    build_family_options,
)
from rowkey.engines.rocksdb.storage_errors import (
    explain_error,
    is_lock_of_this_process,
    is_not_writable,
)
from rowkey.engines.rocksdb_files.descriptor import Descriptor
from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE, HighWaterMark
from rowkey.engines.rocksdb_files.inspection import (
    IDENTITY_FILE,
    MAX_SMALL_FILE_BYTES,
    META_FAMILY,
    SALVAGE_HINT,
    Inspection,
    check_safe_to_open,
    inspect_database,
    move_unreferenced_files,
)
from rowkey.engines.rocksdb_files.linked_folder import LinkedFolder
from rowkey.engines.rocksdb_files.rocksdict_settings import write_settings
from rowkey.engines.rocksdb_files.write_origin import build_origin
from rowkey.errors import CorruptionError, OneMistakeError, RowkeyError, Unavailable

if TYPE_CHECKING:
    from rocksdict import ColumnFamily, Rdict, WriteBatch

    LinkedDatabase = tuple[Rdict, LinkedFolder]

LOG = logging.getLogger("rowkey.engines.rocks")

_FAMILY_PREFIX = "f_"
_LOCK_WAIT_S = 2.0
"""Seconds to wait for a database that this process is just closing."""


def to_column_family(family: str) -> str:
    """Return the name of the RocksDB column family that stores a family of a table.

    >>> to_column_family("d")
    'f_d'
    """
    return _FAMILY_PREFIX + quote(family, safe="")


def parse_family_name(column_family: str) -> str | None:
    """Return the family of a table that a RocksDB column family stores, or None.

    >>> parse_family_name(to_column_family("d")), parse_family_name("default")
    ('d', None)
    """
    if not column_family.startswith(_FAMILY_PREFIX):
        return None
    return unquote(column_family.removeprefix(_FAMILY_PREFIX))


class Database:
    """The open RocksDB database of one table.

    Args:
        db: the database as rocksdict opened it.
        families: names of the table's families.
        high_water_mark: the mark to raise with each write; None for a read-only database.
        table_id: the id that RocksDB gave the database.

    After a write that fails, as on a full disk, RocksDB accepts no other until the database is
    opened again, and `has_failed` is true.
    """

    def __init__(
        self,
        directory: Path,
        db: Rdict,
        families: Iterable[str],
        high_water_mark: HighWaterMark | None,
        table_id: str,
    ) -> None:
        self.directory, self.meta, self.has_failed = directory, db, False
        self.table_id = table_id
        self.origin = b"" if high_water_mark is None else high_water_mark.origin
        """The origin that each batch of changes ends with."""
        self._high_water_mark = high_water_mark
        self._linked_folder: LinkedFolder | None = None
        self.sources: dict[str, PairSource] = {}
        self.family_handles: dict[str, ColumnFamily] = {}
        self._sync_options, self._async_options = library.WriteOptions(), library.WriteOptions()
        self._sync_options.sync = True
        self.meta_source = PairSource(db, self.explain_error)
        for family in families:
            self._open_family(family)

    @property
    def is_read_only(self) -> bool:
        """Return whether the database was opened read-only."""
        return self._high_water_mark is None

    def _open_family(self, family: str) -> None:
        """Get the handles of a family for reading and writing."""
        name = to_column_family(family)
        self.sources[family] = PairSource(self.meta.get_column_family(name), self.explain_error)
        self.family_handles[family] = self.meta.get_column_family_handle(name)

    def explain_error(self, problem: Exception) -> OneMistakeError:
        """Return the error of rowkey for an error of RocksDB."""
        return explain_error(self.directory, problem)

    def translate_errors(self) -> AbstractContextManager[None]:
        """Return a context manager that raises RocksDB's errors as errors of rowkey."""
        return _translate_errors(self.directory)

    @classmethod
    def create(cls, directory: Path, families: Sequence[Family]) -> Database:
        """Create a RocksDB database in an empty directory, and open it; close it if that fails."""
        options = build_database_options(create=True)
        column_families = {
            to_column_family(family.name): build_family_options(family) for family in families
        }
        names = [family.name for family in families]
        try:
            db = library.Rdict(_build_path(directory), options, column_families)
        except Exception as problem:
            raise explain_error(directory, problem) from problem
        try:
            identity = read_regular_file(directory / IDENTITY_FILE, MAX_SMALL_FILE_BYTES)
            table_id, sequence = identity.decode("ascii"), db.latest_sequence_number()
            mark = HighWaterMark(directory / HIGH_WATER_FILE, sequence, build_origin(table_id))
            return cls(directory, db, names, mark, table_id)
        except Exception as problem:
            with suppress(Exception):  # the first error is raised
                db.close()
            raise explain_error(directory, problem) from problem

    @classmethod
    def open(cls, directory: Path, descriptor: Descriptor, *, repair: bool = False) -> Database:
        """Check the RocksDB database in a directory, and open it; read-only if the disk is full.

        Args:
            directory: the directory of the table.
            descriptor: the descriptor of the table.
            repair: whether to open damaged logs too, without the changes after the damage.

        Raises:
            CorruptionError: files are damaged or missing; nothing was changed.
            Unavailable: another process has the database open.
        """
        with _translate_errors(directory):
            check_safe_to_open(directory)
        inspection = check_database(directory, descriptor, repair=repair)
        families = descriptor.families
        assert inspection.manifest is not None
        for warning in inspection.warnings:
            LOG.warning("%s", warning)
        options = build_database_options(repair=repair)
        try:
            moved_paths = move_unreferenced_files(directory, inspection.manifest)
            write_settings(directory)
            db = _open_when_unlocked(
                directory, options, _build_all_family_options(inspection, families)
            )
        except Exception as problem:
            if is_not_writable(directory, problem):
                return cls._open_read_only(directory, descriptor, problem)
            raise explain_error(directory, problem) from problem
        for path in moved_paths:
            LOG.info("%s: the table does not use this file; it is kept here for some days", path)
        try:
            sequence = db.latest_sequence_number()
            if not repair:
                _check_recovered(directory, sequence, inspection)
            table_id = inspection.manifest.database_id
            mark = HighWaterMark(directory / HIGH_WATER_FILE, sequence, build_origin(table_id))
            return cls(directory, db, [family.name for family in families], mark, table_id)
        except Exception as problem:
            with suppress(Exception):  # the first error is raised
                db.close()
            raise explain_error(directory, problem) from problem

    @classmethod
    def _open_read_only(
        cls, directory: Path, descriptor: Descriptor, reason: Exception
    ) -> Database:
        """Open a database read-only, because it could not be opened for writing."""
        LOG.warning(
            "%s: the table is opened read-only, until the disk can be written: %s",
            directory,
            reason,
        )
        # RocksDB may have changed the directory before it failed.
        inspection, families = check_database(directory, descriptor), descriptor.families
        db, folder = open_linked_database(directory, inspection, families)
        names = [family.name for family in families]
        database = cls(directory, db, names, None, descriptor.table_id)
        database._linked_folder = folder
        return database

    def alter_family(self, family: Family) -> None:
        """Change the RocksDB options of a family, or add the family."""
        self.check_writable()
        with self.translate_errors():
            if family.name in self.sources:
                self.sources[family.name].family.set_options(build_changed_options(family))
                return
            name = to_column_family(family.name)
            if name not in library.Rdict.list_cf(_build_path(self.directory)):
                self.meta.create_column_family(name, build_family_options(family)).close()
            self._open_family(family.name)

    def start_batch(self) -> WriteBatch:
        """Return an empty batch of changes, to be passed to `write_batch`."""
        batch: WriteBatch = library.WriteBatch(raw_mode=True)
        return batch

    def check_writable(self) -> None:
        """Raise Unavailable if the database was opened read-only.

        Raises:
            Unavailable: the database was opened read-only.
        """
        if self._high_water_mark is None:
            what = "the table is open read-only: its disk was full or not writable when it opened"
            remedy = "Free space or make the disk writable, and open the table again."
            raise Unavailable(str(self.directory), what, remedy=remedy)

    def write_batch(self, batch: WriteBatch, *, sync: bool) -> None:
        """Apply all changes of a batch, or none, and raise the high-water mark.

        Raises:
            Unavailable: the write failed; no change of the batch is visible.
        """
        mark = self._high_water_mark
        if mark is None:
            self.check_writable()
            return
        try:
            self.meta.write(batch, self._sync_options if sync else self._async_options)
            mark.raise_mark(self.meta.latest_sequence_number(), durable=sync)
        except Exception as problem:
            self.has_failed = True
            raise self.explain_error(problem) from problem

    def flush(self) -> None:
        """Write the memtables of all families to files."""
        self.check_writable()
        with self.translate_errors():
            sequence = self.meta.latest_sequence_number()
            for source in self.sources.values():
                source.family.flush()
            self.meta.flush()
            assert self._high_water_mark is not None
            self._high_water_mark.raise_mark(sequence, durable=True)

    def compact(self) -> None:
        """Merge the files of each family.

        Raises:
            CorruptionError: a block is damaged, or could not be read.
        """
        self.check_writable()
        error_count = self._count_background_errors()
        with self.translate_errors():
            for source in self.sources.values():
                source.family.flush()
                source.family.compact_range(None, None)
        if self._count_background_errors() > error_count:
            self.has_failed = True
            what = "a compaction failed: a block is damaged, or the disk did not answer"
            remedy = "Run `rowkey verify` to see what is damaged."
            raise CorruptionError(str(self.directory), what, remedy=remedy)

    def _count_background_errors(self) -> int:
        """Return the number of errors of RocksDB's background threads so far."""
        return self.meta.property_int_value("rocksdb.background-errors") or 0

    def measure_size_bytes(self) -> int:
        """Return the bytes of all files of the database."""
        with self.translate_errors():
            return sum(map(_get_file_size, self.directory.iterdir()))

    def close(self) -> None:
        """Close the database; its directory stays locked until its last iterator is freed.

        Raises:
            Unavailable: cells in memory could not be written to files; the next opening reads them
                from the log. Not raised if a write has failed before.
        """
        self.family_handles.clear()
        problems = []
        for database in (*(source.family for source in self.sources.values()), self.meta):
            try:
                database.close()
            except Exception as problem:  # noqa: BLE001  # close all, then raise the first error
                problems.append(self.explain_error(problem))
        self.sources.clear()
        if self._high_water_mark is not None:
            self._high_water_mark.close()
        if self._linked_folder is not None:
            self._linked_folder.close()
        if problems and not self.has_failed:
            raise problems[0]

    def leak(self) -> None:
        """Keep the parent's database from being closed by a forked child."""
        library.leak(self)


@contextmanager
def _translate_errors(directory: Path) -> Iterator[None]:
    """Raise RocksDB's errors as errors that name the file and the remedy."""
    try:
        yield
    except RowkeyError:
        raise
    except Exception as problem:
        raise explain_error(directory, problem) from problem


def check_database(directory: Path, descriptor: Descriptor, *, repair: bool = False) -> Inspection:
    """Inspect the files of a database, and raise if one is damaged or missing.

    Args:
        directory: the directory of the table.
        descriptor: the descriptor of the table.
        repair: whether to ignore damage of logs.

    Raises:
        CorruptionError: the first damage.
        Unavailable: a file cannot be read.
    """
    try:
        families = [to_column_family(family.name) for family in descriptor.families]
        inspection = inspect_database(directory, [META_FAMILY, *families], descriptor.table_id)
    except OSError as problem:
        raise explain_error(directory, problem) from problem
    problems = inspection.problems if repair else inspection.problems + inspection.log_problems
    if problems:
        raise problems[0]
    return inspection


def _check_recovered(directory: Path, sequence: int, inspection: Inspection) -> None:
    """Raise CorruptionError unless RocksDB recovered all changes of the logs.

    Raises:
        CorruptionError: some are missing.
    """
    if sequence < inspection.last_sequence:
        what = (
            f"RocksDB recovered the changes up to number {sequence:,}, but the logs hold changes "
            f"up to number {inspection.last_sequence:,}"
        )
        raise CorruptionError(str(directory), what, remedy=SALVAGE_HINT)


def open_linked_database(
    directory: Path, inspection: Inspection, families: Sequence[Family]
) -> LinkedDatabase:
    """Open a database for reading through links, so that no file of it is changed.

    Raises:
        CorruptionError: it is damaged.
        Unavailable: it cannot be opened.
    """
    assert inspection.manifest is not None
    names = {
        "CURRENT",
        inspection.manifest_name,
        *(file.name for file in inspection.manifest.files.values()),
    }
    logs = [path for path, _ in inspection.logs]
    folder = LinkedFolder(directory, [*(directory / name for name in sorted(names)), *logs])
    options, access = (
        _build_all_family_options(inspection, families),
        library.AccessType.read_only(),
    )
    try:
        return library.Rdict(str(folder.path), build_database_options(), options, access), folder
    except Exception as problem:
        folder.close()
        raise explain_error(directory, problem) from problem


def _build_all_family_options(inspection: Inspection, families: Sequence[Family]) -> dict[str, Any]:
    """Return the options of all column families of a database, by name."""
    options_by_name = {
        to_column_family(family.name): build_family_options(family) for family in families
    }
    assert inspection.manifest is not None
    for name in inspection.manifest.families.values():
        if name != META_FAMILY and name not in options_by_name:  # a kill while a family was added
            options_by_name[name] = library.Options(raw_mode=True)
    return options_by_name


def _open_when_unlocked(directory: Path, options: Any, families: dict[str, Any]) -> Rdict:
    """Open a database; wait if this process is just closing it."""
    end = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            db: Rdict = library.Rdict(_build_path(directory), options, families)
        except Exception as problem:
            if not is_lock_of_this_process(problem) or time.monotonic() > end:
                raise
            time.sleep(0.005)
        else:
            return db


def _build_path(directory: Path) -> str:
    """Return the path by which RocksDB opens a directory, different after each fork.

    A forked child inherits RocksDB's list of locked paths, so it needs another path.
    """
    return str(directory) + "/." * library.fork_count


def _get_file_size(path: Path) -> int:
    """Return the bytes of a file; 0 if RocksDB has just removed it."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0
