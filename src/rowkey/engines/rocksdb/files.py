"""One RocksDB in one directory: opened and closed, its families found, its errors put in words."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from rocksdict import AccessType, DbClosedError, Options, Rdict, WriteBatch, WriteOptions

from rowkey.descriptors import SHORTAGE_TEXT, build_shortage_error
from rowkey.engines.rocksdb.options import (
    changed_options,
    family_options,
    set_table_options,
    table_options,
)
from rowkey.engines.rocksdb.wal import find_damage, logs_in
from rowkey.errors import Refused, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rocksdict import ColumnFamily

    from rowkey.cells import Family

META = "default"
"""The column family of RocksDB that holds what is known of the table; each RocksDB has one."""

_PREFIX = "f_"
_DISK_FULL = ("No space left on device", "File too large", "Disk quota exceeded")


def column_family(family: str) -> str:
    """The name under which RocksDB keeps a family; never `META`, always plain ASCII.

    >>> column_family("d")
    'f_d'
    """
    return _PREFIX + quote(family, safe="")


class Files:
    """A RocksDB that is open.

    Args:
        path: its directory.
        db: the open database.
        families: names of its families.

    A write that fails, for want of space say, is the last one: RocksDB takes no other until it is
    opened again. `failed` says so.
    """

    def __init__(self, path: Path, db: Rdict, families: Iterable[str]) -> None:
        self.path = path
        self.meta = db
        self.families: dict[str, Rdict] = {}
        self.handles: dict[str, ColumnFamily] = {}
        self.failed = False
        self._sync, self._lazy = WriteOptions(), WriteOptions()
        self._sync.sync = True
        for family in families:
            self._know(family)

    def _know(self, family: str) -> None:
        name = column_family(family)
        self.families[family] = self.meta.get_column_family(name)
        self.handles[family] = self.meta.get_column_family_handle(name)

    @classmethod
    def create(cls, path: Path, families: Iterable[Family]) -> Files:
        """Make a RocksDB in a directory that has none."""
        given = {family.name: family for family in families}
        options = {column_family(name): family_options(family) for name, family in given.items()}
        with told(path):
            files = cls(path, Rdict(str(path), table_options(), options), given)
            for family in given.values():
                files._keep_filter(family)
        return files

    def _keep_filter(self, family: Family) -> None:
        """Give a new family its Bloom filter once more, in words.

        A filter that was given as an object is stored without its size, and lost when the options
        are loaded: seen with rocksdict 0.3.29.
        """
        if family.bloom != "NONE":
            self.families[family.name].set_options(changed_options(family))

    @classmethod
    def open(cls, path: Path, *, repair: bool = False) -> Files:
        """Open a RocksDB that is there; its families are known when `know` is called.

        Raises:
            Unsupported: another process has it, or it is damaged.
        """
        _check_raw(path)
        _check_logs(path)
        with told(path):
            options, families = Options.load_latest(str(path))
            db = Rdict(str(path), set_table_options(options, repair=repair), families)
        return cls(path, db, ())

    def know(self, families: Iterable[str]) -> None:
        """Find the column families of these families."""
        with told(self.path):
            for family in families:
                self._know(family)

    def alter(self, family: Family) -> None:
        """Give a family other options, or make room for a new one."""
        with told(self.path):
            if family.name in self.families:
                self.families[family.name].set_options(changed_options(family))
                return
            name = column_family(family.name)
            if name not in Rdict.list_cf(str(self.path)):
                self.meta.create_column_family(name, family_options(family)).close()
            self._know(family.name)
            self._keep_filter(family)

    def batch(self) -> WriteBatch:
        """An empty batch of changes."""
        return WriteBatch(raw_mode=True)

    def write(self, batch: WriteBatch, *, sync: bool) -> None:
        """Apply a batch whole.

        Raises:
            Unsupported: it could not be written; nothing of it can be read.
        """
        try:
            self.meta.write(batch, self._sync if sync else self._lazy)
        except Exception as problem:
            self.failed = True
            raise explained(self.path, problem) from problem

    def flush(self) -> None:
        """Write what is in memory to files."""
        with told(self.path):
            for family in self.families.values():
                family.flush()
            self.meta.flush()

    def compact(self) -> None:
        """Merge the files of each family."""
        with told(self.path):
            for family in self.families.values():
                family.flush()
                family.compact_range(None, None)

    def size(self) -> int:
        """Bytes of its files."""
        with told(self.path):
            return sum(map(_size_of, self.path.iterdir()))

    def close(self) -> None:
        """Let go of the directory; iterators that still live hold it until they are gone.

        Raises:
            Unsupported: what was in memory could not be written; it is in the log, and read from
                there when the table is opened. Not if that was said before.
        """
        self.handles.clear()
        problems = []
        for database in (*self.families.values(), self.meta):
            try:
                database.close()
            except Exception as problem:  # noqa: BLE001  # all must be closed, then it is told
                problems.append(explained(self.path, problem))
        self.families.clear()
        if problems and not self.failed:
            raise problems[0]


def _size_of(path: Path) -> int:
    """Bytes of a file, 0 for one that RocksDB has just removed."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


