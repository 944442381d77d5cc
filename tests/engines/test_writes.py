from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from engines.store_calls import (
    compact_to_one_file,
    put,
    read_columns,
    read_counts,
    read_times,
    read_values,
    scan_keys,
)
from rowkey.cells import LATEST, MAX_CELL_BYTES, Cell, CellBlock, CellType, Family, RowCells
from rowkey.engines import CellCondition, ScanRange
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from engines.benches import Bench
    from rowkey.engines import Store

GOOD = Cell("d", b"q", 1, b"v")


@pytest.mark.claims(24)
def test_all_puts_and_deletes_of_a_mutation_are_applied_together(bench: Bench) -> None:
    """Puts and deletes of several columns and families of a row are applied together."""
    store = bench.create([Family("d"), Family("e")])
    put(store, b"r", b"old", 1)
    cells = [
        Cell("d", b"old", 1, cell_type=CellType.DELETE),
        Cell("d", b"new", 1, b"1"),
        Cell("e", b"new", 1, b"2"),
    ]
    store.mutate([RowCells(b"r", cells)])
    assert [("d", b"new"), ("e", b"new")] == read_columns(store, b"r")


@pytest.mark.claims(24)
def test_a_reader_never_sees_half_a_mutation(bench: Bench) -> None:
    """A reader always sees both families of a row changed by the same mutation."""
    store = bench.create([Family("d"), Family("e")])

    def write() -> None:
        for number in range(1, 200):
            value = str(number).encode()
            cells = [Cell("d", b"q", number, value), Cell("e", b"q", number, value)]
            store.mutate([RowCells(b"r", cells)])

    writer = Thread(target=write)
    writer.start()
    seen: list[list[bytes]] = []
    while writer.is_alive():
        seen.append(read_values(store, b"r"))
        (cursor,) = store.scan([ScanRange()])
        seen += [[cell.value for cell in row.cells] for row in cursor]
    writer.join()
    assert [] == [pair for pair in seen if pair and pair[0] != pair[1]]
    assert [b"199", b"199"] == read_values(store, b"r")


@pytest.mark.parametrize(
    "mutation",
    [
        RowCells(b"", [GOOD]),
        RowCells(b"k" * 32_768, [GOOD]),
        RowCells(b"r", []),
        RowCells(b"r", [GOOD._replace(family="none")]),
        RowCells(b"r", [GOOD._replace(timestamp=-1)]),
        RowCells(b"r", [GOOD._replace(timestamp=LATEST + 1)]),
        RowCells(b"r", [GOOD._replace(value=bytes(MAX_CELL_BYTES))]),
        RowCells(b"r", [GOOD._replace(ttl_ms=0)]),
        RowCells(b"r", [GOOD._replace(ttl_ms=5, cell_type=CellType.DELETE, value=b"")]),
        RowCells(b"r", [GOOD._replace(cell_type=CellType.DELETE_FAMILY, value=b"")]),
    ],
)
def test_one_invalid_mutation_refuses_the_whole_call(mutation: RowCells, store: Store) -> None:
    """One invalid mutation refuses the whole call, earlier mutations included."""
    with pytest.raises(InvalidArgument):
        store.mutate([RowCells(b"before", [GOOD]), mutation])
    assert [] == scan_keys(store)
    assert 0 == store.list_regions()[0].writes


def test_a_cell_of_10_mib_is_stored_and_a_larger_one_refused(store: Store) -> None:
    """A cell of 10 MiB with its key and lengths is stored, and one more byte is refused."""
    most = MAX_CELL_BYTES - 24 - len(b"r" + b"d" + b"q")
    put(store, b"r", value=bytes(most))
    assert [most] == [len(value) for value in read_values(store, b"r")]
    with pytest.raises(InvalidArgument, match="10,485,761 bytes"):
        put(store, b"r", value=bytes(most + 1))


def test_an_increment_of_an_absent_cell_starts_at_0(store: Store) -> None:
    """Increments of absent cells start at 0 and store 8 bytes, big-endian, in all columns."""
    assert [5, -2] == read_counts(store.increment(b"r", [("d", b"a", 5), ("d", b"b", -2)]))
    assert [6] == read_counts(store.increment(b"r", [("d", b"a", 1)]))
    assert [bytes(7) + b"\6", b"\xff" * 7 + b"\xfe"] == read_values(store, b"r")


