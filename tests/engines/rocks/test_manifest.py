"""rowkey reads a MANIFEST as RocksDB does, and reports a damaged one."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramdisk import RAM_FOLDER
from rowkey.cells import Cell, CellBlock, Family, RowCells
from rowkey.engines import ScanRange, TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.pairs import library
from rowkey.engines.rocksdb_files.inspection import read_manifest
from rowkey.engines.rocksdb_files.log_format import BLOCK_BYTES, encode_log, read_records
from rowkey.engines.rocksdb_files.manifest import (
    InvalidEdit,
    Manifest,
    parse_manifest,
    remove_files,
)
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs
from rowkey.errors import CorruptionError

if TYPE_CHECKING:
    from rowkey.engines import Store

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
STEPS = ("load", "mutate", "flush", "compact", "add a family", "open again")


class GrowingTable:
    """A table on disk that is changed by a seed.

    Args:
        place: an empty directory.
        seed: decides what is done.
    """

    def __init__(self, place: Path, seed: int) -> None:
        self.place, self.random = place, Random(seed)
        self.directory = place / "t"
        self.engine = RocksEngine.open(str(place))
        self.engine.create_table(TableSpec("t", (Family("d"), Family("e"))))

    @property
    def store(self) -> Store:
        """Return the open table."""
        return self.engine.open_table("t")

    def do(self, step: str) -> None:
        """Take one of `STEPS`."""
        match step:
            case "load":
                rows = [self._row() for _ in range(50)]
                values = pa.array([b"v"] * len(rows), pa.binary())
                self.store.load_blocks([CellBlock(pa.array(rows, pa.binary()), "e", b"q", values)])
            case "mutate":
                cells = [Cell(one.name, b"q", 5, b"v") for one in self.store.spec.families]
                self.store.mutate([RowCells(self._row(), cells) for _ in range(20)])
            case "flush":
                self.store.flush()
            case "compact":
                self.store.compact()
            case "add a family":
                self.store.alter_families([Family(f"f{len(self.store.spec.families)}")])
            case "open again":
                self.engine.close()
                self.engine = RocksEngine.open(str(self.place))

    def _row(self) -> bytes:
        # Some keys are so long that an edit that names them crosses a block of the MANIFEST.
        length = self.random.choice((4, 4, 4, 6_000))
        return b"%06d" % self.random.randrange(10**6) + bytes(length)

    def content(self) -> bytes:
        """Return the bytes of the current MANIFEST."""
        return manifest_path(self.directory).read_bytes()

    def check(self) -> Manifest:
        """Compare the MANIFEST as rowkey reads it with RocksDB's own answers."""
        self.store.get([b"none"])
        database = self.engine._tables["t"].database
        for _ in range(200):  # RocksDB compacts in the background, and writes the MANIFEST first
            manifest = parse_manifest(self.content())
            live = list_rocksdb_files(database.meta.live_files())
            if live == list_rowkey_files(manifest):
                break
            time.sleep(0.005)
        assert live == list_rowkey_files(manifest)
        names = library.Rdict.list_cf(str(self.directory))
        assert sorted(names) == sorted(manifest.families.values())
        assert set(manifest.log_numbers) == set(manifest.families)
        assert manifest.last_sequence <= database.meta.latest_sequence_number()
        assert manifest.next_file > max(manifest.files, default=0)
        logs = [int(path.stem) for path in list_logs(self.directory)]
        assert max(logs) >= manifest.newest_log >= manifest.first_log
        return manifest


