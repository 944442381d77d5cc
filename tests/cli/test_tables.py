"""The commands of tables on disk: create, put, get, scan, count, explain and drop."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cli.command import LOGS, Outcome, run
from cli.conftest import EVERYTHING, ROWS
from command_server import find_command

PLACE_OPTION = ("--on", "rocks:data")


def run_on_things(verb: str, *more: object, **given: Any) -> Outcome:
    """Run a command on the table of things."""
    return run(verb, "things.toml", *PLACE_OPTION, *more, **given)


def list_hosts(*more: object) -> list[tuple[str, int]]:
    """Return host and time of a scan's rows in their order."""
    found = run_on_things("scan", *more, "-f", "jsonl")
    assert (0, "") == (found.code, found.err)
    rows = map(json.loads, found.out.splitlines())
    return [(row["host"], row["ts"]) for row in rows]


def get_error_line(outcome: Outcome) -> str:
    """Return the one line of an error that prints nothing else."""
    assert (2, "") == (outcome.code, outcome.out)
    first, *more = outcome.err.splitlines()
    assert more in ([], [f"Try '{first.partition(':')[0]} --help'."])
    return first


# Made and dropped


def test_creating_a_table_again_is_an_error(things_folder: Path) -> None:
    """A new table prints its regions and families, and creating it again is an error."""
    del things_folder
    assert "the table things exists already" in get_error_line(
        run("create", "things.toml", *PLACE_OPTION)
    )
    assert 5 == len(list_hosts())
    made = run("create", "things.toml", "--on", "rocks:other")
    assert (0, "things: created with 4 regions, families d\n") == (made.code, made.out)


def test_split_keys_from_a_sample_become_the_regions_of_the_table(tmp_path: Path) -> None:
    """Split keys from a sample need the sample, and the regions have them."""
    design, sample, on = tmp_path / "logs.toml", tmp_path / "s.csv", f"rocks:{tmp_path / 'data'}"
    splits = '{ algorithm = "sample", regions = 4 }'
    words = LOGS.replace("[bucket(host, 16)]", "").replace('"per_bucket"', splits)
    design.write_text(words)
    rows = "".join(f"web-{n:03},{1_609_459_200_000 + n}\n" for n in range(400))
    sample.write_text("host,ts\n" + rows)
    assert "sample" in get_error_line(run("create", design, "--on", on))
    assert 0 == run("create", design, "--on", on, "--sample", sample).code
    assert 0 == run("load", design, sample, "--on", on).code
    found = json.loads(run("count", "logs", "--on", on, "--regions", "-f", "json").out)
    assert [100, 100, 100, 100] == [one["writes"] for one in found["regions"]]
    asked = json.loads(run("splits", design, "--sample", sample, "-f", "json").out)
    assert asked["splits"] == [one["start"] for one in found["regions"]][1:]


def test_a_table_is_dropped_only_with_its_name_typed(things_folder: Path) -> None:
    """A table is dropped only with its name typed, and can be created again."""
    del things_folder
    assert "things is not dropped: no name was typed" in get_error_line(run_on_things("drop"))
    assert "things is not dropped: 'thing' is not the table's name" in get_error_line(
        run_on_things("drop", "--yes", "thing")
    )
    assert 5 == len(list_hosts())
    dropped = run_on_things("drop", "--yes", "things")
    assert (0, "things: dropped\n") == (dropped.code, dropped.out)
    assert "there is no table things" in get_error_line(run_on_things("scan"))
    assert "there is no table things" in get_error_line(
        run("drop", "things", *PLACE_OPTION, "--yes", "things")
    )
    assert 0 == run("create", "things.toml", *PLACE_OPTION).code
    assert [] == list_hosts()


def test_the_yes_option_without_a_value_confirms_a_drop_by_name(things_folder: Path) -> None:
    """Without a value `--yes` repeats the table's name; empty, or next to a file, it says none."""
    del things_folder
    assert "'' is not the table's name" in get_error_line(
        run("drop", "things", "--yes", "", *PLACE_OPTION)
    )
    assert "Give --yes things." in get_error_line(
        run("drop", "things.toml", "--yes", *PLACE_OPTION)
    )
    dropped = run("drop", "things", "--yes", *PLACE_OPTION)
    assert (0, "things: dropped\n") == (dropped.code, dropped.out)


# Written


