"""An index is a companion with the fields of its key alone: its rows lead to those of the table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rowkey
from rowkey import Design
from rowkey.cells import CellType
from rowkey.design import complete_companion
from rowkey.engines import open_engine
from rowkey.table import TableWithCompanions, drop_table, repair_companions
from table.companion_tables import INDEXED, get_identity, read_all_tables, write_designs

ROWS: list[dict[str, Any]] = [
    {"user": f"u{n % 3}", "at": n // 2, "number": n, "note": "x" if n % 4 else None, "amount": n}
    for n in range(40)
]


@pytest.fixture(params=["memory", "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty engine."""
    return f"{request.param}:{tmp_path / 'data'}"


@pytest.fixture
def table(url: str, tmp_path: Path) -> Iterator[TableWithCompanions]:
    """Return an open table with an index by time, and forty rows."""
    design = write_designs(tmp_path, keys=INDEXED, declared=["index_by_time"])
    with rowkey.open(design, url) as opened:
        assert isinstance(opened, TableWithCompanions)
        for row in ROWS:
            opened.put(row)
        yield opened


def test_reads_through_an_index_return_whole_rows(table: TableWithCompanions) -> None:
    """Rows, columns, counts and the first row are those of the main table, in the order asked."""
    where = "at >= 3 and at < 9 and note = 'x'"
    expected = [row for row in ROWS if 3 <= row["at"] < 9 and row["note"] == "x"]
    assert "index_by_time" == table.explain(where, order="at, number").table
    scan = table.scan(where, order="at, number")
    assert expected == list(scan)
    assert expected[::-1] == list(table.scan(where, order="at desc, number desc"))
    assert len(expected) == scan.count() == table.count(where)
    assert expected[0] == scan.first()
    columns = scan.to_arrow()
    assert list(expected[0]) == columns.column_names
    assert [row["amount"] for row in expected] == columns["amount"].to_pylist()
    assert [expected[:3]] == [list(table.scan(where, order="at, number", limit=3))]
    by_amount = sorted(expected, key=lambda row: -row["amount"])
    assert by_amount[:4] == list(table.scan(where, order="amount desc", limit=4))
    assert (
        expected
        == table.scan(where, order="at, number")
        .to_arrow()
        .select(["user", "number", "note", "amount"])
        .append_column("at", [[row["at"] for row in expected]])
        .select(list(ROWS[0]))
        .to_pylist()
    )


def test_a_scan_through_an_index_resumes_after_any_row(table: TableWithCompanions) -> None:
    """A token of any row continues with the next one, and is refused for another read."""
    where = "at >= 2 and note = 'x'"
    expected = [row for row in ROWS if row["at"] >= 2 and row["note"] == "x"]
    found, token = [], None
    while True:
        scan = table.scan(where, limit=3, resume=token)
        some = list(scan)
        if not some:
            break
        found += some
        token = scan.token
    assert [row["number"] for row in expected] == [row["number"] for row in found]
    with pytest.raises(rowkey.ReadError):
        table.scan("at >= 3", resume=token)


def test_batches_through_an_index_resume_after_any_batch(table: TableWithCompanions) -> None:
    """Batches have whole rows, and the token of each continues with the row after its last one."""
    where = "at >= 2 and note = 'x'"
    expected = [row["number"] for row in ROWS if row["at"] >= 2 and row["note"] == "x"]
    scan = table.scan(where)
    found: list[Any] = []
    for batch in scan.batches(rows=4):
        found += batch["number"].to_pylist()
        rest = table.scan(where, resume=scan.token)
        assert expected == [*found, *(row["number"] for row in rest)]
        assert list(ROWS[0]) == batch.schema.names
    assert expected == found
    columns = table.scan(where, limit=5)
    assert expected[:5] == columns.to_arrow()["number"].to_pylist()
    rest = table.scan(where, resume=columns.token)
    assert expected[5:] == [row["number"] for row in rest]


