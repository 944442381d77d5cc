"""Commands on a design with companions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rowkey
from cli.command import run
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.engines import open_engine
from rowkey.render import (
    EXPLANATIONS_FIELDS,
    REPAIR_FIELDS,
    build_create_statement,
    list_paths,
)
from table.companion_tables import KEYS, write_designs

ON = ("--on", "rocks:data")
ROW = ("user=a", "at=2021-01-01", "number=3", "amount=2")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with the design files, of which the tables exist."""
    monkeypatch.chdir(tmp_path)
    write_designs(Path())
    created = run("create", "orders.toml", *ON)
    assert (0, "") == (created.code, created.err)
    assert created.out.splitlines() == [
        "orders: created with 4 regions, families d",
        "orders_by_number: created with 2 regions, families d",
        "orders_by_time: created with 1 region, families d",
    ]


def test_rows_of_companion_tables_are_written_read_and_dropped_together() -> None:
    """What `put` and `load` write is found through every table, and `drop` removes all."""
    assert 0 == run("put", "orders.toml", *ON, *ROW).code
    Path("rows.csv").write_text("user,at,number\nb,1600000000,4\n", encoding="utf-8")
    assert 0 == run("load", "orders", "rows.csv", *ON).code
    for name in ("orders", "orders_by_number.toml", "orders_by_time"):
        assert "2\n" == run("count", name, *ON).out
    assert (
        "b,1600000000,4,,\n" in run("scan", "orders", *ON, "--where", "number=4", "-f", "csv").out
    )
    refused = run("put", "orders_by_number.toml", *ON, *ROW)
    assert (2, True) == (refused.code, "is a companion of orders" in refused.err), refused
    dropped = run("drop", "orders.toml", *ON, "--yes", "orders")
    assert (0, ["orders: dropped", "orders_by_number: dropped", "orders_by_time: dropped"]) == (
        dropped.code,
        dropped.out.splitlines(),
    )
    with open_engine("rocks:data") as engine:
        assert [] == engine.list_tables()


def test_explain_says_which_table_serves_a_read_and_why() -> None:
    """`explain` says which table serves a read and why, as text and as JSON."""
    said = run("explain", "orders.toml", "--where", "number=3").out
    assert (
        "table   orders_by_number: it reads a part of its rows, and orders would read all" in said
    )
    document = json.loads(run("explain", "orders.toml", "--where", "user=a", "-f", "json").out)
    assert "orders" == document["reads"][0]["table"]
    assert {*list_paths(document)} <= EXPLANATIONS_FIELDS.keys()
    text = Path("orders_by_number.toml").read_text("utf-8")
    read = '[[reads]]\nname = "one order"\nwhere = "number = ?"\n'
    Path("orders_by_number.toml").write_text(f"{text}\n{read}", encoding="utf-8")
    assert "table   orders_by_number: " in run("explain", "orders.toml", "one order").out


def test_repair_makes_companion_tables_equal_after_confirmation() -> None:
    """`repair` reports differing rows, and repairs them with --yes."""
    assert 0 == run("put", "orders.toml", *ON, *ROW).code
    equal = run("repair", "orders.toml", *ON)
    assert (0, "") == (equal.code, equal.err)
    assert "orders_by_time: rows: 2 checked, 0 to write, 0 to delete\n" in equal.out
    with rowkey.open(rowkey.Design.read("orders.toml"), "rocks:data") as table:
        for name, number in (("orders_by_number", 5), ("orders", 6)):
            state = (table.companions.get(name) or table).get_state()
            row = {"user": "x", "at": 1, "number": number, "amount": 1}
            state.apply_changes([state.writer.build_put(row)])
    asked = run("repair", "orders.toml", *ON)
    assert (1, "nothing was changed; --yes repairs the companions\n") == (asked.code, asked.err)
    assert "orders_by_number: rows: 4 checked, 1 to write, 1 to delete\n" in asked.out
    done = run("repair", "orders.toml", *ON, "--yes", "-f", "json")
    document = json.loads(done.out)
    first, second = document["companions"]
    assert (1, 1, 1, True) == (
        done.code,
        first["written"],
        first["deleted"],
        first["repaired"],
    )
    assert ("orders_by_time", 1, 0) == (second["table"], second["written"], second["deleted"])
    assert {path for path in list_paths(document) if path != "tables"} <= REPAIR_FIELDS.keys()
    assert 0 == run("repair", "orders.toml", *ON).code