def test_put_stores_a_value_as_typed_after_the_first_equals_sign(things_folder: Path) -> None:
    """A put stores values as typed after the first =, and keeps other fields."""
    del things_folder
    key = ("host=a=b", "ts=1970-01-01T00:00:07Z")
    done = run_on_things("put", *key, "price=2.5", "text= x ", "raw=", "ok=")
    assert (0, "", "1 row written\n") == (done.code, done.out, done.err)
    assert "hits: 'many' is not a whole number" in get_error_line(
        run_on_things("put", *key, "hits=many")
    )
    assert 0 == run_on_things("put", *key, "hits=3").code
    row = json.loads(run_on_things("get", *key, "-f", "json").out)
    assert {"host": "a=b", "ts": 7000, "price": "2.50", "text": " x ", "raw": "", "hits": 3} == {
        name: value for name, value in row.items() if value is not None
    }


def test_a_json_null_deletes_a_value_and_replace_deletes_all_others(things_folder: Path) -> None:
    """A JSON null deletes a value, and --replace deletes all other values."""
    del things_folder
    key = '"host": "web-1", "ts": 1000'

    def row() -> dict[str, Any]:
        found = json.loads(run_on_things("get", "host=web-1", "ts=1000", "-f", "json").out)
        return {name: value for name, value in found.items() if value is not None}

    assert 0 == run_on_things("put", stdin=f'{{{key}, "price": null, "hits": 8}}\n').code
    assert ("price" in row(), row()["hits"], row()["raw"]) == (False, 8, "00ff")
    assert 0 == run_on_things("put", "--replace", stdin=f'{{{key}, "ok": false}}\n').code
    assert {"host": "web-1", "ts": 1000, "ok": False} == row()


def test_refused_lines_are_numbered_and_the_other_rows_written(things_folder: Path) -> None:
    """Refused lines are named with their numbers, and the other rows are written."""
    del things_folder
    good, wrong = '{"host": "q", "ts": %d}', '{"host": "q", "ts": "soon"}'
    unknown = '{"host": "q", "ts": 2, "hots": 1}'
    twice = '{"host": "q", "ts": 2, "ts": 3}'
    lines = [good % 1, "", "{bad", wrong, unknown, '{"ts": 3}', good % 4, twice]
    done = run_on_things("put", stdin="\n".join(lines))
    first, *errors = done.err.splitlines()
    assert (2, "2 rows written") == (done.code, first)
    places = ("line 3: ", "line 4, field ", "line 5, field ", "line 6, field ", "line 8: ")
    starts = [f"rowkey: standard input, {place}" for place in places]
    assert starts == [error[: len(start)] for error, start in zip(errors, starts, strict=True)]
    assert "hots: the design has no such field" in errors[2]
    assert errors[4].endswith("the field 'ts' is given twice; expected one value.")
    assert [("q", 4), ("q", 1)] == list_hosts("--where", "host=q")


def test_ten_refused_lines_are_printed_and_further_ones_counted(things_folder: Path) -> None:
    del things_folder
    done = run_on_things("put", stdin="no\n" * 1_000)
    assert 2 == done.code
    assert 12 == len(done.err.splitlines())
    assert "rowkey: and 990 more lines refused" == done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["host"], "'host' is not a field with a value; expected FIELD=VALUE"),
        (["=web-1"], "'=web-1' is not a field with a value; expected FIELD=VALUE"),
        (["hots=a"], "hots: the design has no such field; expected one of host, "),
        (["host=a", "host=b"], "host: the field is given twice; expected one value"),
        (["host=a"], "ts: the row has no value for this field"),
        (["host=a", "ts=1", "price=1.234"], "price: "),
        (["host=a\0b", "ts=1"], "contains U+0000"),
        (["host=\ud800", "ts=1"], "contains a lone surrogate"),
        (["host=" + "k" * 40_000, "ts=1"], "expected at most 32,767 bytes"),
    ],
)
def test_an_invalid_row_is_reported_in_one_line(
    things_folder: Path, arguments: list[str], message: str
) -> None:
    """An invalid row is one line with the value and the allowed ones."""
    del things_folder
    assert message in get_error_line(run_on_things("put", *arguments))


# Read