def test_only_rows_that_meet_the_conditions_on_the_index_are_looked_up(
    table: TableWithCompanions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A condition on a field of its key that does not narrow the range costs no get."""
    looked_up: list[Any] = []
    get_rows = table._get_rows

    def count_gets(rows: Any) -> Any:
        looked_up.extend(rows)
        return get_rows(rows)

    monkeypatch.setattr(table, "_get_rows", count_gets)
    assert [8] == [row["number"] for row in table.scan("at >= 2 and number = 8")]
    assert [8] == [row["number"] for row in looked_up]
    assert [] == list(table.scan("at >= 2 and number = 8 and amount = 9"))
    assert 2 == len(looked_up)


def test_an_index_that_narrows_a_read_by_more_fields_is_read(tmp_path: Path) -> None:
    """The main table would read all rows of a tenant for one id; a copy is read before an index."""
    fields = '[fields]\ntenant = "text"\nat = "timestamp_s"\nid = "u64"\n'
    note = 'note = "text"\n'
    (tmp_path / "by_id.toml").write_text(f'table = "by_id"\nkey = "[tenant][id][at]"\n{fields}')
    main = 'table = "events"\nkey = "[tenant][at][id]"\ncompanions = {by_id = "by_id.toml"}\n'
    (tmp_path / "events.toml").write_text(f"{main}{fields}{note}")
    design = Design.read(tmp_path / "events.toml")
    with rowkey.open(design, "memory:") as events:
        events.put({"tenant": "a", "at": 1, "id": 7, "note": "x"})
        explanation = events.explain("tenant = 'a' and id = 7")
        assert "by_id" == explanation.table
        assert "its key narrows id, which events would test row by row" in str(explanation)
        assert ["x"] == [row["note"] for row in events.scan("tenant = 'a' and id = 7")]
        assert "events" == events.explain("tenant = 'a' and at = 1").table
        assert "events" == events.explain("tenant = 'a'").table


def test_gets_that_follow_from_an_index_are_counted_only_where_the_limit_bounds_them(
    tmp_path: Path,
) -> None:
    """Rows that are sorted by a column are all looked up, whatever the limit of the read is."""
    fields = '[fields]\nshop = "text"\nat = "timestamp_s"\nid = "u64"\n'
    (tmp_path / "by_shop.toml").write_text(
        f'table = "by_shop"\nkey = "[shop][desc(at)][id]"\n{fields}'
    )
    orders = [("last", "at desc"), ("top", "amount desc"), ("first", "id")]
    reads = "".join(
        f'[[reads]]\nname = "{name}"\nwhere = "shop = ?"\norder = "{order}"\nlimit = 20\n'
        'rate = "50/s"\n'
        for name, order in orders
    )
    (tmp_path / "orders.toml").write_text(
        'table = "orders"\nkey = "[id][at][shop]"\ncompanions = {by_shop = "by_shop.toml"}\n'
        f'{fields}amount = "i64"\n{reads}'
    )
    design = Design.read(tmp_path / "orders.toml")
    own = {read.name: read.rate for read in design.keep_own_reads({}).reads}
    assert {"rows of last": 1_000} == own
    served = {read.name: read.limit for read in complete_companion(design, "by_shop").reads}
    assert {"last": 20, "top": None, "first": 20} == served


def test_a_delete_by_conditions_through_an_index_keeps_a_put_that_is_under_way(
    table: TableWithCompanions,
) -> None:
    """The index has its cell before the table has the row; only what was read is deleted."""
    identity = {name: ROWS[6][name] for name in ("user", "at", "number")}
    index = table.companions["index_by_time"]
    (before,) = table.get_state().getter.get_cells([identity])
    time.sleep(0.002)
    index.writer.apply_changes([index.writer.build_put(identity)])
    ((under_way,),) = index.get_state().getter.get_cells([identity])
    assert under_way.timestamp > before[0].timestamp
    assert 2 == table.delete_where("at = 3").row_count
    assert [] == list(table.scan("at = 3"))
    raw = table.get_state().getter.get_cells([identity], raw=True)[0]
    deletes = [cell.timestamp for cell in raw if cell.cell_type != CellType.PUT]
    assert deletes
    assert max(deletes) < under_way.timestamp


def test_an_index_does_not_become_a_copy_by_new_columns(tmp_path: Path, url: str) -> None:
    """Its rows have no values of them, so reads through it would return nulls: it is refused."""
    design = write_designs(tmp_path, keys=INDEXED, declared=["index_by_time"])
    with rowkey.open(design, url) as table:
        engine = table.engine
        table.put(ROWS[0])
        whole = (tmp_path / "orders.toml").read_text().partition("[fields]")[2]
        index = tmp_path / "index_by_time.toml"
        index.write_text(f"{index.read_text().partition('[fields]')[0]}[fields]{whole}")
        changed = Design.read(tmp_path / "orders.toml")
        with pytest.raises(rowkey.CatalogMismatch, match="it is an index") as refusal:
            rowkey.open(changed, url, engine=engine)
        assert "one more companion" in str(refusal.value)
        assert [ROWS[0]] == list(table.scan("at = 0"))


def test_an_index_is_read_only_where_it_saves_a_scan_of_the_whole_table(
    table: TableWithCompanions,
) -> None:
    """A range of whole rows, a point and a sort by a column stay with the main table."""
    cases = {
        ("user = 'u1'", ""): "orders",
        ("user = 'u1' and at = 3 and number = 7", ""): "orders",
        ("user = 'u1' and at = 3", ""): "orders",
        ("at = 3", ""): "index_by_time",
        ("at = 3", "amount"): "index_by_time",
        ("", "at, number"): "index_by_time",
        ("", "amount"): "orders",
        ("note = 'x'", "at"): "orders",
        ("note = 'x'", ""): "orders",
        ("", ""): "orders",
    }
    for (where, order), name in cases.items():
        assert name == table.explain(where, order=order).table, (where, order)
    told = str(table.explain("at = 3 and note = 'x'"))
    assert "it is an index, so each row that it reads is one get of orders more" in told
    assert "tests   note of each row, after reading" in told


def test_a_row_of_an_index_without_a_row_in_the_table_is_never_returned(
    table: TableWithCompanions, tmp_path: Path, url: str
) -> None:
    """Neither after a write that was cut off nor after a delete; a repair removes it."""
    lone = {"user": "lone", "at": 3, "number": 99}
    index = table.companions["index_by_time"]
    index.writer.apply_changes([index.writer.build_put(lone)])
    assert lone in list(index.scan())
    assert [6, 7] == [row["number"] for row in table.scan("at = 3")]
    assert 2 == table.count("at = 3")
    assert [] == list(table.scan("at = 3 and user = 'lone'"))
    if url.startswith("rocks"):  # what is in memory ends with the table
        table.close()
        design = write_designs(tmp_path, keys=INDEXED, declared=["index_by_time"])
        (found,) = repair_companions(design, url, apply=True)
        assert (0, 1) == (found.written, found.deleted)
        with rowkey.open("orders", url) as again:
            assert 40 == again.companions["index_by_time"].count()


def test_a_missing_or_hidden_row_of_an_index_is_repaired(tmp_path: Path) -> None:
    """A row that a later delete hides is written above it, and below any later change."""
    url = f"rocks:{tmp_path / 'data'}"
    design = write_designs(tmp_path, keys=INDEXED, declared=["index_by_time"])
    with rowkey.open(design, url) as table:
        for row in ROWS[:4]:
            table.put(row)
        index = table.companions["index_by_time"]
        for row in ROWS[:2]:
            values = {name: row[name] for name in index.design.fields}
            index.writer.apply_changes([index.writer.build_delete(values)])
        assert [] == list(table.scan("at = 0"))
    results = repair_companions(design, url)
    assert [2] == [one.written for one in results]
    repair_companions(design, url, apply=True)
    assert not any(one.has_differences for one in repair_companions(design, url))
    with rowkey.open(design, url) as table:
        assert ROWS[:2] == list(table.scan("at = 0"))
        table.delete(ROWS[0])
        assert ROWS[1:2] == list(table.scan("at = 0"))
        table.put(ROWS[0])
        assert ROWS[:2] == list(table.scan("at = 0"))


def test_a_cell_of_an_index_that_would_end_before_its_row_is_repaired(tmp_path: Path) -> None:
    """Its time to live counts from its timestamp, so one that is older than the row is written."""
    url = f"rocks:{tmp_path / 'data'}"
    design = write_designs(tmp_path, keys=INDEXED, declared=["index_by_time"])
    identity = {name: ROWS[0][name] for name in ("user", "at", "number")}
    with rowkey.open(design, url) as table:
        index = table.companions["index_by_time"]
        index.writer.apply_changes([index.writer.build_put(identity)])
        time.sleep(0.002)
        table.writer.apply_changes([table.writer.build_put(ROWS[0])])
    assert [1] == [one.written for one in repair_companions(design, url, apply=True)]
    assert not any(one.has_differences for one in repair_companions(design, url))
    with rowkey.open(design, url) as table:
        index = table.companions["index_by_time"]
        ((cell,),) = index.get_state().getter.get_cells([identity])
        (cells,) = table.get_state().getter.get_cells([identity])
        assert cell.timestamp >= max(one.timestamp for one in cells)


def test_a_row_that_is_written_above_a_hidden_copy_is_equal_in_all_tables_at_once(
    tmp_path: Path,
) -> None:
    """The row gets a later timestamp where a copy is hidden, and its index one not below that."""
    url = f"rocks:{tmp_path / 'data'}"
    design = write_designs(tmp_path, keys=INDEXED)
    with rowkey.open(design, url) as table:
        table.put(ROWS[0])
        copy = table.companions["orders_by_number"]
        copy.writer.apply_changes([copy.writer.build_delete(ROWS[0])])
    assert any(one.written for one in repair_companions(design, url, apply=True))
    assert not any(one.has_differences for one in repair_companions(design, url))


def test_rows_of_an_index_have_one_empty_cell(table: TableWithCompanions) -> None:
    """It holds no column of the table, so that a row takes the bytes of its key and one cell."""
    index = table.companions["index_by_time"]
    rows = list(index.scan("at = 3"))
    assert [get_identity(row) for row in ROWS[6:8]] == [get_identity(row) for row in rows]
    assert all(row.keys() == {"user", "at", "number"} for row in rows)
    for cells in index.get_state().getter.get_cells(rows):
        assert [b""] == [cell.value for cell in cells]


def test_damaged_rows_are_left_out_by_a_scan_of_the_table_itself(
    table: TableWithCompanions,
) -> None:
    """Where rows that cannot be decoded are to be named, an index, which has none, is not read."""
    scan = table.scan("at = 3", skip_undecodable=True)
    assert [6, 7] == sorted(row["number"] for row in scan)
    assert "orders" == scan.token_table


def test_an_index_keeps_its_rows_as_long_as_the_table(tmp_path: Path, url: str) -> None:
    """A put of one column renews the row of the index too, and a delete of all columns keeps it."""
    design = write_designs(tmp_path, keys=INDEXED, declared=["index_by_time"])
    with rowkey.open(design, url) as table:
        identity: dict[str, Any] = {"user": "u", "at": 5, "number": 1}
        table.put({**identity, "note": "a", "amount": 1})
        index = table.companions["index_by_time"]

        def find_time() -> int:
            ((cell,),) = index.get_state().getter.get_cells([identity])
            return cell.timestamp

        first = find_time()
        time.sleep(0.002)
        table.put({**identity, "amount": 2})
        assert find_time() > first
        table.put({**identity, "note": None, "amount": None})
        expected = [{**identity, "note": None, "amount": None}]
        assert expected == list(table.scan("at = 5")) == list(table.scan("user = 'u'"))
        assert all(1 == len(rows) for rows in read_all_tables(table).values())


def test_an_index_is_created_with_its_table_and_dropped_with_it(tmp_path: Path, url: str) -> None:
    """Its table is a companion of the main one, in the catalog as in its attributes."""
    design = write_designs(tmp_path, keys=INDEXED)
    with rowkey.open(design, url) as table:
        attributes = table.companions["index_by_time"].store.spec.attributes
        assert "orders" == attributes["rowkey.companion_of"]
        with pytest.raises(rowkey.DesignRefused, match="is a companion of orders"):
            table.companions["index_by_time"].put(ROWS[0])
        assert set(INDEXED) <= set(table.engine.list_tables())
    if url.startswith("rocks"):
        drop_table(design, url)
        with open_engine(url) as engine:
            assert not {*INDEXED} & {*engine.list_tables()}
