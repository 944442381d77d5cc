"""The Java client runs what it is asked and returns HBase's answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import Judge, JudgeError
from cluster.plugin import start_cluster
from oracles import OracleError
from oracles.plugin import LEFT_OUT, REQUIRED
from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.engines import NEWEST_CELLS, CellSelection


@pytest.fixture(scope="module")
def table(hbase_judge: Judge) -> Iterator[str]:
    """Return a table of two families that keep three versions, with rows for each test."""
    families = {"d": {"VERSIONS": "3"}, "e": {"VERSIONS": "3"}}
    hbase_judge.create("judge", families, [b"m"], {"OWNER": "tests"})
    yield "judge"
    hbase_judge.drop("judge")


def build_put(at: int, value: bytes, family: str = "d", qualifier: bytes = b"q") -> Cell:
    """Return a put cell."""
    return Cell(family, qualifier, at, value)


def test_a_table_described_through_java_has_the_attributes_it_was_created_with(
    hbase_judge: Judge, table: str
) -> None:
    """A table reads back as it was created, with HBase's defaults for its families."""
    told = hbase_judge.describe(table)
    assert ["d", "e"] == list(told.families)
    assert {"VERSIONS": "3", "BLOOMFILTER": "ROW"}.items() <= told.families["d"].items()
    assert "tests" == told.words["OWNER"]
    assert table in hbase_judge.tables()


@pytest.mark.parametrize(
    ("kind", "at", "left"),
    [
        (CellType.DELETE, 2, [3, 1]),
        (CellType.DELETE_COLUMN, 2, [3]),
        (CellType.DELETE_FAMILY, 2, [3]),
        (CellType.DELETE_FAMILY_VERSION, 2, [3, 1]),
        (CellType.DELETE, LATEST, [2, 1]),
        (CellType.DELETE_COLUMN, LATEST, []),
        (CellType.DELETE_FAMILY, LATEST, []),
    ],
)
def test_each_delete_type_hides_the_versions_of_its_name(
    hbase_judge: Judge, table: str, kind: CellType, at: int, left: list[int]
) -> None:
    """Each of the four delete types hides the versions that its name says."""
    row = f"delete-{kind.name}-{at}".encode()
    whole = kind in {CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION}
    delete = Cell("d", b"" if whole else b"q", at, cell_type=kind)
    hbase_judge.mutate(table, [RowCells(row, [build_put(n, b"%d" % n) for n in (1, 2, 3)])])
    hbase_judge.mutate(table, [RowCells(row, [delete])])
    [found] = hbase_judge.get(table, [row], CellSelection(versions=3))
    assert left == [cell.timestamp for cell in found.cells]


def test_a_raw_scan_returns_delete_markers_and_hidden_cells(hbase_judge: Judge, table: str) -> None:
    """A raw scan returns delete markers with their types and the cells they hide."""
    cells = [
        build_put(1, b"v"),
        *(Cell("d", b"q", 2, cell_type=kind) for kind in (CellType.DELETE,)),
    ]
    hbase_judge.mutate(table, [RowCells(b"raw", cells)])
    [found] = hbase_judge.scan(
        table, CellSelection(raw=True, versions=9), (b"raw", True), (b"raw", True)
    )
    assert [(CellType.DELETE, 2), (CellType.PUT, 1)] == [
        (cell.cell_type, cell.timestamp) for cell in found.cells
    ]


def test_puts_and_deletes_of_one_row_count_as_one_write(hbase_judge: Judge, table: str) -> None:
    """Puts and deletes of one row are one write that its region counts once."""
    [before, _] = hbase_judge.regions(table)
    mixed = [
        build_put(5, b"v"),
        Cell("d", b"r", 5, cell_type=CellType.DELETE),
        build_put(5, b"w", "e"),
    ]
    hbase_judge.mutate(table, [RowCells(b"both", mixed)])
    [after, _] = hbase_judge.regions(table)
    [found] = hbase_judge.get(table, [b"both"], NEWEST_CELLS)
    assert [b"v", b"w"] == [cell.value for cell in found.cells]
    assert before.writes < after.writes


