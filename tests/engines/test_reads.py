from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from engines.store_calls import (
    compact_to_one_file,
    delete,
    put,
    read_columns,
    read_values,
    scan_keys,
    scan_pieces,
)
from rowkey.cells import LATEST, MAX_ROW_BYTES, Cell, CellType, Family, RowCells
from rowkey.engines import CellSelection, ScanRange
from rowkey.errors import Closed, InvalidArgument
from rowkey.regions import compute_prefix_stop

if TYPE_CHECKING:
    from engines.benches import Bench
    from rowkey.engines import Reader, Store

ROWS = [b"\0", b"\0\0", b"\0\1", b"\1", b"a", b"a\0", b"a\0b", b"a\1", b"a\xff", b"b", b"\xff\xff"]
"""Row keys in byte order, with 00, 01 and FF, which encodings may confuse."""


@pytest.fixture
def wide_rows(bench: Bench) -> Store:
    """Return rows of five cells in two families with unusual keys and qualifiers."""
    store = bench.create([Family("d"), Family("e")], splits=(b"a\0", b"b"))
    cells = [Cell("d", qualifier, 1, qualifier) for qualifier in (b"", b"\0", b"p", b"p\0")]
    cells.append(Cell("e", b"x", 1, b"x"))
    for row in reversed(ROWS):
        store.mutate([RowCells(row, cells)])
    return store


def test_a_scan_returns_rows_in_byte_order(wide_rows: Store) -> None:
    """A scan returns all rows in byte order, with 00, 01 and FF, also after a flush."""
    for _ in range(2):
        assert ROWS == scan_keys(wide_rows)
        assert ROWS[::-1] == scan_keys(wide_rows, reverse=True)
        compact_to_one_file(wide_rows)


def test_cells_are_sorted_by_family_and_qualifier(wide_rows: Store) -> None:
    """Cells sort by family and qualifier, the empty one and prefixes first."""
    expected = [("d", b""), ("d", b"\0"), ("d", b"p"), ("d", b"p\0"), ("e", b"x")]
    assert expected == read_columns(wide_rows, b"a\0")
    (row,) = scan_pieces(wide_rows, b"a\0", b"a\0b", reverse=True)
    assert expected == [cell[:2] for cell in row.cells]


def test_a_range_includes_its_start_and_excludes_its_stop(wide_rows: Store) -> None:
    """A range includes its start and excludes its stop, in both directions."""
    for low, start in enumerate(ROWS):
        for high, stop in enumerate(ROWS[low:], low):
            if low == high:
                continue
            assert ROWS[low:high] == scan_keys(wide_rows, start, stop)
            assert ROWS[low:high][::-1] == scan_keys(wide_rows, start, stop, reverse=True)
        assert ROWS[low:] == scan_keys(wide_rows, start)
        assert ROWS[:low] == (scan_keys(wide_rows, b"", start) if low else [])


def test_the_ends_of_a_range_need_not_be_row_keys(wide_rows: Store) -> None:
    assert [b"a\0", b"a\0b", b"a\1"] == scan_keys(wide_rows, b"a\0", b"a\2")
    assert [b"\xff\xff"] == scan_keys(wide_rows, b"c")
    assert [] == scan_keys(wide_rows, b"\xff\xff\0")


def test_a_range_that_ends_where_it_begins_is_empty(wide_rows: Store) -> None:
    assert [] == scan_keys(wide_rows, b"a", b"a")
    assert [] == scan_keys(wide_rows, b"a", b"a", reverse=True)


def test_a_prefix_range_holds_exactly_the_rows_with_the_prefix(wide_rows: Store) -> None:
    """All rows that begin with a prefix, and no others, lie before the next prefix."""
    for prefix in (b"a", b"\0", b"a\0", b"\xff"):
        stop = compute_prefix_stop(prefix) or b""
        assert [row for row in ROWS if row.startswith(prefix)] == scan_keys(wide_rows, prefix, stop)


def test_a_limit_applies_to_each_range_of_a_scan(wide_rows: Store) -> None:
    """A limit applies to each range, from its first row, or from its last in reverse."""
    spans = [ScanRange(b"", b"a"), ScanRange(b"a")]
    found = [
        [row.row for row in cursor] for cursor in wide_rows.scan(spans, CellSelection(limit=2))
    ]
    assert [ROWS[:2], ROWS[4:6]] == found
    assert ROWS[:-4:-1] == scan_keys(wide_rows, limit=3, reverse=True)


def test_rows_without_visible_cells_do_not_count_for_the_limit(wide_rows: Store) -> None:
    """Deleted rows and rows without the wanted column are no rows of the limit."""
    for row in ROWS[:3]:
        delete(wide_rows, row, CellType.DELETE_FAMILY, 1)
    assert ROWS[3:5] == scan_keys(wide_rows, limit=2, columns={"d": ()})


