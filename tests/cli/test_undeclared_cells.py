"""The commands say what a table holds beyond the rows of its design."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import rowkey
from cli.command import Outcome, run
from cli.test_dumping import PLACE_OPTION
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.render import COUNT_FIELDS, list_paths

BOTH, ALONE = {"host": "web-1", "ts": 1000}, {"host": "new", "ts": 7}
FOREIGN_KEY = b"\x01no end"


def run_on_things(command: str, *more: object) -> Outcome:
    """Run a command on the table of the folder."""
    return run(command, "things.toml", *PLACE_OPTION, *more)


@pytest.fixture
def shared_folder(things_folder: Path) -> Path:
    """Return the folder, with cells of another program in two rows of its table."""
    with rowkey.open("things", "rocks:data") as table:
        for row in (BOTH, ALONE):
            cells = [Cell("d", name, LATEST, b"\1") for name in (b"x", b"\x80")]
            table.store.mutate([RowCells(table.design.key.encode(row), cells)])
    return things_folder


def put_undecodable() -> None:
    """Put a row whose key no row of the design has."""
    with rowkey.open("things", "rocks:data") as table:
        table.store.mutate([RowCells(FOREIGN_KEY, [Cell("d", b"hits", LATEST, b"\1")])])


@pytest.mark.usefixtures("shared_folder")
def test_count_reports_cells_of_other_programs_separately() -> None:
    """Rows are counted as before; the cells of another program are told apart, by column."""
    found = run_on_things("count")
    assert (0, "5\n") == (found.code, found.out)
    assert (
        "things has 4 cells in columns that its design does not declare, in 2 rows: 2 in d:x, "
        "2 in d:\\x80\n  1 row with such cells only: not counted\n  such as d:x of row key "
    ) in found.err
    document = json.loads(run_on_things("count", "-f", "json").out)
    sample = document["undeclared"].pop("sample")
    assert {
        "cells": 4, "rows": 2, "undeclared_rows": 1, "unlisted_cells": 0,
        "columns": [{"column": "d:x", "cells": 2}, {"column": "d:\\x80", "cells": 2}],
    } == document["undeclared"]  # fmt: skip
    assert {("d:x", "01"), ("d:\\x80", "01")} == {(one["column"], one["value"]) for one in sample}
    found = run_on_things("count", "--where", "host=new")
    assert "0\n" == found.out
    assert "things has 2 cells in columns" in found.err
    found = run_on_things("count", "--where", "host=db-1")
    assert ("1\n", "") == (found.out, found.err)


@pytest.mark.usefixtures("shared_folder")
def test_the_documented_fields_of_count_are_exactly_those_of_its_json() -> None:
    """The table of meanings has exactly the paths that occur in a document."""
    put_undecodable()
    document = json.loads(run_on_things("count", "--skip-undecodable", "-f", "json").out)
    assert set(COUNT_FIELDS) == set(list_paths(document))
    assert [FOREIGN_KEY.hex()] == [one["row_key"] for one in document["undecodable"]["sample"]]


@pytest.mark.usefixtures("shared_folder")
def test_dump_names_the_undeclared_cells_it_leaves_out() -> None:
    """A dump writes the rows of the design, which can be loaded, and names the rest on stderr."""
    found = run_on_things("dump", "-o", "a.jsonl")
    assert found.err.startswith("5 rows written to a.jsonl\nthings has 4 cells in columns that ")
    assert "  1 row with such cells only: not written\n" in found.err
    assert 0 == run_on_things("load", "a.jsonl").code


FOUND = (
    "things has {} in columns that its design does not declare, in {}: {} in d:x, {} in d:\\x80\n"
)
ONLY = "  1 row with such cells only: {}\n"
ALL = FOUND.format("4 cells", "2 rows", 2, 2) + ONLY
OF_BOTH = FOUND.format("2 cells", "1 row", 1, 1) + "  such as d:"
OF_ALONE = FOUND.format("2 cells", "1 row", 1, 1) + ONLY
CASES = {
    "get": (("host=web-1", "ts=1000"), 0, OF_BOTH),
    "get -f json": (("host=web-1", "ts=1000"), 0, OF_BOTH),
    "get --undeclared": (("host=web-1", "ts=1000"), 0, ""),
    "get -f text": (("host=new", "ts=7"), 1, OF_ALONE.format("not printed")),
    "get -q": (("host=db-1", "ts=1000"), 1, ""),
    "scan": ((), 0, ALL.format("not printed")),
    "scan -f json": ((), 0, ALL.format("not printed")),
    "scan --limit 1": (("--where", "host=web-1", "--where", "ts=1000"), 0, OF_BOTH),
    "scan --limit 1000": ((), 0, ALL.format("not printed")),
    "scan --where host=new": ((), 0, OF_ALONE.format("not printed")),
    "scan --where host=db-1": ((), 0, ""),
    "scan --order ts": ((), 0, ALL.format("not printed")),
    "scan --undeclared": ((), 0, ""),
    "scan -o a.jsonl": ((), 0, ALL.format("not written")),
    "scan -o a.csv": ((), 0, ALL.format("not written")),
    "scan -o a.parquet": ((), 0, ALL.format("not written")),
    "scan -o a.arrow": ((), 0, ALL.format("not written")),
    "count": ((), 0, ALL.format("not counted")),
    "count --where host=db-1": ((), 0, ""),
    "dump": ((), 0, ALL.format("not written")),
    "dump -o a.jsonl": ((), 0, ALL.format("not written")),
    "verify": ((), 0, ALL.replace("\n", "\n  ").format("no other cell is stored there")),
}  # fmt: skip
"""By command: what follows it, its exit code, and what it says of undeclared cells."""


@pytest.mark.usefixtures("shared_folder")
@pytest.mark.parametrize("name", CASES)
def test_commands_that_read_rows_count_the_cells_of_other_programs(name: str) -> None:
    command, *options = name.split()
    more, code, expected = CASES[name]
    found = run_on_things(command, *options, *more)
    text = found.out if command == "verify" else found.err
    assert code == found.code
    assert expected in text
    assert bool(expected) == ("does not declare" in text)


@pytest.mark.usefixtures("shared_folder")
def test_scan_undeclared_shows_cells_of_other_programs_in_every_format() -> None:
    """With --undeclared, rows have these cells by column, as bytes in hexadecimal."""
    cells = {"d:x": "01", "d:\\x80": "01"}

    def find_cells(rows: list[Any]) -> list[Any]:
        return [row["undeclared"] for row in rows if row["undeclared"]]

    scan = ("scan", "--undeclared")
    assert [cells, cells] == find_cells(json.loads(run_on_things(*scan, "-f", "json").out))
    lines = run_on_things(*scan, "-f", "jsonl").out.splitlines()
    assert [cells, cells] == find_cells(list(map(json.loads, lines)))
    assert 6 == len(lines)
    assert 2 == run_on_things(*scan).out.count('{"d:x": "01", "d:\\\\x80": "01"}')
    text = run_on_things(*scan, "-f", "csv").out
    assert 2 == text.count('"{""d:x"": ""01"", ""d:\\\\x80"": ""01""}"')
    run_on_things(*scan, "-o", "a.parquet")
    rows = parquet.read_table("a.parquet").to_pylist()
    assert [[("d:x", b"\1"), ("d:\\x80", b"\1")]] * 2 == find_cells(rows)
    found = run_on_things("get", "--undeclared", "host=new", "ts=7", "-f", "json")
    assert cells == json.loads(found.out)["undeclared"]
    assert '{"d:x": "01"' in run_on_things("get", "--undeclared", "host=new", "ts=7").out
    found = run_on_things("get", "host=new", "ts=7")
    assert (1, "") == (found.code, found.out)
    assert found.err.startswith(
        "things has no row with host=new ts=7\nthings has 2 cells in columns"
    )
    assert "  1 row with such cells only: not printed\n" in found.err


@pytest.mark.usefixtures("shared_folder")
def test_verify_counts_undeclared_cells_of_every_table() -> None:
    """The document of `verify` and `repair` has these cells of each table, and none is changed."""
    for command in ("verify", "repair"):
        found = run(command, *PLACE_OPTION, "-f", "json")
        (table,) = json.loads(found.out)["tables"]
        undeclared = table["undeclared"]
        assert (0, True, 4, 1) == (
            found.code, table["sound"], undeclared["cells"], undeclared["undeclared_rows"]
        )  # fmt: skip
        assert {path for path in list_paths(json.loads(found.out)) if "." in path} >= {
            "tables[].undeclared.cells", "tables[].undeclared.sample[].row_key"
        }  # fmt: skip


@pytest.mark.usefixtures("things_folder")
def test_skip_undecodable_leaves_out_rows_whose_key_cannot_be_decoded() -> None:
    """With --skip-undecodable such rows are left out and named; without, the error names it."""
    put_undecodable()
    for command in ("count", "scan", "dump"):
        refused, found = run_on_things(command), run_on_things(command, "--skip-undecodable")
        assert "To leave out such rows" in refused.err.replace("\n", " ")
        assert "--skip-undecodable" in refused.err
        assert 0 != refused.code
        assert 0 == found.code
        assert (
            "1 row left out, because rowkey cannot decode their keys or values: \\x01no end\n"
            in (found.err)
        )
        assert "the text with the bytes 6e6f20656e64 has no end" in found.err
    found = run("verify", *PLACE_OPTION)
    assert (0, True) == (found.code, "things: sound" in found.out)
    assert "1 row not decoded, because rowkey cannot decode" in found.out