def test_get_exits_with_1_for_a_missing_row(things_folder: Path) -> None:
    """A missing row exits with 1, and a field outside of the key is wrong usage."""
    del things_folder
    found = run_on_things("get", "host=web-1", "ts=77")
    assert (1, "", "things has no row with host=web-1 ts=77\n") == (
        found.code,
        found.out,
        found.err,
    )
    assert "price: the design has no such field; expected one of host, ts" in get_error_line(
        run_on_things("get", "host=web-1", "ts=1000", "price=1")
    )
    missing = run_on_things("get", "host=web-1")
    assert 2 == missing.code
    assert "ts: no value is given; a row is found by host, ts. Write, for example, " in missing.err
    [call] = re.findall(r"rowkey get things\.toml host=web-1 ts=(\S+);", missing.err)
    assert "has no row" in run_on_things("get", "host=web-1", f"ts={call}").err
    nothing = run_on_things("get")
    assert "host, ts: no value is given; a row is found by host, ts. Write, for " in nothing.err
    [host, ts] = re.findall(r"rowkey get things\.toml host=(\S+) ts=(\S+)\.", nothing.err)[0]
    assert "has no row" in run_on_things("get", f"host={host}", f"ts={ts}").err


def test_put_refuses_seconds_in_a_field_of_milliseconds(things_folder: Path) -> None:
    """`put` refuses seconds in a field of milliseconds, and takes a date of the same digits."""
    del things_folder
    refused = run_on_things("put", "host=web-9", "ts=1609459200")
    assert 2 == refused.code
    assert "Write 1609459200000; or the text '1970-01-19T15:04:19.200Z'" in refused.err
    assert 0 == run_on_things("put", "host=web-9", "ts=1970-01-19T15:04:19.200Z").code
    row = json.dumps({"host": "web-9", "ts": 1609459200})
    assert "line 1" in run_on_things("put", stdin=row).err


def test_get_and_scan_print_times_as_iso_and_json_as_counts(things_folder: Path) -> None:
    """The text of `get` and the table of `scan` are the same, with ISO times; JSON has counts."""
    del things_folder
    for text in ("1500", "1970-01-01T00:00:01.500Z", "1970-01-01T01:00:01.5+01:00"):
        found = run_on_things("get", "host=web-2", f"ts={text}")
        assert "1970-01-01T00:00:01.500Z" in found.out
        assert run_on_things("scan", "--where", "host=web-2", "--where", f"ts={text}") == found
    assert 1500 == json.loads(run_on_things("get", "host=web-2", "ts=1500", "-f", "json").out)["ts"]


READS = """
[[reads]]
name  = "recent"
where = "host in ? and ts >= :since"

[[reads]]
name  = "odd"
where = '"my =" = ?'
"""


@pytest.fixture
def reads_folder(things_folder: Path) -> Path:
    """Return the folder of the table, with a design that declares more reads."""
    text = (things_folder / "things.toml").read_text(encoding="utf-8")
    (things_folder / "things.toml").write_text(text + READS, encoding="utf-8")
    return things_folder


@pytest.mark.parametrize(
    ("arguments", "times"),
    [
        (["tail", "web-1"], [3000, 2000, 1000]),
        (["tail", "web-1", "--limit", "2"], [3000, 2000]),
        (["recent", "since=1970-01-01T00:00:02Z", '["web-1", "db-1"]'], [2500, 2000, 3000]),
        (["odd", "x = y"], [1000]),
    ],
)
def test_scan_read_takes_the_parameters_of_a_declared_read(
    reads_folder: Path, arguments: list[str], times: list[int]
) -> None:
    """`scan --read` takes a value for each ? and name=value for each :name."""
    del reads_folder
    found = run_on_things("scan", "--read", *arguments, "-f", "jsonl")
    assert (0, "") == (found.code, found.err)
    assert sorted(times) == sorted(json.loads(line)["ts"] for line in found.out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--read", "tial"], "the design declares no read 'tial'; expected one of tail, recent"),
        (["--read", "tail"], "no value is given for host = ?. The read tail has 1 parameter: host"),
        (["--read", "tail"], "Write --read tail HOST."),
        (["--read", "tail", "a", "b"], "there is no parameter for 'b'"),
        (["--read", "recent", "[]"], "no value is given for ts >= :since. The read recent has"),
        (["--read", "recent"], "Write --read recent '[HOST, …]' since=TS."),
        (["--read", "recent", "a", "since=1"], "is not a JSON list of texts and numbers"),
        (["--read", "recent", "[]", "since=soon"], "'soon' is not a time"),
        (["--read", "tail", "a", "--order", "ts"], "Remove --read, or --where and --order."),
        (["web-1"], "Give --read NAME before it, or a condition as --where FIELD=VALUE."),
    ],
)
def test_a_wrong_call_of_a_declared_read_shows_a_right_call(
    reads_folder: Path, arguments: list[str], message: str
) -> None:
    """A wrong call names the read's parameters and shows a right call."""
    del reads_folder
    found = run_on_things("scan", *arguments)
    assert (2, "") == (found.code, found.out)
    assert message in found.err


