"""Repairs a damaged table: truncates its logs at the damage, or saves the rest elsewhere."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from rowkey.durable_files import sync_directory
from rowkey.engines.damage import RepairResult, SalvageResult
from rowkey.engines.requests import TableSpec
from rowkey.engines.rocksdb.database import LOG, Database, to_column_family
from rowkey.engines.rocksdb.table_metadata import StoredRegionTracker, store_spec
from rowkey.engines.rocksdb_files.descriptor import (
    STATE_CREATING,
    Descriptor,
    read_descriptor,
    write_descriptor,
)
from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE, read_mark
from rowkey.engines.rocksdb_files.inspection import (
    META_FAMILY,
    TRUNCATED_FOLDER,
    check_safe_to_open,
    inspect_database,
)
from rowkey.engines.rocksdb_files.log_format import ForeignLog
from rowkey.engines.rocksdb_files.table_folder import find_free_name
from rowkey.engines.rocksdb_files.write_origin import is_of_table
from rowkey.engines.rocksdb_salvage.copier import Copier
from rowkey.engines.rocksdb_salvage.examination import (
    examine_view,
    guess_view_spec,
    inspect_directory,
    read_view_spec,
)
from rowkey.engines.rocksdb_salvage.log_selection import select_logs
from rowkey.engines.rocksdb_salvage.salvage_view import open_salvage_view
from rowkey.errors import CorruptionError
from rowkey.progress import Progress, ReportProgress, ignore_progress

_GUESSED_NOTE = (
    "the description of the table could not be read: the saved table has one region, no table "
    "attributes, and the families that the descriptor or the MANIFEST names"
)


def repair_table(directory: Path) -> RepairResult:
    """Repair a closed table in place: rewrite its descriptor, and truncate damaged logs.

    Every batch of changes before the first damage is kept, and none after it.

    Raises:
        CorruptionError: other files are damaged; nothing was changed.

    Cost: 0.1 µs a byte of the logs.
    """
    check_safe_to_open(directory)
    examination, inspection = inspect_directory(directory)
    if inspection.problems:
        raise inspection.problems[0]
    spec = None
    with open_salvage_view(directory, inspection) as view:
        spec, _ = read_view_spec(directory, view)
    assert inspection.manifest is not None
    descriptor = Descriptor(spec.families, inspection.manifest.database_id)
    if _find_descriptor(directory) != descriptor:
        write_descriptor(directory, descriptor)
    mark = read_mark(directory / HIGH_WATER_FILE)
    log, offset, bytes_cut = _truncate_logs(directory, spec)
    database = Database.open(directory, descriptor, repair=True)
    try:
        last_sequence = database.meta.latest_sequence_number()
        database.flush()
        batches = StoredRegionTracker.from_meta(database.meta_source).batch_count
    finally:
        database.close()
    # Of a log and a mark of the same table that do not belong together, either may be older.
    table_id = inspection.manifest.database_id
    is_mark_certain = not any(
        isinstance(content.damage, ForeignLog)
        and all(is_of_table(origin, table_id) for origin in content.origins)
        for _, content in inspection.logs
    )
    lost_change_count = None
    if mark is not None and is_mark_certain:
        lost_change_count = max(0, mark.acknowledged_sequence - last_sequence)
    repair = RepairResult(examination.table, log, offset, bytes_cut, lost_change_count, batches)
    LOG.info("%s: the table was repaired: %s", directory, repair)
    return repair


def _find_descriptor(directory: Path) -> Descriptor | None:
    """Return the descriptor of a table; None if it is damaged or missing."""
    try:
        return read_descriptor(directory)
    except CorruptionError:
        return None


def _truncate_logs(directory: Path, spec: TableSpec) -> tuple[str, int, int]:
    """Truncate the logs at the first damage; return the log, the offset and the bytes moved.

    The removed bytes are brought to the folder `cut` first, so that a crash loses nothing.
    """
    families = [META_FAMILY, *(to_column_family(family.name) for family in spec.families)]
    inspection = inspect_database(directory, families, verify_checksums=True)
    if inspection.manifest is None:
        return "", 0, 0
    selection = select_logs(directory, inspection)
    path, offset, later = selection.damaged_log, selection.offset, selection.later_logs
    if path is None:
        return "", 0, 0
    aside = directory / TRUNCATED_FOLDER
    aside.mkdir(exist_ok=True)
    size = path.stat().st_size - offset + sum(log.stat().st_size for log in later)
    free_path = find_free_name(aside / f"{path.name}.{offset}")
    if offset:
        with path.open("rb") as file, free_path.open("xb") as copy:
            file.seek(offset)
            shutil.copyfileobj(file, copy)
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
        path.rename(free_path)
        sync_directory(aside)
    sync_directory(directory)
    return path.name, offset, size


def save_table(
    directory: Path,
    target: Path,
    *,
    keep_incomplete: bool = False,
    progress: ReportProgress = ignore_progress,
) -> SalvageResult:
    """Copy the readable rows of a table into a new directory; the old one is not changed.

    Args:
        directory: the directory of the damaged table.
        target: an empty directory.
        keep_incomplete: whether to save rows that lack cells or may hold older values.
        progress: called with the number of cells read or saved, and with about how many.

    Raises:
        CorruptionError: nothing of the table can be read.
    """
    examination, inspection = inspect_directory(directory)
    with open_salvage_view(directory, inspection) as view:
        examine_view(
            directory,
            examination,
            view,
            lambda one: progress(replace(one, phase="saving", total=2 * one.total)),
        )
        cell_count = examination.cell_count
        notes = examination.notes + [str(problem) for problem in inspection.log_problems]
        try:
            spec, region_tracker = read_view_spec(directory, view)
        except CorruptionError:
            spec, region_tracker = guess_view_spec(directory, view), None
            notes.append(_GUESSED_NOTE)
        write_descriptor(target, Descriptor(spec.families, "", STATE_CREATING))
        database = Database.create(target, spec.families)
        try:
            copier = Copier(directory, view, database, examination, keep_incomplete=keep_incomplete)
            copier.report_progress = lambda count: progress(
                Progress("saving", cell_count + count, 2 * cell_count, "cells")
            )
            lost_rows = copier.copy_families(spec)
            _store_description(database, spec, region_tracker, copier.highest_timestamp)
        finally:
            database.close()
        write_descriptor(target, Descriptor(spec.families, database.table_id))
    if copier.new_gaps:
        notes.append("more blocks became unreadable while the table was saved: check the disk")
    return SalvageResult(
        examination.table, copier.copied_count, copier.skipped_count, lost_rows, notes
    )


def _store_description(
    database: Database,
    spec: TableSpec,
    region_tracker: StoredRegionTracker | None,
    highest_timestamp: int,
) -> None:
    """Store the spec and regions of a saved table, and flush its database."""
    if region_tracker is None:
        region_tracker = StoredRegionTracker()
        region_tracker.highest_timestamp = highest_timestamp
    batch = database.start_batch()
    store_spec(batch, spec)
    region_tracker.add_all_counters_and_progress(
        batch, region_tracker.highest_timestamp, database.origin
    )
    database.write_batch(batch, sync=True)
    database.flush()