def test_mutations_of_one_row_are_applied_in_order(hbase_judge: Judge, table: str) -> None:
    """Mutations of one row in one question are applied in order."""
    many = [RowCells(b"order", [build_put(1, b"%d" % n)]) for n in range(20)]
    hbase_judge.mutate(table, many)
    [found] = hbase_judge.get(table, [b"order"], NEWEST_CELLS)
    assert [b"19"] == [cell.value for cell in found.cells]


def test_an_expired_cell_disappears_and_its_row_stays(hbase_judge: Judge, table: str) -> None:
    """An expired cell is gone while another of the same row stays."""
    old = hbase_judge.now() - 60_000
    brief, lasting = Cell("d", b"a", old, b"v", ttl_ms=1_000), Cell("d", b"b", old, b"w")
    hbase_judge.mutate(table, [RowCells(b"ttl", [brief, lasting])])
    [found] = hbase_judge.get(table, [b"ttl"], NEWEST_CELLS)
    assert [b"w"] == [cell.value for cell in found.cells]


def test_gets_support_columns_times_versions_and_ranges(hbase_judge: Judge, table: str) -> None:
    """Gets return rows in the order given and support columns, times, versions and ranges."""
    cells = [
        build_put(n, b"%d" % n, family, q) for n in (1, 2) for family in "de" for q in (b"a", b"b")
    ]
    hbase_judge.mutate(table, [RowCells(b"get", cells)])

    def told(ask: CellSelection) -> list[tuple[str, bytes, int]]:
        [found] = hbase_judge.get(table, [b"get"], ask)
        return [cell[:3] for cell in found.cells]

    assert [("d", b"a", 2), ("e", b"a", 2), ("e", b"b", 2)] == told(
        CellSelection(columns={"d": (b"a",), "e": ()})
    )
    assert [("d", b"b", 1)] == told(
        CellSelection(columns={"d": (b"b",)}, time_range=(0, 2), versions=2)
    )
    assert [("d", b"b", 2), ("e", b"b", 2)] == told(CellSelection(qualifier_range=(b"b", b"")))
    assert [("d", b"a", 2), ("e", b"a", 2)] == told(CellSelection(qualifier_range=(b"a", b"b")))
    found = hbase_judge.get(table, [b"nothing", b"get"], NEWEST_CELLS)
    assert [b"", b"get"] == [row for row, _ in found]


@pytest.mark.parametrize(
    ("ask", "start", "stop", "rows"),
    [
        (NEWEST_CELLS, (b"s1", True), (b"s3", False), [b"s1", b"s2"]),
        (NEWEST_CELLS, (b"s1", False), (b"s3", True), [b"s2", b"s3"]),
        (CellSelection(reverse=True), (b"s3", True), (b"s1", False), [b"s3", b"s2"]),
        (CellSelection(reverse=True, limit=1), (b"s3", False), (b"s1", True), [b"s2"]),
        (CellSelection(limit=2), (b"s0", True), (b"s9", True), [b"s0", b"s1"]),
        (CellSelection(batch=2), (b"s1", True), (b"s1", True), [b"s1", b"s1"]),
        (CellSelection(batch=2, limit=1), (b"s0", True), (b"s9", True), [b"s0", b"s0"]),
    ],
)
def test_a_scan_returns_the_rows_between_its_bounds_in_its_direction(
    hbase_judge: Judge,
    table: str,
    ask: CellSelection,
    start: tuple[bytes, bool],
    stop: tuple[bytes, bool],
    rows: list[bytes],
) -> None:
    """A scan returns the rows between its bounds, in its direction, split by its batch size."""
    cells = [build_put(1, b"v", "d", b"%d" % n) for n in range(3)]
    hbase_judge.mutate(table, [RowCells(b"s%d" % n, cells) for n in range(4)])
    assert rows == [row for row, _ in hbase_judge.scan(table, ask, start, stop)]


