"""A damaged table as far as it can be read, without a change in its directory.

A folder elsewhere gets a database of its own: links to the files of the table that are there, its
logs as far as they are sound, and its MANIFEST without the files that are gone.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.engines.pairs import library
from rowkey.engines.pairs.layout import row_of_key
from rowkey.engines.pairs.source import PairSource
from rowkey.engines.rocksdb.options import database_options
from rowkey.engines.rocksdb.storage_errors import explain_error
from rowkey.engines.rocksdb_files.directory import META, Inspection, list_manifests, read_manifest
from rowkey.engines.rocksdb_files.linked_folder import LinkedFolder
from rowkey.engines.rocksdb_files.manifest import Manifest, TableFile, remove_files
from rowkey.engines.rocksdb_files.write_ahead_log import list_files, list_logs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rocksdict import Rdict

    from rowkey.errors import OneMistakeError

REBUILT = (
    "its MANIFEST cannot be read, so its files were put together by what they tell themselves: "
    "cells that a major compaction dropped shortly before the damage may be back"
)


@dataclass(slots=True)
class SalvageView:
    """What can be read of a table.

    Args:
        db: the database in the folder.
        folder: where that lies.
        manifest: what that says of itself.
        lost_rows: first and last row, both inclusive, of each file that is gone.
        notes: what is uncertain about what is read.
    """

    db: Rdict
    folder: Path
    manifest: Manifest
    lost_rows: list[tuple[bytes | None, bytes | None]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def source(self, column_family: str, directory: Path) -> PairSource:
        """Return the pairs of a column family; errors name the table's directory."""
        family = self.db if column_family == META else self.db.get_column_family(column_family)

        def explain(problem: Exception) -> OneMistakeError:
            told = str(problem).replace(str(self.folder), str(directory))
            return explain_error(directory, RuntimeError(told))

        return PairSource(family, explain)


@contextmanager
def open_salvage_view(directory: Path, found: Inspection) -> Iterator[SalvageView]:
    """Open a table that may be damaged, to be read.

    Args:
        directory: the table's.
        found: what is wrong with it.

    Raises:
        CorruptionError: nothing of it can be read.
        Unsupported: no folder can be made for it.
    """
    folder = LinkedFolder(directory)
    try:
        try:
            manifest, gone, notes = _link_files(directory, folder, found)
            if manifest is None:
                manifest = _rebuild(folder.path)
            db = _open(folder.path, manifest)
        except Exception as problem:
            raise explain_error(directory, problem) from problem
        view = SalvageView(db, folder.path, manifest, [_rows_of(one) for one in gone], notes)
        try:
            yield view
        finally:
            db.close()
    finally:
        folder.close()


def _link_files(
    directory: Path, folder: LinkedFolder, found: Inspection
) -> tuple[Manifest | None, list[TableFile], list[str]]:
    """Fill the folder; return its manifest, the files that are gone, and what is uncertain."""
    name, manifest = _find_manifest(directory, found)
    for path in list_files(directory, ".sst"):
        folder.link(path)
    _copy_logs(directory, folder, found, manifest)
    if manifest is None:
        return None, [], [REBUILT]
    gone = [one for one in manifest.files.values() if not _is_whole(directory, one)]
    content = (directory / name).read_bytes()
    (folder.path / name).write_bytes(remove_files(content, gone))
    (folder.path / "CURRENT").write_text(f"{name}\n", "ascii")
    for one in gone:
        del manifest.files[one.number]
        (folder.path / one.name).unlink(missing_ok=True)
    return manifest, gone, []


def _find_manifest(directory: Path, found: Inspection) -> tuple[str, Manifest | None]:
    """Return the MANIFEST that counts, or the newest one that is sound."""
    if found.manifest is not None and not found.is_cut:
        return found.manifest_name, found.manifest
    for path in list_manifests(directory):
        manifest = read_manifest(path, [])
        if manifest is not None and not found.is_cut:
            return path.name, manifest
    return "", None


def _is_whole(directory: Path, one: TableFile) -> bool:
    try:
        return (directory / one.name).stat().st_size == one.size_bytes
    except FileNotFoundError:
        return False


def _copy_logs(
    directory: Path, folder: LinkedFolder, found: Inspection, manifest: Manifest | None
) -> None:
    """Link the logs that are sound, up to the first damage; what follows that is not read."""
    contents = {path.name: content for path, content in found.logs}
    for path in list_logs(directory):
        if manifest is not None and int(path.stem) < manifest.first_log:
            continue
        content = contents.get(path.name)
        if manifest is not None and content is None:  # it comes after a gap or a damaged one
            break
        if content is not None and content.damage is not None:
            kept = path.read_bytes()[: content.damage.offset]
            (folder.path / path.name).write_bytes(kept)
            break
        folder.link(path)


def _rebuild(folder: Path) -> Manifest:
    """Have RocksDB make a MANIFEST of the files that there are."""
    library.Rdict.repair(str(folder), library.Options(raw_mode=True))
    name = (folder / "CURRENT").read_text("ascii").strip()
    manifest = read_manifest(folder / name, [])
    assert manifest is not None
    return manifest


def _open(folder: Path, manifest: Manifest) -> Rdict:
    families: dict[str, Any] = {
        name: library.Options(raw_mode=True) for name in manifest.families.values() if name != META
    }
    options = database_options(repair=True)
    db: Rdict = library.Rdict(str(folder), options, families, library.AccessType.read_only())
    return db


def _rows_of(one: TableFile) -> tuple[bytes | None, bytes | None]:
    return row_of_key(one.smallest), row_of_key(one.largest)