EXPECTED_ROWS: list[dict[str, Any]] = [
    dict.fromkeys(
        ("host", "ts", "text", "price", "raw", "day", "id", "hits", "ok", "ratio", "my =")
    )
    | row
    for row in (
        {"host": "db-1", "ts": 2500, "price": "0.01", "text": "12"},
        {"host": "web-1", "ts": 3000, "ok": False, "ratio": 1e300, "text": ""},
        {"host": "web-1", "ts": 2000, "text": "größe", "price": "3.00", "hits": 2**63 - 1},
        json.loads(ROWS.splitlines()[0]),
        {"host": "web-2", "ts": 1500, "text": "a b", "hits": 5},
    )
]
"""All rows in the order of the key without its bucket."""


def test_the_json_of_scan_is_read_by_all_commands(things_folder: Path) -> None:
    """What `scan -f json` prints is read by `load`, `put`, `encode` and `simulate`."""
    text = run_on_things("scan", "-f", "json").out
    (things_folder / "things.json").write_text(text)
    count = len(EXPECTED_ROWS)
    keys = run("encode", "things.toml", stdin=text).out
    assert keys == run("encode", "things.toml", "things.json").out
    assert count == len(keys.splitlines())
    assert f"{count} rows written" in run_on_things("put", stdin=text).err
    assert f"{count} rows" in run_on_things("load", "things.json").err
    assert count == len(run_on_things("scan", "-f", "jsonl").out.splitlines())
    simulated = run("simulate", "things.toml", "--sample", "things.json", "-f", "json").out
    assert count == json.loads(simulated)["operations"]
    broken = text.replace('"host"', '"hots"', 1)
    assert (
        "standard input, item 1, field hots: the design has no"
        in run_on_things("put", stdin=broken).err
    )
    assert (
        "item 2: the file ends within" in run_on_things("put", stdin='[{"host":"a","ts":1},{').err
    )


def test_json_rows_have_numbers_as_numbers_and_decimals_as_texts(things_folder: Path) -> None:
    """JSON has decimals, dates, bytes and ids as texts, and numbers and times as numbers."""
    del things_folder
    lines = run_on_things("scan", "-f", "jsonl").out.splitlines()
    assert EXPECTED_ROWS == json.loads(run_on_things("scan", "-f", "json").out)
    assert EXPECTED_ROWS == [json.loads(line) for line in lines]
    assert "[]\n" == run_on_things("scan", "-f", "json", "--where", "host=nowhere").out


def test_csv_rows_keep_line_ends_quotes_and_empty_texts(things_folder: Path) -> None:
    """CSV keeps line ends and quotes, null is nothing, and an empty text is two quotes."""
    del things_folder
    printed = run_on_things("scan", "-f", "csv").out
    rows = [
        {name: json.dumps(v) if isinstance(v, bool) else str(v or "") for name, v in row.items()}
        for row in EXPECTED_ROWS
    ]
    assert rows == list(csv.DictReader(io.StringIO(printed, newline="")))
    assert 'web-1,3000,"",,,,,,false,1e+300,\n' in printed


def test_arrow_rows_have_a_column_of_the_right_type_for_each_field(things_folder: Path) -> None:
    """The Arrow stream has a column of the right type for each field."""
    command = [find_command(), "scan", "things.toml", *PLACE_OPTION, "-f", "arrow"]
    done = subprocess.run(command, cwd=things_folder, capture_output=True, check=True)
    table = pa.ipc.open_stream(done.stdout).read_all()
    assert [row["hits"] for row in EXPECTED_ROWS] == table.column("hits").to_pylist()
    assert pa.decimal128(10, 2) == table.schema.field("price").type
    assert list(EXPECTED_ROWS[0]) == table.column_names


