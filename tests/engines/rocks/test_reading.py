"""Scans, wide rows and snapshots on disk equal those of the memory engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from engines.store_calls import read_counts
from rowkey.cells import Cell, CellBlock, CellType, Family, RowCells
from rowkey.engines import CellSelection, ScanRange, TableSpec
from rowkey.engines.backends.memory import MemoryEngine
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb import block_loader

if TYPE_CHECKING:
    from rowkey.engines import Reader, Store

NOW_MS = 1_700_000_000_000
SPEC = TableSpec("t", (Family("d", versions=2), Family("e", ttl_s=60)), (b"1", b"2", b"5\0"))


class TwinTables:
    """One table on disk and one in memory that get the same changes.

    Args:
        engine: an engine on disk.
    """

    def __init__(self, engine: RocksEngine) -> None:
        self.rocks: Store = engine.create_table(SPEC)
        self.memory: Store = MemoryEngine.open("", clock=lambda: NOW_MS).create_table(SPEC)

    def mutate(self, mutations: list[RowCells]) -> None:
        """Apply mutations to both tables."""
        for store in (self.rocks, self.memory):
            store.mutate(mutations)

    def fill(self, random: Random, count: int, *, deletes: bool) -> None:
        """Write rows of 1 to 9 cells with escapes, versions and times to live."""
        kinds = [CellType.PUT] * 30 + [CellType.DELETE_COLUMN, CellType.DELETE_FAMILY] * deletes
        mutations = []
        for _ in range(count):
            row = b"%d" % random.randrange(10**5) + random.choice((b"", b"\0", b"\1x", b"\0\0"))
            cells = [
                self._cell(random, random.choice(kinds)) for _ in range(random.choice((1, 2, 9)))
            ]
            mutations.append(RowCells(row, cells))
        self.mutate(mutations)

    @staticmethod
    def _cell(random: Random, kind: CellType) -> Cell:
        name = b"" if kind == CellType.DELETE_FAMILY else random.choice((b"", b"a", b"a\0", b"b"))
        time = NOW_MS - random.choice((0, 5, 59_999, 60_001))
        value = random.choice((b"v", b"", b"\xc1")) if kind == CellType.PUT else b""
        return Cell(random.choice("dde"), name, time, value, kind)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[RocksEngine]:
    """Return an engine in an empty folder with a stopped clock."""
    with RocksEngine.open(str(tmp_path), clock=lambda: NOW_MS) as engine:
        yield engine


ASKS = [
    CellSelection(),
    CellSelection(versions=2),
    CellSelection(reverse=True),
    CellSelection(columns={"d": ()}),
    CellSelection(columns={"d": ()}, reverse=True, versions=2),
    CellSelection(columns={"d": ()}, limit=40),
    CellSelection(columns={"e": (b"a", b"")}, limit=3),
    CellSelection(qualifier_range=(b"a", b"a\0\0"), limit=30, reverse=True),
    CellSelection(time_range=(NOW_MS - 5, NOW_MS)),
    CellSelection(batch=2),
    CellSelection(raw=True, versions=9),
]
SPANS = [
    ScanRange(),
    ScanRange(b"3"),
    ScanRange(b"", b"2"),
    ScanRange(b"2", b"5\0"),
    ScanRange(b"99", b"9"),
    ScanRange(b"4\0"),
]


def join_blocks(blocks: list[pa.RecordBatch]) -> list[dict[str, Any]]:
    """Return the cells of blocks, whose ends are not compared."""
    return [cell for block in blocks for cell in block.to_pylist()]


def compare_scans(reader: Reader, other: Reader, ask: CellSelection) -> None:
    """Compare all ranges as rows and as blocks of every size."""
    rows = [list(cursor) for cursor in reader.scan(SPANS, ask)]
    assert [list(cursor) for cursor in other.scan(SPANS, ask)] == rows
    if ask.raw or ask.batch:
        return
    for size in (7, 8_192):
        blocks = [list(cursor.read_blocks(size)) for cursor in reader.scan(SPANS, ask)]
        expected = [list(cursor.read_blocks(size)) for cursor in other.scan(SPANS, ask)]
        assert [join_blocks(some) for some in expected] == [join_blocks(some) for some in blocks]
        for block in (block for one in blocks for block in one):
            block.validate(full=True)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="puts", marks=pytest.mark.long),
        pytest.param(True, id="deletes"),
    ],
)
def long_tables(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TwinTables]:
    """Return tables of many rows, some flushed, which tests only read."""
    place = tmp_path_factory.mktemp("long")
    with RocksEngine.open(str(place), clock=lambda: NOW_MS) as engine:
        twins = TwinTables(engine)
        twins.fill(Random(1), 120, deletes=request.param)
        twins.rocks.flush()
        twins.fill(Random(2), 40, deletes=False)
        yield twins


@pytest.mark.parametrize("ask", ASKS, ids=repr)
def test_a_long_scan_on_disk_equals_that_in_memory(
    long_tables: TwinTables, ask: CellSelection
) -> None:
    """A long scan returns and counts the same rows on disk as in memory."""
    compare_scans(long_tables.rocks, long_tables.memory, ask)
    assert long_tables.memory.list_regions() == long_tables.rocks.list_regions()


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Reader, Reader]]:
    """Return snapshots of both tables, which are written and compacted later."""
    place = tmp_path_factory.mktemp("snapshots")
    with RocksEngine.open(str(place), clock=lambda: NOW_MS) as engine:
        twins = TwinTables(engine)
        twins.fill(Random(3), 70, deletes=True)
        pair = twins.rocks.snapshot(), twins.memory.snapshot()
        twins.fill(Random(4), 70, deletes=True)
        twins.rocks.compact()
        yield pair


@pytest.mark.parametrize("ask", ASKS, ids=repr)
def test_snapshots_show_no_later_writes_compactions_or_flushes(
    snapshots: tuple[Reader, Reader], ask: CellSelection
) -> None:
    """Snapshots show no later writes, compactions or flushes, in scans and in gets."""
    kept, expected = snapshots
    compare_scans(kept, expected, ask)
    rows = [row.row for cursor in expected.scan([ScanRange()]) for row in cursor][:20]
    if not ask.batch:
        assert expected.get([*rows, b"none"], ask) == kept.get([*rows, b"none"], ask)


@pytest.mark.parametrize(
    ("ask", "is_kept"),
    [
        pytest.param(
            ask,
            is_kept,
            id=f"{'snapshot' if is_kept else 'table'}-{ask}",
            marks=() if at % 2 == is_kept else pytest.mark.long,
        )
        for at, ask in enumerate(ASKS)
        for is_kept in (False, True)
    ],
)
def test_peeking_at_the_next_row_key_does_not_consume_the_row(
    engine: RocksEngine, ask: CellSelection, is_kept: bool
) -> None:
    """A peek returns the first row key and does not consume or count the row."""
    twins = TwinTables(engine)
    twins.fill(Random(7), 50, deletes=True)
    reader = twins.rocks.snapshot() if is_kept else twins.rocks
    cursors = reader.scan(SPANS, ask)
    told = [(cursor.peek_first_row(), cursor.peek_first_row())[0] for cursor in cursors]
    assert 0 == sum(region.reads for region in twins.rocks.list_regions())
    rows = [list(cursor) for cursor in twins.memory.scan(SPANS, ask)]
    firsts = [min(found[0].row, found[-1].row) for found in rows if found]
    lasts = [max(found[0].row, found[-1].row) for found in rows if found]
    bounds = [key for key, found in zip(told, rows, strict=True) if found]
    assert all(
        key is not None and (key >= last if ask.reverse else key <= first)
        for key, first, last in zip(bounds, firsts, lasts, strict=True)
    )
    assert rows == [list(cursor) for cursor in cursors]
    assert twins.memory.list_regions() == twins.rocks.list_regions()
    assert [None] * len(SPANS) == [cursor.peek_first_row() for cursor in cursors]


def test_the_first_block_contains_the_row_that_was_peeked_at(engine: RocksEngine) -> None:
    twins = TwinTables(engine)
    twins.fill(Random(8), 90, deletes=False)
    for ask in (CellSelection(columns={"d": ()}), CellSelection(columns={"d": ()}, reverse=True)):
        (expected,), (found,) = (
            store.scan([ScanRange()], ask) for store in (twins.memory, twins.rocks)
        )
        assert found.peek_first_row() is not None
        assert list(expected.read_blocks()) == list(found.read_blocks())


def test_a_get_uses_family_attributes_altered_since_the_previous_get(engine: RocksEngine) -> None:
    twins = TwinTables(engine)
    twins.mutate([RowCells(b"1", [Cell("d", b"q", NOW_MS - 5_000, b"v")])])
    assert 1 == len(twins.rocks.get([b"1"])[0].cells)
    for store in (twins.rocks, twins.memory):
        store.alter_families([Family("d", versions=2, ttl_s=1), Family("f")])
    assert twins.memory.get([b"1"]) == twins.rocks.get([b"1"]) == [RowCells(b"1", [])]
    assert twins.memory.get([b"1"], CellSelection(raw=True)) == twins.rocks.get(
        [b"1"], CellSelection(raw=True)
    )


NARROW_ASKS = [
    CellSelection(columns={"d": (b"q7", b"", b"none")}),
    CellSelection(columns={"d": (b"\0",)}),
    CellSelection(qualifier_range=(b"q5", b"q7")),
    CellSelection(qualifier_range=(b"q5", b"")),
    CellSelection(qualifier_range=(b"", b"q1")),
    CellSelection(versions=2),
]


@pytest.mark.parametrize("ask", NARROW_ASKS, ids=repr)
def test_a_few_columns_of_a_row_of_hundreds_are_found(
    engine: RocksEngine, ask: CellSelection
) -> None:
    """A few columns of a row of hundreds are found, also with a delete of the family."""
    twins = TwinTables(engine)
    names = [b"", b"\0", b"\0\1", *(b"q%d" % number for number in range(250))]
    cells = [Cell("d", name, time, b"%d" % time) for name in names for time in (5, 6)]
    twins.mutate([RowCells(b"r", cells), RowCells(b"r\0", cells[:9]), RowCells(b"q", cells[:9])])
    compare_scans(twins.rocks, twins.memory, ask)
    assert twins.memory.get([b"r"], ask) == twins.rocks.get([b"r"], ask)
    twins.mutate([RowCells(b"r", [Cell("d", b"", 5, cell_type=CellType.DELETE_FAMILY)])])
    twins.mutate([RowCells(b"r", [Cell("d", b"q7", 6, cell_type=CellType.DELETE)])])
    compare_scans(twins.rocks, twins.memory, ask)
    assert twins.memory.get([b"r"], ask) == twins.rocks.get([b"r"], ask)


def test_loaded_blocks_give_equal_tables_on_disk_and_in_memory(
    engine: RocksEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loaded blocks with missing cells and all array types give equal tables."""
    monkeypatch.setattr(block_loader, "BATCH_ROWS", 512)
    twins, random = TwinTables(engine), Random(5)
    rows = [b"%d" % random.randrange(10**6) + random.choice((b"", b"\0")) for _ in range(600)]
    keys = pa.array(rows, pa.binary())
    values = pa.array([random.choice((None, b"", b"v", b"\xc1")) for _ in rows], pa.binary())
    names = pa.array([random.choice((b"", b"a\0")) for _ in rows], pa.binary())
    times = pa.array([NOW_MS - random.randrange(9) for _ in rows], pa.int64())
    for store in (twins.rocks, twins.memory):
        store.load_blocks(
            [CellBlock(keys, "d", b"q", values), CellBlock(keys, "e", names, values, times)]
        )
        store.load_blocks(
            [CellBlock(keys, "d", names, values, 7), CellBlock(keys, "d", b"a\0", values)]
        )
    for ask in (CellSelection(), CellSelection(columns={"d": ()}, versions=2)):
        (expected,), (found,) = (
            twins.memory.scan([ScanRange()], ask),
            twins.rocks.scan([ScanRange()], ask),
        )
        assert list(expected) == list(found)
    assert twins.memory.list_regions() == twins.rocks.list_regions()


