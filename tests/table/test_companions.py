"""Companions are written and read with their main table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Barrier, Event
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from example_counts import cover_each
from rowkey import BatchError, CatalogMismatch, Design, DesignRefused, InvalidArgument, ReadError
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.engines import open_engine
from rowkey.errors import RowError, Unavailable
from rowkey.table import Batch, TableWithCompanions, drop_table, load_file, repair_companions
from rowkey.table.joint_writes import JointWriteState
from rowkey.table.row_writer import RowWriter
from table.companion_tables import (
    CODED,
    COLUMNS,
    INDEXED,
    INDEXES_OF_SHARED_ROWS,
    KEYS,
    NAMES,
    NULLABLE,
    SHARED_ROWS,
    apply_change,
    change_model,
    collect_rows,
    draw_change,
    get_identity,
    read_all_cells,
    read_all_tables,
    write_designs,
)

if TYPE_CHECKING:
    from rowkey.table import Table
    from table.companion_tables import Identity, Row

places = st.fixed_dictionaries(
    {
        "user": st.sampled_from(["", "a", "ab"]),
        "at": st.sampled_from([0, 5]),
        "number": st.sampled_from([0, 1, 2**62]),
    }
)
notes, amounts = st.sampled_from([None, "", "x"]), st.none() | st.integers(-1, 2)
values = st.fixed_dictionaries({}, optional={"note": notes, "amount": amounts})
changes = st.one_of(
    st.tuples(st.sampled_from(["put", "replace"]), st.builds(lambda a, b: a | b, places, values)),
    st.tuples(st.just("delete"), places),
)
moves = st.tuples(st.just("move"), places, st.fixed_dictionaries({"number": st.integers(0, 1)}))


@pytest.fixture
def design(tmp_path: Path) -> Design:
    """Return a design with two companions."""
    return write_designs(tmp_path)


@pytest.fixture
def table(design: Design, tmp_path: Path) -> Iterator[TableWithCompanions]:
    """Return an open table with two companions and nine rows."""
    with rowkey.open(design, f"rocks:{tmp_path / 'data'}") as opened:
        assert isinstance(opened, TableWithCompanions)
        for number in range(9):
            opened.put({"user": f"u{number % 3}", "at": number, "number": number, "amount": 1})
        yield opened


def check_reads(table: Table, model: dict[Identity, Row]) -> None:
    """Compare all tables and some reads, whichever table serves them, with a model."""
    assert all(model == rows for rows in read_all_tables(table).values())
    first, *copies = read_all_cells(table)
    assert [first] * len(copies) == copies
    for name in (*NAMES, *COLUMNS):
        for value in {row[name] for row in model.values()} - {None}:
            expected = {place: row for place, row in model.items() if row[name] == value}
            assert expected == collect_rows(table.scan(f"{name} = ?", value))
            assert len(expected) == table.count(f"{name} = ?", value)
            for number in {row["number"] for row in expected.values()} - {None}:
                both = {place: row for place, row in expected.items() if row["number"] == number}
                scan = table.scan(f"number = ? and {name} = ?", number, value)
                assert both == collect_rows(scan)
                assert len(both) == scan.to_arrow().num_rows
    for place, row in model.items():
        assert row == table.get(dict(zip(NAMES, place, strict=True)))
    for order in ("number, at, user", "at desc, number desc", "user, at desc"):
        names = [one.split() for one in order.split(", ")]
        expected_rows = list(model.values())
        for name, *desc in reversed(names):
            expected_rows.sort(
                key=lambda row: () if row[name] is None else (row[name],), reverse=bool(desc)
            )
            expected_rows.sort(key=lambda row: row[name] is not None)  # null is always first
        found = list(table.scan(order=order))
        keys = [name for name, *_ in names]
        assert [[row[key] for key in keys] for row in expected_rows] == [
            [row[key] for key in keys] for row in found
        ]


@settings(deadline=None)
@given(
    steps=st.lists(st.lists(changes, min_size=1, max_size=4) | changes | moves, max_size=12),
    scheme=st.sampled_from(["memory", "rocks"]),
    keys=st.sampled_from([KEYS, SHARED_ROWS, CODED, NULLABLE, INDEXED, INDEXES_OF_SHARED_ROWS]),
    without_number=st.booleans(),
    loaded=st.lists(places, max_size=3, unique_by=get_identity),
)
def test_companion_tables_return_the_rows_of_a_model(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[Any],
    scheme: str,
    keys: dict[str, str],
    loaded: list[Row],
    *,
    without_number: bool,
) -> None:
    """After random puts, replaces, deletes, moves, batches and loads all reads equal the model."""
    if keys is NULLABLE and without_number:
        steps, loaded = remove_number([steps, loaded])
    folder = tmp_path_factory.mktemp("companions")
    model: dict[Identity, Row] = {}
    with rowkey.open(write_designs(folder, keys=keys), f"{scheme}:{folder / 'data'}") as table:
        for step in steps:
            if isinstance(step, list):
                with table.batch(rows=3) as batch:
                    for change in step:
                        apply_some(batch, change, model)
            elif step[0] == "move":
                move_some(table, step[1], step[2], model)
            else:
                apply_some(table, step, model)
        rows = [row | {"note": "loaded", "amount": 7} for row in loaded]
        columns = {name: [row[name] for row in rows] for name in (*NAMES, *COLUMNS)}
        assert len(rows) == table.load(pa.table(columns))
        for row in rows:
            change_model(model, ("put", row))
        check_reads(table, model)


def remove_number(steps: Any) -> Any:
    """Return steps with null in place of the highest number, at any depth."""
    if isinstance(steps, dict):
        return {key: None if value == 2**62 else value for key, value in steps.items()}
    return type(steps)(map(remove_number, steps)) if isinstance(steps, list | tuple) else steps


def move_some(table: Table, row: Row, changed: Row, model: dict[Identity, Row]) -> None:
    """Move a row in a table and in the model."""
    old = model.pop(get_identity(row), None)
    assert table.move(row, **changed) is (old is not None)
    if old is not None:
        model[get_identity(old | changed)] = old | changed


def apply_some(target: Any, change: tuple[str, Row], model: dict[Identity, Row]) -> None:
    """Make a change in a table or batch, and in the model."""
    apply_change(target, change)
    change_model(model, change)


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_threads_writing_the_same_rows_leave_equal_companions(
    design: Design, tmp_path: Path, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of changes of a row by several threads the same one is the last in every table."""
    send, pauses = RowWriter.send_changes, Random(0)

    def pause_and_send(self: RowWriter, changes: Any, *, sync: bool | None = None) -> None:
        time.sleep(pauses.choice((0, 0, 0.0005)))
        send(self, changes, sync=sync)

    monkeypatch.setattr(RowWriter, "send_changes", pause_and_send)

    def write(thread: int) -> None:
        random = Random(thread)
        for number in range(40):
            start.wait()
            row = {"user": "all", "at": 1, "number": number, "note": f"{thread}"}
            apply_change(table, (random.choice(("put", "put", "replace", "delete")), row))
            with table.batch() as batch:
                apply_change(batch, ("put", {**row, "user": "batch"}))

    start = Barrier(8)
    with rowkey.open(design, f"{scheme}:{tmp_path / 'data'}") as table:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        first, *copies = read_all_cells(table)
        assert [first] * 2 == copies
        assert first


