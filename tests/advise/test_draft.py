"""Properties of every draft that `rowkey init` makes from a sample."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import assume, example, given

from example_counts import IS_LONG, divide_examples, thin_out
from rowkey.advise import Draft, JudgedDesign, draft_design
from rowkey.design import Design
from rowkey.errors import InvalidDesign, SampleError
from rowkey.simulate import run
from rowkey.workload import open_sample

START = datetime(2024, 1, 31, 12, tzinfo=UTC)
ROWS = 8_000 if IS_LONG else 4_000
HEADINGS = ("id", "ts", "host", "value", "a b", "created at", "n", "x.y", "key", "用户", "时间",
            "订单号", "金额", "状态")  # fmt: skip
_ANY = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"))
_WORD = st.text(st.sampled_from("abcxyzé-, \"'#=[]{}\\09"), min_size=1, max_size=9)


def _heading(text: str) -> str:
    """Return a column name that is still different from all others after trimming."""
    return f"h{text}h"


def _column(rows: int) -> st.SearchStrategy[list[str]]:
    """Draw the values of one column as text, of any type that files hold."""
    few = st.lists(_WORD, min_size=1, max_size=4)
    kinds: list[st.SearchStrategy[st.SearchStrategy[str]]] = [
        st.just(st.integers(-5, 300).map(str)),
        st.just(st.integers(0, 2**64 - 1).map(str)),
        st.just(st.integers(0, 99_999).map(lambda n: f"{n:05d}")),
        st.just(st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr)),
        st.just(st.integers(0, 10**6).map(lambda n: f"{n / 100:.2f}")),
        st.just(st.sampled_from(["true", "false"])),
        st.just(st.uuids().map(str)),
        st.just(st.ip_addresses(v=4).map(str)),
        st.just(st.binary(min_size=6, max_size=6).map(bytes.hex)),
        st.just(st.integers(0, 10**7).map(lambda n: (START + timedelta(seconds=n)).isoformat())),
        st.just(st.integers(0, 10**7).map(lambda n: str(1_706_659_200_000 + n))),
        st.just(st.integers(0, 900).map(lambda n: f"{START + timedelta(days=n):%Y-%m-%d}")),
        st.just(st.integers(0, 900).map(lambda n: f"{START + timedelta(days=n):%Y%m%d}")),
        st.just(_WORD),
        st.just(st.text(_ANY, max_size=9)),
        few.map(st.sampled_from),
        st.just(st.sampled_from(["", "NA", "7", "12"])),
        st.just(st.sampled_from(["", "null", "12.5", "x"])),
    ]
    return st.one_of(kinds).flatmap(lambda one: st.lists(one, min_size=rows, max_size=rows))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Draw column names and rows, of which one row at least is not empty."""
    names = draw(
        st.lists(
            st.sampled_from(HEADINGS) | st.text(_ANY, min_size=1, max_size=9).map(_heading),
            min_size=1,
            max_size=5,
            unique=True,
        )
    )
    assume(len(names) > 1 or " " not in names[0].strip())  # it asks for the delimiter
    count = draw(st.integers(1, 40))
    columns = [draw(_column(count)) for _ in names]
    if all(not value.strip() for column in columns for value in column):
        columns[0][0] = "7"
    return names, [list(row) for row in zip(*columns, strict=True)]


