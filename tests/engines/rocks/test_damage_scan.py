"""A scan of a file with damaged blocks returns all readable rows and the exact gaps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from ramdisk import RAM_FOLDER
from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.pairs import library
from rowkey.engines.rocksdb_files.inspection import inspect_database
from rowkey.engines.rocksdb_salvage.damage_scan import DamageScan, find_block_starts, find_gaps
from rowkey.engines.rocksdb_salvage.examination import examine_table, is_lost

if TYPE_CHECKING:
    from rowkey.engines.damage import Gap

CELLS = 3_000


def build_row_key(number: int) -> bytes:
    """Return the row key of a number, of two lengths and shapes, in ascending order."""
    return b"host-%02d %06d" % (number // 500, number) + b"\0\xff" * (number % 3)


def build_value(number: int) -> bytes:
    """Return an incompressible value that is in the file once."""
    return b"value-%06d|" % number


class DamagedFile:
    """A table of one file, whose blocks are damaged at the values of given cells.

    Args:
        place: an empty directory.
    """

    def __init__(self, place: Path) -> None:
        self.place, self.directory = place, place / "t"
        family = Family("d", block_size=1_024, compression="NONE")
        with RocksEngine.open(str(place)) as engine:
            store = engine.create_table(TableSpec("t", (family,)))
            numbers = [*range(CELLS)]
            Random(1).shuffle(numbers)
            store.mutate([self._row(number) for number in numbers])
            store.flush()
        self.file = max(self.directory.glob("*.sst"), key=lambda path: path.stat().st_size)
        self._sound = self.file.read_bytes()

    @staticmethod
    def _row(number: int) -> RowCells:
        return RowCells(build_row_key(number), [Cell("d", b"q", 5, build_value(number))])

    def damage(self, numbers: list[int]) -> None:
        """Flip a bit in the value of each of some cells."""
        content = bytearray(self._sound)
        for number in numbers:
            assert 1 == self._sound.count(build_value(number))
            content[self._sound.index(build_value(number))] ^= 1
        self.file.write_bytes(content)

    def family(self) -> Any:
        """Return the column family, opened again for reading."""
        options = library.Options(raw_mode=True)
        families = dict.fromkeys(("default", "f_d"), options)
        access = library.AccessType.read_only()
        db = library.Rdict(str(self.directory), options, families, access)
        return db.get_column_family("f_d")

    def scan(self) -> DamageScan:
        """Return a scan of the column family."""
        found = inspect_database(self.directory, ["f_d"]).manifest
        assert found is not None
        files = [one for one in found.files.values() if found.families[one.family_id] == "f_d"]
        return DamageScan(self.family().iter, lambda: find_block_starts(self.directory, files))


@pytest.fixture(scope="module")
def table() -> Iterator[DamagedFile]:
    """Return a table of one file."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        yield DamagedFile(Path(folder))


def read_one_by_one(family: Any, keys: list[bytes]) -> set[bytes]:
    """Return the keys that RocksDB finds one by one."""
    found = set()
    for key in keys:
        with suppress(Exception):  # RocksDB has no other
            if family.get(key) is not None:
                found.add(key)
    return found


def expected_gaps(keys: list[bytes], readable: set[bytes]) -> list[tuple[Any, Any]]:
    """Return the readable keys, or ends, around each run of unreadable keys."""
    marks = [None, *(key for key in keys if key in readable), None]
    at = {key: index for index, key in enumerate(keys)}
    return [
        (before, after)
        for before, after in pairwise(marks)
        if (len(keys) if after is None else at[after]) - (-1 if before is None else at[before]) > 1
    ]


@pytest.fixture(scope="module")
def keys(table: DamagedFile) -> list[bytes]:
    """Return all keys of the undamaged file."""
    iterator, found = table.family().iter(), []
    iterator.seek_to_first()
    while iterator.valid():
        found.append(iterator.key())
        iterator.next()
    assert CELLS == len(found)
    return found


PLACEMENTS: dict[str, list[int]] = {
    "in the middle": [1_600],
    "the first block": [0],
    "the last block": [CELLS - 1],
    "two apart": [700, 1_900],
    "at the change of a host": [499, 500],
    "a third of the file": [*range(1_000, 2_000, 10)],
    "all": [*range(0, CELLS, 5)],
    "three apart": [400, 1_499, 2_600],
    "both ends": [0, CELLS - 1],
}


def parametrize_places(*names: str) -> list[Any]:
    """Return a parametrization by the places of damage."""
    return [pytest.param(PLACEMENTS[name], id=name) for name in names]


