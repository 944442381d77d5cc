"""The engine contract on a real HBase through the official client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from engines.store_calls import read_counts
from rowkey.cells import LATEST, Cell, CellBlock, CellType, Family, RowCells
from rowkey.engines import CellCondition, CellSelection, ScanRange, TableSpec
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from cluster import JudgedEngine, JudgedStore

pytestmark = pytest.mark.long
"""A long test, since the engines' suite uses rowkey's own client each day."""
SPEC = TableSpec(
    "judged",
    (
        Family("d", versions=3),
        Family(
            "x", versions=2, min_versions=1, ttl_s=500, keep_deleted="TTL", in_memory=True,
            bloom="ROWPREFIX_FIXED_LENGTH(8)", compression="ZSTD", encoding="FAST_DIFF",
        ),
    ),
    (b"m",),
    {"MAX_FILESIZE": "123456789012", "owner": "é"},
)  # fmt: skip


@pytest.fixture(scope="module")
def store(judged_engine: JudgedEngine) -> Iterator[JudgedStore]:
    """Return a table for all tests of this file, each with rows of its own."""
    yield judged_engine.create_table(SPEC)
    judged_engine.drop_table("judged")


def build_put(at: int, value: bytes, qualifier: bytes = b"q") -> Cell:
    """Return a put cell."""
    return Cell("d", qualifier, at, value)


def scan_rows(store: JudgedStore, span: ScanRange, ask: CellSelection) -> Sequence[RowCells]:
    """Return the rows of one scan."""
    [cursor] = store.scan([span], ask)
    with cursor:
        return list(cursor)


def test_a_table_reads_back_as_declared_with_the_defaults_of_hbase(store: JudgedStore) -> None:
    """A table reads back as it was declared; HBase's defaults are rowkey's."""
    assert SPEC == store.spec


def test_an_existing_table_is_not_created_again_and_a_missing_one_refused(
    judged_engine: JudgedEngine, store: JudgedStore
) -> None:
    """An existing table is found and not created again; a missing one is refused."""
    assert store.spec == judged_engine.open_table("judged").spec
    with pytest.raises(InvalidArgument, match="TableExistsException"):
        judged_engine.create_table(SPEC)
    with pytest.raises(InvalidArgument, match="TableNotFoundException"):
        judged_engine.open_table("none")
    with pytest.raises(InvalidArgument, match="TableNotFoundException"):
        judged_engine.drop_table("none")


def test_a_table_in_a_namespace_is_listed_under_its_full_name(judged_engine: JudgedEngine) -> None:
    """A table in a namespace is created, used and listed under its full name."""
    made = judged_engine.create_table(TableSpec("rooms:t", (Family("d"),)))
    made.mutate([RowCells(b"r", [build_put(1, b"v")])])
    assert [RowCells(b"r", [build_put(1, b"v")])] == made.get([b"r"])
    assert "rooms:t" in judged_engine.list_tables()
    judged_engine.drop_table("rooms:t")


def test_a_put_without_a_timestamp_gets_that_of_the_server(store: JudgedStore) -> None:
    """A put without a timestamp gets the server's."""
    before = store.judge.now()
    store.mutate([RowCells(b"now", [build_put(LATEST, b"v")])])
    [found] = store.get([b"now"])
    assert before <= found.cells[0].timestamp <= store.judge.now()


@pytest.mark.parametrize(
    ("reverse", "rows"), [(False, [b"g1", b"g2"]), (True, [b"g2", b"g1"])], ids=["on", "back"]
)
def test_a_scan_includes_its_start_and_excludes_its_stop(
    store: JudgedStore, *, reverse: bool, rows: list[bytes]
) -> None:
    """A range includes its start and excludes its stop in both directions."""
    store.mutate([RowCells(b"g%d" % n, [build_put(1, b"v")]) for n in range(4)])
    found = scan_rows(store, ScanRange(b"g1", b"g3"), CellSelection(reverse=reverse))
    assert rows == [row for row, _ in found]