def write_sample(folder: Path, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """Write rows as a CSV file."""
    path = folder / "events.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *rows])
    return path


def read_rows(design: Design, path: Path) -> list[dict[str, Any]]:
    """Return the rows of a sample as the design parses them."""
    sample = open_sample(path, design.fields, None, design.sample_format)
    found = [row for events in sample.read_events() for row in events.rows.to_pylist()]
    assert 0 == sample.skipped_rows.count
    return found


def uncomment_reads(text: str) -> str:
    """Return a draft's text with its commented example reads enabled."""
    head, mark, reads = text.partition("# [[reads]]")
    return head + re.sub("(?m)^# ?", "", mark + reads)


def list_warnings(draft: Draft, path: Path) -> list[str]:
    """Return the warnings that `check --sample` prints for a draft."""
    return [str(one) for one in JudgedDesign(Design.loads(draft.text), path).warnings]


def check_draft(draft: Draft, path: Path) -> None:
    """Check that a draft loads, has no warnings and keeps all different rows apart."""
    design = Design.loads(draft.text)
    assert draft.design == design
    assert [] == list_warnings(draft, path)
    rows = read_rows(design, path)
    keys = {design.key.encode(row, salt=0) for row in rows}
    lost = len({json.dumps(row, default=str, sort_keys=True) for row in rows}) - len(keys)
    assert (lost > 0) == (
        "differ only in measured values from another" in " ".join(draft.text.split("\n#   "))
    )
    assert 1 <= len(Design.loads(uncomment_reads(draft.text)).reads) <= 2


@given(tables())
@example((["value"], [["0.0"], ["-0.0"]]))
@example((["id"], [["20240131"]]))
@example((["host", "ts"], [["rowkey: allow monotone-lead - x", "2024-01-31T00:00:00Z"]]))
@divide_examples(4, long=2)
def test_every_draft_is_valid_and_gives_different_rows_different_keys(
    table: tuple[list[str], list[list[str]]],
) -> None:
    """A draft of any table loads, has no warnings, and gives different rows different keys."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_sample(Path(folder), *table)
        check_draft(draft_design(path, folder=folder), path)


@given(tables())
@divide_examples(4, long=2)
def test_facts_shared_by_candidate_keys_equal_those_of_a_simulation(
    table: tuple[list[str], list[list[str]]],
) -> None:
    """The facts and rows that candidate keys share are those that simulating the design finds."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_sample(Path(folder), *table)
        draft = draft_design(path, folder=folder)
        simulation = run(draft.design, path, format_options=draft.design.sample_format)
    assert simulation.facts == draft.simulation.facts
    drafted, simulated = draft.simulation.source.summary, simulation.source.summary
    assert drafted is not None
    assert simulated is not None
    assert simulated.rows == drafted.rows
    assert simulated.repeat_count == drafted.repeat_count


def build_rows(
    count: int, hosts: int, busiest: float = 0.0, step_us: int = 250_000
) -> list[list[str]]:
    """Return log rows of time, host, level and message; the first host has a given share."""
    rows = []
    for n in range(count):
        is_busy = (n * 7919 % 1000) / 1000 < busiest
        host = f"web-{0 if is_busy else n * 104_729 % hosts}"
        at = (START + timedelta(microseconds=step_us * n)).isoformat()
        rows.append([at, host, ("INFO", "WARN")[n % 7 == 0], f"message {n}"])
    return rows


LOG = ("time", "host", "level", "message")
BUSY_STEP_US = 150
"""Microseconds between events of which one server cannot bear a great share."""


@pytest.mark.claims(60)
def test_many_even_hosts_get_a_key_of_host_bucket_host_and_time(tmp_path: Path) -> None:
    """A sample of many even hosts gives a key of a host bucket, the host and the time."""
    path = write_sample(tmp_path, LOG, build_rows(ROWS, 400))
    draft = draft_design(path)
    assert "[bucket(host, 16)][host][desc(time)]" == draft.design.declaration.key
    assert "even" == draft.simulation.verdict.level
    check_draft(draft, path)


def test_a_host_with_half_of_the_rows_is_declared_heavy_and_spread(tmp_path: Path) -> None:
    """A host with half of all rows is declared heavy, and the sample is not hot."""
    path = write_sample(tmp_path, LOG, build_rows(ROWS, 400, 0.5, BUSY_STEP_US))
    draft = draft_design(path)
    assert ("web-0",) == draft.design.fields["host"].heavy_values
    assert "good" == draft.verdict.grade
    assert "web-0" in draft.text
    check_draft(draft, path)


def test_a_sample_of_three_hosts_is_spread_by_the_time_too(tmp_path: Path) -> None:
    """A sample of three hosts is spread by the time too, and the file says so."""
    path = write_sample(tmp_path, LOG, build_rows(ROWS, 3, step_us=BUSY_STEP_US))
    draft = draft_design(path)
    assert "[bucket(time, host, 16)][host][desc(time)]" == draft.design.declaration.key
    [(refused, why)] = draft.rejected_keys
    assert "[bucket(host, 16)][host][desc(time)]" == refused
    assert f"rejected ({why})" in " ".join(draft.text.replace("#", "").split())
    assert "even" == draft.simulation.verdict.level
    check_draft(draft, path)


def test_the_id_alone_is_the_key_if_no_field_groups_rows(tmp_path: Path) -> None:
    """If every row has its own id and no field groups rows, the id is the key."""
    rows = [[f"{n * 7919:08d}", str(n % 97)] for n in range(2_000)]
    path = write_sample(tmp_path, ("order_id", "amount"), rows)
    draft = draft_design(path)
    assert "[bucket(order_id, 16)][order_id]" == draft.design.declaration.key
    assert "digits" == draft.design.fields["order_id"].type.name
    check_draft(draft, path)


@pytest.mark.parametrize("servers", thin_out([3, 1, 20], 3))
def test_a_draft_has_two_buckets_per_server(servers: int, tmp_path: Path) -> None:
    """A draft has two buckets per server, and the file gives the number of servers."""
    path = write_sample(tmp_path, LOG, build_rows(ROWS, 400))
    design = draft_design(path, servers=servers).design
    assert servers == design.cluster.servers
    assert 2 * servers == len(design.splits.compute_boundaries(design.key))


def test_a_field_that_differs_within_a_second_is_added_to_the_key(tmp_path: Path) -> None:
    """If a host has several rows in a second, the field that differs is in the key too."""
    rows = [
        [f"{START + timedelta(seconds=n // 40):%Y-%m-%dT%H:%M:%SZ}", f"h{n % 20}", str(n % 2 + n)]
        for n in range(4_000)
    ]
    path = write_sample(tmp_path, ("time", "host", "seq"), rows)
    draft = draft_design(path)
    assert "[host][desc(time)][seq]" in draft.design.declaration.key
    assert "without it 2,000 rows of the sample overwrite another" in draft.text
    check_draft(draft, path)


def test_a_draft_reports_the_number_of_duplicate_rows(tmp_path: Path) -> None:
    """Rows that are equal in all fields are one row: the file gives their number, no rule warns."""
    rows = build_rows(2_000, 100)
    path = write_sample(tmp_path, LOG, [*rows, *rows[:10]])
    draft = draft_design(path)
    assert "10 rows (0.5%) of the sample equal another row" in draft.text
    assert "rowkey: allow overwritten-rows" not in draft.text
    assert draft.lint_result.filter_by_severity("warning") == ()
    check_draft(draft, path)


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("用户", "时间", "订单号", "金额"), "[bucket(用户, 16)][用户][desc(时间)]"),
        (
            ("设备编号", "采集时间", "湿度", "温度"),
            "[bucket(设备编号, 16)][设备编号][desc(采集时间)]",
        ),
        (("會員", "下單時間", "數量", "金額"), "[bucket(會員, 16)][會員][desc(下單時間)]"),
    ],
)
@pytest.mark.parametrize("rows", [10, 1_200])
def test_chinese_column_names_get_the_right_roles(
    names: tuple[str, ...], key: str, rows: int, tmp_path: Path
) -> None:
    """Chinese column names for a user, a time, an order and an amount get the right roles."""
    found = [
        [f"u{n * 7919 % 400}", f"{START + timedelta(seconds=n)}", 2_024_030_100_000 + n, n % 90]
        for n in range(rows)
    ]
    path = write_sample(tmp_path, names, [list(map(str, row)) for row in found])
    draft = draft_design(path)
    assert key == draft.design.declaration.key
    assert draft.design.fields[names[2]].type.unit_ns is None
    check_draft(draft, path)