def test_cells_of_other_programs_are_counted_and_not_taken_for_differences_of_companions() -> None:
    """Cells of other programs are counted table by table; they are no difference."""
    assert 0 == run("put", "orders.toml", *ON, *ROW).code
    with rowkey.open("orders", "rocks:data") as table:
        (row,) = table.scan()
        for one, names in ((table, [b"x", b"y"]), (table.companions["orders_by_time"], [b"z"])):
            cells = [Cell("d", name, LATEST, b"1") for name in names]
            one.store.mutate([RowCells(one.design.key.encode(row), cells)])
    found = run("repair", "orders.toml", *ON)
    assert (0, "") == (found.code, found.err)
    assert (
        "orders has 2 cells in columns that its design does not declare, in 1 row: 1 in d:x, "
        "1 in d:y\n"
    ) in found.out
    assert "orders_by_time has 1 cell in columns that its design does not declare" in found.out
    assert found.out.endswith(
        "  such cells are neither compared nor changed; each table has its own\n"
    )
    document = json.loads(run("repair", "orders.toml", *ON, "-f", "json").out)
    companions = [one["undeclared"]["cells"] for one in document["companions"]]
    assert (2, [0, 1]) == (document["undeclared"]["cells"], companions)
    assert {path for path in list_paths(document) if path != "tables"} <= REPAIR_FIELDS.keys()


def test_repair_removes_only_the_entry_of_a_companion_without_its_main_table() -> None:
    """Without its main table a companion cannot be compared: only the catalog is repaired."""
    with open_engine("rocks:data") as engine:
        engine.drop_table("orders")
    done = run("repair", "orders.toml", *ON, "--yes")
    assert (1, "") == (done.code, done.err)
    assert "orders: the entry was removed\n" in done.out
    assert "checked" not in done.out
    assert 0 == run("create", "orders.toml", *ON).code


def test_repair_creates_and_fills_a_lost_companion_table() -> None:
    """`repair --yes` removes the entry of a lost companion, creates the table and fills it."""
    assert 0 == run("put", "orders.toml", *ON, *ROW).code
    with open_engine("rocks:data") as engine:
        engine.drop_table("orders_by_time")
    lost = run("count", "orders", *ON)
    assert (4, True) == (lost.code, "a companion of orders, is missing" in lost.err), lost
    done = run("repair", "orders.toml", *ON, "--yes")
    assert 1 == done.code
    assert (
        "orders_by_time: was missing or not yet filled; rows: 2 checked, 1 written, 0 deleted"
        in done.out
    )
    assert "1\n" == run("count", "orders_by_time", *ON).out


def test_the_ddl_of_companions_makes_the_tables_that_create_makes() -> None:
    """The script of each table has all attributes of the created table, its main table too."""
    with open_engine("rocks:data") as engine:
        specs = {name: engine.open_table(name).spec for name in KEYS}
    for name, spec in specs.items():
        is_main = name == "orders"
        done = run("ddl", "orders.toml", *([] if is_main else ["--companion", name]))
        script = done.out.splitlines()
        assert f"# Design: {name}.toml" in script
        assert is_main is not ("    'rowkey.companion_of' => 'orders'," in script)
        assert is_main is ("first: rowkey ddl orders.toml --companion orders_by_time" in done.err)
        design = rowkey.Design.read(f"{name}.toml")
        creation = build_create_statement(design, spec.splits, "", "" if is_main else "orders")
        expected = {key: value for key, value in spec.attributes.items() if "table_id" not in key}
        assert expected == {**creation.table.attributes, **creation.table.configuration}
    refused = run("ddl", "orders.toml", "--companion", "other")
    assert (2, True) == (refused.code, "one of orders_by_number, orders_by_time" in refused.err)