def test_a_printed_table_has_aligned_columns_and_escaped_line_breaks(things_folder: Path) -> None:
    """A printed table has aligned columns with names, and line breaks are escaped."""
    del things_folder
    head, rule, *lines = run_on_things("scan").out.splitlines()
    assert len(EXPECTED_ROWS) == len(lines)
    assert list(EXPECTED_ROWS[0]) == [name for name in EXPECTED_ROWS[0] if f"{name} " in f"{head} "]
    assert {"-", " "} == set(rule)
    at = head.index("hits")
    assert ["-7", "9223372036854775807"] == [lines[n][at:].split()[0] for n in (3, 2)]
    assert r'a, "b"\nc\rd' in lines[3]
    times = [line.split()[1] for line in lines[1:3]]
    assert ["1970-01-01T00:00:03.000Z", "1970-01-01T00:00:02.000Z"] == times


@pytest.mark.parametrize(
    ("tests", "found"),
    [
        (["host=web-1"], [3000, 2000, 1000]),
        (["host=web-1", "ts>=2000"], [3000, 2000]),
        (["host=web-1", "ts > 2000"], [3000]),
        (["ts<1970-01-01T00:00:02Z"], [1000, 1500]),
        (["ts <= 1500"], [1000, 1500]),
        (["ts between 1500 and 2500"], [2500, 2000, 1500]),
        (["ts in (1000, '2500', 9)"], [2500, 1000]),
        (["host starts with web-"], [3000, 2000, 1000, 1500]),
        (["host in (db-1, 'web-2') and ts > 1"], [2500, 1500]),
        (["price=3"], [2000]),
        (["price in (12.5, 0.01)"], [2500, 1000]),
        (["raw=00ff"], [1000]),
        (["day=2021-02-03"], [1000]),
        (["id=12345678-1234-5678-1234-567812345678"], [1000]),
        (["hits<0"], [1000]),
        (["ok=true"], [1000]),
        (["ratio>1"], [3000, 1000]),
        (["text='a b'"], [1500]),
        (["text=''"], [3000]),
        (["text='a, \"b\"\nc\rd'"], [1000]),
        (["text in (12)"], [2500]),
        (["\"my =\"='x = y'"], [1000]),
        (['"my =" starts with x'], [1000]),
        (["host=web-1", "host=web-2"], []),
    ],
)
def test_scan_returns_exactly_the_rows_that_meet_all_conditions(
    things_folder: Path, tests: list[str], found: list[int]
) -> None:
    """A scan returns exactly the rows that meet all conditions, for every operator."""
    del things_folder
    given = [word for test in tests for word in ("--where", test)]
    assert found == [ts for _, ts in list_hosts(*given)]
    assert f"{len(found)}\n" == run_on_things("count", *given).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--where", "hots=a"], "where[0]: there is no field 'hots'"),
        (["--where", "host=a", "--where", "ts=soon"], "where[1]: ts = 'soon': 'soon' is not"),
        (["--where", "hits in (true)"], "'true' is not a whole number"),
        (["--where", "ts ~ 5"], "--where 'ts ~ 5': '~ 5' is not valid syntax (character 4)"),
        (["--where", "ts starts with 5"], "starts with"),
        (["--where", "x" * 10**7], "the text has 10,000,000 characters"),
        (["--where", "day=" + "x" * 10**7], "the text has 10,000,004 characters"),
        (["--where", "host=a\0b"], "contains U+0000"),
        (["--where", "host=\ud800"], "contains a lone surrogate"),
        (["--order", "hots"], "order[0]: there is no field 'hots'"),
        (["--order", "host upwards"], "order: "),
        (["--limit", "1e9"], "'1e9' is not a valid whole number"),
        (["--limit", "-1"], "-1 is not in the range"),
        (["--limit", "9" * 30], "is not in the range"),
        (["--resume", "x"], "resume: 'x' is not a token of a scan"),
        (["--resume", "\ud800"], "is not a token of a scan"),
        (["-f", "xml"], "'xml' is not one of"),
    ],
)
def test_an_invalid_read_exits_with_2_and_one_line(
    things_folder: Path, arguments: list[str], message: str
) -> None:
    """An invalid read exits with 2 and a short line, without rows or a traceback."""
    del things_folder
    line = get_error_line(run_on_things("scan", *arguments))
    assert message in line
    assert len(line) < 1_000


