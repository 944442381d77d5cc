"""Selects the readable logs of a table: those up to the first damage or the first gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE, read_mark
from rowkey.engines.rocksdb_files.inspection import (
    Inspection,
    note_log_problems,
    note_missing_changes,
    read_own_log,
)
from rowkey.engines.rocksdb_files.write_ahead_log import LogContent, list_logs
from rowkey.engines.rocksdb_files.write_origin import is_of_table
from rowkey.messages import pluralize


@dataclass(frozen=True, slots=True)
class LogSelection:
    """The logs of a table, split at the first damage.

    Args:
        sound_logs: the logs before the damage.
        damaged_log: the damaged log; None if all are sound.
        offset: the byte at which its damage begins; 0 if the log before it is missing.
        later_logs: the logs after the damaged one.
        notes: what is lost, a sentence for each log.
    """

    sound_logs: Sequence[Path]
    damaged_log: Path | None = None
    offset: int = 0
    later_logs: Sequence[Path] = ()
    notes: list[str] = field(default_factory=list)


def select_logs(directory: Path, inspection: Inspection) -> LogSelection:
    """Return the readable logs of a table that its MANIFEST requires.

    Args:
        inspection: the MANIFEST, and the content of its logs.
    """
    assert inspection.manifest is not None
    first, last = inspection.manifest.first_log, inspection.manifest.last_sequence
    paths = [path for path in list_logs(directory) if int(path.stem) >= first]
    return _split_logs(paths, inspection.logs, last)


def inspect_logs(directory: Path, manifest_inspection: Inspection) -> Inspection:
    """Inspect the logs of a table by a MANIFEST that CURRENT does not name."""
    inspection = Inspection(manifest_inspection.manifest, manifest_inspection.manifest_name)
    note_log_problems(directory, inspection, verify_checksums=True)
    if not inspection.log_problems:
        note_missing_changes(directory, inspection)
    return inspection


def select_logs_without_manifest(directory: Path, table_id: str) -> LogSelection:
    """Return the readable logs of a table whose MANIFEST cannot be read.

    Args:
        table_id: the id of the table; empty if it is not known.

    Cost: 1 µs a batch, and 0.1 µs a byte of the logs.
    """
    paths, mark = list_logs(directory), read_mark(directory / HIGH_WATER_FILE)
    origin = mark.origin if mark is not None and is_of_table(mark.origin, table_id) else b""
    contents = [
        (path, read_own_log(path, table_id, origin, verify_checksums=True)) for path in paths
    ]
    selection = _split_logs(paths, contents, None)
    for path, content in contents:
        if path == selection.damaged_log and content.damage is not None:
            selection.notes.insert(0, f"{path}: {content.damage.describe('the log')}")
    return selection


def _split_logs(
    paths: Sequence[Path], contents: Sequence[tuple[Path, LogContent]], last_sequence: int | None
) -> LogSelection:
    """Split logs at the first one that is damaged or follows a gap.

    Args:
        paths: the logs, oldest first.
        contents: the content of each log, up to the first damaged one.
        last_sequence: sequence number of the last change before them; None if it is not known, so
            that missing changes between two logs may be in table files.
    """
    for index, (path, content) in enumerate(contents):
        is_gap = last_sequence is not None and content.first_sequence > last_sequence + 1
        if not is_gap and content.damage is None:
            last_sequence = (
                None if last_sequence is None else max(last_sequence, content.last_sequence)
            )
            continue
        offset = 0 if is_gap or content.damage is None else content.damage.offset
        later = paths[index + 1 :]
        size = path.lstat().st_size - offset  # the log may be a circle of links
        part = f"the last {pluralize(size, 'byte')} of the log" if offset else "the log"
        what = f"the changes in {part} cannot be read, and it is not known which rows they changed"
        notes = [f"{path}: {what}"]
        what = "the changes in this log cannot be used, because it comes after a damaged one"
        notes += [f"{log}: {what}" for log in later]
        return LogSelection(paths[:index], path, offset, later, notes)
    return LogSelection(paths)
