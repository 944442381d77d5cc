"""Opens the readable part of a damaged table without changing its directory.

A temporary folder gets a database of its own: links to the existing files of the table, its logs up
to the first damage, and its MANIFEST without the missing files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.durable_files import read_regular_file
from rowkey.engines.damage import RowInterval
from rowkey.engines.pairs import library
from rowkey.engines.pairs.layout import parse_row
from rowkey.engines.pairs.pair_source import PairSource
from rowkey.engines.rocksdb.options import build_database_options
from rowkey.engines.rocksdb.storage_errors import explain_error
from rowkey.engines.rocksdb_files.descriptor import read_descriptor
from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE, read_mark
from rowkey.engines.rocksdb_files.inspection import (
    META_FAMILY,
    Inspection,
    list_manifests,
    read_current,
    read_database_id,
    read_manifest,
)
from rowkey.engines.rocksdb_files.linked_folder import LinkedFolder
from rowkey.engines.rocksdb_files.manifest import Manifest, TableFile, remove_files
from rowkey.engines.rocksdb_files.table_index import InvalidIndex, is_compacted
from rowkey.engines.rocksdb_files.write_ahead_log import list_files, list_logs
from rowkey.engines.rocksdb_files.write_origin import is_of_table
from rowkey.engines.rocksdb_salvage.damage_scan import DamageScan, find_block_starts
from rowkey.engines.rocksdb_salvage.log_selection import (
    LogSelection,
    inspect_logs,
    select_logs,
    select_logs_without_manifest,
)
from rowkey.errors import CorruptionError, OneMistakeError, RowkeyError

if TYPE_CHECKING:
    from rocksdict import Rdict, RdictIter

REBUILT_NOTE = (
    "the MANIFEST cannot be read or is an earlier copy, so the list of files was rebuilt from the "
    "files themselves: cells that a major compaction dropped shortly before the damage may be back"
)
_MAX_FILE_BYTES = 1 << 40
"""No log or MANIFEST is larger; what matters is that it is a regular file."""
_TABLE_FILE = re.compile(r"(\d{6,19})\.sst\b")
_MIN_FAMILIES = 2
"""Minimum number of column families of a table: the one of its metadata, and one of its own."""


@dataclass(slots=True)
class SalvageView:
    """The readable part of a damaged table, as a database in a temporary folder.

    Args:
        db: the database in the folder.
        folder: the temporary folder.
        manifest: the MANIFEST in the folder.
        lost_rows: first and last row, both inclusive, of each missing file; of all rows if changes
            of a log are lost, because it is not known which rows they changed.
        problems: errors of the files that RocksDB cannot open, which were left out.
        notes: what is uncertain about the readable rows.
    """

    db: Rdict
    folder: Path
    manifest: Manifest
    lost_rows: list[RowInterval] = field(default_factory=list)
    problems: list[OneMistakeError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def build_source(self, column_family: str, directory: Path) -> PairSource:
        """Return the pairs of a column family; its errors name the table's own files."""
        family = (
            self.db if column_family == META_FAMILY else self.db.get_column_family(column_family)
        )

        def explain(problem: Exception) -> OneMistakeError:
            return _explain_error(directory, self.folder, problem)

        return PairSource(family, explain)

    def build_scan(self, source: PairSource, column_family: str) -> DamageScan:
        """Return a scan of the readable pairs of a column family."""
        files = [
            file
            for file in self.manifest.files.values()
            if self.manifest.families.get(file.family_id) == column_family
        ]

        def iterate() -> RdictIter:
            """Return a new iterator that does not fill RocksDB's block cache."""
            options = library.ReadOptions()
            options.fill_cache(False)
            return source.open_iterator(options)

        return DamageScan(iterate, cache(lambda: find_block_starts(self.folder, files)))


@contextmanager
def open_salvage_view(directory: Path, inspection: Inspection) -> Iterator[SalvageView]:
    """Open the readable part of a table that may be damaged, and close it afterwards.

    Args:
        inspection: the files of the table and their problems.

    Raises:
        CorruptionError: nothing of the table can be read.
        Unavailable: no temporary folder can be created.
    """
    folder = LinkedFolder(directory)
    try:
        try:
            view = _open_view(directory, folder, inspection)
        except Exception as problem:
            raise _explain_error(directory, folder.path, problem) from problem
        try:
            yield view
        finally:
            view.db.close()
    finally:
        folder.close()