@contextmanager
def read_only(path: Path) -> Iterator[Rdict]:
    """A RocksDB that is open to be looked at: its logs are read and stay, no file is changed.

    Raises:
        Unsupported: it is damaged.
    """
    config = path / CONFIG
    before = config.read_bytes() if config.is_file() else None
    _check_raw(path)
    try:
        _check_logs(path)
        with told(path):
            options, families = Options.load_latest(str(path))
            db = Rdict(str(path), set_table_options(options), families, AccessType.read_only())
            try:
                yield db
            finally:
                db.close()
    finally:
        if before is None:
            config.unlink(missing_ok=True)
        elif before != config.read_bytes():
            config.write_bytes(before)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn errors of RocksDB into one that says what to do.

    Raises:
        Unsupported: in place of every error of RocksDB.
    """
    try:
        yield
    except (Refused, Unsupported):
        raise
    except Exception as problem:
        raise explained(path, problem) from problem


def explained(path: Path, problem: Exception) -> Exception:
    """What an error of RocksDB means."""
    text = str(problem)
    if isinstance(problem, DbClosedError):
        return Refused("table", f"{path.name} is closed", "an open table")
    if SHORTAGE_TEXT in text:
        return build_shortage_error(path)
    if "LOCK" in text or "lock hold" in text:
        return in_use(path)
    if any(words in text for words in _DISK_FULL):
        return Unsupported(
            str(path),
            f"the disk is full, or a file may not grow ({text})",
            remedy="Free space and open the table again: all that was acknowledged is kept.",
        )
    if text.startswith("Corruption"):
        return _damaged(path, text)
    return Unsupported(str(path), f"RocksDB says {text}")


def in_use(path: Path) -> Unsupported:
    """The error of a directory that another process has open."""
    return Unsupported(
        str(path),
        "it is open already, in this or another process",
        "one process at a time",
        "Close the other one, or work on a copy.",
    )


REPAIR = "Restore a copy; or run `rowkey repair`, which drops what follows the damage, and says it."
RESTORE = "Restore a copy: what is not in a log cannot be mended."
UNTOLD = "Restore a copy: no damage that `rowkey repair` could cut was found in its logs."

_NO_LOG = re.compile(r"\b(\d+\.sst|MANIFEST-\d+|CURRENT)\b")
"""Files whose loss a log cannot make good. Source: filename.cc."""


def _damaged(path: Path, text: str) -> Unsupported:
    """An error that names the damaged file: RocksDB names tables, but not its log."""
    if _NO_LOG.search(text):
        return Unsupported(str(path), f"it is damaged; RocksDB says {text}", remedy=RESTORE)
    for log in logs_in(path):
        damage = find_damage(log.read_bytes(), thorough=True)
        if damage is not None:
            return _damaged_log(log, damage.at, damage.what)
    return Unsupported(str(path), f"it is damaged; RocksDB says {text}", remedy=UNTOLD)


def _damaged_log(log: Path, at: int, what: str) -> Unsupported:
    return Unsupported(str(log), f"it is damaged at byte {at:,}: {what}", remedy=REPAIR)


def _check_logs(path: Path) -> None:
    """Raise for damage that RocksDB would pass over, or never return from."""
    for log in logs_in(path):
        content = log.read_bytes()
        damage = find_damage(content)
        if damage is not None:
            first = find_damage(content, thorough=True) or damage
            raise _damaged_log(log, first.at, first.what)


CONFIG = "rocksdict-config.json"
RAW = '{"raw_mode":true,"prefix_extractors":{}}'


def _check_raw(path: Path) -> None:
    """Raise unless values are read as bytes: rocksdict's other mode would run code found in them.

    Source: README of rocksdict: values that are no bytes are pickled, unless in raw mode.
    """
    config = path / CONFIG
    try:
        raw = json.loads(config.read_text("utf-8"))["raw_mode"]
    except (OSError, ValueError, KeyError, TypeError):
        # rocksdict empties the file before it writes it anew, at each open, and does not force it
        # to the disk: a kill just then leaves nothing, a power cut zeros. Only raw mode was ever
        # used here, and in raw mode nothing that is found can run.
        config.write_text(RAW, "utf-8")
        return
    if raw is not True:
        what = "it does not say that the directory holds plain bytes"
        raise Unsupported(str(config), what, '"raw_mode": true', "Open tables of rowkey only.")
