"""Converts RocksDB's errors to errors that name the file, the loss and the remedy."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from rowkey.engines.embedded_store import build_closed_error
from rowkey.engines.pairs import library
from rowkey.engines.rocksdb_files.inspection import (
    REPAIR_LOG_HINT,
    SALVAGE_HINT,
    describe_rows,
    read_current,
    read_manifest,
    read_own_log,
)
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.errors import CorruptionError, OneMistakeError, Unavailable
from rowkey.open_file_limit import SHORTAGE_TEXT, build_shortage_error, is_shortage

_DISK_FULL_PHRASES = ("No space left on device", "File too large", "Disk quota exceeded")
_READ_ONLY_PHRASES = ("Read-only file system", "Permission denied")
_LOCKED_PHRASES = ("LOCK", "lock hold")
_OWN_LOCK_PHRASE = "lock hold by current process"
_FILE_NAME = re.compile(r"(\d{6,19}\.sst|MANIFEST-\d+|CURRENT|\d{6,19}\.log)\b")
"""Files that errors of RocksDB name. Source: filename.cc."""
_FOREIGN_FILE = re.compile(r"Mismatch in unique ID on table file (\d+)")
_OFFSET = re.compile(r"\boffset (\d+)")
_READ_FAILURE = re.compile(r"While (pread|read|open a file for (random|sequential) (read|access))")


def explain_error(directory: Path, problem: Exception) -> OneMistakeError:
    """Return the error of rowkey that explains an error of RocksDB.

    Args:
        directory: the directory of the table.
        problem: the error that rocksdict raised.
    """
    if isinstance(problem, OneMistakeError):
        return problem
    text = _strip_path(directory, problem)
    if isinstance(problem, library.DbClosedError):
        return build_closed_error("table", directory.name)
    if SHORTAGE_TEXT in text or is_shortage(problem):
        return build_shortage_error(directory)
    if any(phrase in text for phrase in _LOCKED_PHRASES):
        return build_in_use_error(directory)
    if any(phrase in text for phrase in _DISK_FULL_PHRASES):
        what = f"the disk is full, or a file reached its size limit ({text})"
        remedy = "Free space, and open the table again; every acknowledged change is kept."
        return Unavailable(str(directory), what, remedy=remedy)
    if any(phrase in text for phrase in _READ_ONLY_PHRASES):
        what = f"the directory cannot be written ({text})"
        remedy = "Make the disk and the directory writable, and open the table again."
        return Unavailable(str(directory), what, remedy=remedy)
    if text.startswith("Corruption") or _READ_FAILURE.search(text):
        return _explain_damage(directory, text)
    if isinstance(problem, OSError):
        what = f"the file cannot be read: {problem.strerror or problem}"
        return CorruptionError(str(problem.filename or directory), what, remedy=SALVAGE_HINT)
    remedy = "Try again; if it fails again, run `rowkey verify`."
    return Unavailable(str(directory), f"RocksDB reports: {text}", remedy=remedy)


def is_lock_of_this_process(problem: Exception) -> bool:
    """Return whether RocksDB failed because this process is still closing the database.

    A read of another thread may keep it open for some microseconds longer.
    """
    return _OWN_LOCK_PHRASE in str(problem)


def is_not_writable(directory: Path, problem: Exception) -> bool:
    """Return whether an error says that the disk is full or not writable."""
    text = _strip_path(directory, problem)
    return any(phrase in text for phrase in (*_DISK_FULL_PHRASES, *_READ_ONLY_PHRASES))


def _strip_path(directory: Path, problem: Exception) -> str:
    """Return the text of an error without the table's path, which may contain any words."""
    return str(problem).replace(str(directory), "")


def build_in_use_error(directory: Path) -> Unavailable:
    """Return the error for a directory that is open in this or another process."""
    return Unavailable(
        str(directory),
        "the directory is open already, in this or another process",
        "one process at a time",
        f"Close its tables or end the process, see lsof +D {directory}; or work on a copy.",
    )


def _explain_damage(directory: Path, text: str) -> OneMistakeError:
    """Return the error for damage that RocksDB reports, with the damaged file."""
    foreign = _FOREIGN_FILE.search(text)
    if foreign is not None:
        name = f"{int(foreign[1]):06}.sst"
        what = "the file belongs to another table or another copy of it, by its unique id"
        what += _describe_loss(directory, name)
        return CorruptionError(str(directory / name), what, remedy=SALVAGE_HINT)
    match = _FILE_NAME.search(text)
    if match is None or match[1].endswith(".log"):
        damaged_log = _find_damaged_log(directory)
        if damaged_log is not None:
            return damaged_log
    if match is None:
        return CorruptionError(
            str(directory), f"the table is damaged ({text})", remedy=SALVAGE_HINT
        )
    offset = _OFFSET.search(text)
    at = f" at byte {int(offset[1]):,}" if offset else ""
    verb = "cannot be read" if _READ_FAILURE.search(text) else "is damaged"
    what = f"the file {verb}{at} ({text}){_describe_loss(directory, match[1])}"
    return CorruptionError(str(directory / match[1]), what, remedy=SALVAGE_HINT)


def _find_damaged_log(directory: Path) -> CorruptionError | None:
    """Return the error for the first damaged log of a table; None if no log is damaged."""
    try:
        logs = list_logs(directory)
    except OSError:
        return None
    for log in logs:
        with suppress(OSError):  # the error of RocksDB is reported instead
            damage = read_own_log(log, "", b"", verify_checksums=True).damage
            if damage is not None:
                what = damage.describe("the log")
                return CorruptionError(str(log), what, remedy=REPAIR_LOG_HINT)
    return None


def _describe_loss(directory: Path, name: str) -> str:
    """Return the rows in a damaged file as the end of a sentence; empty if not known."""
    try:
        current = read_current(directory, [])
        manifest = None if current is None else read_manifest(directory / current, [])
    except OSError:
        return ""
    number = os.path.splitext(name)[0]  # noqa: PTH122 - it is a name, not a path
    if manifest is None or not number.isdigit() or int(number) not in manifest.files:
        return ""
    return f"; it holds {describe_rows(manifest, manifest.files[int(number)])}"
