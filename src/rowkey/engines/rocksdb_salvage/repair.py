"""The repair of a damaged table: its logs are cut where it lies, or the rest is saved elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rowkey.durable import sync_directory
from rowkey.engines.damage import Repair, Saved
from rowkey.engines.rocksdb.database import LOG, Database, column_family
from rowkey.engines.rocksdb.ledger import Ledger, store_spec
from rowkey.engines.rocksdb_files.descriptor import CREATING, READY, Descriptor, write_descriptor
from rowkey.engines.rocksdb_files.directory import CUT, META, check_safe_to_open, inspect_database
from rowkey.engines.rocksdb_files.high_water import HIGH_WATER, read_mark
from rowkey.engines.rocksdb_files.table_folder import find_free_name
from rowkey.engines.rocksdb_salvage.copier import Copier
from rowkey.engines.rocksdb_salvage.examination import (
    examine_view,
    guess_view_spec,
    ignore_progress,
    inspect_directory,
    read_view_spec,
)
from rowkey.engines.rocksdb_salvage.log_selection import select_logs
from rowkey.engines.rocksdb_salvage.view import open_salvage_view
from rowkey.errors import CorruptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rowkey.engines.requests import TableSpec

_GUESSED = (
    "its description could not be read: it has one region, no words, and families as its "
    "descriptor or its MANIFEST tells them"
)


def repair_table(directory: Path) -> Repair:
    """Mend a closed table where it lies: its descriptor, and its logs by cutting them.

    What is kept is every batch up to the first damage and nothing after it, so no hole is left.

    Args:
        directory: the table's.

    Raises:
        CorruptionError: it is damaged elsewhere; nothing was changed.

    Cost: 0.1 µs a byte of the logs.
    """
    check_safe_to_open(directory)
    found, inspection = inspect_directory(directory)
    if inspection.problems:
        raise inspection.problems[0]
    spec = None
    with open_salvage_view(directory, inspection) as view:
        spec, _ = read_view_spec(directory, view)
    if any(problem not in inspection.log_problems for problem in found.problems):
        write_descriptor(directory, Descriptor(spec.families))
    mark = read_mark(directory / HIGH_WATER)
    log, offset, bytes_cut = _cut_logs(directory, spec)
    database = Database.open(directory, spec.families, repair=True)
    try:
        after = database.meta.latest_sequence_number()
        database.flush()
        batches = Ledger.read(database.meta_source).sequence
    finally:
        database.close()
    lost = None if mark is None else max(0, mark.acknowledged - after)
    repair = Repair(found.table, log, offset, bytes_cut, lost, batches)
    LOG.info("%s: repaired: %s", directory, repair)
    return repair


def _cut_logs(directory: Path, spec: TableSpec) -> tuple[str, int, int]:
    """Set aside what follows the first damage; return the log, the byte, and how many bytes.

    The copies are on disk before anything is cut, so that a crash in between loses nothing.
    """
    families = [META, *(column_family(one.name) for one in spec.families)]
    found = inspect_database(directory, families, verify_checksums=True)
    if found.manifest is None:
        return "", 0, 0
    selection = select_logs(directory, found)
    path, offset, later = selection.damaged, selection.offset, selection.later
    if path is None:
        return "", 0, 0
    aside = directory / CUT
    aside.mkdir(exist_ok=True)
    size = path.stat().st_size - offset + sum(log.stat().st_size for log in later)
    with find_free_name(aside / f"{path.name}.{offset}").open("xb") as copy:
        copy.write(path.read_bytes()[offset:])
        copy.flush()
        os.fsync(copy.fileno())
    sync_directory(aside)
    for log in later:
        log.rename(find_free_name(aside / log.name))
    if offset:
        with path.open("r+b") as file:
            file.truncate(offset)
            os.fsync(file.fileno())
    else:
        path.unlink()
    sync_directory(directory)
    return path.name, offset, size


def save_table(
    directory: Path,
    target: Path,
    *,
    keep_incomplete: bool = False,
    progress: Callable[[int, int], None] = ignore_progress,
) -> Saved:
    """Save what can be read of a table into a new directory; the old one stays as it is.

    Args:
        directory: the damaged table's.
        target: an empty directory.
        keep_incomplete: whether rows are saved that lack cells, or may be older than they were.
        progress: told how many cells were read or saved, and of about how many.

    Raises:
        CorruptionError: nothing of it can be read.
    """
    found, inspection = inspect_directory(directory)
    with open_salvage_view(directory, inspection) as view:
        examine_view(directory, found, view, lambda done, total: progress(done, 2 * total))
        notes = found.notes + [str(problem) for problem in inspection.log_problems]
        try:
            spec, ledger = read_view_spec(directory, view)
        except CorruptionError:
            spec, ledger = guess_view_spec(directory, view), None
            notes.append(_GUESSED)
        write_descriptor(target, Descriptor(spec.families, CREATING))
        database = Database.create(target, spec.families)
        try:
            copier = Copier(directory, view, database, found, keep_incomplete=keep_incomplete)
            copier.progress = lambda done: progress(found.cells + done, 2 * found.cells)
            lost = copier.copy_families(spec)
            _store_description(database, spec, ledger, copier.highest_timestamp)
        finally:
            database.close()
        write_descriptor(target, Descriptor(spec.families, READY))
    if copier.new_gaps:
        notes.append("more of it became unreadable while it was saved: examine the disk")
    return Saved(found.table, copier.copied, copier.skipped, lost, notes)


def _store_description(
    database: Database, spec: TableSpec, ledger: Ledger | None, highest_timestamp: int
) -> None:
    """Store what a table is; its regions if they are known, and the highest timestamp if not."""
    if ledger is None:
        ledger = Ledger()
        ledger.highest_stamp = highest_timestamp
    batch = database.start_batch()
    store_spec(batch, spec)
    ledger.store(batch)
    ledger.number(batch, ledger.highest_stamp)
    database.write(batch, sync=True)
    database.flush()