@pytest.mark.parametrize("reverse", [False, True])
def test_an_empty_or_inverted_range_returns_no_rows(store: JudgedStore, *, reverse: bool) -> None:
    """An empty or inverted range and a limit of 0 return no rows."""
    store.mutate([RowCells(b"h", [build_put(1, b"v")])])
    assert [] == scan_rows(store, ScanRange(b"h", b"h"), CellSelection(reverse=reverse))
    assert [] == scan_rows(store, ScanRange(b"i", b"h"), CellSelection(reverse=reverse))
    assert [] == scan_rows(store, ScanRange(b"h", b"i"), CellSelection(reverse=reverse, limit=0))


def test_a_scan_without_bounds_returns_the_whole_table(store: JudgedStore) -> None:
    """The range without bounds is the whole table, last row first in reverse."""
    store.mutate([RowCells(row, [build_put(1, b"v")]) for row in (b"\x00", b"\xff\xff")])
    rows = [row for row, _ in scan_rows(store, ScanRange(), CellSelection())]
    assert sorted(rows) == rows
    assert {b"\x00", b"\xff\xff"} <= set(rows)
    assert rows[::-1] == [
        row for row, _ in scan_rows(store, ScanRange(), CellSelection(reverse=True))
    ]


def test_a_raw_get_returns_delete_markers(store: JudgedStore) -> None:
    """A raw get returns deletes too, and a row without cells where there are none."""
    store.mutate([RowCells(b"raw", [build_put(1, b"v")])])
    store.mutate([RowCells(b"raw", [Cell("d", b"", 2, cell_type=CellType.DELETE_FAMILY)])])
    hidden, absent = store.get([b"raw", b"raw2"], CellSelection(raw=True, versions=9))
    assert [CellType.DELETE_FAMILY, CellType.PUT] == [cell.cell_type for cell in hidden.cells]
    assert RowCells(b"raw2", []) == absent
    assert [RowCells(b"raw", [])] == store.get([b"raw"])


@pytest.mark.parametrize(
    ("value", "holds"),
    [(b"4", {"!=", ">", ">="}), (b"5", {"=", "<=", ">="}), (b"6", {"!=", "<", "<="})],
)
def test_a_false_condition_changes_nothing(
    store: JudgedStore, value: bytes, holds: set[str]
) -> None:
    """A check reads *cell OPERATOR value*, and a false one changes nothing."""
    store.mutate([RowCells(b"check", [build_put(1, b"5")])])
    met = set()
    for at, operator in enumerate(("=", "!=", "<", "<=", ">", ">=")):
        row = value + operator.encode()
        if store.check_and_mutate(
            b"check", CellCondition("d", b"q", operator, value), [build_put(at + 1, b"v", row)]
        ):
            met.add(operator)
    [found] = store.get([b"check"])
    assert holds == met
    mine = [cell.qualifier for cell in found.cells if cell.qualifier.startswith(value)]
    assert {value + operator.encode() for operator in holds} == set(mine)


def test_an_absent_column_equals_no_value(store: JudgedStore) -> None:
    """None checks for absence, and an absent column equals no value."""
    cells = [build_put(1, b"v", b"other")]
    assert store.check_and_mutate(b"gone", CellCondition("d", b"q", "=", None), cells)
    assert not store.check_and_mutate(b"gone", CellCondition("d", b"q", "!=", None), cells)
    assert not store.check_and_mutate(b"gone", CellCondition("d", b"q", "!=", b"5"), cells)


def test_increments_wrap_around_and_refuse_a_cell_that_is_no_counter(store: JudgedStore) -> None:
    """Increments wrap around, appends grow, and a cell that is not a counter is refused."""
    most = 2**63 - 1
    assert [most, -1] == read_counts(store.increment(b"n", [("d", b"a", most), ("x", b"b", -1)]))
    assert [-(2**63)] == read_counts(store.increment(b"n", [("d", b"a", 1)]))
    assert [b"ab"] == [cell.value for cell in store.append(b"n", [("d", b"t", b"ab")])]
    assert [b"abc"] == [cell.value for cell in store.append(b"n", [("d", b"t", b"c")])]
    with pytest.raises(InvalidArgument, match="Field is not a long"):
        store.increment(b"n", [("d", b"t", 1)])


