"""Values that a field cannot hold are shown, and times of another unit are reported."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.simulate import run
from rowkey.workload.records import MAX_BATCH_RECORDS
from rowkey.workload.sample_file import SampleFile, open_sample

SIZES: dict[str, dict[str, Any]] = {
    "decimal": {"precision": 5, "scale": 1},
    "text": {"max_bytes": 4},
    "choice": {"of": ["a", "b"]},
}


def open_field_sample(path: Path, kind: str, **words: Any) -> SampleFile:
    """Open a sample with a field v of some type next to a text."""
    field = {"type": kind, **SIZES.get(kind, {}), **words}
    fields = {"host": {"type": "text", "max_bytes": 9}, "v": field}
    design = Design("t", "[host][v]", fields=fields)
    return open_sample(path, design.collect_needed_fields(), design.writes.time)


def get_first_problem(sample: SampleFile) -> str:
    """Return the message on the first skipped row."""
    list(sample.read_events())
    return sample.skipped_rows.first_problem


# The value that is none of the field's


@pytest.mark.parametrize(
    ("kind", "good", "bad", "message"),
    [
        ("decimal", "0.5", "0.25", "line 3: v is '0.25'; expected decimal, precision 5, scale 1"),
        ("decimal", "1", "123456", "line 3: v is '123456'; expected decimal, precision 5, scale 1"),
        ("u8", "1", "300", "line 3: v is '300'; expected u8, 0..255"),
        ("u8", "1", "one", "line 3: v is 'one'; expected u8"),
        ("timestamp_s", "1700000000", "noon", "line 3: v is 'noon'; expected timestamp_s, s since"),
        ("choice", "a", "c", "line 3: v is 'c'; expected choice, one of a, b"),
        ("bool", "true", "perhaps", "line 3: v is 'perhaps'; expected bool, true, false, 1 or 0"),
        ("u8", "1", "", "line 3 has no u8 for v"),
        ("u8", "1", "x\x1by" * 40, "line 3: v is 'x\\x1byx"),
    ],
)
def test_an_invalid_value_is_shown_with_row_and_field(
    tmp_path: Path, kind: str, good: str, bad: str, message: str
) -> None:
    """The message shows row, field, value and what is allowed, or `no value` for a null."""
    path = tmp_path / "a.csv"
    rows = [good, bad, good, good]
    path.write_text("host,v\n" + "".join(f"h,{text}\n" for text in rows))
    found = get_first_problem(open_field_sample(path, kind))
    assert found.startswith(message)
    assert len(found) < 200
    assert found.isprintable()


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("2014-09-13 7:24", "%Y-%m-%d %H:%M"),
        ("13/09/2014 07:24:01", "%d/%m/%Y %H:%M:%S"),
        ("noon", "%d.%m.%Y %H:%M:%S"),
    ],
)
def test_the_layout_that_reads_an_invalid_time_is_named(
    tmp_path: Path, text: str, layout: str
) -> None:
    """What to declare reads the time that was shown, where any layout does."""
    path = tmp_path / "a.csv"
    path.write_text(f"host,v\nh,{text}\n" + "h,2014-09-13 17:24\n" * 60 + f"h,{text}\n" * 40)
    with pytest.raises(SampleError, match=re.escape(f'times = {{ v = "{layout}" }}')):
        list(open_field_sample(path, "timestamp_s").read_events())


def test_a_column_name_with_a_space_is_quoted_in_the_suggested_option(tmp_path: Path) -> None:
    """The option that is named can be copied to a design file."""
    path = tmp_path / "a.csv"
    path.write_text("host,start time\n" + "h,noon\n" * 60)
    with pytest.raises(SampleError, match='"start time" = "%d'):
        list(open_field_sample(path, "timestamp_s", **{"from": "start time"}).read_events())


def test_an_impossible_date_in_calendar_digits_is_shown(tmp_path: Path) -> None:
    """In a column of calendar digits, the message expects a day."""
    path = tmp_path / "a.jsonl"
    good, bad = '{"host": "h", "v": 20240131}\n', '{"host": "h", "v": 20241331}\n'
    path.write_text(good * MAX_BATCH_RECORDS + bad)
    said = f"line {MAX_BATCH_RECORDS + 1}: v is '20241331'; expected a date or time as digits"
    assert get_first_problem(open_field_sample(path, "timestamp_s")).startswith(said)


def test_an_invalid_parquet_value_is_shown_as_text(tmp_path: Path) -> None:
    """Values of Parquet are shown as text, and a null as no value."""
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"host": ["a", "b", "c"], "v": pa.array([1, -7, None])}), path)
    with pytest.raises(SampleError, match=r"row 2: v is -7; expected u8, 0\.\.255"):
        list(open_field_sample(path, "u8").read_events())


@pytest.mark.parametrize(
    ("values", "remedy", "other"),
    [
        (["one", "two", "3"], "Declare another type for v", "nullable"),
        (["", "", "3"], "or declare the field nullable", "Declare another type"),
    ],
)
def test_a_missing_column_and_an_invalid_value_have_different_remedies(
    tmp_path: Path, values: list[str], remedy: str, other: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("host,v\n" + "".join(f"h,{value}\n" for value in values))
    with pytest.raises(SampleError) as caught:
        list(open_field_sample(path, "u8").read_events())
    assert remedy in str(caught.value)
    assert other not in str(caught.value)


@pytest.mark.parametrize(("name", "column"), [("a.csv", "text"), ("a.parquet", "typed")])
def test_the_remedy_for_a_time_before_1970_is_another_type(
    tmp_path: Path, name: str, column: str
) -> None:
    """No layout is proposed for times that no timestamp holds."""
    path = tmp_path / name
    times = [datetime(1960, 1, 2, 3, tzinfo=UTC)] * 3
    if column == "typed":
        parquet.write_table(pa.table({"host": ["a"] * 3, "v": times}), path)
    else:
        path.write_text("host,v\n" + "".join(f"a,{time.isoformat()}\n" for time in times))
    with pytest.raises(SampleError) as caught:
        list(open_field_sample(path, "timestamp_us").read_events())
    assert "Timestamps begin in 1970: declare v as date or text." in str(caught.value)
    assert "times = " not in str(caught.value)


def test_the_remedy_for_a_negative_time_is_a_number_type(tmp_path: Path) -> None:
    """No layout is proposed for seconds before 1970 either."""
    path = tmp_path / "a.csv"
    path.write_text("host,v\n" + "".join(f"a,{n - 99}\n" for n in range(60)))
    with pytest.raises(
        SampleError, match=r"Timestamps begin in 1970: declare v as i64\."
    ) as caught:
        list(open_field_sample(path, "timestamp_s").read_events())
    assert "times = " not in str(caught.value)


# Times of another unit

NOW_S = 1_700_000_000


def format_age_remark(name: str, time: str) -> str:
    """Return the remark on a field with most times before 1990 or after 2099."""
    return f"most times of {name} are before 1990 or after 2099, such as {time}"


def format_unit_remark(name: str, time: str, unit: str) -> str:
    """Return the remark on a field whose times have another unit."""
    return f'{format_age_remark(name, time)}; declare type = "{unit}" if that is their unit'


def test_the_remedy_for_milliseconds_in_a_field_of_seconds_is_its_type(tmp_path: Path) -> None:
    """Milliseconds cannot be read as seconds, so that the remedy is a type of milliseconds."""
    path = tmp_path / "a.csv"
    path.write_text("host,v\n" + "".join(f"h,{NOW_S * 1_000 + n}\n" for n in range(20)))
    with pytest.raises(SampleError, match=r"If they are, declare v as timestamp_ms\."):
        list(open_field_sample(path, "timestamp_s").read_events())
    assert list(open_field_sample(path, "timestamp_ms").read_events())


@pytest.mark.parametrize(
    ("kind", "factor", "unit", "remark"),
    [
        ("timestamp_ms", 1, "epoch_s", format_unit_remark("v", "1970-01", "timestamp_s")),
        (
            "timestamp_ms",
            10**6,
            "epoch_us",
            format_unit_remark("v", "the year 55,840", "timestamp_us"),
        ),
        ("timestamp_us", 1, "epoch_s", format_unit_remark("v", "1970-01", "timestamp_s")),
        ("timestamp_ns", 10**3, "epoch_ms", format_unit_remark("v", "1970-01", "timestamp_ms")),
    ],
)
def test_times_in_another_unit_are_refused_with_the_unit_that_fits(
    tmp_path: Path, kind: str, factor: int, unit: str, remark: str
) -> None:
    """The error offers the unit that fits and the field's own, and both are then read."""
    path = tmp_path / "a.csv"
    path.write_text("host,v\n" + "".join(f"h,{(NOW_S + n) * factor}\n" for n in range(20)))
    with pytest.raises(SampleError) as caught:
        list(open_field_sample(path, kind).read_events())
    own_unit = kind.replace("timestamp", "epoch")
    for one in (unit, own_unit):
        option = f"""--sample-format '{{ kind = "csv", times = {{ v = "{one}" }} }}'"""
        assert option in str(caught.value)
        sample = open_sample(
            path, open_field_sample(path, kind).fields, None, {"kind": "csv", "times": {"v": one}}
        )
        [events] = sample.read_events()
        ticks = {"timestamp_ms": 10**3, "timestamp_us": 10**6, "timestamp_ns": 10**9}[kind]
        counts = events.rows.column("v").cast(pa.int64()).to_pylist()
        expected = NOW_S * (ticks if one == unit else factor)
        assert expected == counts[0]
        assert ([] if one == unit else [remark]) == sample.assumptions