def list_rocksdb_files(live_files: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return number, level, size and keys of each file from RocksDB."""
    return sorted(
        (int(one["name"][1:-4]), one["level"], one["size"], one["start_key"], one["end_key"])
        for one in live_files
    )


def list_rowkey_files(manifest: Manifest) -> list[tuple[Any, ...]]:
    """Return number, level, size and keys of each file from rowkey."""
    return sorted(
        (number, one.level, one.size_bytes, one.smallest, one.largest)
        for number, one in manifest.files.items()
    )


def manifest_path(directory: Path) -> Path:
    """Return the path of the current MANIFEST."""
    return directory / (directory / "CURRENT").read_text("ascii").strip()


@pytest.fixture
def place() -> Iterator[Path]:
    """Return an empty directory in memory."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        yield Path(folder)


@contextmanager
def grow_table(place: Path, seed: int, *steps: str) -> Iterator[GrowingTable]:
    """Return a table after some steps, closed at the end."""
    grown = GrowingTable(place, seed)
    try:
        for step in steps:
            grown.do(step)
        yield grown
    finally:
        grown.engine.close()


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))]
)
def test_a_manifest_is_parsed_to_the_same_state_as_by_rocksdb(place: Path, seed: int) -> None:
    """After each of many steps the files, levels, sizes, keys and families are RocksDB's."""
    levels, longest = set(), 0
    with grow_table(place, seed) as grown:
        for step in [*STEPS, *grown.random.choices(STEPS, k=14), "mutate", "flush"]:
            grown.do(step)
            levels |= {one.level for one in grown.check().files.values()}
            longest = max(longest, len(grown.content()))
    assert levels > {0}
    assert longest > BLOCK_BYTES


def test_a_parsed_and_rewritten_manifest_has_the_same_bytes(place: Path) -> None:
    """A MANIFEST that is parsed and written again has the same bytes."""
    with grow_table(place, 11, *["mutate", "flush"] * 30):
        pass
    content = manifest_path(place / "t").read_bytes()
    assert len(content) > 2 * BLOCK_BYTES
    assert content == remove_files(content, [])


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))]
)
def test_rocksdb_opens_a_manifest_without_some_files(place: Path, seed: int) -> None:
    """RocksDB opens a MANIFEST without some files and reads all rows of the others."""
    steps = ("load", "mutate", "flush", "compact", *["load", "mutate", "flush"] * 3)
    with grow_table(place, seed, *steps) as grown:
        random, directory = grown.random, grown.directory
    path = manifest_path(directory)
    manifest = parse_manifest(path.read_bytes())
    removed = random.sample(sorted(manifest.files.values(), key=lambda one: one.number), 4)
    whole = read_pairs(directory, manifest)
    for one in removed:
        (directory / one.name).unlink()
    path.write_bytes(remove_files(path.read_bytes(), removed))
    left = parse_manifest(path.read_bytes())
    assert set(manifest.files) - {one.number for one in removed} == set(left.files)
    assert (manifest.families, manifest.log_numbers) == (left.families, left.log_numbers)
    db = open_rocksdb(directory, manifest)
    assert list_rocksdb_files(db.live_files()) == list_rowkey_files(left)
    db.close()
    found = read_pairs(directory, manifest)
    assert found.items() <= whole.items()
    for key in whole.keys() - found.keys():
        assert any(one.smallest <= key[1] <= one.largest for one in removed)


def open_rocksdb(directory: Path, manifest: Manifest) -> Any:
    """Open RocksDB itself for reading."""
    options = library.Options(raw_mode=True)
    families = {name: library.Options(raw_mode=True) for name in manifest.families.values()}
    return library.Rdict(str(directory), options, families, library.AccessType.read_only())


def read_pairs(directory: Path, manifest: Manifest) -> dict[tuple[str, bytes], bytes]:
    """Return all pairs of a table's families."""
    db = open_rocksdb(directory, manifest)
    pairs: dict[tuple[str, bytes], bytes] = {}
    for name in manifest.families.values():
        if name != "default":
            pairs |= {(name, key): value for key, value in db.get_column_family(name).items()}
    db.close()
    return pairs


