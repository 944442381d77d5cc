"""What is done about a damaged table: its logs cut where it lies, or the rest saved elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rowkey.durable import sync_directory
from rowkey.engines.damage import Repair, Saved
from rowkey.engines.pairs.layout import END, unescape
from rowkey.engines.rocksdb.database import LOG, Database, column_family
from rowkey.engines.rocksdb.ledger import Ledger, store_spec
from rowkey.engines.rocksdb_files.descriptor import (
    CREATING,
    READY,
    Descriptor,
    write_descriptor,
)
from rowkey.engines.rocksdb_files.directory import CUT, META, inspect_database
from rowkey.engines.rocksdb_files.high_water import HIGH_WATER, read_mark
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.engines.rocksdb_salvage.examination import (
    LAST_KEY,
    examine_view,
    guess_view_spec,
    ignore_progress,
    inspect_directory,
    is_lost,
    read_view_spec,
)
from rowkey.engines.rocksdb_salvage.view import open_salvage_view
from rowkey.errors import CorruptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rowkey.engines.damage import Gap, Rows
    from rowkey.engines.pairs.source import Pair, PairSource
    from rowkey.engines.requests import TableSpec

BATCH_CELLS = 8_192
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
    LOG.warning("%s: repaired: %s", directory, repair)
    return repair


def _cut_logs(directory: Path, spec: TableSpec) -> tuple[str, int, int]:
    """Set aside what follows the first damage; return the log, the byte, and how many bytes.

    The copies are on disk before anything is cut, so that a crash in between loses nothing.
    """
    families = [META, *(column_family(one.name) for one in spec.families)]
    found = inspect_database(directory, families, verify_checksums=True)
    if not (found.log_problems and found.logs):
        return "", 0, 0
    path, content = found.logs[-1]
    is_gap = str(path) == found.log_problems[0].mistake.path and content.damage is None
    if content.damage is None and not is_gap:
        return "", 0, 0
    offset = 0 if content.damage is None else content.damage.offset
    aside = directory / CUT
    aside.mkdir(exist_ok=True)
    later = [log for log in list_logs(directory) if int(log.stem) > int(path.stem)]
    size = path.stat().st_size - offset + sum(log.stat().st_size for log in later)
    with (aside / f"{path.name}.{offset}").open("wb") as copy:
        copy.write(path.read_bytes()[offset:])
        copy.flush()
        os.fsync(copy.fileno())
    sync_directory(aside)
    for log in later:
        log.rename(aside / log.name)
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
        try:
            spec, ledger = read_view_spec(directory, view)
        except CorruptionError:
            spec, ledger = guess_view_spec(directory, view), Ledger()
            found.notes.append(_GUESSED)
        left_out: Sequence[Rows] = () if keep_incomplete else found.lost_rows
        write_descriptor(target, Descriptor(spec.families, CREATING))
        database = Database.create(target, spec.families)
        try:
            cells = skipped = 0

            def count(done: int) -> None:
                progress(found.cells + cells + skipped + done, 2 * found.cells)

            for family in spec.families:
                name = column_family(family.name)
                source, gaps = view.source(name, directory), found.gaps[name]
                more = _copy_pairs(source, gaps, database, family.name, left_out, count)
                cells, skipped = cells + more[0], skipped + more[1]
            batch = database.start_batch()
            store_spec(batch, spec)
            ledger.store(batch)
            ledger.number(batch, ledger.highest_stamp)
            database.write(batch, sync=True)
            database.flush()
        finally:
            database.close()
        write_descriptor(target, Descriptor(spec.families, READY))
    return Saved(found.table, cells, skipped, found.lost_rows, found.notes)


def _copy_pairs(
    source: PairSource,
    gaps: Sequence[Gap],
    database: Database,
    family: str,
    left_out: Sequence[Rows],
    progress: Callable[[int], None],
) -> tuple[int, int]:
    """Copy a family's pairs but those of some rows; return how many were copied, and left out."""
    handle, batch = database.handles[family], database.start_batch()
    copied, skipped, prefix, is_left_out = 0, 0, b"", False
    for key, value in _read_between(source, gaps):
        if not prefix or not key.startswith(prefix):
            prefix = key[: key.index(END) + 1]
            is_left_out = is_lost(unescape(prefix[:-1]), left_out)
        if is_left_out:
            skipped += 1
            continue
        batch.put(key, value, handle)
        copied += 1
        if batch.len() == BATCH_CELLS:
            database.write(batch, sync=False)
            progress(copied + skipped)
            batch = database.start_batch()
    database.write(batch, sync=False)
    return copied, skipped


def _read_between(source: PairSource, gaps: Sequence[Gap]) -> Iterator[Pair]:
    """Yield the pairs of a family that lie between what cannot be read of it."""
    iterator = source.iterate()
    starts = [b"", *(gap.before for gap in gaps)]
    lasts = [*(gap.after for gap in gaps), LAST_KEY]
    for start, last in zip(starts, lasts, strict=True):
        if start is None or last is None:
            continue
        iterator.seek(start)
        while iterator.valid():
            key = iterator.key()
            if key > last:
                break
            yield key, iterator.value()
            iterator.next()
        else:
            if last == LAST_KEY:
                source.raise_status(iterator)