def test_a_batch_size_splits_rows_and_the_limit_counts_whole_rows(wide_rows: Store) -> None:
    """A batch of two cuts five cells into 2, 2 and 1, and the limit counts whole rows."""
    found = scan_pieces(wide_rows, batch=2, limit=2)
    assert [b"\0"] * 3 + [b"\0\0"] * 3 == [piece.row for piece in found]
    assert [2, 2, 1] * 2 == [len(piece.cells) for piece in found]
    assert read_columns(wide_rows, b"\0") == [
        cell[:2] for piece in found[:3] for cell in piece.cells
    ]


def test_a_reverse_scan_with_batches_keeps_the_order_of_cells(wide_rows: Store) -> None:
    """In reverse the last row comes first, each with its first piece first."""
    found = scan_pieces(wide_rows, batch=4, limit=1, reverse=True)
    assert [b"\xff\xff"] * 2 == [piece.row for piece in found]
    assert read_columns(wide_rows, b"\xff\xff") == [
        cell[:2] for piece in found for cell in piece.cells
    ]


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ({"columns": {"e": ()}}, [b"x"]),
        ({"columns": {"d": (b"p",)}}, [b"p"]),
        ({"columns": {"d": (b"p", b""), "e": ()}}, [b"", b"p", b"x"]),
        ({"columns": {"d": (b"none",)}}, []),
        ({"qualifier_range": (b"\0", b"p")}, [b"\0"]),
        ({"qualifier_range": (b"p", b"")}, [b"p", b"p\0", b"x"]),
        ({"qualifier_range": (b"p", b"p")}, []),
        ({"qualifier_range": (b"p\0", b"z"), "columns": {"d": ()}}, [b"p\0"]),
    ],
)
def test_gets_and_scans_return_only_the_selected_columns(
    read: dict[str, Any], expected: list[bytes], wide_rows: Store
) -> None:
    """A selection of families, qualifiers or a qualifier range applies to gets and scans."""
    assert expected == read_values(wide_rows, b"a", **read)
    found = scan_pieces(wide_rows, b"a", b"a\0", **read)
    assert expected == [cell.value for row in found for cell in row.cells]


def test_a_get_returns_rows_in_the_requested_order(wide_rows: Store) -> None:
    """A get returns each requested row at its place, also a repeated or missing one."""
    rows = [b"b", b"none", b"a", b"b"]
    found = wide_rows.get(rows, CellSelection(columns={"e": ()}))
    assert rows == [row.row for row in found]
    assert [1, 0, 1, 1] == [len(row.cells) for row in found]


def test_a_row_key_of_the_greatest_length_is_stored_and_found(store: Store) -> None:
    """A row key of 32,767 bytes is stored and found, also if it needs escapes."""
    longest = [b"\0" * MAX_ROW_BYTES, b"k" * MAX_ROW_BYTES, b"\xff" * MAX_ROW_BYTES]
    for row in longest:
        put(store, row, value=row[:1])
    assert longest == scan_keys(store)
    assert [b"\xff"] == read_values(store, longest[-1])


def test_cursors_of_one_scan_can_be_read_in_turns(wide_rows: Store) -> None:
    """The cursors of one scan can be read in turns, and their ranges may overlap."""
    first, second = wide_rows.scan([ScanRange(b"a"), ScanRange()])
    rows = [(one.row, other.row) for one, other in zip(first, second, strict=False)]
    assert list(zip(ROWS[4:], ROWS, strict=False)) == rows
    first.close()
    second.close()


def test_a_cursor_shows_nothing_written_after_it_was_opened(wide_rows: Store) -> None:
    """A cursor shows no writes, deletes, compactions or splits after its opening."""
    (cursor,) = wide_rows.scan([ScanRange()], CellSelection(columns={"e": ()}))
    rows = iter(cursor)
    seen = [next(rows).row]
    put(wide_rows, b"aa")
    put(wide_rows, b"b", b"x", 2, b"changed", family="e")
    delete(wide_rows, b"\1", CellType.DELETE_FAMILY, 9, family="e")
    wide_rows.split(b"a\0b")
    compact_to_one_file(wide_rows)
    rest = list(rows)
    assert ROWS == seen + [row.row for row in rest]
    assert {b"x"} == {cell.value for row in rest for cell in row.cells}
    assert 10 == len(scan_keys(wide_rows, columns={"e": ()}))