def test_companions_stay_equal_while_bucket_counts_change(tmp_path: Path) -> None:
    """Threads that write while the main table and a companion get other counts lose nothing."""
    models: dict[str, dict[Identity, Row]] = {"a": {}, "b": {}}
    stop = Event()

    def write(user: str) -> None:
        random = Random(user)
        while not stop.is_set():
            change = draw_change(random, user, 8)
            if random.random() < 0.2:
                with opened.batch() as batch:
                    apply_some(batch, change, models[user])
            else:
                apply_some(opened, change, models[user])

    with rowkey.open(write_designs(tmp_path), "memory:", max_stale=0.2) as opened:
        with ThreadPoolExecutor(2) as pool:
            writers = [pool.submit(write, user) for user in models]
            try:
                opened.companions["orders_by_number"].set_buckets(3)
                opened.set_buckets(7)
            finally:
                stop.set()
            for one in writers:
                one.result()
        check_reads(opened, models["a"] | models["b"])


def test_a_row_moved_to_another_key_is_moved_in_every_companion(table: TableWithCompanions) -> None:
    """A moved row is under its new key in every table, and under the old one in none."""
    assert table.move({"user": "u0", "at": 0, "number": 0}, number=100, amount=5)
    rows = table.scan("number in ?", [0, 100])
    assert [{"user": "u0", "at": 0, "number": 100, "note": None, "amount": 5}] == list(rows)
    assert len({len(one) for one in read_all_tables(table).values()}) == 1


