"""A first design from a sample: the laws of every draft."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from rowkey.advise import Draft, draft_design
from rowkey.design import Design
from rowkey.errors import InvalidDesign, SampleError
from rowkey.lint import check_design, summarize_sample
from rowkey.simulate import run
from rowkey.workload import open_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

START = datetime(2024, 1, 31, 12, tzinfo=UTC)
HEADINGS = ("id", "ts", "host", "value", "a b", "created at", "n", "x.y", "key", "用户", "时间",
            "订单号", "金额", "状态")  # fmt: skip
_ANY = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"))
_WORD = st.text(st.sampled_from("abcxyzé-, \"'#=[]{}\\09"), min_size=1, max_size=9)


def _heading(text: str) -> str:
    """A name of a column that no other is equal to once both are trimmed."""
    return f"h{text}h"


def _column(rows: int) -> st.SearchStrategy[list[str]]:
    """The values of one column, of any sort that files hold, as text."""
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
    """Names of columns and rows, one of them at least not all empty."""
    names = draw(
        st.lists(
            st.sampled_from(HEADINGS) | st.text(_ANY, min_size=1, max_size=9).map(_heading),
            min_size=1,
            max_size=5,
            unique=True,
        )
    )
    count = draw(st.integers(1, 40))
    columns = [draw(_column(count)) for _ in names]
    if all(not value.strip() for column in columns for value in column):
        columns[0][0] = "7"
    return names, [list(row) for row in zip(*columns, strict=True)]


def written(folder: Path, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """A CSV file of some rows."""
    path = folder / "events.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *rows])
    return path


def records(design: Design, path: Path) -> list[dict[str, Any]]:
    """The rows of a sample as a design has them."""
    sample = open_sample(path, design.fields, None, design.sample_format)
    found = [row for events in sample.read_events() for row in events.rows.to_pylist()]
    assert 0 == sample.skipped_rows.count
    return found


def with_reads(text: str) -> str:
    """A draft with its examples of reads taken out of their comments."""
    head, mark, reads = text.partition("# [[reads]]")
    return head + re.sub("(?m)^# ?", "", mark + reads)


def found_wrong(draft: Draft, path: Path) -> list[str]:
    """What is told of a draft as `check --sample` tells it."""
    design = Design.loads(draft.text)
    seen = summarize_sample(design, path, design.sample_format)
    return [str(one) for one in check_design(design, seen).filter_by_severity("warning")]


def laws(draft: Draft, path: Path) -> None:
    """What holds of every draft: it loads, is clean, and keeps every different row."""
    design = Design.loads(draft.text)
    assert draft.design == design
    assert [] == found_wrong(draft, path)
    rows = records(design, path)
    keys = {design.key.encode(row, salt=0) for row in rows}
    lost = len({json.dumps(row, default=str, sort_keys=True) for row in rows}) - len(keys)
    assert (lost > 0) == (
        "differ only in measured values from another" in " ".join(draft.text.split("\n#   "))
    )
    assert 1 <= len(Design.loads(with_reads(draft.text)).reads) <= 2


@given(tables())
@example((["value"], [["0.0"], ["-0.0"]]))
@example((["id"], [["20240131"]]))
@example((["host", "ts"], [["rowkey: allow monotone-lead - x", "2024-01-31T00:00:00Z"]]))
@settings(max_examples=max(20, settings().max_examples // 10), deadline=None)
def test_every_draft_keeps_the_laws(table: tuple[list[str], list[list[str]]]) -> None:
    """Any draft loads, no rule warns, every row has a key, and different rows different ones."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), *table)
        laws(draft_design(path, folder=folder), path)


def events(count: int, hosts: int, busiest: float = 0.0) -> list[list[str]]:
    """Rows of a log: a time, a host of which the first takes a share, a level, a message."""
    rows = []
    for n in range(count):
        is_busy = (n * 7919 % 1000) / 1000 < busiest
        host = f"web-{0 if is_busy else n * 104_729 % hosts}"
        at = (START + timedelta(milliseconds=250 * n)).isoformat()
        rows.append([at, host, ("INFO", "WARN")[n % 7 == 0], f"message {n}"])
    return rows


LOG = ("time", "host", "level", "message")