@pytest.mark.parametrize(
    ("kind", "factor"),
    [("timestamp_s", 1), ("timestamp_ms", 10**3), ("timestamp_us", 10**6), ("timestamp_ns", 10**9),
     ("u64", 1)],
)  # fmt: skip
def test_times_in_the_unit_of_their_field_are_read_without_an_option(
    tmp_path: Path, kind: str, factor: int
) -> None:
    """Times of 1990 to 2100 in the field's unit, and numbers that are no times, need no option."""
    path = tmp_path / "a.csv"
    path.write_text("host,v\n" + "".join(f"h,{(NOW_S + n) * factor}\n" for n in range(20)))
    sample = open_field_sample(path, kind)
    for _ in range(2):
        assert 20 == sum(map(len, sample.read_events()))
        assert [] == sample.assumptions


@pytest.mark.parametrize(
    ("kind", "texts", "remarks"),
    [
        ("date", ["1931-05-01"], [format_age_remark("v", "1931-05")]),
        ("date", ["1991-05-01"], []),
        ("timestamp_s", ["2020-01-01"] * 3 + ["1970-01-01"] * 2, []),
        (
            "timestamp_s",
            ["2020-01-01"] * 2 + ["1971-02-01"] * 3,
            [format_age_remark("v", "1971-02")],
        ),
        ("timestamp_s", ["2150-01-01"], [format_age_remark("v", "2150-01")]),
        ("timestamp_s", ["1990-01-01"], []),
        ("timestamp_s", ["2099-12-31T23:59:59Z"], []),
    ],
)
def test_times_of_1970_that_fit_no_unit_get_a_remark(
    tmp_path: Path, kind: str, texts: list[str], remarks: list[str]
) -> None:
    """Where no unit fits, the remark gives the month; a few old times give no remark."""
    path = tmp_path / "a.csv"
    path.write_text("host,v\n" + "".join(f"h,{text}\n" for text in texts))
    sample = open_field_sample(path, kind, nullable=True)
    list(sample.read_events())
    assert remarks == sample.assumptions


def test_the_remark_on_times_in_another_unit_is_in_the_result(tmp_path: Path) -> None:
    """The result of a simulation has the remark on times of another unit, if they are declared."""
    path = tmp_path / "a.csv"
    path.write_text("host,ts\n" + "".join(f"h{n % 9},{NOW_S + n}\n" for n in range(2_000)))
    fields = {"host": {"type": "text", "max_bytes": 9}, "ts": "timestamp_ms"}
    words = {"kind": "csv", "times": {"ts": "epoch_ms"}}
    found = run(
        Design("t", "[bucket(host, 4)][host][ts]", fields=fields), path, format_options=words
    )
    assert [format_unit_remark("ts", "1970-01", "timestamp_s")] == found.source.assumptions
