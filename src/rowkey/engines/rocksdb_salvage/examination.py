"""A table read whole, with everything that is damaged or gone."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rowkey.cells import Family
from rowkey.engines.damage import Examination
from rowkey.engines.requests import TableSpec
from rowkey.engines.rocksdb.database import column_family, family_name
from rowkey.engines.rocksdb.ledger import Ledger, read_spec
from rowkey.engines.rocksdb.storage_errors import explain_error
from rowkey.engines.rocksdb_files.descriptor import read_descriptor, table_of_directory
from rowkey.engines.rocksdb_files.directory import (
    META,
    SALVAGE,
    Inspection,
    inspect_database,
    list_foreign,
)
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.engines.rocksdb_salvage.damage_scan import find_gaps
from rowkey.engines.rocksdb_salvage.view import open_salvage_view
from rowkey.errors import CorruptionError, RowkeyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rowkey.engines.damage import Rows
    from rowkey.engines.rocksdb_salvage.view import SalvageView


def ignore_progress(done: int, total: int) -> None:
    """Report nothing."""


def examine_table(
    directory: Path, progress: Callable[[int, int], None] = ignore_progress
) -> Examination:
    """Read every block of every file of a table that is closed; change nothing.

    Args:
        directory: the table's.
        progress: told how many cells were read, and of about how many.

    Raises:
        Unsupported: the disk cannot be read, or another version of rowkey wrote the table.

    Cost: a read of the whole table, about 0.3 µs a cell; 0.1 µs a byte of the logs.
    """
    found, inspection = inspect_directory(directory)
    try:
        with open_salvage_view(directory, inspection) as view:
            examine_view(directory, found, view, progress)
    except CorruptionError as problem:
        found.problems.append(problem)
        found.is_readable = False
    except OSError as problem:
        raise explain_error(directory, problem) from problem
    return found


def inspect_directory(directory: Path) -> tuple[Examination, Inspection]:
    """Return what the files around the cells tell: descriptor, MANIFEST and logs."""
    found = Examination(table_of_directory(directory))
    families: Sequence[str] = ()
    try:
        families = [column_family(one.name) for one in read_descriptor(directory).families]
    except CorruptionError as problem:
        found.problems.append(problem)
        found.repairable.append(problem)
    try:
        inspection = inspect_database(directory, [META, *families], verify_checksums=True)
        foreign = list_foreign(directory)
    except OSError as problem:
        raise explain_error(directory, problem) from problem
    found.problems += inspection.problems + inspection.log_problems
    found.repairable += inspection.log_problems
    found.notes += inspection.warnings
    found.notes += [f"{path}: it is not of rowkey" for path in foreign]
    return found, inspection


def examine_view(
    directory: Path, found: Examination, view: SalvageView, progress: Callable[[int, int], None]
) -> None:
    """Read every cell of a table, and note what cannot be read."""
    manifest, lost = view.manifest, list(view.lost_rows)
    found.problems += view.problems
    found.notes += view.notes
    found.files = len(manifest.files) + len(list_logs(directory))
    found.size_bytes = sum(one.size_bytes for one in manifest.files.values())

    total = sum(one["num_entries"] for one in view.db.live_files())

    def count(cells: int) -> None:
        found.cells += cells
        progress(found.cells, max(total, found.cells))

    for name in manifest.families.values():
        source = view.source(name, directory)
        is_meta = name == META
        gaps = find_gaps(view.scan(source, name), (lambda _: None) if is_meta else count)
        for gap in gaps:
            found.problems.append(source.explain(RuntimeError(gap.problem)))
        if not is_meta:
            found.gaps[name] = gaps
            lost += [(gap.first_row, gap.last_row) for gap in gaps]
    for problem in _find_missing_families(directory, view):
        found.problems.append(problem)
        lost.append((None, None))
    try:
        read_view_spec(directory, view)
    except CorruptionError as problem:
        found.problems.append(problem)
    found.lost_rows = join_ranges(lost)


def _find_missing_families(directory: Path, view: SalvageView) -> Iterator[CorruptionError]:
    """Yield an error for each family that cannot be read at all.

    Where RocksDB puts a table together without its MANIFEST, it knows families by their files, and
    passes over changes of others in the logs.
    """
    with suppress(CorruptionError):  # a damaged descriptor is told elsewhere
        for family in read_descriptor(directory).families:
            if column_family(family.name) not in view.manifest.families.values():
                what = f"no file of the family {family.name} is there: its cells cannot be read"
                yield CorruptionError(str(directory), what, remedy=SALVAGE)


def read_view_spec(directory: Path, view: SalvageView) -> tuple[TableSpec, Ledger]:
    """Return what a table is, and its regions, as it tells itself.

    Raises:
        CorruptionError: that cannot be read.
    """
    meta = view.source(META, directory)
    try:
        return read_spec(meta, directory, table_of_directory(directory)), Ledger.read(meta)
    except RowkeyError:
        raise
    except Exception as problem:
        raise meta.explain(problem) from problem


def guess_view_spec(directory: Path, view: SalvageView) -> TableSpec:
    """Return what a table is as far as its descriptor and its MANIFEST tell, with one region."""
    try:
        families = read_descriptor(directory).families
    except CorruptionError:
        names = map(family_name, view.manifest.families.values())
        families = tuple(Family(name) for name in names if name is not None)
    return TableSpec(table_of_directory(directory), families)


def join_ranges(ranges: Sequence[Rows]) -> list[Rows]:
    """Return stretches of rows in their order, those that meet as one.

    >>> join_ranges([(b"d", None), (b"a", b"c"), (b"b", b"c"), (b"e", b"f")])
    [(b'a', b'c'), (b'd', None)]
    """
    joined: list[Rows] = []
    for first, last in sorted(ranges, key=lambda one: one[0] or b""):
        if joined:
            begin, end = joined[-1]
            if end is None or (first or b"") <= end:
                joined[-1] = begin, None if end is None or last is None else max(end, last)
                continue
        joined.append((first, last))
    return joined


def is_lost(row: bytes, ranges: Sequence[Rows]) -> bool:
    """Return whether a row lies in one of some stretches."""
    return any(
        (first is None or row >= first) and (last is None or row <= last) for first, last in ranges
    )