@pytest.mark.claims(24)
def test_a_read_during_a_write_of_two_families_shows_both_or_neither(engine: RocksEngine) -> None:
    """A read during a write of two families shows both changes or neither."""
    store = engine.create_table(SPEC)
    done = threading.Event()

    def write() -> None:
        for number in range(500):
            value = b"%d" % number
            cells = [Cell(family, b"q", NOW_MS, value) for family in "de"]
            store.mutate([RowCells(b"1", cells), RowCells(b"6", cells)])
            while number == 400 and reads < 20:  # until some reads were made amid the writes
                time.sleep(0.001)
        done.set()

    first = [Cell(family, b"q", NOW_MS, b"") for family in "de"]
    store.mutate([RowCells(row, first) for row in (b"1", b"6")])
    reads = 0  # before the writer asks for it: a writer that fails never says that it is done
    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set() or not reads:
        (row,) = store.get([b"6"])
        scanned = [
            row for cursor in store.scan([ScanRange(b"", b"5"), ScanRange(b"5")]) for row in cursor
        ]
        values = {cell.value for one in scanned for cell in one.cells}
        assert (1, 1) == (len({cell.value for cell in row.cells}), len(values))
        assert [2, 2, 2] == [len(one.cells) for one in (row, *scanned)]
        reads += 1
    writer.join()