@pytest.mark.claims(60)
def test_many_entities_share_no_fate(tmp_path: Path) -> None:
    """Of many hosts, none busy, a bucket of the host and the time behind it are the key."""
    path = written(tmp_path, LOG, events(8_000, 400))
    draft = draft_design(path)
    assert "[bucket(host, 16)][host][time]" == draft.design.declaration.key
    assert "even" == draft.simulation.verdict.level
    laws(draft, path)


def test_a_busy_value_is_spread(tmp_path: Path) -> None:
    """A host with half of all rows is listed as heavy, and the sample is not hot."""
    path = written(tmp_path, LOG, events(8_000, 400, 0.5))
    draft = draft_design(path)
    assert ("web-0",) == draft.design.fields["host"].heavy_values
    assert not draft.simulation.verdict.is_hot
    assert "web-0" in draft.text
    laws(draft, path)


def test_few_entities_are_spread_by_more(tmp_path: Path) -> None:
    """Three hosts cannot fill sixteen buckets: the time spreads them, and the file says so."""
    path = written(tmp_path, LOG, events(8_000, 3))
    draft = draft_design(path)
    assert "[bucket(host, time, 16)][host][time]" == draft.design.declaration.key
    [(refused, why)] = draft.rejected_keys
    assert "[bucket(host, 16)][host][time]" == refused
    assert f"rejected ({why})" in " ".join(draft.text.replace("#", "").split())
    assert "even" == draft.simulation.verdict.level
    laws(draft, path)


def test_an_identity_by_itself_is_the_key(tmp_path: Path) -> None:
    """Where every row has an id of its own and nothing else groups rows, the id is the key."""
    rows = [[f"{n * 7919:08d}", str(n % 97)] for n in range(2_000)]
    path = written(tmp_path, ("order_id", "amount"), rows)
    draft = draft_design(path)
    assert "[bucket(order_id, 16)][order_id]" == draft.design.declaration.key
    assert "digits" == draft.design.fields["order_id"].type.name
    laws(draft, path)


@pytest.mark.parametrize("servers", [1, 3, 20])
def test_the_buckets_follow_from_the_servers(servers: int, tmp_path: Path) -> None:
    """Two buckets a server, which the file names."""
    path = written(tmp_path, LOG, events(4_000, 400))
    design = draft_design(path, servers=servers).design
    assert servers == design.cluster.servers
    assert 2 * servers == len(design.splits.compute_boundaries(design.key))


def test_rows_of_one_moment_are_told_apart(tmp_path: Path) -> None:
    """Where a host has several rows in a second, what differs stands in the key too."""
    rows = [
        [f"{START + timedelta(seconds=n // 40):%Y-%m-%dT%H:%M:%SZ}", f"h{n % 20}", str(n % 2 + n)]
        for n in range(4_000)
    ]
    path = written(tmp_path, ("time", "host", "seq"), rows)
    draft = draft_design(path)
    assert "[host][time][seq]" in draft.design.declaration.key
    assert "without it 2,000 rows of the sample overwrite another" in draft.text
    laws(draft, path)


def test_copies_of_a_row_are_allowed_and_told(tmp_path: Path) -> None:
    """Rows that stand twice, equal in all, are one row: the file says how many, and allows it."""
    rows = events(2_000, 100)
    path = written(tmp_path, LOG, [*rows, *rows[:10]])
    draft = draft_design(path)
    assert "10 rows (0.5%) of the sample equal another row" in draft.text
    assert "# rowkey: allow overwritten-rows - " in draft.text
    laws(draft, path)


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("用户", "时间", "订单号", "金额"), "[bucket(用户, 16)][用户][时间]"),
        (("设备编号", "采集时间", "湿度", "温度"), "[bucket(设备编号, 16)][设备编号][采集时间]"),
        (("會員", "下單時間", "數量", "金額"), "[bucket(會員, 16)][會員][下單時間]"),
    ],
)
@pytest.mark.parametrize("rows", [10, 3_000])
def test_chinese_headings_are_understood(
    names: tuple[str, ...], key: str, rows: int, tmp_path: Path
) -> None:
    """A user, a time, an order and an amount are what their headings say."""
    found = [
        [f"u{n * 7919 % 400}", f"{START + timedelta(seconds=n)}", 2_024_030_100_000 + n, n % 90]
        for n in range(rows)
    ]
    path = written(tmp_path, names, [list(map(str, row)) for row in found])
    draft = draft_design(path)
    assert key == draft.design.declaration.key
    assert draft.design.fields[names[2]].type.unit_ns is None
    laws(draft, path)


