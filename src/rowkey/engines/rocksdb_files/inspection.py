"""Inspects the directory of a table before RocksDB opens it.

RocksDB opens what it can and deletes what it does not know: after damage to its MANIFEST that is
the table's own files. So everything is checked first, and files that nothing refers to are moved
aside.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile

from rowkey.durable_files import NO_FILE_ERRORS, read_regular_file
from rowkey.engines.pairs.layout import parse_row
from rowkey.engines.rocksdb_files.descriptor import DESCRIPTOR_FILE, REPAIR_DESCRIPTOR_HINT
from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE, read_mark
from rowkey.engines.rocksdb_files.log_format import ForeignLog, LogDamage, find_damage
from rowkey.engines.rocksdb_files.manifest import InvalidEdit, Manifest, TableFile, parse_manifest
from rowkey.engines.rocksdb_files.rocksdict_settings import SETTINGS_FILE
from rowkey.engines.rocksdb_files.table_index import InvalidIndex, read_origin
from rowkey.engines.rocksdb_files.write_ahead_log import (
    LogContent,
    list_files,
    list_logs,
    read_log,
)
from rowkey.engines.rocksdb_files.write_origin import is_of_table
from rowkey.errors import CorruptionError, Unavailable
from rowkey.messages import pluralize
from rowkey.regions import to_string_binary

UNREFERENCED_FOLDER = "unreferenced"
"""The folder in a table's directory for files that its MANIFEST does not name."""
TRUNCATED_FOLDER = "cut"
"""The folder in a table's directory that keeps what was cut from its logs."""
UNREFERENCED_KEEP_DAYS = 7
"""Days that files which nothing refers to are kept."""

META_FAMILY = "default"
"""The column family of RocksDB that stores the table's metadata; each database has it."""

_CURRENT_CONTENT = re.compile(rb"MANIFEST-\d{6,19}\n")
_DATABASE_FILE = re.compile(
    r"CURRENT|IDENTITY|LOCK|LOG(\.old\.\d+)?|(MANIFEST|OPTIONS)-\d{6,19}(\.dbtmp)?"
    rf"|\d{{6,19}}\.(log|sst|blob|dbtmp)(\.trash)?|\d{{6,19}}\.log(\.\d+)?(@\d+)?|{re.escape(SETTINGS_FILE)}"
)
"""File names of RocksDB and rocksdict, and of truncated ends of logs. Source: filename.cc."""
_MOVED_FILE = re.compile(r"\d{6,19}\.(log|sst)|MANIFEST-\d{6,19}")
"""Names of files that `move_unreferenced_files` moves."""
_OWN_FILES = {DESCRIPTOR_FILE, HIGH_WATER_FILE}
_NUMBERED_FILE = re.compile(r"(?:MANIFEST-|OPTIONS-)?(\d{6,19})")
IDENTITY_FILE = "IDENTITY"
MAX_SMALL_FILE_BYTES = 4096
MAX_LOG_BYTES = 4 << 30
"""Bytes of a log that is read; RocksDB begins another after 64 MiB of each family."""
"""No file such as CURRENT or IDENTITY is larger."""
OPENING_BYTES = 1 << 17
"""Bytes that an opening writes besides the changes in the logs: 62 kB for a table of one family, in
RocksDB's LOG, OPTIONS and MANIFEST."""
_MAX_MANIFEST_BYTES = 1 << 30
"""RocksDB begins a new MANIFEST at this size. Source: Options::max_manifest_file_size."""
_MAX_NUMBER_LEAD = 1_000
"""How far file numbers may be above the highest one in the MANIFEST: RocksDB assigns numbers in
memory first."""

REPAIR_LOG_HINT = (
    "Restore it from a backup, or run `rowkey repair` to drop the changes after the damage."
)
SALVAGE_HINT = (
    "Restore it from a backup, or save all readable rows: rowkey repair --on URL --into NEW_URL."
)


