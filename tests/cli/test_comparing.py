"""The output and exit codes of `rowkey compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import LOGS, run
from rowkey.render import COMPARISON_FIELDS, list_paths
from simulate.test_purity import KEYS

pytestmark = pytest.mark.usefixtures("search_once")
WORDS = """

[fields]
host = { type = "text", max_bytes = 8 }
ts   = "timestamp_ms"

[cluster]
servers  = 4
capacity = "5000/s"

[[reads]]
name  = "tail"
where = "host = ?"
order = "ts desc"
"""
UNIFORM = 'splits = { algorithm = "uniform", regions = 4 }'
BUCKET_SPLITS = 'splits = "per_bucket"'
FRONT, HOSTS = "front.toml", "hosts.toml"
EVENTS = 1_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with two designs and a sample."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / FRONT).write_text(f'table = "logs"\nkey = "[ts][host]"\n{UNIFORM}{WORDS}')
    (tmp_path / HOSTS).write_text(
        f'table = "logs"\nkey = "[bucket(host, 4)][host][ts]"\n{BUCKET_SPLITS}{WORDS}'
    )
    rows = [f"h-{n * 7919 % 3989},{1_600_000_000_000 + n}" for n in range(EVENTS)]
    (tmp_path / "events.csv").write_text("\n".join(["host,ts", *rows, ""]))
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("count", [2, 8])
def test_the_comparison_table_fits_80_columns(count: int) -> None:
    """The table of two or eight designs fits 80 columns and has a figure for each."""
    designs = [FRONT, HOSTS, *[FRONT] * (count - 2)]
    told = run("compare", *designs, "--sample", "events.csv")
    lines = told.out.splitlines()
    assert (0, "") == (told.code, told.err)
    assert [] == [line for line in lines if len(line) > 80]
    heading = next(line for line in lines if line.split()[:1] == ["A"] and "logs" not in line)
    assert list("ABCDEFGH"[:count]) == heading.split()
    table = lines[lines.index(heading) + 1 : lines.index("", lines.index(heading))]
    rows = [line[24:].split() for line in table if not line.startswith("read ")]
    assert {count} == {len(row) for row in rows}


@pytest.mark.parametrize(
    ("command", "transforms"),
    [
        ("compare", sorted(KEYS)[::4]),
        ("report", sorted(KEYS)[2::4]),
        *(
            pytest.param(command, sorted(KEYS)[half::2], marks=pytest.mark.long)
            for command in ("compare", "report")
            for half in (0, 1)
        ),
    ],
)
def test_any_valid_key_can_be_compared_and_reported(
    folder: Path, command: str, transforms: list[str]
) -> None:
    """Any valid key has figures next to other keys, in the table and in a report."""
    for transform in transforms:
        text = f'table = "logs"\nkey = "{KEYS[transform]}"{WORDS}'
        (folder / transform).write_text(text.replace("max_bytes = 8", "max_bytes = 40"))
    told = run(command, FRONT, *transforms, "--sample", "events.csv")
    assert (0, "") == (told.code, told.err)
    shown = told.out.replace("<wbr>", "")
    assert [] == [KEYS[one] for one in transforms if KEYS[one] not in shown]


def test_skipped_lines_of_the_sample_are_counted_in_a_comparison(folder: Path) -> None:
    """Skipped lines of the sample are counted in the table and for each design in JSON."""
    path = folder / "events.csv"
    path.write_text(path.read_text("utf-8") + "h-1,never\n")
    told = run("compare", FRONT, HOSTS, "--sample", "events.csv")
    assert ["  1 row left out; "] == [line[:18] for line in told.out.splitlines() if "left" in line]
    document = json.loads(run("compare", FRONT, HOSTS, "--sample", "events.csv", "-f", "json").out)
    assert [1, 1] == [one["left_out"] for one in document["designs"]]
    alone = json.loads(run("simulate", FRONT, "--sample", "events.csv", "-f", "json").out)
    first = document["designs"][0]
    assert alone["source"]["left_out_first"] == first["left_out_first"]
    assert alone["remarks"] == first["remarks"]


@pytest.mark.usefixtures("folder")
def test_the_best_figure_of_each_row_is_marked_by_a_star() -> None:
    """The best figure of a row is marked by a star, which needs no colour."""
    told = run("compare", FRONT, HOSTS, "--sample", "events.csv").out.splitlines()
    rows = {line[:24].strip(): line[24:].split() for line in reversed(told) if line[24:]}
    bears = rows["writes a second, at most"]
    assert ["poor", "good*"] == rows["verdict"]
    assert (["5,000"], True) == (bears[:1], bears[1].endswith("*"))
    assert [True, False] == [cell.endswith("*") for cell in rows["bytes of a row key"]]
    assert ["4", "4"] == rows["regions"]
    assert ["all", "1*"] == rows["ranges"]


@pytest.mark.usefixtures("folder")
def test_the_json_of_a_comparison_has_exactly_the_documented_fields() -> None:
    """The JSON document has exactly the fields of the reference."""
    told = run("compare", FRONT, HOSTS, "--sample", "events.csv", "-f", "json")
    document = json.loads(told.out)
    found = {path.replace(".A.", ".*.").replace(".B.", ".*.") for path in list_paths(document)}
    assert set(COMPARISON_FIELDS) == found | {"measures[].best[]", "designs[].remarks[]"}
    assert [1, 4, 5000.0, EVENTS] == [
        document[name] for name in ("format", "servers", "capacity", "operations")
    ]
    by_name = {one["name"]: one for one in document["measures"] if one["read"] is None}
    assert ["B"] == by_name["skew_equal"]["best"]
    assert "more" == by_name["throughput"]["better"]
    assert by_name["encode_us"]["figures"]["A"]["value"] > 0


@pytest.mark.usefixtures("folder")
def test_two_comparisons_with_one_seed_give_the_same_json() -> None:
    """Two comparisons with one seed are equal except for the time per key."""

    def document() -> list[object]:
        told = run("compare", FRONT, HOSTS, "--sample", "events.csv", "-f", "json", "--seed", "3")
        return [one for one in json.loads(told.out)["measures"] if one["name"] != "encode_us"]

    assert document() == document()


def test_the_mistakes_of_all_compared_files_are_printed_at_once(folder: Path) -> None:
    """The mistakes of all files are printed with file and line, and the exit code is 2."""
    (folder / "one.toml").write_text('table = "logs"\nkey = "[x]"\n[fields]\nhost = "text"\n')
    (folder / "two.toml").write_text('table = "logs"\nkey = "[host]"\n[fields]\nhost = "txt"\n')
    told = run("compare", "one.toml", "two.toml", FRONT, "--sample", "events.csv")
    assert (2, "") == (told.code, told.out)
    first, second = told.err.splitlines()
    assert first.startswith("rowkey: one.toml:2:1: key")
    assert second.startswith("rowkey: two.toml:4:1: fields.host")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "front.toml: sample: the design declares no sample; expected a file of recorded"),
        ([FRONT, "--sample", "none.csv"], "none.csv"),
    ],
)
def test_incomparable_designs_exit_with_2_and_the_reason(more: list[str], message: str) -> None:
    """Designs that cannot be compared exit with 2 and a message that says why."""
    told = run("compare", FRONT, HOSTS, *more)
    assert (2, "") == (told.code, told.out)
    assert message in told.err


@pytest.mark.usefixtures("folder")
def test_a_comparison_needs_two_to_eight_designs() -> None:
    alone = run("compare", FRONT, "--sample", "events.csv").err
    assert "1 design cannot be compared; expected 2 to 8 designs" in alone
    many = run("compare", *[FRONT] * 9, "--sample", "events.csv").err
    assert "9 designs cannot be compared; expected 2 to 8 designs" in many


def test_a_reason_that_applies_to_three_designs_is_printed_once(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(
        "host,ts,v\n" + "".join(f"h{n % 9},{n},1\n" for n in range(90)), encoding="utf-8"
    )
    text = LOGS.partition("[writes]")[0] + (
        "v = 'u8'\n[[reads]]\nname = 'gone'\nwhere = \"host = 'zz'\"\n[sample]\npath = 'e.csv'\n"
    )
    paths = [tmp_path / f"{name}.toml" for name in "abc"]
    for path in paths:
        path.write_text(text, encoding="utf-8")
    lines = run("compare", *paths).out.splitlines()
    said = [line for line in lines if "no row is returned" in line]
    assert ["– A, B, C; read gone: rows read for each one: no row is returned"] == said