@pytest.mark.parametrize("numbers", parametrize_places(*PLACEMENTS))
def test_a_gap_lies_between_the_nearest_readable_keys_around_damage(
    table: DamagedFile, keys: list[bytes], numbers: list[int]
) -> None:
    """A gap lies between the last readable key before damage and the first one after it."""
    table.damage(numbers)
    read: list[int] = []
    gaps = find_gaps(table.scan(), read.append)
    readable = read_one_by_one(table.family(), keys)
    assert expected_gaps(keys, readable) == [(gap.previous_key, gap.next_key) for gap in gaps]
    assert all("block checksum mismatch" in gap.problem for gap in gaps)
    assert sum(read) >= len(readable) - len(gaps)


def test_an_undamaged_file_has_no_gaps(table: DamagedFile, keys: list[bytes]) -> None:
    """An undamaged file has no gaps, and every key is read once."""
    table.damage([])
    read: list[int] = []
    assert [] == find_gaps(table.scan(), read.append)
    assert len(keys) == sum(read)


def find_lost(table: DamagedFile, keys: list[bytes], numbers: list[int]) -> tuple[int, int]:
    """Damage some blocks; return the number of unreadable keys outside of gaps, and of gaps."""
    table.damage(numbers)
    gaps = find_gaps(table.scan())
    readable = read_one_by_one(table.family(), keys)
    bounds = [
        bound for gap in gaps for bound in (gap.previous_key, gap.next_key) if bound is not None
    ]
    assert bounds == sorted(bounds)
    assert set(bounds) <= readable
    return sum(not is_in_gap(key, gaps) for key in keys if key not in readable), len(gaps)


def test_every_unreadable_key_is_in_a_gap_wherever_a_block_is_damaged(
    table: DamagedFile, keys: list[bytes]
) -> None:
    for seed in range(8):
        numbers = Random(seed).sample(range(CELLS), 1)
        assert (0, 1) == find_lost(table, keys, numbers)


@pytest.mark.parametrize("count", [2, 5])
def test_every_unreadable_key_is_in_a_gap_if_several_blocks_are_damaged(
    table: DamagedFile, keys: list[bytes], count: int
) -> None:
    lost = []
    for seed in range(6):
        numbers = Random(seed).sample(range(CELLS), count)
        lost.append(find_lost(table, keys, numbers)[0])
    assert [0] * 6 == lost


def is_in_gap(key: bytes, gaps: list[Gap]) -> bool:
    """Return whether a key is in one of some gaps."""
    return any(
        (gap.previous_key is None or key > gap.previous_key)
        and (gap.next_key is None or key < gap.next_key)
        for gap in gaps
    )


@pytest.mark.parametrize(
    "numbers", parametrize_places("in the middle", "the last block", "both ends")
)
def test_the_damage_error_names_the_rows_around_each_gap(
    table: DamagedFile, keys: list[bytes], numbers: list[int]
) -> None:
    """The error names the file and the rows around each gap."""
    table.damage(numbers)
    readable = read_one_by_one(table.family(), keys)
    rows = {key: build_row_key(number) for number, key in enumerate(keys)}
    found = examine_table(table.directory)
    assert len(expected_gaps(keys, readable)) == len(found.lost_rows) == len(found.problems)
    for key, row in rows.items():
        assert key in readable or is_lost(row, found.lost_rows)
    listed = sum(is_lost(row, found.lost_rows) for row in rows.values())
    # Both rows at the ends of a stretch are whole.
    assert listed <= len(keys) - len(readable) + 2 * len(found.lost_rows)
    assert {str(table.file)} == {problem.mistake.path for problem in found.problems}
    assert found.is_readable
    assert found.needs_saving


@pytest.mark.parametrize("numbers", parametrize_places("two apart", "three apart"))
def test_exactly_the_cells_outside_of_gaps_are_saved(
    table: DamagedFile, keys: list[bytes], numbers: list[int], tmp_path: Path
) -> None:
    """The new table has exactly the readable cells with their values."""
    table.damage(numbers)
    readable = read_one_by_one(table.family(), keys)
    with RocksEngine.open(str(table.place)) as engine, RocksEngine.open(str(tmp_path)) as target:
        engine.save_into(target, "t", keep_incomplete=True)
        found = target.open_table("t").get([build_row_key(number) for number in range(CELLS)])
    kept = {number: row.cells[0].value for number, row in enumerate(found) if row.cells}
    expected = {n: build_value(n) for n, key in enumerate(keys) if key in readable}
    assert kept == expected