def test_scan_obeys_order_and_limit(things_folder: Path) -> None:
    """Rows come ordered by key fields or a column, up to the limit."""
    del things_folder
    assert [1000, 2000, 3000] == [
        n for _, n in list_hosts("--where", "host=web-1", "--order", "ts")
    ]
    assert [3000, 2500] == [n for _, n in list_hosts("--order", "ts desc", "--limit", 2)]
    by_hits = [n for _, n in list_hosts("--order", "hits desc")]
    assert ({2500, 3000}, [2000, 1500, 1000]) == (set(by_hits[:2]), by_hits[2:]), "nulls first"
    assert [] == list_hosts("--limit", 0)
    assert 5 == len(list_hosts("--limit", 10**9))


@pytest.mark.parametrize("order", ["", "host desc"])
def test_scan_continues_in_another_process_from_its_token(things_folder: Path, order: str) -> None:
    """Pages read by separate processes are together the rows of one scan."""
    del things_folder
    asked = ["--order", order, "-f", "jsonl"]
    pages: list[str] = []
    token: list[str] = []
    for _ in range(4):
        page = run_on_things("scan", *asked, "--limit", 2, "--token", *token)
        pages.append(page.out)
        token = ["--resume", page.err.strip()]
    assert run_on_things("scan", *asked).out == "".join(pages)
    assert [2, 2, 1, 0] == [page.count("\n") for page in pages]
    assert "token comes from a scan with other conditions" in get_error_line(
        run_on_things("scan", "--where", "host=db-1", *token)
    )


# Counted and explained


def test_regions_prints_the_counts_of_the_rows_put(things_folder: Path) -> None:
    """Region counts as text and as JSON agree with the rows put."""
    del things_folder
    found = json.loads(run_on_things("count", "--regions", "-f", "json").out)
    lines = run_on_things("count", "--regions").out.splitlines()
    assert ("things", 4, 5) == (
        found["table"], len(found["regions"]), sum(one["writes"] for one in found["regions"]),
    )  # fmt: skip
    assert [one["writes"] for one in found["regions"]] + [5] == [
        int(line.split()[0]) for line in lines[1:]
    ]
    assert "(the first row)" in lines[1]
    assert "bucket 3" in lines[4]
    counted = json.loads(run_on_things("count", "-f", "json").out)
    assert (1, "things", 5) == (counted["format"], counted["table"], counted["rows"])
    assert "--regions and --where exclude each other" in get_error_line(
        run_on_things("count", "--regions", "--where", "host=a")
    )


def test_declared_reads_and_conditions_are_explained_as_text_and_json(things_folder: Path) -> None:
    """Declared reads and ad hoc conditions are explained as text and as JSON."""
    named, every = run("explain", "things.toml", "tail"), run("explain", "things.toml")
    assert named.out == every.out
    assert "read    tail: " in named.out
    assert "limit 10" in named.out
    asked = ["--where", "host=web-1", "--where", "hits>5", "--order", "ts", "--limit", 3]
    (one,) = json.loads(run("explain", "things.toml", *asked, "-f", "json").out)["reads"]
    assert (None, "scan", 1, 3, ["hits"], ["ts"]) == tuple(
        one[name] for name in ("name", "access_type", "fan_out", "limit", "residual", "order")
    )
    assert (
        "the design declares no read 'tial'; expected one of tail. Did you mean tail?"
        in get_error_line(run("explain", "things.toml", "tial"))
    )
    assert "the read 'tail' declares its own conditions" in get_error_line(
        run("explain", "things.toml", "tail", *asked)
    )
    (things_folder / "none.toml").write_text(EVERYTHING.partition("[[reads]]")[0])
    assert "none.toml declares no reads" in run("explain", "none.toml").err


def test_the_name_of_a_table_can_replace_its_design_file(things_folder: Path) -> None:
    """A table's name suffices in place of its design file."""
    (things_folder / "things.toml").unlink()
    lines = run("scan", "things", *PLACE_OPTION, "-f", "jsonl").out
    assert EXPECTED_ROWS == [json.loads(line) for line in lines.splitlines()]
    assert lines == run("dump", "things", *PLACE_OPTION).out
    assert 0 == run("put", "things", *PLACE_OPTION, "host=new", "ts=1").code
    assert "6\n" == run("count", "things", *PLACE_OPTION).out
    assert 0 == run("drop", "things", *PLACE_OPTION, "--yes", "things").code
