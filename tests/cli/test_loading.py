"""Loading files into tables: formats, interruption, progress and failures."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import rowkey
from cli.command import LOGS, build_signal_after_first_batch, run, run_in_process
from command_server import find_command
from rowkey.progress import Progress
from rowkey.table import load_file, open_table

PLACE_OPTION = ("--on", "rocks:data")
COUNT = 3_000
FIRST = 1_609_459_200_000
"""The first time of the rows, in unambiguous milliseconds."""
MANY = 100_000
"""The rows of an interrupted load, many more than are written before its first progress."""


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with an empty table and its rows as a CSV file."""
    monkeypatch.chdir(tmp_path)
    Path("logs.toml").write_text(LOGS)
    assert 0 == run("create", "logs.toml", *PLACE_OPTION).code
    lines = [f"web-{n % 7},{1_609_459_200_000 + n}\n" for n in range(COUNT)]
    Path("rows.csv").write_text("host,ts\n" + "".join(lines))
    return tmp_path


def dump_rows(table: str = "logs.toml", on: str = "rocks:data") -> str:
    """Return all rows of a table as JSON lines."""
    found = run("dump", table, "--on", on)
    assert (0, "") == (found.code, found.err)
    return found.out


def count_rows() -> int:
    """Return how many rows the table has."""
    return int(run("count", "logs.toml", *PLACE_OPTION).out)


def convert_rows(name: str) -> None:
    """Write the rows of the CSV file in the format of a file name."""
    table = csv.read_csv("rows.csv")
    if name.endswith(".gz"):
        Path(name).write_bytes(gzip.compress(Path("rows.csv").read_bytes()))
    elif name.endswith(".jsonl"):
        Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    elif name.endswith(".parquet"):
        parquet.write_table(table, name)
    elif name.endswith(".feather"):
        feather.write_feather(table, name)
    elif name != "rows.csv":
        with pa.OSFile(name, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)


# Formats


NAMES = ["rows.csv", "more.csv.gz", "rows.jsonl", "rows.parquet", "rows.feather", "rows.arrows"]
SHUFFLED_NAMES = ("rows.csv", "rows.parquet")
"""A file of text and one of columns, which `make test` loads in a random order too."""


@pytest.mark.parametrize(
    ("name", "shuffle"),
    [
        *(pytest.param(name, [], id=f"{name}-") for name in NAMES),
        *(
            pytest.param(
                name,
                ["--shuffle"],
                id=f"{name}-shuffled",
                marks=() if name in SHUFFLED_NAMES else pytest.mark.long,
            )
            for name in NAMES
        ),
    ],
)
def test_a_load_of_any_format_writes_every_row_once(
    logs: Path, name: str, shuffle: list[str]
) -> None:
    """Each format loads every row once, shuffled or not."""
    del logs
    convert_rows(name)
    done = run("load", "logs.toml", name, *PLACE_OPTION, *shuffle)
    assert (0, "", f"{COUNT:,} rows written\n") == (done.code, done.out, done.err)
    rows = [json.loads(line) for line in dump_rows().splitlines()]
    assert csv.read_csv("rows.csv").to_pylist() == sorted(rows, key=lambda row: row["ts"])


def test_a_shuffled_load_writes_as_much_to_each_region_as_an_ordered_one(logs: Path) -> None:
    """A shuffled load adds the same number of writes to each region as an ordered one."""
    del logs
    convert_rows("rows.parquet")
    found = []
    for shuffle in ([], ["--shuffle"]):
        assert 0 == run("load", "logs.toml", "rows.parquet", *PLACE_OPTION, *shuffle).code
        document = json.loads(
            run("count", "logs.toml", *PLACE_OPTION, "--regions", "-f", "json").out
        )
        found.append([one["writes"] for one in document["regions"]])
    assert [2 * n for n in found[0]] == found[1]
    assert COUNT == sum(found[0])