def _open_view(directory: Path, folder: LinkedFolder, inspection: Inspection) -> SalvageView:
    """Link the table's files into the folder, and open a database of the readable ones."""
    for path in list_files(directory, ".sst"):
        if path.is_file():  # RocksDB would wait for a pipe
            folder.link_file(path)
    chosen, notes = _choose_manifest(directory, inspection)
    lost_rows: list[RowInterval] = []
    if chosen is None:
        selection = select_logs_without_manifest(directory, find_table_id(directory))
        _link_logs(folder, selection)
        name, manifest, unreadable_names = _rebuild_manifest(folder.path)
        notes.append(REBUILT_NOTE)
        for file_name in unreadable_names:
            what = "the file cannot be read whole, and it is not known which rows it holds"
            notes.append(f"{directory / file_name}: {what}")
            lost_rows = [(None, None)]
        lost_rows += _find_replaced_rows(folder.path, manifest)
    else:
        selection = select_logs(directory, chosen)
        _link_logs(folder, selection)
        assert chosen.manifest is not None
        name, manifest = chosen.manifest_name, chosen.manifest
        content = read_regular_file(directory / name, _MAX_FILE_BYTES)
        (folder.path / name).write_bytes(remove_files(content, ()))
        (folder.path / "CURRENT").write_text(f"{name}\n", "ascii")
    notes += selection.notes
    missing_files = [
        file for file in manifest.files.values() if not _is_complete(directory, folder, file)
    ]
    _remove_from_manifest(folder.path / name, manifest, missing_files)
    db, broken, problems = _open_database(directory, folder.path / name, manifest)
    lost_rows += [
        _get_rows(file) for file in (*missing_files, *broken) if _has_rows(manifest, file)
    ]
    if selection.damaged_log is not None or _has_missing_changes(
        directory, None if chosen is None else manifest, db.latest_sequence_number()
    ):
        lost_rows = [(None, None)]
    return SalvageView(db, folder.path, manifest, lost_rows, problems, notes)


def _choose_manifest(
    directory: Path, inspection: Inspection
) -> tuple[Inspection | None, list[str]]:
    """Return the MANIFEST to read, or None if it must be rebuilt; and notes about it.

    If CURRENT is damaged, the newest MANIFEST is used if it names every file: with one that lost
    its end or was replaced, rows would be missing silently.
    """
    if inspection.manifest is not None:
        return (None if inspection.is_truncated else inspection), []
    if inspection.manifest_name:
        return None, []
    for path in list_manifests(directory)[:1]:
        manifest = read_manifest(path, [])
        if manifest is None or len(manifest.families) < _MIN_FAMILIES:
            continue
        numbers = {int(file.stem) for file in list_files(directory, ".sst") if file.stem.isdigit()}
        if numbers <= manifest.files.keys():
            chosen = inspect_logs(directory, Inspection(manifest, path.name))
            notes = [str(problem) for problem in chosen.log_problems] + chosen.warnings
            return chosen, [
                f"CURRENT does not name the valid MANIFEST; {path.name} was read",
                *notes,
            ]
    return None, []


def _has_missing_changes(directory: Path, manifest: Manifest | None, last_sequence: int) -> bool:
    """Return whether changes are missing behind the end of the logs.

    Args:
        directory: the directory of the table.
        manifest: its MANIFEST; None if it had to be rebuilt.
        last_sequence: sequence number of the last change that can be read.
    """
    mark = read_mark(directory / HIGH_WATER_FILE)
    if mark is not None and is_of_table(mark.origin, find_table_id(directory)):
        return last_sequence < mark.required_sequence
    if manifest is None:
        return False
    return not any(int(path.stem) >= manifest.newest_log for path in list_logs(directory))


def find_table_id(directory: Path) -> str:
    """Return the id of a table from its descriptor or its database; empty if both are lost."""
    with suppress(RowkeyError):
        return read_descriptor(directory).table_id
    return read_database_id(directory)