def test_an_increment_of_the_largest_number_wraps_to_the_smallest(store: Store) -> None:
    """An increment of the largest 64-bit number gives the smallest one."""
    store.increment(b"r", [("d", b"n", 2**63 - 1)])
    assert [-(2**63)] == read_counts(store.increment(b"r", [("d", b"n", 1)]))


def test_an_increment_of_a_cell_that_is_no_counter_is_refused(store: Store) -> None:
    """An increment of a cell that is not 8 bytes long is refused, and no counter changes."""
    put(store, b"r", b"text", value=b"seven")
    with pytest.raises(InvalidArgument, match=r"8 bytes|not a long"):
        store.increment(b"r", [("d", b"n", 1), ("d", b"text", 1)])
    assert [b"seven"] == read_values(store, b"r")


@pytest.mark.parametrize(
    "amounts",
    [[], [("none", b"n", 1)], [("d", b"n", 2**63)], [("d", b"n", 1), ("d", b"n", 1)]],
)
def test_an_invalid_increment_is_refused(amounts: list[Any], store: Store) -> None:
    """An increment with no column, a bad family or number, or a column twice is refused."""
    with pytest.raises(InvalidArgument):
        store.increment(b"r", amounts)
    assert [] == scan_keys(store)


def test_increments_of_several_threads_are_all_in_the_sum(store: Store) -> None:
    """Increments of one counter from several threads are all in the sum."""

    def count() -> None:
        for _ in range(50):
            store.increment(b"r", [("d", b"n", 1)])

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [201] == read_counts(store.increment(b"r", [("d", b"n", 1)]))


def test_an_append_lengthens_or_creates_a_value(store: Store) -> None:
    """An append adds bytes to the end of a value, or creates it."""
    assert [b"a", b"x"] == [
        cell.value for cell in store.append(b"r", [("d", b"p", b"a"), ("d", b"q", b"x")])
    ]
    assert [b"ab"] == [cell.value for cell in store.append(b"r", [("d", b"p", b"b")])]
    assert [b"ab", b"x"] == read_values(store, b"r")


def test_an_append_beyond_the_largest_cell_is_refused(store: Store) -> None:
    """An append beyond the largest cell is refused, and the cell does not change."""
    put(store, b"r", value=bytes(6 << 20))
    with pytest.raises(InvalidArgument, match="bytes"):
        store.append(b"r", [("d", b"q", bytes(6 << 20))])
    assert [6 << 20] == [len(value) for value in read_values(store, b"r")]


@pytest.mark.parametrize(
    ("check", "of_b", "of_empty", "of_absent"),
    [
        (CellCondition("d", b"q", "=", b"b"), True, False, False),
        (CellCondition("d", b"q", "!=", b"b"), False, True, False),
        (CellCondition("d", b"q", "<", b"c"), True, True, False),
        (CellCondition("d", b"q", "<", b"b"), False, True, False),
        (CellCondition("d", b"q", "<=", b"b"), True, True, False),
        (CellCondition("d", b"q", ">", b"a"), True, False, False),
        (CellCondition("d", b"q", ">", b"b"), False, False, False),
        (CellCondition("d", b"q", ">=", b"b"), True, False, False),
        (CellCondition("d", b"q"), False, True, True),
        (CellCondition("d", b"q", "!="), True, False, False),
        (CellCondition("d", b"q", "=", b""), False, True, True),
        (CellCondition("d", b"q", "!=", b""), True, False, False),
    ],
)
def test_a_conditional_mutation_changes_the_row_only_if_its_condition_holds(
    check: CellCondition, of_b: bool, of_empty: bool, of_absent: bool, store: Store
) -> None:
    """A row changes only if the condition on a cell, an empty cell or no cell holds."""
    put(store, b"b", at=1, value=b"b")
    put(store, b"empty", at=1, value=b"")
    for row, expected in ((b"b", of_b), (b"empty", of_empty), (b"absent", of_absent)):
        done = store.check_and_mutate(row, check, [Cell("d", b"done", 1)])
        assert expected == done
        assert expected == (("d", b"done") in read_columns(store, row))


@pytest.mark.parametrize(
    "check",
    [
        CellCondition("none", b"q"),
        CellCondition("d", b"q", "~", b"b"),
        CellCondition("d", b"q", "<"),
        CellCondition("d", b"q", ">=", b""),
    ],
)
def test_an_invalid_condition_is_refused(check: CellCondition, store: Store) -> None:
    """A check with an unknown family or operator, or an order without a value, is refused."""
    with pytest.raises(InvalidArgument):
        store.check_and_mutate(b"r", check, [GOOD])
    assert [] == scan_keys(store)