def test_increments_and_appends_return_the_new_values_in_order(
    hbase_judge: Judge, table: str
) -> None:
    amounts = [("e", b"n", 5), ("d", b"n", -1)]
    pieces = [("d", b"t", b"ab")]
    assert [5, -1] == hbase_judge.increment(table, b"count", amounts)
    assert [10, -2] == hbase_judge.increment(table, b"count", amounts)
    assert [b"ab"] == hbase_judge.append(table, b"count", pieces)
    assert [b"abab"] == hbase_judge.append(table, b"count", pieces)


def test_a_conditional_put_compares_the_given_value_with_the_cell(
    hbase_judge: Judge, table: str
) -> None:
    """HBase compares the given value with the cell: LESS means value < cell."""
    column = ("d", b"q")
    hbase_judge.mutate(table, [RowCells(b"check", [build_put(1, b"5")])])

    def holds(operator: str, value: bytes) -> bool:
        given = ("check", b"check", column, operator, value, [build_put(1, b"5")])
        return hbase_judge.check_and_mutate(table, *given[1:])

    assert holds("LESS", b"4")
    assert not holds("LESS", b"6")
    assert holds("EQUAL", b"5")


@pytest.mark.parametrize(
    ("table_name", "cell", "kind"),
    [
        ("absent", build_put(1, b"v"), "TableNotFoundException"),
        ("judge", build_put(1, b"v", "x"), "NoSuchColumnFamilyException"),
        ("judge", build_put(-1, b"v"), "IllegalArgumentException"),
    ],
)
@pytest.mark.usefixtures("table")
def test_an_error_from_java_has_the_class_that_hbase_threw(
    hbase_judge: Judge, table_name: str, cell: Cell, kind: str
) -> None:
    """An error of HBase has the class that HBase threw, for one row and for many."""
    for rows in ([b"r"], [b"r", b"s"]):
        with pytest.raises(JudgeError) as told:
            hbase_judge.mutate(table_name, [RowCells(row, [cell]) for row in rows])
        assert kind == told.value.kind


def test_a_truncated_table_has_no_rows_and_keeps_its_regions(hbase_judge: Judge) -> None:
    hbase_judge.create("short", {"d": {}}, [b"m"])
    hbase_judge.mutate("short", [RowCells(b"r", [build_put(1, b"v")])])
    hbase_judge.truncate("short")
    assert [] == hbase_judge.scan("short", NEWEST_CELLS)
    assert 2 == len(hbase_judge.regions("short"))
    hbase_judge.drop("short")
    assert "short" not in hbase_judge.tables()


def test_an_invalid_question_raises_an_error_and_the_next_is_answered(hbase_judge: Judge) -> None:
    """An invalid question raises OracleError, and the next question is answered."""
    with pytest.raises(OracleError, match="no such question: dance"):
        hbase_judge.ask("dance")
    with pytest.raises(OracleError, match="flush: word 1 is missing"):
        hbase_judge.ask("flush")
    assert 3 == len(hbase_judge.status().live)


def test_the_java_client_is_restarted_by_the_next_question(hbase_judge: Judge) -> None:
    """After the JVM was stopped the next question starts another."""
    hbase_judge.stop()
    assert 3 == len(hbase_judge.status().live)


@pytest.mark.parametrize(
    ("required", "outcome", "message"),
    [("0", pytest.skip.Exception, LEFT_OUT), ("1", pytest.fail.Exception, f"{REQUIRED}=1")],
)
def test_without_java_cluster_tests_are_skipped_or_fail_if_required(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    required: str,
    outcome: type[BaseException],
    message: str,
) -> None:
    """Without Java the cluster is skipped with a notice, or fails where it is required."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv(REQUIRED, required)
    fixture = start_cluster(tmp_path_factory)
    with pytest.raises(outcome, match=f"{message}.*java is not found in JAVA_HOME or PATH"):
        next(fixture)