def test_a_refused_row_of_a_batch_is_in_no_companion(table: TableWithCompanions) -> None:
    """A wrong row of a batch is left out of every table, and the others are written."""
    batch = table.batch()
    batch.put({"user": "new", "at": 1, "number": 50, "amount": 1})
    batch.put({"user": "new", "at": 1, "number": -1, "amount": 1})
    batch.put({"user": "far too long", "at": 1, "number": 51, "amount": 1})
    with pytest.raises(BatchError) as refusal:
        batch.__exit__(None, None, None)
    assert [1, 2] == [number for number, _ in refusal.value.row_errors]
    assert [10, 10, 10] == [len(one) for one in read_all_tables(table).values()]


def test_a_load_stops_at_a_refused_row_equally_in_all_companions(
    table: TableWithCompanions,
) -> None:
    """A load stops at a row that a companion or the main table refuses, in all tables alike."""
    columns = {"at": [1, 2, 3], "number": [50, 51, 52], "amount": [1, 2, 3]}
    with pytest.raises(RowError, match="row 1"):
        table.load(pa.table({"user": ["new", "far too long", "new"], **columns}))
    assert [10, 10, 10] == [len(one) for one in read_all_tables(table).values()]


def test_a_file_is_loaded_into_every_companion(table: TableWithCompanions, tmp_path: Path) -> None:
    """Rows of a file are written to all tables, and those that are refused to none."""
    path = tmp_path / "rows.csv"
    path.write_text("user,at,number,amount\nx,1,60,1\nfar too long,1,61,1\ny,1,62,1\n", "utf-8")
    result = load_file(table, path)
    assert (2, 1) == (result.row_count, result.left_out.count)
    first, *copies = read_all_cells(table)
    assert [11, first, first] == [len(first), *copies]


def test_increments_and_checks_are_refused_on_tables_with_companions(
    table: TableWithCompanions,
) -> None:
    """Increments, appends and checks cannot be made in several tables at once."""
    row = {"user": "u0", "at": 0, "number": 0}
    for call in (
        lambda: table.increment(row, amount=1),
        lambda: table.append(row, note="x"),
        lambda: table.check_and_put(row, amount=1),
    ):
        with pytest.raises(DesignRefused, match="orders has companions, and an increment"):
            call()


@pytest.mark.parametrize(
    ("where", "values", "order", "name", "reason"),
    [
        ("user = ?", ["u1"], "at desc", "orders", "no companion would read less"),
        ("number = ?", [5], "", "orders_by_number", "it reads a part of its rows, and orders"),
        ("at >= ? and at < ?", [2, 5], "", "orders_by_time", "it reads a part of its rows"),
        ("", [], "at", "orders_by_time", "its key gives the order, and orders would sort"),
        ("", [], "", "orders", "no companion would read less"),
        ("user = ? and number = ?", ["u1", 1], "", "orders", "no companion would read less"),
        (
            "user = ? and at = ? and number = ?",
            ["u1", 1, 1],
            "",
            "orders",
            "the row key is given, so the main table is read",
        ),
        ("number in ?", [[]], "", "orders", "no row can meet the conditions"),
    ],
)
def test_explain_names_the_companion_that_a_scan_reads(
    table: TableWithCompanions, where: str, values: list[Any], order: str, name: str, reason: str
) -> None:
    """`explain` names the table that a scan reads, and says why."""
    explanation = table.explain(where, *values, order=order)
    assert (name, True) == (explanation.table, reason in explanation.table_reason)
    assert f"table   {name}: {reason}" in str(explanation)
    scan = table.scan(where, *values, order=order)
    tables = {"orders": table, **table.companions}
    assert scan.reader is tables[name].store