def test_exactly_one_of_many_conditional_puts_succeeds(store: Store) -> None:
    """Of threads that put if a cell is absent, exactly one succeeds."""
    won: list[int] = []

    def take(number: int) -> None:
        mine = Cell("d", b"q", 1, str(number).encode())
        if store.check_and_mutate(b"r", CellCondition("d", b"q"), [mine]):
            won.append(number)

    threads = [Thread(target=take, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(number).encode() for number in won] == read_values(store, b"r")


def test_loaded_blocks_are_puts_and_a_null_is_no_cell(bench: Bench) -> None:
    """The blocks of one load are puts of the same rows, where a null is no cell."""
    store = bench.create([Family("d"), Family("e")], splits=(b"b",))
    rows = pa.array([b"c", b"a", b"b\0"], pa.binary())
    store.load_blocks(
        [
            CellBlock(rows, "d", b"q", pa.array([b"1", b"2", None], pa.binary()), 7),
            CellBlock(
                rows,
                "e",
                pa.array([b"x", b"", b"z"], pa.binary()),
                pa.array([b"3", b"", b"4"], pa.binary()),
                pa.array([5, 6, 7], pa.int64()),
            ),
        ]
    )
    assert [b"a", b"b\0", b"c"] == scan_keys(store)
    assert [b"1", b"3"] == read_values(store, b"c")
    assert [7, 6] == read_times(store, b"a")
    assert [("e", b"z")] == read_columns(store, b"b\0")
    assert [1, 2] == [region.writes for region in store.list_regions()]


def test_loaded_cells_are_replaced_and_deleted_as_put_cells_are(store: Store) -> None:
    """Loaded cells replace cells, are hidden by deletes, and survive a flush, as puts do."""
    put(store, b"a", at=7, value=b"old")
    store.mutate([RowCells(b"b", [Cell("d", b"q", 7, cell_type=CellType.DELETE)])])
    rows = pa.array([b"a", b"b"], pa.binary())
    store.load_blocks([CellBlock(rows, "d", b"q", pa.array([b"new", b"new"], pa.binary()), 7)])
    store.flush()
    assert [b"new"] == read_values(store, b"a")
    assert [b"a"] == scan_keys(store)


def test_the_last_of_several_block_rows_with_one_key_is_stored(store: Store) -> None:
    """Of many rows of a block with one key and one time the last one is stored."""
    count = 2_000
    rows = pa.array([b"%d" % (number * 7 % 50) for number in range(count)], pa.binary())
    values = pa.array([b"%d" % number for number in range(count)], pa.binary())
    store.load_blocks([CellBlock(rows, "d", b"q", values, 7)])
    expected = dict(zip(rows.to_pylist(), values.to_pylist(), strict=True))
    assert expected == {row: read_values(store, row)[0] for row in scan_keys(store)}


@pytest.mark.parametrize(
    "blocks",
    [
        [CellBlock(pa.array([b"a", None], pa.binary()), "d", b"q", pa.array([b"", b""]))],
        [CellBlock(pa.array([b"a", b""], pa.binary()), "d", b"q", pa.array([b"", b""]))],
        [CellBlock(pa.array([b"a"], pa.binary()), "none", b"q", pa.array([b""], pa.binary()))],
        [CellBlock(pa.array([b"a"], pa.binary()), "d", b"q", pa.array([b""], pa.binary()), -1)],
        [CellBlock(pa.array([b"a"], pa.binary()), "d", b"q", pa.array([b"", b""], pa.binary()))],
        [
            CellBlock(pa.array([b"a"], pa.binary()), "d", b"q", pa.array([b""], pa.binary())),
            CellBlock(pa.array([b"b"], pa.binary()), "d", b"r", pa.array([b""], pa.binary())),
        ],
    ],
)
def test_an_invalid_block_loads_nothing(blocks: list[CellBlock], store: Store) -> None:
    """Blocks with an invalid row, family, timestamp or column length load nothing."""
    with pytest.raises(InvalidArgument):
        store.load_blocks(blocks)
    assert [] == scan_keys(store)


def test_an_empty_value_in_an_empty_qualifier_is_a_cell(store: Store) -> None:
    """An empty qualifier with an empty value is a cell, also after a compaction."""
    put(store, b"r", b"", value=b"")
    compact_to_one_file(store)
    assert [b"r"] == scan_keys(store)
    assert [b""] == read_values(store, b"r")
