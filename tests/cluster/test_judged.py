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


def test_spec(store: JudgedStore) -> None:
    """A table reads back as it was declared; HBase's defaults are rowkey's."""
    assert SPEC == store.spec


def test_existing(judged_engine: JudgedEngine, store: JudgedStore) -> None:
    """An existing table is found and not created again; a missing one is refused."""
    assert store.spec == judged_engine.open_table("judged").spec
    with pytest.raises(InvalidArgument, match="TableExistsException"):
        judged_engine.create_table(SPEC)
    with pytest.raises(InvalidArgument, match="TableNotFoundException"):
        judged_engine.open_table("none")
    with pytest.raises(InvalidArgument, match="TableNotFoundException"):
        judged_engine.drop_table("none")


def test_namespace(judged_engine: JudgedEngine) -> None:
    """A table in a namespace is created, used and listed under its full name."""
    made = judged_engine.create_table(TableSpec("rooms:t", (Family("d"),)))
    made.mutate([RowCells(b"r", [build_put(1, b"v")])])
    assert [RowCells(b"r", [build_put(1, b"v")])] == made.get([b"r"])
    assert "rooms:t" in judged_engine.list_tables()
    judged_engine.drop_table("rooms:t")


def test_latest_is_now(store: JudgedStore) -> None:
    """A put without a timestamp gets the server's."""
    before = store.judge.now()
    store.mutate([RowCells(b"now", [build_put(LATEST, b"v")])])
    [found] = store.get([b"now"])
    assert before <= found.cells[0].timestamp <= store.judge.now()


@pytest.mark.parametrize(
    ("reverse", "rows"), [(False, [b"g1", b"g2"]), (True, [b"g2", b"g1"])], ids=["on", "back"]
)
def test_span(store: JudgedStore, *, reverse: bool, rows: list[bytes]) -> None:
    """A range includes its start and excludes its stop in both directions."""
    store.mutate([RowCells(b"g%d" % n, [build_put(1, b"v")]) for n in range(4)])
    found = scan_rows(store, ScanRange(b"g1", b"g3"), CellSelection(reverse=reverse))
    assert rows == [row for row, _ in found]


@pytest.mark.parametrize("reverse", [False, True])
def test_nothing_between(store: JudgedStore, *, reverse: bool) -> None:
    """An empty or inverted range and a limit of 0 return no rows."""
    store.mutate([RowCells(b"h", [build_put(1, b"v")])])
    assert [] == scan_rows(store, ScanRange(b"h", b"h"), CellSelection(reverse=reverse))
    assert [] == scan_rows(store, ScanRange(b"i", b"h"), CellSelection(reverse=reverse))
    assert [] == scan_rows(store, ScanRange(b"h", b"i"), CellSelection(reverse=reverse, limit=0))


def test_whole_table(store: JudgedStore) -> None:
    """The range without bounds is the whole table, last row first in reverse."""
    store.mutate([RowCells(row, [build_put(1, b"v")]) for row in (b"\x00", b"\xff\xff")])
    rows = [row for row, _ in scan_rows(store, ScanRange(), CellSelection())]
    assert sorted(rows) == rows
    assert {b"\x00", b"\xff\xff"} <= set(rows)
    assert rows[::-1] == [
        row for row, _ in scan_rows(store, ScanRange(), CellSelection(reverse=True))
    ]


def test_raw_get(store: JudgedStore) -> None:
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
def test_check(store: JudgedStore, value: bytes, holds: set[str]) -> None:
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


def test_check_absent(store: JudgedStore) -> None:
    """None checks for absence, and an absent column equals no value."""
    cells = [build_put(1, b"v", b"other")]
    assert store.check_and_mutate(b"gone", CellCondition("d", b"q", "=", None), cells)
    assert not store.check_and_mutate(b"gone", CellCondition("d", b"q", "!=", None), cells)
    assert not store.check_and_mutate(b"gone", CellCondition("d", b"q", "!=", b"5"), cells)


def test_counters(store: JudgedStore) -> None:
    """Increments wrap around, appends grow, and a cell that is not a counter is refused."""
    most = 2**63 - 1
    assert [most, -1] == read_counts(store.increment(b"n", [("d", b"a", most), ("x", b"b", -1)]))
    assert [-(2**63)] == read_counts(store.increment(b"n", [("d", b"a", 1)]))
    assert [b"ab"] == [cell.value for cell in store.append(b"n", [("d", b"t", b"ab")])]
    assert [b"abc"] == [cell.value for cell in store.append(b"n", [("d", b"t", b"c")])]
    with pytest.raises(InvalidArgument, match="Field is not a long"):
        store.increment(b"n", [("d", b"t", 1)])


def test_major_compaction(store: JudgedStore) -> None:
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


def test_load(store: JudgedStore) -> None:
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


def test_altered(judged_engine: JudgedEngine) -> None:
    """A changed family keeps its other attributes; table attributes are replaced."""
    spec = TableSpec("altered", (Family("d", in_memory=True),), (), {"a": "1"})
    made = judged_engine.create_table(spec)
    made.alter_families([Family("d", versions=5, in_memory=True), Family("n")])
    made.replace_attributes({"b": "2"})
    families = (Family("d", versions=5, in_memory=True), Family("n"))
    assert TableSpec("altered", families, (), {"b": "2"}) == made.spec
    judged_engine.drop_table("altered")


def test_snapshot(judged_engine: JudgedEngine, store: JudgedStore) -> None:
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


def test_regions(judged_engine: JudgedEngine) -> None:
    """Regions count their requests, and a region cannot be split at its start key."""
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
    ("row", "cell", "says"),
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
def test_refused(store: JudgedStore, row: bytes, cell: Cell, says: str) -> None:
    """Errors of HBase are raised with HBase's message."""
    with pytest.raises(InvalidArgument, match=says):
        store.mutate([RowCells(row, [cell])])


def test_the_longest_row(judged_engine: JudgedEngine) -> None:
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
def test_out_of_range(store: JudgedStore, ask: CellSelection) -> None:
    """Numbers that would mean something else to HBase are not sent."""
    with pytest.raises(InvalidArgument, match="is out of range"):
        store.get([b"r"], ask)
    with pytest.raises(InvalidArgument, match="is out of range"):
        store.scan([ScanRange()], ask)


def test_unknown_family(store: JudgedStore) -> None:
    """An unknown family is refused by gets and scans, and raw columns by raw scans."""
    for ask in (
        CellSelection(columns={"none": ()}),
        CellSelection(columns={"d": (b"q",)}, raw=True),
    ):
        with pytest.raises(InvalidArgument):
            store.scan([ScanRange()], ask)
        with pytest.raises(InvalidArgument):
            store.get([b"r"], ask)


def test_no_cells(store: JudgedStore) -> None:
    """A mutation without cells is refused, conditional or not."""
    with pytest.raises(InvalidArgument):
        store.mutate([RowCells(b"none", [])])
    with pytest.raises(InvalidArgument):
        store.check_and_mutate(b"none", CellCondition("d", b"q"), [])