@pytest.mark.parametrize("form", ["jsonl", "csv", "arrow", "parquet"])
def test_a_dump_of_every_type_can_be_loaded(things_folder: Path, form: str) -> None:
    """A dump of every type, piped into a load, gives an equal table."""
    with Path(f"all.{form}").open("wb") as file:
        command = [find_command(), "dump", "things.toml", *PLACE_OPTION, "-f", form]
        with subprocess.Popen(command, cwd=things_folder, stdout=subprocess.PIPE) as one:
            assert one.stdout is not None
            file.write(one.stdout.read())
        assert 0 == one.returncode
    on = ("--on", "rocks:copy")
    assert 0 == run("create", "things.toml", *on).code
    assert 0 == run("load", "things.toml", f"all.{form}", *on).code
    assert dump_rows("things.toml") == dump_rows("things.toml", "rocks:copy")


def test_a_dumped_field_is_loaded_although_it_is_declared_from_another_column(logs: Path) -> None:
    """A field that is read `from` another column is also found under its own name."""
    del logs
    Path("logs.toml").write_text(LOGS.replace('"text"', '{ type = "text", from = "h" }'))
    Path("rows.csv").write_text("h,ts\nweb-1,5\nweb-2,6\n")
    for name in ("rows.csv", "dump.csv", "dump.jsonl"):
        assert 0 == run("load", "logs.toml", name, *PLACE_OPTION).code
        for form in ("csv", "jsonl"):
            Path(f"dump.{form}").write_text(run("dump", "logs.toml", *PLACE_OPTION, "-f", form).out)
        assert 2 == count_rows()
        assert 0 == run("drop", "logs", *PLACE_OPTION, "--yes", "logs").code
        assert 0 == run("create", "logs.toml", *PLACE_OPTION).code


def test_a_dumped_column_belongs_to_the_field_of_its_name_although_another_reads_from_it(
    logs: Path,
) -> None:
    del logs
    fields = '[fields]\nhost = { type = "text", from = "note" }\nnote = "text"\nts = "u32"\n'
    Path("crossed.toml").write_text(f'table = "crossed"\nkey = "[host][ts]"\n{fields}')
    assert 0 == run("create", "crossed.toml", *PLACE_OPTION).code
    assert 0 == run("put", "crossed.toml", *PLACE_OPTION, "host=a", "note=b", "ts=1").code
    for name in ("crossed.csv", "crossed.jsonl", "crossed.parquet"):
        assert 0 == run("dump", "crossed", *PLACE_OPTION, "-o", name).code
        assert 0 == run("load", "crossed.toml", name, *PLACE_OPTION).code
        assert '{"host": "a", "note": "b", "ts": 1}\n' == dump_rows("crossed")


@pytest.mark.parametrize("name", ["some.csv", "some.parquet", "some.arrow", "some.jsonl"])
def test_only_the_column_of_a_nullable_field_may_be_missing(things_folder: Path, name: str) -> None:
    """Only a nullable field may lack its column, and the load says so."""
    table = pa.table({"host": ["a", "b"], "ts": [1, 2], "hits": [5, None]})
    writers = {
        "some.csv": csv.write_csv,
        "some.parquet": parquet.write_table,
        "some.arrow": feather.write_feather,
        "some.jsonl": lambda table, name: Path(name).write_text(
            "".join(f"{json.dumps(row)}\n" for row in table.to_pylist())
        ),
    }
    on = ("--on", "rocks:copy")
    assert 0 == run("create", "things.toml", *on).code
    writers[name](table, name)
    done = run("load", "things.toml", name, *on)
    first, *more = done.err.splitlines()
    assert (0, "2 rows written") == (done.code, first)
    told = [
        "the file has no column for text, price, raw, day, id, ok, ratio, my =: left null",
    ]
    guessed = ["assumed: most times of ts are before 1990 or after 2099, such as 1970-01"]
    assert [*(told if name != "some.jsonl" else []), *guessed] == more
    rows = [json.loads(line) for line in dump_rows("things.toml", "rocks:copy").splitlines()]
    assert [("a", 1, 5, None), ("b", 2, None, None)] == [
        (row["host"], row["ts"], row["hits"], row["text"]) for row in rows
    ]
    writers[name](table.drop_columns(["ts"]), name)
    done = run("load", "things.toml", name, *on)
    assert 2 == done.code
    assert "'ts'" in done.err
    del things_folder


