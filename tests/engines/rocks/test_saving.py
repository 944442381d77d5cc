"""`repair --into` saves all readable rows of a damaged table and reports the rest."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

import rowkey
from example_counts import cover_each
from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.requests import CellSelection, ScanRange
from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE
from rowkey.engines.rocksdb_files.inspection import META_FAMILY, inspect_database
from rowkey.engines.rocksdb_files.table_index import InvalidIndex, read_separators
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.engines.rocksdb_salvage import copier
from rowkey.engines.rocksdb_salvage.examination import is_lost
from rowkey.errors import RowkeyError
from rowkey.render import format_saved_table
from rowkey.table import repair_tables, save_tables, verify_tables

if TYPE_CHECKING:
    from rowkey.engines import SalvageResult, Store

ROWS = 4_000
LOGGED_ROWS = 300
EVENTS = rowkey.Design("t", "[id]", fields={"id": "u64", "v": "text"})
CODED_DESIGN = rowkey.Design(
    "t", "[code(host)][ts]", fields={"host": "text", "ts": "timestamp_ms", "v": "text"}
)


def put_events(table: rowkey.Table, first: int) -> None:
    """Put rows one by one, so that each is a record of the log."""
    for number in range(first, first + LOGGED_ROWS):
        table.put({"id": number, "v": "x" * 60 + str(number)})


def build_row_key(number: int) -> bytes:
    """Return the row key of a number."""
    return b"host-%03d %08d" % (number // 500, number)


@cache
def build_value(number: int) -> bytes:
    """Return an incompressible value."""
    return Random(number).randbytes(64)


def create_table(place: Path, parts: int = 1, family: Family | None = None) -> Path:
    """Create a table of this many files with interleaved rows, and return the largest file."""
    family = family or Family("d", block_size=1_024)
    with RocksEngine.open(str(place)) as engine:
        store = engine.create_table(TableSpec("t", (family,)))
        for part in range(parts):
            cells = range(part, ROWS, parts)
            store.mutate([
                RowCells(build_row_key(n), [Cell("d", b"q", 5 + n % 3, build_value(n))])
                for n in cells
            ])  # fmt: skip
            store.flush()
    return largest_file(place)


@pytest.fixture(scope="module")
def intact_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a place with a table of one file, to be copied."""
    place = tmp_path_factory.mktemp("intact") / "db"
    create_table(place)
    return place


@pytest.fixture
def file(intact_directory: Path, tmp_path: Path) -> Path:
    """Return the file of a copy of the table in the place `a`, to be damaged."""
    return largest_file(Path(shutil.copytree(intact_directory, tmp_path / "a")))


def largest_file(place: Path) -> Path:
    """Return the largest data file of the table of a place."""
    return max((place / "t").glob("*.sst"), key=lambda path: path.stat().st_size)


def flip_bits(path: Path, offsets: list[int]) -> None:
    """Flip a bit at each of some offsets of a file."""
    content = bytearray(path.read_bytes())
    for offset in offsets:
        content[offset] ^= 4
    path.write_bytes(content)


def save_table(place: Path, into: Path, *, keep_incomplete: bool = False) -> SalvageResult:
    """Save the table of a place."""
    with RocksEngine.open(str(place)) as engine, RocksEngine.open(str(into)) as target:
        return engine.save_into(target, "t", keep_incomplete=keep_incomplete)


def read_rows(store: Store) -> dict[bytes, bytes]:
    """Return the value of each row of a store."""
    with store.scan([ScanRange()], CellSelection())[0] as cursor:
        return {row.row: row.cells[0].value for row in cursor}


def saved_rows(into: Path) -> dict[bytes, bytes]:
    """Return the rows of the table that was saved into a place."""
    with RocksEngine.open(str(into)) as engine:
        return read_rows(engine.open_table("t"))


def check_saved(saved: SalvageResult, kept: dict[bytes, bytes]) -> None:
    """Check that each row was saved unchanged or is in a listed gap."""
    expected = {build_row_key(n): build_value(n) for n in range(ROWS)}
    assert kept.items() <= expected.items()
    assert all(is_lost(row, saved.lost_rows) for row in expected.keys() - kept.keys())
    assert saved.cell_count == len(kept)