def test_a_scan_token_is_valid_only_for_its_table(table: TableWithCompanions) -> None:
    """A token names its table; one of another table or of no table is refused."""
    where = "number > ?"
    first = table.scan(where, 1, order="number", limit=3)
    assert [2, 3, 4] == [row["number"] for row in first]
    rest = table.scan(where, 1, order="number", resume=first.token)
    assert [5, 6, 7, 8] == [row["number"] for row in rest]
    assert rest.reader is table.companions["orders_by_number"].store
    with pytest.raises(ReadError, match="comes from a scan of orders_by_number"):
        table.companions["orders_by_time"].scan(where, 1, resume=first.token)
    with pytest.raises(ReadError, match="is not a token"):
        table.scan(where, 1, resume="nothing")
    snapshot = table.snapshot()
    with pytest.raises(ReadError, match="the snapshot is of the main table"):
        table.scan(where, 1, order="number", resume=first.token, reader=snapshot)
    snapshot.close()


def test_a_read_declared_by_a_companion_is_run_by_its_name(tmp_path: Path) -> None:
    """A read that a companion's design declares is run by its name."""
    write_designs(tmp_path)
    path = tmp_path / "orders_by_number.toml"
    read = '[[reads]]\nname = "one order"\nwhere = "number = ?"\n'
    path.write_text(f"{path.read_text('utf-8')}\n{read}", encoding="utf-8")
    with rowkey.open(Design.read(tmp_path / "orders.toml"), "memory:") as table:
        table.put({"user": "a", "at": 1, "number": 7})
        assert ["a"] == [row["user"] for row in table.read("one order", 7)]


def test_a_companion_opened_by_itself_refuses_every_write(
    table: TableWithCompanions, design: Design, tmp_path: Path
) -> None:
    """A companion that is opened by its design or name can be read, and refuses every write."""
    table.close()
    url, row = f"rocks:{tmp_path / 'data'}", {"user": "a", "at": 1, "number": 1}
    for opened in (design.companions["orders_by_number"], "orders_by_number"):
        with rowkey.open(opened, url) as companion:
            assert 1 == companion.count("number = ?", 3)
            for call in (
                lambda: companion.put(row),
                lambda: companion.replace(row),
                lambda: companion.delete(row),
                lambda: companion.load(pa.table({"user": ["a"]})),
                lambda: companion.increment(row, amount=1),
                companion.batch,
            ):
                with pytest.raises(DesignRefused, match="is a companion of orders"):
                    call()
    with rowkey.open("orders", url) as again:
        assert list(KEYS)[1:] == list(again.companions)
        again.put({"user": "late", "at": 1, "number": 99})
        assert 1 == again.count("number = ?", 99)


def test_a_design_without_the_companions_of_a_table_cannot_open_it(
    table: TableWithCompanions, tmp_path: Path
) -> None:
    """A design that lacks companions of the table, or has others, cannot open it."""
    table.close()
    url, text = f"rocks:{tmp_path / 'data'}", (tmp_path / "orders.toml").read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith("companions"))
    plain = text.replace(line, "")
    fewer = text.replace(line, 'companions = { orders_by_number = "orders_by_number.toml" }')
    for other, declared in ((plain, "not declared"), (fewer, "orders_by_number")):
        with pytest.raises(CatalogMismatch) as refusal:
            rowkey.open(Design.loads(other, directory=tmp_path), url)
        expected = f"companions: {declared} in the design, but orders_by_number, orders_by_time"
        assert expected in str(refusal.value)
    drop_table("orders", url)
    rowkey.open(Design.loads(plain), url).close()
    with pytest.raises(CatalogMismatch, match="in the design, but not declared in the table"):
        rowkey.open(Design.loads(text, directory=tmp_path), url)


def test_an_existing_table_does_not_become_a_companion(design: Design, tmp_path: Path) -> None:
    """A table that exists, or has rows without a main table, does not become a companion."""
    url = f"rocks:{tmp_path / 'data'}"
    rowkey.open(design.companions["orders_by_time"], url).close()
    with pytest.raises(InvalidArgument, match="exists already and is no companion"):
        rowkey.open(design, url)
    drop_table("orders_by_time", url)
    with rowkey.open(design, url) as table:
        table.put({"user": "a", "at": 1, "number": 7})
    with open_engine(url) as engine:
        engine.drop_table("orders")
    drop_catalog_entry(url, "orders")
    with pytest.raises(InvalidArgument, match="has rows, but its main table orders is missing"):
        rowkey.open(design, url)
    drop_table(design, url)
    with rowkey.open(design, url) as table:
        assert 0 == table.count()