def test_up_to_ten_skipped_rows_are_named_by_line(logs: Path) -> None:
    """Up to ten skipped rows are named by line, the others are loaded, and the code is 1."""
    del logs
    Path("some.csv").write_text(f"host,ts\nweb-1,{FIRST}\nweb-2,soon\nweb-3,{FIRST}\n,7\nweb-4,\n")
    done = run("load", "logs.toml", "some.csv", *PLACE_OPTION)
    first, second, *problems = done.err.splitlines()
    assert (1, "3 rows written", "2 rows left out:") == (done.code, first, second)
    assert ["  line 3: ts is 'soon'", "  line 6 has no timestamp_ms for ts"] == [
        line.partition(";")[0] for line in problems
    ]
    assert 3 == count_rows()


def test_a_skipped_row_is_named_by_its_first_line_after_quoted_line_ends(logs: Path) -> None:
    """A row is named by its first line, also after blank lines and quoted line ends."""
    del logs
    Path("some.csv").write_text(f'host,ts\n"web\n1",{FIRST}\n\nweb-2,soon\n')
    done = run("load", "logs.toml", "some.csv", *PLACE_OPTION, "--restart")
    assert "  line 5: ts is 'soon'" in done.err
    Path("some.jsonl").write_text(f'{{"host": "a", "ts": {FIRST}}}\n\n{{"host": "b", "ts": "x"}}\n')
    assert "  line 3: ts is 'x'" in run("load", "logs.toml", "some.jsonl", *PLACE_OPTION).err


def test_more_than_ten_skipped_rows_are_counted(logs: Path) -> None:
    """Ten skipped rows are named, and the rest is counted."""
    del logs
    Path("some.csv").write_text("host,ts\n" + f"web-1,soon\nweb-1,{FIRST}\n" * 14)
    done = run("load", "logs.toml", "some.csv", *PLACE_OPTION)
    *_, tenth, last = done.err.splitlines()
    assert tenth.startswith("  line 20: ")
    assert "  and 4 more" == last


@pytest.mark.parametrize(
    ("rows", "design"), [("rows.csv", "logs.toml"), ("rows.jsonl.gz", "logs"), ("rows", "a.toml")]
)
def test_a_design_given_in_place_of_the_rows_is_recognised(
    logs: Path, rows: str, design: str
) -> None:
    """A design in place of the rows is refused with the right order, told by either name."""
    del logs
    done = run("load", rows, design, *PLACE_OPTION)
    assert 2 == done.code
    assert f"the design file {design} must come first" in done.err
    assert f"Write rowkey load {design} {rows}." in done.err


LONG = "x" * 40_000
"""A host that exceeds a row key."""


@pytest.mark.parametrize(
    ("shuffle", "first"),
    [
        pytest.param([], [4], id=""),
        pytest.param([], [], id="no wrong value", marks=pytest.mark.long),
        pytest.param(["--shuffle"], [4], id="shuffled"),
    ],
)
def test_a_refused_row_is_named_by_its_line_and_the_others_are_loaded(
    logs: Path, shuffle: list[str], first: list[int]
) -> None:
    """A refused row is named by its line, shuffled or not, and the others are loaded."""
    del logs
    lines = [f"web-{n % 7},{1_609_459_200_000 + n}" for n in range(40_000)]
    for number in first:
        lines[number] = "web-0,never"
    lines[20_000] = f"{LONG},1609459200000"
    lines[35_000] = f"{LONG},1609459200001"
    Path("many.csv").write_text("\n".join(["host,ts", *lines]))
    done = run("load", "logs.toml", "many.csv", *PLACE_OPTION, *shuffle)
    written = 39_998 - len(first)
    assert (1, f"{written:,} rows written") == (done.code, done.err.splitlines()[0])
    problems = {line.split(":")[0] for line in done.err.splitlines()[2:]}
    assert {f"  line {number + 2}" for number in (*first, 20_000, 35_000)} == problems
    assert written == count_rows()