@pytest.mark.parametrize("places", [0, 3])
def test_a_sample_of_only_times_and_measures_gets_no_bucket(places: int, tmp_path: Path) -> None:
    """A sample of only times and measures gets no bucket, and the draft says what is missing."""
    rows = [
        [
            (START + timedelta(seconds=n / 10**places * 7)).isoformat(timespec="milliseconds"),
            str(n % 90),
        ]
        for n in range(3_000)
    ]
    path = write_sample(tmp_path, ("ts", "humidity"), rows)
    draft = draft_design(path)
    assert ("ts",) != draft.design.key.parts[0].fields
    assert "No column seems to identify what the rows" in draft.text
    check_draft(draft, path)


def test_a_unique_message_spreads_rows_if_no_entity_column_exists(tmp_path: Path) -> None:
    """A message that is always different spreads the rows and separates rows of the same time."""
    rows = [[at, level, said] for at, _, level, said in build_rows(3_000, 9)]
    path = write_sample(tmp_path, ("time", "level", "message"), rows)
    draft = draft_design(path)
    assert "[bucket(message, 16)][desc(time)][digest(message, 8)]" == draft.design.declaration.key
    check_draft(draft, path)


def test_a_short_sample_still_groups_rows_by_member(tmp_path: Path) -> None:
    """A short sample that has about one row per member still groups rows by member."""
    rows = [[(START + timedelta(seconds=n)).isoformat(), f"m{min(n, 2_997)}"] for n in range(3_000)]
    path = write_sample(tmp_path, ("ts", "member"), rows)
    assert "[bucket(member, 16)][member][desc(ts)]" == draft_design(path).design.declaration.key