def _is_complete(directory: Path, folder: LinkedFolder, file: TableFile) -> bool:
    """Return whether a table file exists with the size that the MANIFEST names."""
    for parent in (directory, folder.path):  # RocksDB writes files of repaired logs in the folder
        with suppress(OSError):  # such as a circle of links, which the inspection has noted
            return (parent / file.name).stat().st_size == file.size_bytes
    return False


def _link_logs(folder: LinkedFolder, selection: LogSelection) -> None:
    """Link the sound logs into the folder, and copy a damaged one up to its damage."""
    for path in selection.sound_logs:
        folder.link_file(path)
    if selection.damaged_log is not None and selection.offset:
        intact_bytes = read_regular_file(selection.damaged_log, _MAX_FILE_BYTES)[: selection.offset]
        (folder.path / selection.damaged_log.name).write_bytes(intact_bytes)


def _rebuild_manifest(folder: Path) -> tuple[str, Manifest, list[str]]:
    """Let RocksDB write a new MANIFEST from the files in the folder.

    Returns:
        Its name, its content, and the names of the files that RocksDB could not read.
    """
    names_before = {path.name for path in list_files(folder, ".sst")}
    library.Rdict.repair(str(folder), library.Options(raw_mode=True))
    name = read_current(folder, [])
    assert name is not None
    manifest = read_manifest(folder / name, [])
    assert manifest is not None
    return name, manifest, sorted(names_before - {file.name for file in manifest.files.values()})


def _find_replaced_rows(folder: Path, manifest: Manifest) -> Iterator[RowInterval]:
    """Yield the rows of files that a compaction may have replaced, by the order of their numbers.

    A kill may leave some of the files that a compaction has read. Rows that were deleted before it
    may be back by them.
    """
    files = [file for file in manifest.files.values() if _has_rows(manifest, file)]
    for new in files:
        with suppress(InvalidIndex, OSError):  # reported when the file is opened
            if not is_compacted(folder / new.name):
                continue
        for old in files:
            if (
                (old.family_id, old.number < new.number) == (new.family_id, True)
                and old.smallest <= new.largest
                and new.smallest <= old.largest
            ):
                yield _get_rows(old)


def _remove_from_manifest(path: Path, manifest: Manifest, files: Sequence[TableFile]) -> None:
    """Remove table files from a MANIFEST and from its folder."""
    if not files:
        return
    path.write_bytes(remove_files(read_regular_file(path, _MAX_FILE_BYTES), files))
    for file in files:
        del manifest.files[file.number]
        (path.parent / file.name).unlink(missing_ok=True)


def _open_database(
    directory: Path, path: Path, manifest: Manifest
) -> tuple[Rdict, list[TableFile], list[OneMistakeError]]:
    """Open a database without the table files that RocksDB cannot open.

    Args:
        path: the MANIFEST in the folder.
        manifest: its content.

    Returns:
        The database, the files that were left out, and their errors.
    """
    broken: list[TableFile] = []
    problems: list[OneMistakeError] = []
    while True:
        families: dict[str, Any] = {
            name: library.Options(raw_mode=True)
            for name in manifest.families.values()
            if name != META_FAMILY
        }
        options = build_database_options(repair=True)
        access = library.AccessType.read_only()
        try:
            return library.Rdict(str(path.parent), options, families, access), broken, problems
        except Exception as problem:
            explained = _explain_error(directory, path.parent, problem)
            match = _TABLE_FILE.search(str(explained).replace(str(directory), ""))
            file = None if match is None else manifest.files.get(int(match[1]))
            if file is None or not isinstance(explained, CorruptionError):
                raise
            broken.append(file)
            problems.append(explained)
            _remove_from_manifest(path, manifest, [file])


def _explain_error(directory: Path, folder: Path, problem: Exception) -> OneMistakeError:
    """Return the error of rowkey for an error of the database in the folder."""
    if isinstance(problem, OneMistakeError):
        return problem
    if isinstance(problem, OSError):
        return explain_error(directory, problem)
    text = str(problem).replace(str(folder), str(directory))
    return explain_error(directory, RuntimeError(text))


def _has_rows(manifest: Manifest, file: TableFile) -> bool:
    """Return whether a table file holds rows, and not the table's metadata."""
    return manifest.families.get(file.family_id) != META_FAMILY


def _get_rows(file: TableFile) -> RowInterval:
    """Return the first and last row of a table file."""
    return parse_row(file.smallest), parse_row(file.largest)