def test_increments_and_puts_of_eight_threads_are_all_stored(engine: RocksEngine) -> None:
    """Increments and puts of eight threads are all stored and counted."""
    store = engine.create_table(SPEC)

    def write(number: int) -> None:
        for turn in range(50):
            store.increment(b"0", [("d", b"n", 1)])
            store.mutate([RowCells(b"6%d-%d" % (number, turn), [Cell("d", b"q", 1, b"v")])])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [401] == read_counts(store.increment(b"0", [("d", b"n", 1)]))
    assert [401, 0, 0, 400] == [count.writes for count in store.list_regions()]


def test_a_region_on_disk_splits_at_the_same_key_as_in_memory(engine: RocksEngine) -> None:
    """A region above the limit splits at the same key as in memory, also after reopening."""
    attributes = {"MAX_FILESIZE": str(2 << 20), "MEMSTORE_FLUSHSIZE": str(1 << 20)}
    twins = TwinTables(engine)
    random = Random(6)
    for store in (twins.rocks, twins.memory):
        store.replace_attributes(attributes)
    for _ in range(400):
        row = b"6%05d" % random.randrange(10**5)
        twins.mutate([RowCells(row, [Cell("d", b"q", 1, bytes(9_999))])])
    splits = twins.rocks.spec.splits
    assert len(splits) > len(SPEC.splits)
    assert twins.memory.spec.splits == splits
    assert twins.memory.list_regions() == twins.rocks.list_regions()