def test_all_cursors_of_a_scan_show_the_same_point_in_time(wide_rows: Store) -> None:
    """No cursor of a scan shows a row that was written after the scan was opened."""
    cursors = wide_rows.scan([ScanRange(b"", b"a"), ScanRange(b"a")])
    put(wide_rows, b"\0", b"p", 1, b"changed")
    put(wide_rows, b"a", b"x", 1, b"changed", family="e")
    put(wide_rows, b"new")
    compact_to_one_file(wide_rows)
    rows = [row for cursor in cursors for row in cursor]
    assert ROWS == [row.row for row in rows]
    assert b"changed" not in {cell.value for row in rows for cell in row.cells}


def test_a_snapshot_returns_the_same_rows_each_time(wide_rows: Store) -> None:
    """A snapshot returns the same rows each time, whatever is written meanwhile."""
    snapshot = wide_rows.snapshot()
    put(wide_rows, b"late")
    before = _list_rows(snapshot)
    assert ROWS == [row for row, _ in before]
    for row in ROWS[::2]:
        delete(wide_rows, row, CellType.DELETE_FAMILY, LATEST - 1)
        put(wide_rows, row + b"+", family="e")
    compact_to_one_file(wide_rows)
    assert before == _list_rows(snapshot)
    assert before == [(row.row, list(row.cells)) for row in snapshot.get(ROWS)]
    assert before != _list_rows(wide_rows)
    snapshot.close()
    snapshot.close()


def _list_rows(reader: Reader) -> list[tuple[bytes, list[Cell]]]:
    return [(row.row, list(row.cells)) for row in scan_pieces(reader)]


def test_arrow_blocks_hold_the_same_cells_as_rows(wide_rows: Store) -> None:
    """Arrow blocks have the contract's columns, whole rows, and the same cells as rows."""
    (cursor,) = wide_rows.scan([ScanRange(b"a")])
    blocks = list(cursor.read_blocks(rows=3))
    assert [15, 15, 5] == [block.num_rows for block in blocks]
    assert ["row", "family", "qualifier", "timestamp", "value"] == blocks[0].schema.names
    assert pa.types.is_dictionary(blocks[0].schema.field("family").type)
    lines = [tuple(line.values()) for line in pa.Table.from_batches(blocks).to_pylist()]
    expected = [(row.row, *cell[:4]) for row in scan_pieces(wide_rows, b"a") for cell in row.cells]
    assert expected == lines


def test_blocks_obey_versions_limit_and_direction_of_the_scan(bench: Bench) -> None:
    store = bench.create([Family("d", versions=2)])
    for at, row in enumerate([b"a", b"b", b"c", b"b", b"c", b"c"], 1):
        put(store, row, at=at)
    delete(store, b"b", CellType.DELETE, 4, b"q")
    (cursor,) = store.scan([ScanRange()], CellSelection(versions=2, limit=2, reverse=True))
    (block,) = cursor.read_blocks()
    assert [b"c", b"c", b"b"] == block.column("row").to_pylist()
    assert [6, 5, 2] == block.column("timestamp").to_pylist()


def test_a_raw_scan_of_blocks_is_refused(store: Store) -> None:
    """A raw scan of blocks is refused at once, since a block cannot hold deletes."""
    (cursor,) = store.scan([ScanRange()], CellSelection(raw=True))
    with cursor, pytest.raises(InvalidArgument, match="raw"):
        cursor.read_blocks()


def test_reading_a_closed_cursor_raises_an_error(wide_rows: Store) -> None:
    """A cursor may be closed twice, and reading it further raises an error."""
    (cursor,) = wide_rows.scan([ScanRange()])
    rows = iter(cursor)
    assert b"\0" == next(rows).row
    cursor.close()
    cursor.close()
    with pytest.raises(Closed, match=r"(cursor|scanner).* was closed"):
        list(rows)


@pytest.mark.parametrize(
    "read",
    [
        {"columns": {"none": ()}},
        {"columns": {}},
        {"versions": 0},
        {"limit": 0},
        {"batch": -1},
        {"time_range": (5, 4)},
        {"time_range": (-1, 4)},
        {"qualifier_range": (b"b", b"a")},
        {"raw": True, "columns": {"d": (b"q",)}},
        {"raw": True, "qualifier_range": (b"a", b"")},
    ],
)
def test_a_read_of_an_unknown_family_is_refused(read: dict[str, Any], store: Store) -> None:
    """An unknown family, a number out of range and raw columns are refused."""
    with pytest.raises(InvalidArgument):
        store.get([b"r"], CellSelection(**read))
    with pytest.raises(InvalidArgument):
        store.scan([ScanRange()], CellSelection(**read))


@pytest.mark.parametrize("row", [b"", b"k" * (MAX_ROW_BYTES + 1)])
def test_a_read_of_an_empty_or_too_long_key_is_refused(row: bytes, store: Store) -> None:
    """A read of an empty key or one of 32,768 bytes is refused."""
    with pytest.raises(InvalidArgument, match="row"):
        store.get([b"r", row])