def test_cells_hidden_by_a_delete_can_be_put_again_after_a_major_compaction(
    store: JudgedStore,
) -> None:
    """A major compaction removes deletes, and hidden cells can be put again."""
    store.mutate([RowCells(b"purged", [build_put(5, b"v"), build_put(5, b"w", b"r")])])
    store.mutate([RowCells(b"purged", [Cell("d", b"q", 5, cell_type=CellType.DELETE_COLUMN)])])
    store.mutate([RowCells(b"purged", [build_put(5, b"again")])])
    assert [b"r"] == [cell.qualifier for cell in store.get([b"purged"])[0].cells]
    store.flush()
    store.compact()
    [raw] = store.get([b"purged"], CellSelection(raw=True, versions=9))
    assert {CellType.PUT} == {cell.cell_type for cell in raw.cells}
    store.mutate([RowCells(b"purged", [build_put(5, b"again")])])
    assert b"again" == store.get([b"purged"])[0].cells[0].value


def test_loaded_blocks_are_read_back_as_blocks(store: JudgedStore) -> None:
    """Blocks are written row by row without nulls and read back as blocks."""
    rows = pa.array([b"l1", b"l2"], pa.binary())
    many = CellBlock(rows, "d", b"a", pa.array([b"1", None], pa.binary()), 7)
    names = pa.array([b"b", b"c"], pa.binary())
    own = CellBlock(rows, "d", names, pa.array([b"2", b"3"], pa.binary()), pa.array([8, 9]))
    store.load_blocks([many, own])
    expected = [RowCells(b"l1", [build_put(7, b"1", b"a"), build_put(8, b"2", b"b")])]
    expected += [RowCells(b"l2", [build_put(9, b"3", b"c")])]
    assert expected == store.get([b"l1", b"l2"])
    [cursor] = store.scan([ScanRange(b"l1", b"l3")])
    [block] = list(cursor.read_blocks())
    assert [b"l1", b"l1", b"l2"] == block.column("row").to_pylist()
    assert [7, 8, 9] == block.column("timestamp").to_pylist()


def test_an_altered_family_keeps_its_other_attributes(judged_engine: JudgedEngine) -> None:
    """A changed family keeps its other attributes; table attributes are replaced."""
    spec = TableSpec("altered", (Family("d", in_memory=True),), (), {"a": "1"})
    made = judged_engine.create_table(spec)
    made.alter_families([Family("d", versions=5, in_memory=True), Family("n")])
    made.replace_attributes({"b": "2"})
    families = (Family("d", versions=5, in_memory=True), Family("n"))
    assert TableSpec("altered", families, (), {"b": "2"}) == made.spec
    judged_engine.drop_table("altered")


def test_a_snapshot_shows_the_table_as_it_was(
    judged_engine: JudgedEngine, store: JudgedStore
) -> None:
    """A snapshot shows the table as it was and leaves nothing after it is closed."""
    before = judged_engine.list_tables()
    store.mutate([RowCells(b"then", [build_put(1, b"v")])])
    then = store.snapshot()
    store.mutate([RowCells(b"then", [build_put(2, b"w")])])
    assert [RowCells(b"then", [build_put(1, b"v")])] == then.get([b"then"])
    assert [RowCells(b"then", [build_put(2, b"w")])] == store.get([b"then"])
    then.close()
    then.close()
    assert before == judged_engine.list_tables()