@pytest.mark.parametrize(
    "compression",
    ["NONE", "SNAPPY", "LZ4", "ZSTD", "GZ", pytest.param("BZIP2", marks=pytest.mark.long)],
)
def test_separators_of_an_index_ascend_through_the_whole_file(
    tmp_path: Path, compression: str
) -> None:
    """The separators of an index ascend through the whole file with every codec."""
    family = Family("d", block_size=1_024, compression=compression)
    separators = read_separators(create_table(tmp_path, family=family))
    assert len(separators) > 200
    assert build_row_key(0) < separators[0] < build_row_key(500)
    assert separators[-1] >= build_row_key(ROWS - 1)


def test_a_file_without_a_valid_footer_raises_an_error_about_its_index(file: Path) -> None:
    content = file.read_bytes()
    for other in (content[:-1], content[-60:], b"", bytes(100)):
        file.write_bytes(other)
        with pytest.raises(InvalidIndex):
            read_separators(file)


def test_an_index_with_a_huge_damaged_size_fills_no_memory(tmp_path: Path) -> None:
    """A damaged size of an index beyond the end of the file fills no memory."""
    name, handle = b"rocksdb.index", b"\0" + b"\x80" * 8 + b"\x10"  # 2^60 bytes from offset 0
    entry = bytes([0, len(name), len(handle)]) + name + handle
    block = entry + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
    footer = bytes(13) + len(block).to_bytes(4, "little") + bytes(24)
    footer += (6).to_bytes(4, "little") + 0x88E2_41B7_85F4_CFF7.to_bytes(8, "little")
    (tmp_path / "huge.sst").write_bytes(block + bytes(5) + footer)
    with pytest.raises(InvalidIndex, match="lacks"):
        read_separators(tmp_path / "huge.sst")