@pytest.mark.parametrize("places", [0, 3])
def test_no_bucket_of_the_time_alone(places: int, tmp_path: Path) -> None:
    """Where only a time and measures are seen, the draft says what it misses."""
    rows = [
        [
            (START + timedelta(seconds=n / 10**places * 7)).isoformat(timespec="milliseconds"),
            str(n % 90),
        ]
        for n in range(3_000)
    ]
    path = written(tmp_path, ("ts", "humidity"), rows)
    draft = draft_design(path)
    assert ("ts",) != draft.design.key.parts[0].fields
    assert "No column seems to identify what the rows" in draft.text
    laws(draft, path)


def test_a_text_spreads_where_nothing_is_named(tmp_path: Path) -> None:
    """A message that always differs spreads the rows and keeps two of one moment apart."""
    rows = [[at, level, said] for at, _, level, said in events(3_000, 9)]
    path = written(tmp_path, ("time", "level", "message"), rows)
    draft = draft_design(path)
    assert "[bucket(message, 16)][time][digest(message, 8)]" == draft.design.declaration.key
    laws(draft, path)


def test_one_row_of_each_member_still_names_them(tmp_path: Path) -> None:
    """A short stretch of a large service shows each member about once: rows belong to it."""
    rows = [[(START + timedelta(seconds=n)).isoformat(), f"m{min(n, 2_997)}"] for n in range(3_000)]
    path = written(tmp_path, ("ts", "member"), rows)
    assert "[bucket(member, 16)][member][ts]" == draft_design(path).design.declaration.key


@pytest.mark.parametrize("count", [1, 10, 99, 100])
def test_a_small_sample_gives_no_verdict(count: int, tmp_path: Path) -> None:
    """Below 100 rows the draft says that they tell little, and not how even its key is."""
    path = written(tmp_path, LOG, events(count, 5))
    draft = draft_design(path)
    assert draft.is_thin == (count < 100)
    assert draft.is_thin == ("little; give 100 or more" in draft.text)
    assert draft.is_thin == ("Verdict of replaying" not in draft.text)
    laws(draft, path)


def test_the_same_sample_gives_the_same_draft(tmp_path: Path) -> None:
    """Two drafts of a file are equal to the letter."""
    path = written(tmp_path, LOG, events(3_000, 50))
    assert draft_design(path).text == draft_design(path).text


def test_the_verdict_is_that_of_simulate(tmp_path: Path) -> None:
    """What the draft says of its heat is what simulating the written file says."""
    path = written(tmp_path, LOG, events(6_000, 300, 0.2))
    draft = draft_design(path, folder=tmp_path)
    (tmp_path / "log.toml").write_text(draft.text, encoding="utf-8")
    assert run(Design.read(tmp_path / "log.toml")).verdict == draft.simulation.verdict


def test_a_table_may_be_named(tmp_path: Path) -> None:
    """The name is the one that is given, the file's otherwise; a wrong one is refused."""
    path = written(tmp_path, LOG, events(200, 10))
    assert "ns:log" == draft_design(path, table="ns:log").design.table
    assert "events" == draft_design(path).design.table
    with pytest.raises(InvalidDesign, match="table: "):
        draft_design(path, table="a b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a,b\n", "the sample has no rows after the line of column names"),
        ("a,b,a,b\n1,2,3,4\n", "several columns have the same name: 'a', 'b'"),
        ("a,a\n", "several columns have the same name: 'a'; the sample has no rows"),
        ("a,b\n,\n,\n", "no column can become a field: 'a' holds no value; 'b' holds no value"),
    ],
)
def test_what_is_no_sample_is_refused(text: str, said: str, tmp_path: Path) -> None:
    """A file that no design can be made from is refused with all that is wrong."""
    path = tmp_path / "events.csv"
    path.write_text(text)
    with pytest.raises(SampleError, match=re.escape(said)):
        draft_design(path)