def test_a_region_counts_requests_and_cannot_be_split_at_its_start_key(
    judged_engine: JudgedEngine,
) -> None:
    made = judged_engine.create_table(TableSpec("counted", (Family("d"),), (b"m",)))
    made.mutate(
        [
            RowCells(row, [build_put(1, b"v"), build_put(1, b"w", b"r")])
            for row in (b"a", b"b", b"n")
        ]
    )
    made.get([b"a", b"absent"])
    scan_rows(made, ScanRange(), CellSelection())
    assert [(2, 4), (1, 1)] == [(one.writes, one.reads) for one in made.list_regions()]
    made.split(b"b")
    assert [b"", b"b", b"m"] == [one.start for one in made.list_regions()]
    with pytest.raises(InvalidArgument, match="begins at b'b' already"):
        made.split(b"b")
    judged_engine.drop_table("counted")


@pytest.mark.parametrize(
    ("row", "cell", "message"),
    [
        (b"", build_put(1, b"v"), "Row length is 0"),
        (bytes(32_768), build_put(1, b"v"), "Row length 32768 is > 32767"),
        (b"r", Cell("none", b"q", 1, b"v"), "NoSuchColumnFamilyException"),
        (b"r", build_put(-1, b"v"), "Timestamp cannot be negative"),
        (b"r", build_put(1, bytes(10 << 20)), "KeyValue size too large"),
        (b"r", Cell("d", b"q", 1, cell_type=CellType.DELETE, ttl_ms=5), "TTLs on Deletes"),
    ],
    ids=["empty", "long", "family", "time", "large", "ttl"],
)
def test_errors_of_hbase_are_raised_with_its_message(
    store: JudgedStore, row: bytes, cell: Cell, message: str
) -> None:
    """Errors of HBase are raised with HBase's message."""
    with pytest.raises(InvalidArgument, match=message):
        store.mutate([RowCells(row, [cell])])


def test_a_row_key_of_32767_bytes_works_if_its_region_is_known(judged_engine: JudgedEngine) -> None:
    """A row key of 32,767 bytes works for a client that knows its region."""
    # One that does not asks hbase:meta for a key that holds the table's name too, and is refused.
    made = judged_engine.create_table(TableSpec("longest", (Family("d"),)))
    made.mutate([RowCells(b"\0", [build_put(1, b"v")])])
    rows = [byte * 32_767 for byte in (b"\0", b"k", b"\xff")]
    for row in rows:
        made.mutate([RowCells(row, [build_put(1, b"v")])])
    assert [b"\0", *rows] == [row.row for row in scan_rows(made, ScanRange(), CellSelection())]
    assert [1, 1, 1] == [len(made.get([row])[0].cells) for row in rows]
    judged_engine.drop_table("longest")


@pytest.mark.parametrize(
    "ask", [CellSelection(versions=0), CellSelection(limit=-1), CellSelection(batch=0)]
)
def test_numbers_that_hbase_would_misread_are_not_sent(
    store: JudgedStore, ask: CellSelection
) -> None:
    """Numbers that would mean something else to HBase are not sent."""
    with pytest.raises(InvalidArgument, match="is out of range"):
        store.get([b"r"], ask)
    with pytest.raises(InvalidArgument, match="is out of range"):
        store.scan([ScanRange()], ask)


def test_gets_and_scans_of_an_unknown_family_are_refused(store: JudgedStore) -> None:
    """An unknown family is refused by gets and scans, and raw columns by raw scans."""
    for ask in (
        CellSelection(columns={"none": ()}),
        CellSelection(columns={"d": (b"q",)}, raw=True),
    ):
        with pytest.raises(InvalidArgument):
            store.scan([ScanRange()], ask)
        with pytest.raises(InvalidArgument):
            store.get([b"r"], ask)


def test_a_mutation_without_cells_is_refused(store: JudgedStore) -> None:
    """A mutation without cells is refused, conditional or not."""
    with pytest.raises(InvalidArgument):
        store.mutate([RowCells(b"none", [])])
    with pytest.raises(InvalidArgument):
        store.check_and_mutate(b"none", CellCondition("d", b"q"), [])