def drop_catalog_entry(url: str, name: str) -> None:
    """Remove the entry of a table from the catalog."""
    from rowkey.catalog import open_catalog

    with open_engine(url) as engine:
        catalog = open_catalog(engine.catalog_url, engine, url)
        entry = catalog.read(name)
        assert entry is not None
        catalog.remove(name, entry.version)


def test_a_companion_is_dropped_only_with_its_main_table(
    table: TableWithCompanions, design: Design, tmp_path: Path
) -> None:
    """A companion is dropped with its main table only; an interrupted drop can be repeated."""
    table.close()
    url = f"rocks:{tmp_path / 'data'}"
    with pytest.raises(InvalidArgument, match="is a companion of orders"):
        drop_table("orders_by_time", url)
    drop_table("orders", url)
    with open_engine(url) as engine:
        assert [] == engine.list_tables()
    with pytest.raises(InvalidArgument, match="there is no table orders"):
        drop_table(design, url)


def break_write(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let writes to the table of a name fail, as if the process had died before."""
    send = RowWriter.send_changes

    def fail(self: RowWriter, *arguments: Any, **options: Any) -> None:
        if self.store.spec.name == name:
            raise Unavailable(name, "the writer was killed")
        send(self, *arguments, **options)

    monkeypatch.setattr(RowWriter, "send_changes", fail)


NEW = {"user": "new", "at": 1, "number": 77, "note": "n", "amount": 1}
OLD = {"user": "u1", "at": 4, "number": 4}


CRASHED_CHANGES: list[tuple[str, Row]] = [
    ("put", NEW),
    ("put", {**OLD, "amount": 5, "note": "x"}),
    ("put", {**OLD, "amount": None, "note": None}),
    ("replace", {**OLD, "note": "y"}),
    ("delete", OLD),
]


@pytest.mark.parametrize(
    ("change", "failing", "keys"),
    cover_each(CRASHED_CHANGES, range(3), [KEYS, SHARED_ROWS, CODED]),
)
def test_repair_makes_companions_equal_after_a_crash(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: tuple[str, Row],
    failing: int,
    keys: dict[str, str],
) -> None:
    """Whatever write a crash cut off, no companion lacks a row, and repair takes the main table."""
    design = write_designs(tmp_path, keys=keys)
    url = f"rocks:{tmp_path / 'data'}"
    with rowkey.open(design, url) as table:
        for number in range(9):
            table.put({"user": f"u{number % 3}", "at": number, "number": number, "amount": 1})
        with monkeypatch.context() as patch:
            break_write(patch, list(keys)[failing])
            with pytest.raises(Unavailable):
                apply_change(table, change)
        main, *copies = read_all_tables(table).values()
        assert all(main.keys() <= copy.keys() for copy in copies)
        first, *others = read_all_cells(table)
        differing = [one != first for one in others]
    asked = repair_companions(design, url)
    done = repair_companions(design, url, apply=True)
    assert [(one.written, one.deleted) for one in asked] == [
        (one.written, one.deleted) for one in done
    ]
    assert differing == [one.has_differences for one in asked]
    assert not any(one.has_differences for one in repair_companions(design, url))
    with rowkey.open(design, url) as table:
        check_reads(table, main)
        table.put({**NEW, "note": "later"})
        table.put({**OLD, "amount": 6})
        assert len({len(rows) for rows in read_all_tables(table).values()}) == 1
        assert {"later"} == {
            one[get_identity(NEW)]["note"] for one in read_all_tables(table).values()
        }
        assert {6} == {one[get_identity(OLD)]["amount"] for one in read_all_tables(table).values()}


def test_repair_fills_a_lost_companion_with_the_same_cells(
    table: TableWithCompanions, design: Design, tmp_path: Path
) -> None:
    """A companion whose table is gone is created and filled with the same cells."""
    expected = read_all_cells(table)
    table.close()
    url = f"rocks:{tmp_path / 'data'}"
    with open_engine(url) as engine:
        engine.drop_table("orders_by_time")
    drop_catalog_entry(url, "orders_by_time")
    with pytest.raises(Unavailable, match="a companion of orders, is missing"):
        rowkey.open(design, url)
    assert [(False, 0), (True, 9)] == [
        (one.is_missing, one.written) for one in repair_companions(design, url)
    ]
    results = repair_companions(design, url, apply=True)
    assert [(0, 0), (9, 0)] == [(one.written, one.deleted) for one in results]
    with rowkey.open(design, url) as table_again:
        assert expected == read_all_cells(table_again)


@pytest.mark.parametrize("keys", [KEYS, SHARED_ROWS], ids=["own_rows", "shared_rows"])
def test_repair_keeps_and_counts_cells_of_other_programs(
    tmp_path: Path, keys: dict[str, str]
) -> None:
    """Cells of other programs are no difference: they stay where they are, and are counted."""
    design, url = write_designs(tmp_path, keys=keys), f"rocks:{tmp_path / 'data'}"
    rows = [{"user": "a", "at": n, "number": n, "amount": n} for n in range(4)]
    with rowkey.open(design, url) as table:
        assert isinstance(table, TableWithCompanions)
        for row in rows[:3]:
            table.put(row)
        by_number = table.companions["orders_by_number"]
        for one, foreign in ((table, rows[1:]), (by_number, rows[:1])):
            for row in foreign:
                put_foreign_cell(one, row)
        state = by_number.get_state()
        state.apply_changes([state.writer.build_put({**rows[2], "amount": 9})])
    for apply in (False, True):
        first, second = repair_companions(design, url, apply=apply)
        assert (1, 0, 0) == (first.written, first.deleted, second.written)
        assert ({"d:x": 3}, 1) == (
            first.main_undeclared.column_counts, first.main_undeclared.undeclared_row_count
        )  # fmt: skip
        assert [{"d:x": 1}, {}] == [one.undeclared.column_counts for one in (first, second)]
    assert not any(one.has_differences for one in repair_companions(design, url))
    with rowkey.open(design, url) as table:
        tables = [table, *table.companions.values()]
        assert [3, 1, 0] == [
            sum(bool(row["undeclared"]) for row in one.scan(undeclared=True)) for one in tables
        ]


def put_foreign_cell(table: Table, row: Row) -> None:
    """Put a cell in a column of no design, as another program does."""
    prefix = table.design.layout.qualifier_prefix
    name = (b"" if prefix is None else prefix.encode(row)) + b"x"
    table.store.mutate([RowCells(table.design.key.encode(row), [Cell("d", name, LATEST, b"1")])])


def test_repair_leaves_recent_rows_that_may_still_be_written(
    design: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that a companion got a moment ago is left where other processes may write."""
    url = f"rocks:{tmp_path / 'data'}"
    with rowkey.open(design, url) as table, monkeypatch.context() as patch:
        break_write(patch, "orders")
        with pytest.raises(Unavailable):
            table.put(NEW)
    results = repair_companions(design, url, apply=True, min_age_s=60)
    assert [(0, 0, 1)] * 2 == [(one.written, one.deleted, one.recent) for one in results]
    results = repair_companions(design, url, apply=True)
    assert [(0, 1, 0)] * 2 == [(one.written, one.deleted, one.recent) for one in results]


def test_companions_stay_equal_when_each_gets_another_bucket_count(
    table: TableWithCompanions,
) -> None:
    """Rows stay in step while the main table or a companion gets other bucket counts."""
    model = next(iter(read_all_tables(table).values()))
    table.set_buckets(8)
    table.companions["orders_by_number"].set_buckets(5)
    for change in (("put", {**OLD, "note": None}), ("put", NEW), ("replace", {**OLD, "amount": 2})):
        apply_some(table, change, model)
    with table.batch() as batch:
        apply_some(batch, ("delete", {"user": "u0", "at": 0, "number": 0}), model)
    check_reads(table, model)


def test_batches_write_under_one_state_object_until_it_changes(table: TableWithCompanions) -> None:
    """The states that a batch writes under are the same object until one of them changes."""
    state = table.get_write_state()
    assert isinstance(state, JointWriteState)
    assert state is table.get_write_state()
    batch = table.batch()
    assert isinstance(batch, Batch)
    batch.put(NEW)
    batch.delete(OLD)
    table.companions["orders_by_number"].set_buckets(3)
    assert state is not table.get_write_state()
    batch.send()
    check_reads(table, next(iter(read_all_tables(table).values())))
    assert 9 == table.count()