def test_two_flipped_bits_lose_under_1_percent_of_the_rows(file: Path, tmp_path: Path) -> None:
    """After two flipped bits more than 99 % of the rows are saved."""
    flip_bits(file, [100, file.stat().st_size * 8 // 10])
    saved = save_table(tmp_path / "a", tmp_path / "b")
    kept = saved_rows(tmp_path / "b")
    check_saved(saved, kept)
    assert len(saved.lost_rows) == 2
    assert len(kept) > 0.99 * ROWS


@pytest.mark.parametrize("keep_incomplete", [True, False])
def test_more_than_90_percent_of_rows_are_saved_if_every_20th_block_is_damaged(
    file: Path, tmp_path: Path, *, keep_incomplete: bool
) -> None:
    n_blocks, end = len(read_separators(file)), file.stat().st_size * 8 // 10
    flip_bits(file, Random(3).sample(range(end), n_blocks // 20))
    saved = save_table(tmp_path / "a", tmp_path / "b", keep_incomplete=keep_incomplete)
    kept = saved_rows(tmp_path / "b")
    check_saved(saved, kept)
    assert len(saved.lost_rows) > n_blocks // 40
    assert len(kept) > 0.9 * ROWS


def test_damage_in_one_of_several_files_loses_under_2_percent_of_the_rows(tmp_path: Path) -> None:
    """Damage in one of several files loses under 2 % of the rows, and all lost ones are listed."""
    file = create_table(tmp_path / "a", parts=3)
    flip_bits(file, [100, file.stat().st_size // 2])
    saved = save_table(tmp_path / "a", tmp_path / "b")
    kept = saved_rows(tmp_path / "b")
    check_saved(saved, kept)
    assert ROWS > len(kept) > 0.98 * ROWS


def test_a_file_that_rocksdb_cannot_open_is_left_out_and_its_rows_listed(
    file: Path, tmp_path: Path
) -> None:
    place = tmp_path / "a"
    with RocksEngine.open(str(place)) as engine:
        store = engine.open_table("t")
        store.mutate([RowCells(b"zzz", [Cell("d", b"q", 5, b"v")])])
        store.flush()
    flip_bits(file, [file.stat().st_size - 2])
    (found,) = verify_tables(f"rocks:{place}")
    assert found.is_readable
    assert [str(file)] == [one.mistake.path for one in found.problems]
    saved = save_table(place, tmp_path / "b")
    assert {b"zzz": b"v"} == saved_rows(tmp_path / "b")
    assert [(build_row_key(0), build_row_key(ROWS - 1))] == list(saved.lost_rows)


@pytest.mark.parametrize("keep_incomplete", [True, False])
def test_damage_that_appears_while_rows_are_saved_is_listed(
    file: Path, tmp_path: Path, *, keep_incomplete: bool
) -> None:
    """Damage that appears between the examination and the copy is listed."""
    flip_bits(file, [file.stat().st_size // 4])
    initialize = copier.Copier.__init__

    def damage_more(*args: object, **options: object) -> None:
        flip_bits(file, [file.stat().st_size // 2])
        initialize(*args, **options)  # type: ignore[arg-type]

    with patch.object(copier.Copier, "__init__", damage_more):
        saved = save_table(tmp_path / "a", tmp_path / "b", keep_incomplete=keep_incomplete)
    kept = saved_rows(tmp_path / "b")
    check_saved(saved, kept)
    assert len(saved.lost_rows) == 2
    assert "became unreadable" in saved.notes[-1]
    ends = [row for pair in saved.lost_rows for row in pair if row is not None]
    assert keep_incomplete == all(row in kept for row in ends)
    assert keep_incomplete or not any(row in kept for row in ends)
    assert len(kept) > 0.99 * ROWS


@pytest.fixture(scope="module")
def killed_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a place as a killed writer leaves it, with all its rows in a log."""
    folder = tmp_path_factory.mktemp("saving")
    with rowkey.open(EVENTS, f"rocks:{folder / 'db'}") as table:
        put_events(table, 0)
        return Path(shutil.copytree(folder / "db", folder / "killed"))


@pytest.fixture
def directory(killed_directory: Path, tmp_path: Path) -> Path:
    """Return a copy of the killed place, to be damaged."""
    return Path(shutil.copytree(killed_directory, tmp_path / "a"))


def save_events(
    place: Path, into: str = "b", *, keep_incomplete: bool = False
) -> tuple[list[int], list[str]]:
    """Save a table into a place next to its own; return its rows and the notes."""
    url = f"rocks:{place.parent / into}"
    (saved,) = save_tables(f"rocks:{place}", url, ["t"], keep_incomplete=keep_incomplete)
    with rowkey.open(EVENTS, url) as table:
        return [row["id"] for row in table.scan()], list(saved.notes)


def test_a_repair_without_current_saves_all_logs_of_the_manifest(directory: Path) -> None:
    """A repair without CURRENT finds the MANIFEST and saves all of its logs."""
    (directory / "t" / "CURRENT").write_bytes(b"garbage")
    ids, notes = save_events(directory)
    assert ids == [*range(LOGGED_ROWS)]
    assert ["CURRENT does not name the valid MANIFEST; MANIFEST-000005 was read"] == notes


@pytest.mark.parametrize("current", [b"garbage", None], ids=["damaged", "sound"])
def test_a_repair_reads_a_log_up_to_its_damage_and_reports_the_rest(
    directory: Path, current: bytes | None
) -> None:
    if current is not None:
        (directory / "t" / "CURRENT").write_bytes(current)
    (log,) = list_logs(directory / "t")
    flip_bits(log, [log.stat().st_size // 2])
    assert [] == save_events(directory)[0]
    ids, notes = save_events(directory, "c", keep_incomplete=True)
    assert ids == [*range(len(ids))]
    assert 0.4 * LOGGED_ROWS < len(ids) < 0.6 * LOGGED_ROWS
    assert any(f"{log}: the changes in the last " in note for note in notes)
    assert any(f"{log}: the log is damaged at byte" in note for note in notes)


def spoil_manifest(place: Path) -> None:
    """Overwrite the MANIFEST of the table with garbage."""
    (manifest,) = (place / "t").glob("MANIFEST-*")
    manifest.write_bytes(b"garbage")


def test_without_a_manifest_a_log_is_read_up_to_its_damage(directory: Path) -> None:
    """Without a MANIFEST a log is read up to its damage, and the rest is reported."""
    with rowkey.open(EVENTS, f"rocks:{directory}") as table:
        table.store.flush()
    with rowkey.open(EVENTS, f"rocks:{directory}") as table:
        put_events(table, LOGGED_ROWS)
        directory = Path(shutil.copytree(directory, directory.parent / "killed"))
    spoil_manifest(directory)
    log = max(list_logs(directory / "t"), key=lambda path: path.stat().st_size)
    flip_bits(log, [log.stat().st_size // 2])
    assert [] == save_events(directory)[0]
    ids, notes = save_events(directory, "c", keep_incomplete=True)
    assert ids == [*range(len(ids))]
    assert 1.4 * LOGGED_ROWS < len(ids) < 1.6 * LOGGED_ROWS
    assert any(f"{log}: the log is damaged at byte" in note for note in notes)
    assert any(f"{log}: the changes in the last " in note for note in notes)


def test_a_repair_without_a_manifest_reports_a_family_without_files(directory: Path) -> None:
    """A repair without a MANIFEST reports a family that has no file."""
    spoil_manifest(directory)
    with RocksEngine.open(str(directory)) as engine:
        found = engine.examine("t")
    assert any("all files of the family " in one.mistake.problem for one in found.problems)
    assert [(None, None)] == found.lost_rows
    saved = save_table(directory, directory.parent / "b")
    assert (0, [(None, None)]) == (saved.cell_count, list(saved.lost_rows))


def test_all_files_are_read_if_the_found_manifest_lacks_one(directory: Path) -> None:
    """If CURRENT is damaged and the MANIFEST lacks a file, all files are read."""
    with rowkey.open(EVENTS, f"rocks:{directory}") as table:
        table.store.flush()
    for path in (directory / "t").glob("MANIFEST-*"):
        old = path.read_bytes()
    with rowkey.open(EVENTS, f"rocks:{directory}") as table:
        table.put({"id": 10**6, "v": "x"})
        table.store.flush()
    (path,) = (directory / "t").glob("MANIFEST-*")
    path.write_bytes(old)
    (directory / "t" / "CURRENT").write_bytes(b"garbage")
    # RocksDB may not have removed a compacted file yet, whose rows would then be kept back.
    ids, notes = save_events(directory, keep_incomplete=True)
    assert ids == [*range(LOGGED_ROWS), 10**6]
    assert any("the MANIFEST cannot be read" in note for note in notes)


def test_a_repair_keeps_all_of_a_log_that_lacks_only_its_end(directory: Path) -> None:
    (log,) = list_logs(directory / "t")
    log.write_bytes(log.read_bytes()[:-5_000])
    (repair,) = repair_tables(f"rocks:{directory}", ["t"])
    assert ("", 0) == (repair.log_name, repair.truncated_bytes)
    assert repair.lost_change_count
    with rowkey.open(EVENTS, f"rocks:{directory}") as table:
        ids = [row["id"] for row in table.scan()]
    assert ids == [*range(len(ids))]
    assert len(ids) > 0.8 * LOGGED_ROWS


def test_a_repair_with_an_older_high_water_mark_reports_unknown_losses(directory: Path) -> None:
    """If the log and the high-water mark do not belong together, the lost changes are unknown."""
    earlier = (directory / "t" / HIGH_WATER_FILE).read_bytes()
    with rowkey.open(EVENTS, f"rocks:{directory}") as table:
        put_events(table, LOGGED_ROWS)
        later = Path(shutil.copytree(directory, directory.parent / "later"))
    (later / "t" / HIGH_WATER_FILE).write_bytes(earlier)
    (repair,) = repair_tables(f"rocks:{later}", ["t"])
    assert repair.lost_change_count is None


def test_deleted_rows_in_files_that_a_compaction_replaced_are_not_restored(tmp_path: Path) -> None:
    """After a kill that left such a file, and without a MANIFEST, its rows are left out."""
    with rowkey.open(EVENTS, f"rocks:{tmp_path / 'db'}") as table:
        put_events(table, 0)
        table.flush()
        replaced = largest_file(tmp_path / "db").name
        content = (tmp_path / "db" / "t" / replaced).read_bytes()
        for number in range(20):
            table.delete(id=number)
        table.compact()
        put_events(table, LOGGED_ROWS)
        table.flush()
        place = Path(shutil.copytree(tmp_path / "db", tmp_path / "a"))
    assert not (place / "t" / replaced).exists()
    spoil_manifest(place)
    assert [*range(20, 2 * LOGGED_ROWS)] == save_events(place)[0]
    (place / "t" / replaced).write_bytes(content)
    assert [*range(LOGGED_ROWS, 2 * LOGGED_ROWS)] == save_events(place, "c")[0]
    assert [*range(2 * LOGGED_ROWS)] == save_events(place, "d", keep_incomplete=True)[0]


def replace_file(path: Path, kind: str) -> None:
    """Put something that is no file in the place of a file."""
    path.unlink()
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "circle of links":
            path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("pattern", "kind"),
    cover_each(
        ["CURRENT", "MANIFEST-*", "descriptor.json", "*.sst", "*.log"],
        ["folder", "pipe", "circle of links"],
    ),
)
def test_a_directory_in_place_of_a_file_is_reported_and_other_rows_saved(
    tmp_path: Path, pattern: str, kind: str
) -> None:
    """Something else in place of a file is reported; all other tables and rows are saved."""
    url, other = f"rocks:{tmp_path / 'a'}", rowkey.Design("u", "[id]", fields={"id": "u64"})
    with rowkey.open(EVENTS, url) as table, rowkey.open(other, url) as intact:
        put_events(table, 0)
        table.flush()
        put_events(table, LOGGED_ROWS)
        intact.put({"id": 1})
    replace_file(max((tmp_path / "a" / "t").glob(pattern)), kind)

    assert {one.table: one.is_sound for one in verify_tables(url)} == {"t": False, "u": True}
    saved = [*save_tables(url, f"rocks:{tmp_path / 'b'}", ["t", "u"], keep_incomplete=True)]

    with rowkey.open(EVENTS, f"rocks:{tmp_path / 'b'}") as table:
        ids = [row["id"] for row in table.scan()]
    assert len(ids) == 2 * LOGGED_ROWS if pattern != "*.sst" else 0 < len(ids) <= 2 * LOGGED_ROWS
    assert [one.table for one in saved] == ["t", "u"]


@pytest.mark.parametrize(
    ("damage", "has_mark"),
    [
        ("flipped bit", True),
        ("flipped bit", False),
        ("loss", True),
        ("loss", False),
        ("pipe", True),
        ("pipe", False),
        ("emptied", True),  # without a mark, nothing tells this log from one without changes
    ],
)
def test_older_rows_that_a_lost_log_may_have_changed_are_saved_only_on_request(
    tmp_path: Path, damage: str, *, has_mark: bool
) -> None:
    """Rows that a lost part of a log may have changed are saved with `keep_incomplete` only."""
    with rowkey.open(EVENTS, f"rocks:{tmp_path / 'db'}") as table:
        for number in range(20):
            table.put({"id": number, "v": "old"})
        table.flush()
        old = list(table.scan())
        for number in range(10):
            table.put({"id": number, "v": "new"})
        table.delete(id=15)
        place = Path(shutil.copytree(tmp_path / "db", tmp_path / "a"))
    log = max(list_logs(place / "t"))
    match damage:
        case "flipped bit":
            flip_bits(log, [20])
        case "emptied":
            log.write_bytes(b"")
        case "loss":
            log.unlink()
        case "pipe":
            replace_file(log, "pipe")
    if not has_mark:
        (place / "t" / HIGH_WATER_FILE).unlink()

    (saved,) = save_tables(f"rocks:{place}", f"rocks:{tmp_path / 'b'}", ["t"])
    (kept,) = save_tables(f"rocks:{place}", f"rocks:{tmp_path / 'c'}", ["t"], keep_incomplete=True)

    assert (0, kept.cell_count) == (saved.cell_count, saved.omitted_cell_count)
    assert [(None, None)] == saved.lost_rows
    assert any("--keep-incomplete" in line for line in format_saved_table(saved, "rocks:b"))
    with rowkey.open(EVENTS, f"rocks:{tmp_path / 'c'}") as table:
        assert old == list(table.scan())


def test_a_second_copy_of_a_truncated_log_gets_another_name(directory: Path) -> None:
    """A second copy of the same cut log gets another name."""
    (log,) = list_logs(directory / "t")
    flip_bits(log, [log.stat().st_size // 2])
    (found,) = verify_tables(f"rocks:{directory}")
    offset = int(found.problems[0].mistake.problem.split("byte ")[1].split(":")[0].replace(",", ""))
    before = directory / "t" / "cut" / f"{log.name}.{offset}"
    before.parent.mkdir()
    before.write_bytes(b"before")
    (repair,) = repair_tables(f"rocks:{directory}", ["t"])
    assert offset == repair.offset
    assert b"before" == before.read_bytes()
    (copy,) = before.parent.glob(f"{before.name}@*")
    assert repair.truncated_bytes == copy.stat().st_size
    (found,) = verify_tables(f"rocks:{directory}")
    assert [] == found.notes


@pytest.fixture
def directory_with_ids(tmp_path: Path) -> Path:
    """Return a place with a table whose key has ids of `code`."""
    with rowkey.open(CODED_DESIGN, f"rocks:{tmp_path / 'a'}") as table, table.batch() as batch:
        for n in range(1_000):
            batch.put({"host": f"h{n % 3}", "ts": n, "v": "x"})
    return tmp_path / "a"


@pytest.mark.parametrize("content", [b"garbage", None], ids=["damaged", "gone"])
def test_rows_with_ids_are_not_read_without_their_catalog(
    directory_with_ids: Path, content: bytes | None
) -> None:
    """A repair without the catalog of codes writes no entry and says so."""
    entry = directory_with_ids / ".catalog" / "t.json"
    if content is None:
        entry.unlink()
    else:
        entry.write_bytes(content)
    into = f"rocks:{directory_with_ids.parent / 'b'}"
    (saved,) = save_tables(f"rocks:{directory_with_ids}", into, ["t"])
    assert saved.cell_count == 1_000
    assert "its rows cannot be decoded without its catalog entry" in saved.notes[-1]
    assert (content is not None) == any("cannot be read" in note for note in saved.notes)
    with pytest.raises(RowkeyError, match="only its lost catalog entry can decode"):
        rowkey.open(CODED_DESIGN, into)
    assert not (directory_with_ids.parent / "b" / ".catalog" / "t.json").exists()


def test_saved_rows_keep_their_ids_if_the_catalog_is_readable(directory_with_ids: Path) -> None:
    """If the catalog can be read, saved rows keep their codes."""
    into = f"rocks:{directory_with_ids.parent / 'b'}"
    (saved,) = save_tables(f"rocks:{directory_with_ids}", into, ["t"])
    assert [] == saved.notes
    with rowkey.open(CODED_DESIGN, into) as table:
        hosts = [row["host"] for row in table.scan()]
    assert {host: hosts.count(host) for host in hosts} == {"h0": 334, "h1": 333, "h2": 333}


def test_an_unreadable_catalog_entry_is_restored_from_the_table(directory: Path) -> None:
    """An unreadable catalog entry is restored from the table, with a note."""
    (directory / ".catalog" / "t.json").write_bytes(b"garbage")
    ids, notes = save_events(directory)
    assert ids == [*range(LOGGED_ROWS)]
    assert any("its catalog entry cannot be read" in note for note in notes)


def test_without_a_descriptor_the_highest_timestamp_is_taken_from_the_cells(tmp_path: Path) -> None:
    """Without a descriptor the highest timestamp is that of the cells, except future ones."""
    with RocksEngine.open(str(tmp_path / "a")) as engine:
        store = engine.create_table(TableSpec("t", (Family("d"),)))
        cells = [Cell("d", b"q", stamp, b"v") for stamp in (7, 1_234_567, 2**60)]
        store.mutate([RowCells(b"r", cells)])
        store.flush()
    manifest = inspect_database(tmp_path / "a" / "t", []).manifest
    assert manifest is not None
    for one in manifest.files.values():
        if manifest.families[one.family_id] == META_FAMILY:
            (tmp_path / "a" / "t" / one.name).unlink()
    saved = save_table(tmp_path / "a", tmp_path / "b", keep_incomplete=True)
    assert any("the description of the table could not be read" in note for note in saved.notes)
    with RocksEngine.open(str(tmp_path / "b")) as engine:
        engine.open_table("t")
        assert engine._tables["t"].region_tracker.highest_timestamp == 1_234_567