@cache
def sound_content() -> bytes:
    """Return the MANIFEST of a small table of some files."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        steps = ("mutate", "flush", "load", "add a family", "mutate", "flush", "compact")
        with grow_table(Path(folder), 5, *steps):
            pass
        return manifest_path(Path(folder) / "t").read_bytes()


@cache
def list_states() -> list[Manifest]:
    """Return the state of the MANIFEST after each of its records."""
    records = [record for _, record in read_records(sound_content())]
    return [parse_manifest(encode_log(records[:count])) for count in range(len(records) + 1)]


def read_content(content: bytes) -> tuple[Manifest | None, list[CorruptionError]]:
    """Return the state read from the bytes of a MANIFEST, and the reported damage."""
    problems: list[CorruptionError] = []
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        path = Path(folder) / "MANIFEST-000005"
        path.write_bytes(content)
        return read_manifest(path, problems), problems


@given(st.data())
def test_a_flipped_bit_of_a_manifest_is_reported(data: st.DataObject) -> None:
    """A flipped bit is reported as damage unless the byte is unused, and nothing else raises."""
    content = bytearray(sound_content())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    manifest, problems = read_content(bytes(content))
    if manifest is None:
        assert 1 == len(problems)
        assert "damaged" in problems[0].mistake.problem
    else:
        assert list_states()[-1] == manifest


@given(st.data())
def test_a_truncated_manifest_is_an_earlier_state_or_damage(data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(sound_content())))
    manifest, problems = read_content(sound_content()[:length])
    assert (manifest is None) == bool(problems)
    assert manifest is None or manifest in list_states()


@given(st.data())
def test_a_manifest_record_of_any_bytes_is_an_edit_or_reported_damage(data: st.DataObject) -> None:
    """A record of any bytes with a valid checksum is an edit or reported damage."""
    records = [record for _, record in read_records(sound_content())]
    at = data.draw(st.integers(0, len(records) - 1))
    record = bytearray(records[at])
    for _ in range(data.draw(st.integers(0, 3))):
        if record:
            record[data.draw(st.integers(0, len(record) - 1))] = data.draw(st.integers(0, 255))
    records[at] = bytes(record[: data.draw(st.integers(0, len(record)))]) + data.draw(st.binary())
    content = encode_log(records)
    told = ""
    try:
        parse_manifest(content)
    except InvalidEdit as problem:
        told = str(problem)
    _, problems = read_content(content)
    assert [f"the MANIFEST is damaged: {told}"] * bool(told) == [
        one.mistake.problem for one in problems
    ]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (b"\x0b", "the unknown tag 11"),
        (b"\x02", "a record ends within a number"),
        (b"\x02" + b"\xff" * 10, "a number has more than 64 bits"),
        (b"\x01\x05abc", "a record ends within a field of 5 bytes"),
        (b"\x67\x00\x09\x05\x03abc\x03abc\x00\x00\x01", "a key of fewer than 8 bytes"),
    ],
)
def test_the_error_of_a_manifest_names_the_rule_its_record_breaks(
    record: bytes, problem: str
) -> None:
    """The error of a MANIFEST says which rule of RocksDB's its record breaks."""
    with pytest.raises(InvalidEdit, match=problem):
        parse_manifest(encode_log([record]))


def test_a_table_with_a_truncated_manifest_is_complete_or_refused(place: Path) -> None:
    """A table with a truncated MANIFEST is complete or refused, and no file is removed."""
    steps = ("mutate", "flush", "load", "open again", "mutate", "flush", "compact", "load")
    with grow_table(place / "data", 6, *steps) as grown:
        expected = read_rows(grown.store)
        shutil.copytree(grown.place, place / "killed")
    path = manifest_path(place / "killed" / "t")
    content = path.read_bytes()
    ends = [offset for offset, _ in read_records(content)]
    outcomes = []
    lengths = sorted({*ends, *(end + 5 for end in ends), len(content)})
    for length in reversed(lengths[:: -1 if IS_LONG else -3]):
        shutil.rmtree(place / "copy", ignore_errors=True)
        shutil.copytree(place / "killed", place / "copy")
        (place / "copy" / "t" / path.name).write_bytes(content[:length])
        before = sorted(path.name for path in (place / "copy").rglob("*.sst"))
        try:
            with RocksEngine.open(str(place / "copy")) as engine:
                assert expected == read_rows(engine.open_table("t"))
            outcomes.append("whole")
        except CorruptionError:
            assert before == sorted(path.name for path in (place / "copy").rglob("*.sst"))
            outcomes.append("refused")
    assert outcomes[-1] == "whole"
    assert outcomes.count("refused") > len(outcomes) / 2


def read_rows(store: Store) -> list[RowCells]:
    """Return all rows of a table."""
    (cursor,) = store.scan([ScanRange()])
    return list(cursor)