def test_a_load_stops_after_a_thousand_rows_if_most_are_refused(logs: Path) -> None:
    del logs
    Path("wrong.csv").write_text("host,ts\n" + f"{LONG},1\n" * 1_100)
    done = run("load", "logs.toml", "wrong.csv", *PLACE_OPTION)
    assert (2, 1) == (done.code, done.err.count("\n"))
    assert (
        "wrong.csv: 1,000 of 1,022 rows are refused; line 2: key: the key has 40,010 " in done.err
    )
    assert "rows that were not refused may be in the table" in done.err


def test_an_invalid_value_of_a_nullable_field_is_not_stored_as_null(things_folder: Path) -> None:
    """An invalid value of a nullable field is refused and not stored as null."""
    Path("odd.csv").write_text('host,ts,hits,day\na,1,,\nz,1,7,\nb,2,many,\nc,3," ",2021-02-30\n')
    done = run("load", "things.toml", "odd.csv", *PLACE_OPTION)
    assert 1 == done.code
    assert "2 rows left out:\n  line 4: hits is 'many'; expected i64" in done.err
    assert "1\n" == run("count", "things", *PLACE_OPTION, "--where", "host in (a, b, c)").out
    del things_folder


def test_a_row_with_two_wrong_values_is_reported_once_with_both(things_folder: Path) -> None:
    """A row with two wrong values is one row left out, with what is wrong with both."""
    Path("odd.csv").write_text("host,ts,hits,day\na,1,,\nb,x,many,\n")
    done = run("load", "things.toml", "odd.csv", *PLACE_OPTION)
    assert "1 row left out:\n  line 3: ts is 'x'; expected" in done.err
    assert ", and hits is 'many'; expected i64" in done.err
    assert "more" not in done.err
    lines = '{"host": "a", "ts": "x", "hits": "many"}\n{"host": "b", "ts": 1, "hot": 1}\n'
    done = run("put", "things", *PLACE_OPTION, stdin=lines)
    places = re.findall(r"^rowkey: (standard input, line \d, field \w+):", done.err, re.MULTILINE)
    assert places == [
        "standard input, line 1, field ts",
        "standard input, line 1, field hits",
        "standard input, line 2, field hot",
    ]
    done = run("put", "things", "host=a", "ts=x", "hits=many", *PLACE_OPTION)
    assert ["ts", "hits"] == re.findall(r"^rowkey: field (\w+):", done.err, re.MULTILINE)
    del things_folder


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("none.csv", None, "none.csv: there is no such file"),
        ("rows.dump", "host,ts\na,1\n", "suffix '.dump' is unknown"),
        ("empty.csv", "", "the file is empty; expected a header line"),
        ("other.csv", "a,b\n1,2\n", "has no column 'host'; expected one of a, b"),
        ("wrong.csv", "host,ts\na,x\nb,y\n", "2 of 2 rows cannot be read as events"),
        ("torn.parquet", "PAR1", "torn.parquet"),
        ("torn.csv.gz", "no", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_one_line_of_error(
    logs: Path, name: str, text: str | None, what: str
) -> None:
    """A file that cannot be loaded is one line of error, with the code of a wrong file."""
    del logs
    if text is not None:
        Path(name).write_text(text)
    done = run("load", "logs.toml", name, *PLACE_OPTION)
    assert (2, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert what in done.err
    assert 0 == count_rows()


# Interrupted


def _interrupt_load(*more: str) -> int:
    """Interrupt a load after its first progress, and return how many rows it had handled."""
    command = ("load", "logs.toml", "many.parquet", *PLACE_OPTION, "--progress", "json", *more)
    done = run_in_process(Path.cwd(), build_signal_after_first_batch("SIGINT"), *command)
    first, *_, said, last = filter(None, done.err.splitlines())
    assert MANY == json.loads(first)["total"]
    assert (130, "interrupted") == (done.code, last)
    assert "run the same command again to continue, or add --restart" in said
    assert "Traceback" not in done.err
    return int(said.split()[0].replace(",", ""))


@pytest.mark.parametrize("more", [[], ["--restart"]], ids=["resumed", "restarted"])
def test_the_same_command_continues_an_interrupted_load(logs: Path, more: list[str]) -> None:
    """The same command continues an interrupted load, and --restart loads all rows again."""
    del logs
    numbers = pa.array(range(FIRST, FIRST + MANY), pa.int64())
    table = pa.table({"host": pa.array(["web"] * MANY), "ts": numbers})
    parquet.write_table(table, "many.parquet", row_group_size=5_000)
    dealt = _interrupt_load()
    done = run("load", "logs.toml", "many.parquet", *PLACE_OPTION, *more)
    *stood, wrote = [int(line.split()[0].replace(",", "")) for line in done.err.splitlines()]
    assert (0, MANY) == (done.code, wrote + sum(stood))
    assert ([] if more else [dealt]) == stood
    assert 0 < dealt < MANY
    assert MANY == count_rows()
    assert f"{MANY:,} rows written\n" == run("load", "logs.toml", "many.parquet", *PLACE_OPTION).err


def test_a_load_whose_design_got_another_field_starts_again(logs: Path) -> None:
    """A load whose design got another field starts again, so no value is lost."""
    del logs
    hosts = pa.array(["web"] * MANY)
    table = pa.table({"host": hosts, "ts": range(FIRST, FIRST + MANY), "note": hosts})
    parquet.write_table(table, "many.parquet", row_group_size=5_000)
    assert 0 < _interrupt_load() < MANY
    Path("logs.toml").write_text(
        LOGS.replace("[fields]\n", '[fields]\nnote = { type = "text", nullable = true }\n')
    )
    done = run("load", "logs.toml", "many.parquet", *PLACE_OPTION)
    assert (0, f"{MANY:,} rows written\n") == (done.code, done.err)
    count = run("count", "logs.toml", *PLACE_OPTION, "--where", "note=web").out
    assert MANY == int(count)


def test_a_load_reports_ambiguous_dates_and_refuses_seconds_for_milliseconds(logs: Path) -> None:
    """A load says which digits it read as a calendar date, and refuses seconds for milliseconds."""
    del logs
    Path("c.csv").write_text("host,ts\n" + "".join(f"a,{20_210_101 + n}\n" for n in range(3)))
    wrote, *told = run("load", "logs.toml", "c.csv", *PLACE_OPTION).err.splitlines()
    assert ("3 rows written", 1) == (wrote, len(told))
    assert "calendar" in told[0]
    Path("s.csv").write_text("host,ts\n" + "".join(f"a,{1_609_459_200 + n}\n" for n in range(3)))
    refused = run("load", "logs.toml", "s.csv", *PLACE_OPTION)
    assert 2 == refused.code
    for unit, notes in (("epoch_s", 0), ("epoch_ms", 1)):
        option = f"""--sample-format '{{ kind = "csv", times = {{ ts = "{unit}" }} }}'"""
        assert option in refused.err
        found = run("load", "logs.toml", "s.csv", *PLACE_OPTION, *shlex.split(option))
        wrote, *told = found.err.splitlines()
        assert ("3 rows written", notes) == (wrote, len(told))


def test_an_empty_table_is_dumped_and_loaded_in_every_format(logs: Path) -> None:
    """An empty table is dumped with its columns and loaded in every format."""
    del logs
    for form in ("jsonl", "csv", "parquet", "arrow"):
        assert 0 == run("dump", "logs.toml", *PLACE_OPTION, "-o", f"e.{form}").code
        done = run("load", "logs.toml", f"e.{form}", *PLACE_OPTION)
        assert (0, "", "0 rows written\n") == (done.code, done.out, done.err)


def test_a_load_from_a_pipe_is_refused_before_anything_is_written(logs: Path) -> None:
    del logs
    command = [
        find_command(),
        "load",
        "logs.toml",
        "/dev/stdin",
        *PLACE_OPTION,
        "--sample-format",
        "csv",
    ]
    done = subprocess.run(
        command, input="host,ts\na,1\n", capture_output=True, text=True, check=False
    )
    assert (2, 1) == (done.returncode, done.stderr.count("\n"))
    assert (
        "/dev/stdin: the path is a pipe, which can be read only once; expected a regular file"
        in done.stderr
    )
    assert 0 == count_rows()


# Progress


@pytest.mark.parametrize("name", [pytest.param("big.csv", marks=pytest.mark.long), "big.csv.gz"])
def test_the_progress_of_a_csv_load_counts_rows_and_not_bytes_read_ahead(
    logs: Path, name: str
) -> None:
    """The progress of a CSV load counts rows returned by Arrow, not bytes read ahead."""
    del logs
    lines = [f"web-{n * 7919 % 9973},{1_609_459_200_000 + n}" for n in range(200_000)]
    text = "\n".join(["host,ts", *lines]).encode()
    Path(name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    told: list[Progress] = []
    with open_table("logs", "rocks:data") as table:
        load_file(table, name, progress=told.append)
    assert 3 < len(told)
    begin, first, *_ = told
    assert 0 == begin.done < first.done < 50_000
    assert [] == [one for one in told[1:] if not 160_000 < one.total < 240_000]
    assert Progress("rows", 200_000, 200_000, "rows") == told[-1]


@pytest.mark.parametrize("name", [*NAMES, "many.jsonl.gz"])
def test_the_total_in_the_progress_is_right_at_the_end(logs: Path, name: str) -> None:
    """The total in the progress is right at the end, from metadata or bytes read."""
    del logs
    if name == "many.jsonl.gz":
        lines = [json.dumps({"host": f"web-{n * 7919 % 9973}", "ts": n}) for n in range(60_000)]
        Path(name).write_bytes(gzip.compress("\n".join(lines).encode()))
    else:
        convert_rows(name)
    count = COUNT if name in NAMES else 60_000
    told: list[Progress] = []
    with open_table("logs", "rocks:data") as table:
        load_file(table, name, progress=told.append)
    assert Progress("rows", count, count, "rows") == told[-1]
    assert [] == [one for one in told[1:] if not 0.9 < one.total / count < 1.1]
    assert sorted(told, key=lambda one: one.done) == told


@pytest.mark.long
def test_only_the_row_with_a_value_out_of_range_is_skipped_in_a_typed_file(tmp_path: Path) -> None:
    numbers = [*range(150_000), 2**40, *range(150_001, 200_000)]
    parquet.write_table(pa.table({"n": pa.array(numbers, pa.int64())}), tmp_path / "n.parquet")
    for shuffle in (False, True):
        with rowkey.open(rowkey.Design("t", "[n]", fields={"n": "u32"}), "memory:") as table:
            done = load_file(table, tmp_path / "n.parquet", shuffle=shuffle)
            assert (199_999, 1) == (done.row_count, done.left_out.count)
            assert 199_999 == table.count()


def test_a_load_that_fails_in_the_file_reports_the_rows_it_has_written(logs: Path) -> None:
    """A quote that is not closed at the end is found after the rows before it are written."""
    del logs
    lines = [f"web-{n % 7},{FIRST + n}\n" for n in range(100_000)]
    Path("open.csv").write_text("host,ts\n" + "".join(lines) + '"web,1\n')
    done = run("load", "logs.toml", "open.csv", *PLACE_OPTION)
    written = count_rows()
    assert (2, True) == (done.code, 0 < written < 100_001)
    assert f"The load has written {written:,} rows before it stopped here" in done.err


def test_rows_that_repeat_a_row_key_are_counted_across_batches(logs: Path) -> None:
    """Also where the equal keys are in different batches of the file."""
    del logs
    lines = [f"web,{FIRST + n % 40_000}\n" for n in range(60_000)]
    Path("again.csv").write_text("host,ts\n" + "".join(lines))
    done = run("load", "logs.toml", "again.csv", *PLACE_OPTION)
    note = "20,000 rows with the row key of another row of the file; of rows with the same "
    assert (0, "60,000 rows written") == (done.code, done.err.splitlines()[0])
    assert f"{note}key, the last written is read" == done.err.splitlines()[1]
    assert 40_000 == count_rows()
