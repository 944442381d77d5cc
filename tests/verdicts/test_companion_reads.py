"""No command judges a read by the key of a table whose companion serves it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import run
from rowkey.advise import compare_designs, search
from rowkey.design import Design

pytestmark = pytest.mark.usefixtures("search_once")

TABLE = """\
table  = "{name}"
key    = "{key}"
splits = "per_bucket"
{more}
[fields]
user   = {{ type = "u64", distinct = 2000 }}
at     = "timestamp_s"
number = "u64"
shop   = {{ type = "u64", distinct = 50 }}

[families.d]
compression = "ZSTD"
ttl         = "2d"

[writes]
rate = "200/s"
time = "at"

[sample]
path = "orders.csv"
"""
READS = """
[[reads]]
name  = "one"
where = "number = ?"
rate  = "100/s"

[[reads]]
name  = "latest"
where = "user = ?"
order = "at desc"
limit = 20
rate  = "100/s"
"""


@pytest.fixture(scope="module")
def main_design_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a design that begins with the time, its companion and its sample."""
    folder = tmp_path_factory.mktemp("orders")
    rows = [
        f"{n * 7919 % 1999},{1_600_000_000 + n // 9},{n * 2_654_435_761},{n * 31 % 50}"
        for n in range(3_000)
    ]
    (folder / "orders.csv").write_text("\n".join(["user,at,number,shop", *rows]) + "\n")
    key = "[bucket(number, 16)][number][user][desc(at)]"
    (folder / "by_number.toml").write_text(TABLE.format(name="by_number", key=key, more=""))
    more = 'companions = { by_number = "by_number.toml" }\n'
    key = "[bucket(at, number, user, 16)][at][number][user]"
    path = folder / "orders.toml"
    path.write_text(TABLE.format(name="orders", key=key, more=more) + READS)
    return path


def test_check_and_simulate_leave_out_reads_that_a_companion_serves(main_design_path: Path) -> None:
    """What a companion serves is a remark of the rules, and no part of the load of the table."""
    found = json.loads(run("check", main_design_path, "-f", "json").out)["findings"]
    about = {one["value"]: one["severity"] for one in found if one["code"] == "RK601"}
    assert {"one": "info", "latest": "error"} == about
    done = run("simulate", main_design_path, "-f", "json")
    document = json.loads(done.out)
    assert ["latest"] == [one["name"] for one in document["reads"]]
    assert any(
        "these reads are served by a companion table" in one
        for one in document["source"]["assumed"]
    )


def test_a_key_search_keeps_the_companion_and_its_read(main_design_path: Path) -> None:
    """The key is chosen for the other reads; the written file keeps the companion and its read."""
    advice = search(Design.read(main_design_path))
    assert not advice.tables
    assert "good" == advice.picks[0].judged.verdict.grade
    better = main_design_path.with_name("better.toml")
    assert 0 == run("advise", main_design_path, "--write", better).code
    written = Design.read(better)
    assert ["by_number"] == list(written.companions)
    assert ["one", "latest"] == [read.name for read in written.reads]
    assert 0 == run("simulate", better).code


def test_a_companion_that_does_not_fit_the_new_key_is_left_out_with_a_note(
    main_design_path: Path,
) -> None:
    """The written design has no companion that it could not have, and all of its reads."""
    text = main_design_path.read_text().replace(
        'where = "user = ?"', 'where = "user = ? and shop = ?"'
    )
    other, better = (
        main_design_path.with_name("other.toml"),
        main_design_path.with_name("other_better.toml"),
    )
    other.write_text(text)
    done = run("advise", other, "--write", better)
    assert 0 == done.code
    assert "without the present companions, by_number" in done.err
    written = Design.read(better)
    assert {} == written.companions
    assert ["one", "latest"] == [read.name for read in written.reads]


def test_a_comparison_has_no_figure_for_a_read_that_a_companion_serves(
    main_design_path: Path,
) -> None:
    """A design with the companion is compared with one that serves the read by itself."""
    alone = Design.read(main_design_path).copy_with_options(companions=None)
    found = compare_designs([Design.read(main_design_path), alone], names=["main", "alone"])
    first, second = found.find_measure("fan_out", "one").figures
    assert (None, "a companion table serves this read") == (first.value, str(first.reason))
    assert second.value is not None
    assert second.is_full_scan
    assert [1, 2] == [len(one.simulation.reads) for one in found.designs]


def test_the_gets_of_an_index_are_load_of_the_main_table(main_design_path: Path) -> None:
    """A read by an index is judged there, with one get of the main table for each of its rows."""
    index = main_design_path.parent / "by_shop.toml"
    text = TABLE.format(
        name="by_shop", key="[bucket(at, 4)][shop][desc(at)][user][number]", more=""
    )
    index.write_text(text)
    reads = """
[[reads]]
name  = "of shop"
where = "shop = ?"
order = "at desc"
limit = 10
rate  = "30/s"

[[reads]]
name  = "of amount"
where = "shop = ? and amount = ?"
rate  = "1/s"
"""
    key = "[bucket(number, 16)][number][user][desc(at)][shop]"
    more = 'companions = { by_shop = "by_shop.toml" }\n'
    text = TABLE.format(name="orders", key=key, more=more)
    text = text.replace("[families.d]", 'amount = { type = "u64", nullable = true }\n[families.d]')
    path = main_design_path.parent / "indexed.toml"
    path.write_text(text + reads)
    document = json.loads(run("simulate", path, "-f", "json").out)
    (gets,) = document["reads"]
    assert "rows of of shop" == gets["name"]
    assert (1, 1) == (gets["fan_out"]["mean"], gets["rows_read"]["mean"])
    assert [300] == [read.rate for read in Design.read(path).keep_own_reads({}).reads]
    told = "\n".join(document["source"]["assumed"])
    assert "are not counted for these reads" in told
    assert "sort its rows: of amount" in told
    checked = json.loads(run("check", path, "-f", "json").out)
    assert [] == [one for one in checked["findings"] if one["severity"] == "error"]
    key = "[bucket(number, 16)][number]"
    text = path.read_text().replace(f"{key}[user][desc(at)]", "[at][number][user]")
    text = text.replace('splits = "per_bucket"\n', "")
    path.write_text(text.replace('rate = "200/s"', 'rate = "20000/s"'))
    better = path.with_name("better_indexed.toml")
    assert 0 == run("advise", path, "--write", better).code
    assert ["of shop", "of amount"] == [read.name for read in Design.read(better).reads]