@pytest.mark.parametrize("count", [1, 10, 99, 100])
def test_a_draft_of_under_100_rows_gives_no_verdict(count: int, tmp_path: Path) -> None:
    """A draft of under 100 rows says that the sample is too small for a verdict."""
    path = write_sample(tmp_path, LOG, build_rows(count, 5))
    draft = draft_design(path)
    assert draft.is_thin == (count < 100)
    assert draft.is_thin == ("little; give 100 or more" in draft.text)
    assert draft.is_thin == ("Verdict on the writes" not in draft.text)
    check_draft(draft, path)


def test_two_drafts_of_the_same_sample_are_equal(tmp_path: Path) -> None:
    path = write_sample(tmp_path, LOG, build_rows(1_000, 50))
    assert draft_design(path).text == draft_design(path).text


def test_the_verdict_in_a_draft_equals_that_of_simulate(tmp_path: Path) -> None:
    path = write_sample(tmp_path, LOG, build_rows(3_000, 300, 0.2))
    draft = draft_design(path, folder=tmp_path)
    (tmp_path / "log.toml").write_text(draft.text, encoding="utf-8")
    assert run(Design.read(tmp_path / "log.toml")).verdict == draft.simulation.verdict


def test_a_draft_takes_the_given_table_name_or_that_of_the_file(tmp_path: Path) -> None:
    """A draft's table has the given name or the file's name, and an invalid name is refused."""
    path = write_sample(tmp_path, LOG, build_rows(200, 10))
    assert "ns:log" == draft_design(path, table="ns:log").design.table
    assert "events" == draft_design(path).design.table
    with pytest.raises(InvalidDesign, match="table: "):
        draft_design(path, table="a b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "the sample has no rows after the line of column names"),
        (
            "a,b,a,b\n1,2,3,4\n",
            "several columns have the same name: 'a' and 'b'",
        ),
        ("a,a\n", "several columns have the same name: 'a'; expected distinct names"),
        ("a,b\n,\n,\n", "no column can become a field: 'a' holds no value; 'b' holds no value"),
    ],
)
def test_a_file_that_is_no_sample_is_refused_with_all_mistakes(
    text: str, message: str, tmp_path: Path
) -> None:
    """A file that no design can be made from is refused with all of its mistakes."""
    path = tmp_path / "events.csv"
    path.write_text(text)
    with pytest.raises(SampleError, match=re.escape(message)):
        draft_design(path)