@dataclass(slots=True)
class Inspection:
    """The files of a table and their problems, as found before RocksDB opens them.

    Args:
        manifest: the content of the MANIFEST; None if it cannot be read.
        manifest_name: the file name of the current MANIFEST; empty if it is not known.
        is_truncated: whether the MANIFEST lacks a family or a file, so that its end was lost.
        logs: the logs that RocksDB reads on opening, oldest first, with their content.
        last_sequence: sequence number of the last change that opening recovers.
        problems: damaged and missing files other than logs.
        log_problems: damaged and missing logs, which `repair` cuts off.
        warnings: irregularities that do not prevent opening the table.
    """

    manifest: Manifest | None = None
    manifest_name: str = ""
    is_truncated: bool = False
    logs: list[tuple[Path, LogContent]] = field(default_factory=list)
    last_sequence: int = 0
    problems: list[CorruptionError] = field(default_factory=list)
    log_problems: list[CorruptionError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def inspect_database(
    directory: Path, families: Iterable[str], table_id: str = "", *, verify_checksums: bool = False
) -> Inspection:
    """Find missing files, and damage that RocksDB would ignore; change nothing.

    Args:
        directory: the directory of the table.
        families: the names of the column families that the database must have.
        table_id: the id that the descriptor has; empty if it is not known.
        verify_checksums: whether to verify the checksums of logs, which RocksDB does on opening.

    Raises:
        OSError: a file cannot be read.

    Cost: about 1 µs for each batch in the logs; 0.1 µs a byte of the MANIFEST.
    """
    inspection = Inspection()
    name = read_current(directory, inspection.problems) or ""
    if name:
        inspection.manifest_name = name
        inspection.manifest = read_manifest(directory / name, inspection.problems)
    if inspection.manifest is not None:
        _note_other_table(directory, inspection, table_id)
        for family in families:
            if family not in inspection.manifest.families.values():
                inspection.is_truncated = True
                what = f"the MANIFEST lacks the column family {family}: its end was lost"
                inspection.problems.append(
                    CorruptionError(str(directory / name), what, "", SALVAGE_HINT)
                )
        inspection.problems += _find_file_problems(directory, inspection.manifest)
        note_log_problems(directory, inspection, verify_checksums=verify_checksums)
        _note_newer_files(directory, inspection)
        if not (inspection.problems or inspection.log_problems):
            note_missing_changes(directory, inspection)
    return inspection


def _note_other_table(directory: Path, inspection: Inspection, table_id: str) -> None:
    """Note that the MANIFEST is not of the table of the descriptor."""
    assert inspection.manifest is not None
    if table_id in ("", inspection.manifest.database_id):
        return
    if read_database_id(directory) == table_id:
        path, what = directory / inspection.manifest_name, "the MANIFEST belongs to another table"
        inspection.problems.append(CorruptionError(str(path), what, remedy=SALVAGE_HINT))
    else:
        path, what = directory / DESCRIPTOR_FILE, "the descriptor belongs to another table"
        problem = CorruptionError(str(path), what, remedy=REPAIR_DESCRIPTOR_HINT)
        inspection.log_problems.append(problem)


def read_database_id(directory: Path) -> str:
    """Return the id in the file IDENTITY of a database; empty if it cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return read_regular_file(directory / IDENTITY_FILE, MAX_SMALL_FILE_BYTES).decode("ascii")
    return ""


def read_current(directory: Path, problems: list[CorruptionError]) -> str | None:
    """Return the name of the current MANIFEST from the file CURRENT; None if it is damaged."""
    path = directory / "CURRENT"
    content = _read_file(path, MAX_SMALL_FILE_BYTES, "the file is missing", problems)
    if content is None:
        return None
    if not _CURRENT_CONTENT.fullmatch(content):
        what = "the file does not name a MANIFEST"
        problems.append(CorruptionError(str(path), what, remedy=SALVAGE_HINT))
        return None
    return content.decode().strip()


def read_manifest(path: Path, problems: list[CorruptionError]) -> Manifest | None:
    """Parse a MANIFEST file; note a problem and return None if it is damaged or missing."""
    content = _read_file(path, _MAX_MANIFEST_BYTES, "the MANIFEST is missing", problems)
    if content is None:
        return None
    damage = find_damage(content, verify_checksums=True)
    if damage is not None:
        what = damage.describe("the MANIFEST")
        problems.append(CorruptionError(str(path), what, remedy=SALVAGE_HINT))
        return None
    try:
        return parse_manifest(content)
    except InvalidEdit as problem:
        what = f"the MANIFEST is damaged: {problem}"
        problems.append(CorruptionError(str(path), what, remedy=SALVAGE_HINT))
        return None


def _read_file(
    path: Path, max_bytes: int, missing: str, problems: list[CorruptionError]
) -> bytes | None:
    """Return the content of a file; note a problem and return None if there is no such file."""
    try:
        return read_regular_file(path, max_bytes)
    except FileNotFoundError:
        what = missing
    except OSError as problem:
        if problem.errno not in NO_FILE_ERRORS:
            raise
        what = f"the file cannot be read: {problem.strerror}"
    problems.append(CorruptionError(str(path), what, remedy=SALVAGE_HINT))
    return None


def _find_file_problems(directory: Path, manifest: Manifest) -> Iterator[CorruptionError]:
    """Yield an error for each table file that is missing or has a wrong size."""
    for file in manifest.files.values():
        path = directory / file.name
        try:
            size = path.stat().st_size
        except OSError as problem:
            if not isinstance(problem, FileNotFoundError) and problem.errno not in NO_FILE_ERRORS:
                raise
            what = f"the file is missing; {describe_rows(manifest, file)} are lost"
            yield CorruptionError(str(path), what, remedy=SALVAGE_HINT)
            continue
        if size != file.size_bytes:
            what = (
                f"the file is {size:,} bytes long, but should be {file.size_bytes:,}; "
                f"{describe_rows(manifest, file)} cannot be read"
            )
            yield CorruptionError(str(path), what, remedy=SALVAGE_HINT)


def _note_newer_files(directory: Path, inspection: Inspection) -> None:
    """Note files of the table with later changes than the MANIFEST and the logs have.

    The MANIFEST is then an earlier copy, by which deleted rows and old values would come back, and
    opening or repairing the table would remove the files. The file of a flush that a kill
    interrupted has no later changes than the logs. If the high-water mark knows no later changes
    either, and no file or log is missing, all of the table was restored from a backup, and only
    these files are left.
    """
    manifest, mark = inspection.manifest, read_mark(directory / HIGH_WATER_FILE)
    assert manifest is not None
    known_sequence = max(manifest.last_sequence, inspection.last_sequence)
    is_intact = not (inspection.problems or inspection.log_problems)
    if is_intact and mark is not None and mark.acknowledged_sequence <= known_sequence:
        return
    path = directory / inspection.manifest_name
    for file in sorted(list_files(directory, ".sst")):
        with suppress(InvalidIndex, OSError):
            if file.stem.isdigit() and int(file.stem) not in manifest.files and file.is_file():
                table_id, sequence = read_origin(file)
                if table_id == manifest.database_id and sequence > known_sequence:
                    inspection.is_truncated = True
                    what = (
                        f"the MANIFEST is an earlier copy: it does not know the file {file.name}, "
                        f"whose last change is {sequence:,}, but ends with {known_sequence:,}"
                    )
                    problem = CorruptionError(str(path), what, remedy=SALVAGE_HINT)
                    inspection.problems.append(problem)


def describe_rows(manifest: Manifest, file: TableFile) -> str:
    """Return the rows that a table file holds, as a part of a sentence."""
    family = manifest.families.get(file.family_id, "")
    if family == META_FAMILY:
        return "the counters of the regions"
    first, last = (to_string_binary(parse_row(key)) for key in (file.smallest, file.largest))
    return f"{pluralize(file.size_bytes, 'byte')} of the rows {first} to {last}"


def note_log_problems(directory: Path, inspection: Inspection, *, verify_checksums: bool) -> None:
    """Note damage of the write-ahead logs, and logs that are missing."""
    assert inspection.manifest is not None
    manifest, last = inspection.manifest, inspection.manifest.last_sequence
    mark = read_mark(directory / HIGH_WATER_FILE)
    origin = b"" if mark is None else mark.origin
    if mark is not None and not is_of_table(mark.origin, manifest.database_id):
        what, origin = "the file belongs to another table", b""
        remedy = "Restore it from a backup, or run `rowkey repair` to write it again."
        path = directory / HIGH_WATER_FILE
        inspection.log_problems.append(CorruptionError(str(path), what, remedy=remedy))
    logs = [path for path in list_logs(directory) if int(path.stem) >= manifest.first_log]
    for path in logs:
        content = read_own_log(
            path, manifest.database_id, origin, verify_checksums=verify_checksums
        )
        origin = origin or next(iter(content.origins), b"")
        inspection.logs.append((path, content))
        if isinstance(content.damage, ForeignLog):
            what = content.damage.describe("the log")
            remedy = "Restore the table's own log, or run `rowkey repair` to go on without it."
            inspection.log_problems.append(CorruptionError(str(path), what, remedy=remedy))
            return
        if content.first_sequence > last + 1:
            what = (
                f"an earlier log is missing: this log begins with change {content.first_sequence:,}"
                f", but the changes stored before end with {last:,}"
            )
            remedy = "Restore the missing log, or run `rowkey repair` to drop this log."
            inspection.log_problems.append(CorruptionError(str(path), what, remedy=remedy))
            return
        last = inspection.last_sequence = max(last, content.last_sequence)
        if content.damage is not None:
            what = content.damage.describe("the log")
            inspection.log_problems.append(CorruptionError(str(path), what, remedy=REPAIR_LOG_HINT))
            return
    inspection.last_sequence = last
    if not any(int(path.stem) >= manifest.newest_log for path in logs):
        path = directory / f"{manifest.newest_log:06}.log"
        what = "the log is missing, and so is every later log"
        remedy = "Restore it from a backup, or run `rowkey repair` to go on without its changes."
        inspection.log_problems.append(CorruptionError(str(path), what, remedy=remedy))


def read_own_log(
    path: Path, table_id: str, origin: bytes, *, verify_checksums: bool = False
) -> LogContent:
    """Return the first and last change of a log, and its damage; a foreign log is damage.

    Args:
        table_id: the id of the table; empty if it is not known.
        origin: the origin that all its batches must have; empty if it is not known.
        verify_checksums: whether to verify all checksums, also if no other damage is found.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        log = read_regular_file(path, MAX_LOG_BYTES)
    except OSError as problem:
        if problem.errno not in NO_FILE_ERRORS:
            raise
        return LogContent(0, 0, LogDamage(0, f"it cannot be read: {problem.strerror}"))
    content = read_log(log, verify_checksums=verify_checksums)
    what = _find_foreign_origin(content.origins, table_id, origin)
    if not verify_checksums and (what or content.damage is not None):
        content = read_log(log, verify_checksums=True)  # finds damage of origins, and earlier one
        what = _find_foreign_origin(content.origins, table_id, origin)
    return replace(content, damage=ForeignLog(0, what)) if what else content


def _find_foreign_origin(origins: Iterable[bytes], table_id: str, origin: bytes) -> str:
    """Return why a log with batches of some origins is not the table's; empty if it is."""
    origins = set(origins)
    if b"" in origins or (table_id and not all(is_of_table(o, table_id) for o in origins)):
        return "belongs to another table"
    if len({*origins, origin or next(iter(origins), b"")}) > 1:
        return (
            "belongs to another copy of this table: it was not written since the table was last "
            f"opened, according to the file {HIGH_WATER_FILE}"
        )
    return ""


def note_missing_changes(directory: Path, inspection: Inspection) -> None:
    """Note that acknowledged changes are missing at the end of the logs."""
    path = directory / HIGH_WATER_FILE
    mark = read_mark(path)
    if mark is None:
        what = (
            "the file, which counts the stored changes, is missing or damaged, so it is not known "
            "whether the last changes were lost; opening the table for writing writes it again"
        )
        inspection.warnings.append(f"{path}: {what}")
        return
    missing_count = mark.acknowledged_sequence - inspection.last_sequence
    if missing_count <= 0:
        return
    log = inspection.logs[-1][0] if inspection.logs else directory
    changes = pluralize(missing_count, "acknowledged change")
    if inspection.last_sequence < mark.required_sequence:
        what = (
            f"the last {changes} are lost, because the end of this log or of the MANIFEST is "
            "missing"
        )
        remedy = (
            "Restore the table's directory from a backup, or run `rowkey repair` to go on without "
            "these changes."
        )
        inspection.log_problems.append(CorruptionError(str(log), what, remedy=remedy))
    else:
        what = f"the machine stopped before the last {changes} reached the disk"
        inspection.warnings.append(f"{log}: {what}; they were written without sync, and are lost")


def move_unreferenced_files(directory: Path, manifest: Manifest) -> list[Path]:
    """Move files that the MANIFEST does not name aside, before RocksDB deletes them.

    A killed process leaves such files; their cells are in other files too. A MANIFEST that lost its
    end leaves such files too, and then they are needed. They are kept for `UNREFERENCED_KEEP_DAYS`.

    Returns:
        The new paths of the files.
    """
    aside = directory / UNREFERENCED_FOLDER
    _remove_expired_files(aside)
    current = read_current(directory, [])
    new_paths = []
    for path in sorted(directory.iterdir()):
        match path.suffix, path.stem.isdigit():
            case ".sst", True:
                is_used = int(path.stem) in manifest.files
            case ".log", True:
                is_used = int(path.stem) >= manifest.first_log
            case _:
                is_used = path.name == current or not path.name.startswith("MANIFEST-")
        if not is_used:
            aside.mkdir(exist_ok=True)
            path.replace(aside / path.name)
            os.utime(aside / path.name)
            new_paths.append(aside / path.name)
    return new_paths


def _remove_expired_files(folder: Path) -> None:
    """Remove the files that were moved aside more than `UNREFERENCED_KEEP_DAYS` ago."""
    oldest = time.time() - UNREFERENCED_KEEP_DAYS * 86_400
    with suppress(OSError):
        for path in folder.iterdir():
            is_moved = not path.is_symlink() and path.is_file() and _MOVED_FILE.fullmatch(path.name)
            if is_moved and path.stat().st_mtime < oldest:
                path.unlink()
        folder.rmdir()


def has_database(directory: Path) -> bool:
    """Return whether a directory contains a RocksDB database, sound or damaged."""
    if directory.name.startswith(".") or not directory.is_dir():
        return False
    current = directory / "CURRENT"
    with suppress(OSError):
        if b"MANIFEST-" in read_regular_file(current, MAX_SMALL_FILE_BYTES):
            return True
    return (directory / SETTINGS_FILE).is_file() or any(
        _DATABASE_FILE.fullmatch(path.name) for path in list_manifests(directory)
    )


def list_manifests(directory: Path) -> list[Path]:
    """Return the MANIFEST files of a database, newest first."""
    paths = (path for path in directory.iterdir() if path.name.startswith("MANIFEST-"))
    return sorted(paths, key=lambda path: (len(path.name), path.name), reverse=True)


def list_foreign_files(directory: Path) -> list[Path]:
    """Return the paths in a table's directory that neither rowkey nor RocksDB wrote.

    Files of RocksDB are known by their names, and by their numbers, which RocksDB counts up.
    """
    paths = [
        path
        for path in directory.iterdir()
        if path.name not in (UNREFERENCED_FOLDER, TRUNCATED_FOLDER)
    ]
    for folder in (directory / UNREFERENCED_FOLDER, directory / TRUNCATED_FOLDER):
        if os.path.lexists(folder):
            is_folder = folder.is_dir() and not folder.is_symlink()
            paths += folder.iterdir() if is_folder else [folder]
    numbers = [int(match[1]) for path in paths if (match := _NUMBERED_FILE.match(path.name))]
    max_number = _find_highest_number(directory, numbers) + _MAX_NUMBER_LEAD
    return sorted(path for path in paths if not _is_own_file(path, max_number))


def check_safe_to_open(directory: Path) -> None:
    """Raise Unavailable if opening a table could change a file that is not part of it.

    RocksDB treats files as its own by their names alone, and writes through links.

    Raises:
        Unavailable: the directory contains such a file.
    """
    for path in list_foreign_files(directory):
        name = path.name
        is_taken = name in (
            *_OWN_FILES,
            UNREFERENCED_FOLDER,
            TRUNCATED_FOLDER,
        ) or _DATABASE_FILE.fullmatch(name)
        if is_taken and path.parent == directory:
            what = (
                "something else than rowkey made this file or link: opening the table might "
                "overwrite or remove it"
            )
            raise Unavailable(str(path), what, remedy="Move it out of the table's directory.")


def check_writable(directory: Path) -> None:
    """Raise Unavailable if this user cannot write the files that every opening writes.

    Raises:
        Unavailable: a file or the directory may only be read; or the disk is full.
    """
    names = ("", HIGH_WATER_FILE, SETTINGS_FILE, "LOCK", IDENTITY_FILE)
    for path in [directory / name for name in names]:
        needed = os.R_OK | (os.X_OK if path == directory else 0)
        needed |= os.W_OK if path.name != IDENTITY_FILE else 0
        is_effective = os.access in os.supports_effective_ids
        if path.exists() and not os.access(path, needed, effective_ids=is_effective):
            what = "this user may not read and write the file, so the table cannot be written"
            remedy = "Correct the owner or the mode of the file, or use a disk that can be written."
            raise Unavailable(str(path), what, remedy=remedy)
    if not hasattr(os, "posix_fallocate"):  # as on macOS
        return
    needed_bytes = OPENING_BYTES + sum(path.stat().st_size for path in list_logs(directory))
    try:
        with TemporaryFile(dir=directory) as probe:  # it has no name, so nothing can be left of it
            os.posix_fallocate(probe.fileno(), 0, needed_bytes)
    except OSError as problem:
        if problem.errno in (errno.EINVAL, errno.EOPNOTSUPP):
            return  # the file system cannot reserve space
        what = (
            f"an opening writes about {needed_bytes:,} bytes, and {problem.strerror}: the table "
            "cannot be written"
        )
        remedy = "Free space on the disk; every acknowledged change is kept."
        raise Unavailable(str(directory), what, remedy=remedy) from problem


def _is_own_file(path: Path, max_number: int) -> bool:
    """Return whether RocksDB or rowkey wrote a file, judged by its name and number.

    A file that is gone by now was RocksDB's, which removes what it no longer needs in a thread.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return True
    if not stat.S_ISREG(mode):
        return False
    if path.name in _OWN_FILES:
        return True
    if not _DATABASE_FILE.fullmatch(path.name):
        return False
    match = _NUMBERED_FILE.match(path.name)
    return match is None or int(match[1]) <= max_number


def _find_highest_number(directory: Path, numbers: list[int]) -> int:
    """Return the highest number that a file of the database may have."""
    with suppress(OSError):  # such as a folder in place of the MANIFEST, which is foreign itself
        name = read_current(directory, [])
        manifest = None if name is None else read_manifest(directory / name, [])
        if manifest is not None:
            return manifest.next_file
    # The median: a date in a foreign file's name is far above the numbers of RocksDB.
    return sorted(numbers)[len(numbers) // 2] if numbers else 0
