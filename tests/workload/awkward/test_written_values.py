"""Times and numbers of many layouts are read right, or refused with the options that read them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from rowkey.design import Design
from rowkey.workload import open_sample, record_sample
from rowkey.workload.values.time_detection import LayoutDetector
from rowkey.workload.values.time_layouts import parse_layout
from workload.awkward.files import find_options, get_refusal, read_rows

TIMES = {
    "german": ("timestamp_s", "03.11.2025 12:00:01", "2025-11-03T12:00:01"),
    "german-minutes": ("timestamp_s", "3.11.2025 9:05", "2025-11-03T09:05:00"),
    "german-date": ("date", "03.11.2025", "2025-11-03"),
    "slashes": ("date", "2024/03/04", "2024-03-04"),
    "slashes-time": ("timestamp_s", "2024/03/04 05:06:07", "2024-03-04T05:06:07"),
    "twitter": ("timestamp_s", "Wed Dec 01 08:26:00 +0000 2010", "2010-12-01T08:26:00"),
    "ctime": ("timestamp_s", "Sun Dec  4 04:47:44 2005", "2005-12-04T04:47:44"),
    "basic": ("timestamp_s", "20101201T082600Z", "2010-12-01T08:26:00"),
    "basic-zone": ("timestamp_s", "20101201T082600+0200", "2010-12-01T06:26:00"),
    "fraction": ("timestamp_ms", "1609459200.123", "2021-01-01T00:00:00.123000"),
    "exponent": ("timestamp_s", "1.29E9", "2010-11-17T13:20:00"),
    "milli-fraction": ("timestamp_us", "1609459200123.5", "2021-01-01T00:00:00.123500"),
    "apache": ("timestamp_s", "[03/Nov/2025:12:00:01 +0100]", "2025-11-03T11:00:01"),
    "mail": ("timestamp_s", "Mon, 03 Nov 2025 12:00:01 GMT", "2025-11-03T12:00:01"),
    "twelve": ("timestamp_s", "Jul 31, 2023 10:00 PM", "2023-07-31T22:00:00"),
    "proven": ("timestamp_s", "8/13/18 9:30", "2018-08-13T09:30:00"),
    "proven-day": ("timestamp_s", "13/8/18 9:30", "2018-08-13T09:30:00"),
    "short-year": ("date", "01-Mar-24", "2024-03-01"),
    "zone-name": ("timestamp_s", "2024-01-31 10:00:00 UTC", "2024-01-31T10:00:00"),
    "loose": ("timestamp_s", "2024-1-5 9:03", "2024-01-05T09:03:00"),
    "supercomputer": (
        "timestamp_us", "2005-06-03-15.42.50.363779", "2005-06-03T15:42:50.363779",
    ),
    "chinese": ("timestamp_s", "2025年11月3日 12:00", "2025-11-03T12:00:00"),
    "digits": ("timestamp_s", "20240131235959", "2024-01-31T23:59:59"),
    "iso": ("timestamp_ms", "2024-01-31T10:00:00.250Z", "2024-01-31T10:00:00.250000"),
}  # fmt: skip
"""By name the type of the field, the text in the file and the time."""


@pytest.mark.parametrize(
    "delimiter", [",", *(pytest.param(one, marks=pytest.mark.long) for one in ";\t|")]
)
@pytest.mark.parametrize("name", TIMES)
def test_times_of_known_layouts_are_read(tmp_path: Path, name: str, delimiter: str) -> None:
    """A column of times is read whatever its layout and the delimiter of the file are."""
    kind, text, expected = TIMES[name]
    path = tmp_path / "a.csv"
    lines = [delimiter.join(["v", "when"])]
    lines += [delimiter.join([str(n), f'"{text}"']) for n in range(30)]
    path.write_text("\n".join(lines), "utf-8")
    assert [(n, expected) for n in range(30)] == read_rows(path, {"v": "u32", "when": kind})


CHOICES = {
    "day-or-month": (
        "timestamp_s", "8/12/18 9:30", ["2018-12-08T09:30:00", "2018-08-12T09:30:00"],
    ),
    "dashes": ("date", "03-04-2024", ["2024-04-03", "2024-03-04"]),
    "spark": (
        "timestamp_s", "10/06/09 20:10:40",
        ["2009-06-10T20:10:40", "2009-10-06T20:10:40", "2010-06-09T20:10:40"],
    ),
    "seconds": ("timestamp_ms", "1609459200",
                ["2021-01-01T00:00:00", "1970-01-19T15:04:19.200000"]),
    "milliseconds": ("timestamp_us", "1609459200123",
                     ["2021-01-01T00:00:00.123000", "1970-01-19T15:04:19.200123"]),
    "serial": ("timestamp_s", "43831.5", ["2020-01-01T12:00:00"]),
    "serial-day": ("date", "43831", ["2020-01-01"]),
}  # fmt: skip
"""By name the type of the field, the text and the time of each option that the error names."""


@pytest.mark.parametrize("name", CHOICES)
def test_ambiguous_times_are_refused_with_options_that_read_them(tmp_path: Path, name: str) -> None:
    """Each option that the error names reads the file, each in its own way."""
    kind, text, expected = CHOICES[name]
    path = tmp_path / "a.csv"
    path.write_text("v,when\n" + f"1,{text}\n" * 30)
    fields = {"v": "u32", "when": kind}
    options = find_options(get_refusal(path, fields))
    assert expected == [read_rows(path, fields, one)[0][1] for one in options]


NUMBERS = {
    "comma": ({"type": "decimal", "precision": 9, "scale": 2}, ["1.234,56", "3,50"], "1234.56"),
    "comma-float": ("float64", ["3,5", "0,25"], "3.5"),
    "english": ("float64", ["1,234.5", "7"], "1234.5"),
    "swiss": ("float64", ["1'234.5", "7"], "1234.5"),
    "french": ("float64", ["1 234,5", "7"], "1234.5"),
    "no-break": ("float64", ["1\u202f234,5", "7"], "1234.5"),
    "millions": ("u32", ["1.234.567", "7"], "1234567"),
    "whole-float": ("u32", ["17850.0", "13047.0"], "17850"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_known_layouts_are_read(tmp_path: Path, name: str) -> None:
    """Decimal commas, groups and whole numbers with a point are read as numbers."""
    kind, texts, expected = NUMBERS[name]
    path = tmp_path / "a.csv"
    path.write_text("v;host\n" + "".join(f"{text};h\n" for text in texts), "utf-8")
    rows = read_rows(path, {"v": kind, "host": "text"})
    assert (len(texts), expected) == (len(rows), str(rows[0][0]))


def test_the_place_of_a_two_digit_year_is_found_from_many_rows(tmp_path: Path) -> None:
    """Days that vary are no years: `17/06/09` is of 2017 here, and `09/13/17` in September."""
    path = tmp_path / "a.csv"
    for texts, expected in (
        ([f"17/06/{day:02d} 20:10:40" for day in range(1, 29)], "2017-06-01T20:10:40"),
        ([f"09/{day:02d}/17 20:10:40" for day in range(1, 29)], "2017-09-01T20:10:40"),
    ):
        path.write_text("when,v\n" + "".join(f"{text},1\n" for text in texts))
        assert expected == read_rows(path, {"when": "timestamp_s"})[0][0]


def test_an_ambiguous_decimal_mark_is_refused_with_options_that_work(tmp_path: Path) -> None:
    """`1,234` is 1234 or 1.234; each option that the error names reads it so."""
    path = tmp_path / "a.csv"
    path.write_text("v;host\n1,234;a\n5,678;b\n")
    fields: dict[str, Any] = {"v": "float64", "host": "text"}
    options = find_options(get_refusal(path, fields))
    assert [1.234, 1234.0] == sorted({read_rows(path, fields, one)[0][0] for one in options})


@pytest.mark.parametrize("name", ["ts", "Date", "Time"])
def test_the_join_option_makes_one_column_of_date_and_time(tmp_path: Path, name: str) -> None:
    """`join` makes one column of two, with a space between them; it may have the name of one."""
    path = tmp_path / "a.csv"
    path.write_text("Date,Time,host\n03.11.2025,12:00:01,a\n13.11.2025,,b\n14.11.2025,9:00:00,c\n")
    options = {"kind": "csv", "join": {name: ["Date", "Time"]}}
    assert [name, "host"] == record_sample(path, options).read_column_names()
    rows = read_rows(path, {"host": "text", name: "timestamp_s"}, options)
    assert [("a", "2025-11-03T12:00:01"), ("c", "2025-11-14T09:00:00")] == rows


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"times": {"ts": "%Q"}}, "%Q in '%Q' is not a supported time directive"),
        ({"times": {"ts": "%H:%M"}}, "has no day"),
        ({"times": {"ts": "epoch"}}, "'epoch' is not a layout of times"),
        ({"times": {"ts": "%b %d"}}, "has no year"),
        ({"times": {"ts": 5}}, "5 is not text"),
        ({"numbers": {"v": "1,23"}}, "'1,23' is not a layout of numbers"),
        ({"join": {"ts": ["a"]}}, "does not name two columns"),
        ({"join": {"a": ["b", "c"], "ts": ["a", "d"]}}, "'a' is joined itself"),
        ({"encoding": "latin1"}, "'latin1' is not an encoding"),
        ({"skip_lines": -1}, "-1 is out of range"),
        ({"year": 0}, "0 is out of range"),
    ],
)
def test_a_malformed_sample_option_is_refused(tmp_path: Path, options: Any, problem: str) -> None:
    """The error of an option names the option and what is allowed."""
    said = get_refusal(tmp_path / "a.csv", {"ts": "timestamp_s"}, {"kind": "csv", **options})
    assert said.startswith("sample.format.")
    assert problem in said
    assert "expected" in said


@pytest.mark.parametrize("kind", ["csv", "json_lines"])
def test_columns_that_only_the_sample_options_name_are_reported(tmp_path: Path, kind: str) -> None:
    """A misspelt column of `times`, `numbers` and `join` is told; the others are read."""
    path = tmp_path / "a"
    path.write_text("v, when \n1,2\n" if kind == "csv" else '{"v": 1, "when": 2}\n')
    options = {
        "kind": kind,
        "times": {"wen": "epoch_s", "when": "epoch_s"},
        "numbers": {"w": "1,234.56"},
        "join": {"ts": ["when", "hour"]},
    }
    design = Design("t", "[v]", fields={"v": "u32", "when": "timestamp_s"})
    sample = open_sample(path, design.fields, None, options)
    assert 1 == sum(map(len, sample.read_events()))
    said = "the sample has no column wen, w, hour, which its declared format names"
    assert said in [str(one) for one in sample.assumptions]


def test_two_joins_may_share_a_date_column(tmp_path: Path) -> None:
    """A date that is joined with two times of day makes two times, and nothing is missing."""
    path = tmp_path / "a.csv"
    path.write_text("date,t1,t2\n2024-01-31,10:00,11:00\n")
    joins = {"departure": ["date", "t1"], "arrival": ["date", "t2"]}
    kind = "timestamp_s"
    fields = {"departure": kind, "arrival": kind}
    design = Design("t", "[departure][arrival]", fields=fields, writes={"time": "departure"})
    sample = open_sample(path, design.fields, None, {"kind": "csv", "join": joins})
    [events] = sample.read_events()
    assert [10, 11] == [events.rows.column(n)[0].as_py().hour for n in range(2)]
    assert not any("has no" in str(one) for one in sample.assumptions)


@pytest.mark.parametrize("text", ["1e19", "9.3e18", "1e30"])
def test_a_count_with_an_exponent_beyond_64_bits_is_no_time(text: str) -> None:
    """Such a count is no time, and the others of its column are."""
    times = parse_layout("epoch_ns").parse_column(pa.array([text, "1700000000000000000"]))
    assert [False, True] == times.is_valid.tolist()


EXACT_NS = [1_764_191_234_123_456_789, 1_764_191_234_123_456_787]


@pytest.mark.parametrize("other", ["-1764191234123456789", "+1764191234123456789", "1.5e18"])
def test_counts_next_to_one_with_a_sign_or_exponent_stay_exact(other: str) -> None:
    """Counts of 19 digits are exact next to one with a sign or an exponent, which is read too."""
    times = parse_layout("epoch_ns").parse_column(pa.array([*map(str, EXACT_NS), other]))
    counts = [
        int(s) * 10**9 + int(n) for s, n in zip(times.seconds, times.nanoseconds, strict=True)
    ]
    assert [*EXACT_NS, int(float(other)) if "e" in other else int(other)] == counts
    assert times.is_valid.all()


@pytest.mark.parametrize("text", ["-0.25", "-1.5", "-7", "-0.000001", "-2.000000001"])
def test_counts_before_1970_are_read_exactly(text: str) -> None:
    """A negative count with a fraction is the instant that far before 1970."""
    times = parse_layout("epoch_s").parse_column(pa.array([text]))
    count = int(times.seconds[0]) * 10**9 + int(times.nanoseconds[0])
    assert Decimal(text) * 10**9 == count


def test_an_unsigned_count_beyond_63_bits_is_no_time() -> None:
    """An unsigned count that has no signed value is no time, and no other one."""
    times = parse_layout("epoch_ns").parse_column(
        pa.array([1, 2**63 - 1, 2**63, 2**64 - 1], pa.uint64())
    )
    assert [True, True, False, False] == times.is_valid.tolist()


@pytest.mark.parametrize("zone", ["+9999", "+2400", "-0060", "+24:00"])
def test_a_time_zone_offset_of_24_hours_or_more_is_invalid(zone: str) -> None:
    """An offset has less than 24 hours and 60 minutes."""
    times = parse_layout("%Y-%m-%d %H:%M %z").parse_column(pa.array([f"2024-01-31 10:00 {zone}"]))
    assert not times.is_valid.any()


@pytest.mark.parametrize("unit", ["epoch_s", "epoch_ms", "epoch_us", "epoch_ns"])
def test_counts_of_a_current_time_are_read_in_every_declared_unit(
    tmp_path: Path, unit: str
) -> None:
    """A declared count is read as text, with 10 to 19 digits, to the millisecond."""
    digits = {"epoch_s": 0, "epoch_ms": 3, "epoch_us": 6, "epoch_ns": 9}[unit]
    path = tmp_path / "a.csv"
    path.write_text("v,when\n" + f"1,{1_764_191_234 * 10**digits}\n" * 30)
    fields = {"v": "u32", "when": "timestamp_ms"}
    rows = read_rows(path, fields, {"kind": "csv", "times": {"when": unit}})
    assert ["2025-11-26T21:07:14"] * 30 == [when for _, when in rows]


@pytest.mark.parametrize("digits", [0, 6, 9])
def test_counts_in_another_unit_are_refused_with_the_option(tmp_path: Path, digits: int) -> None:
    """Seconds, micro- and nanoseconds in a field of milliseconds are refused with the option."""
    path = tmp_path / "a.csv"
    path.write_text("v,when\n" + f"1,{1_764_191_234 * 10**digits}\n" * 30)
    unit = {0: "epoch_s", 6: "epoch_us", 9: "epoch_ns"}[digits]
    assert f'when = "{unit}"' in get_refusal(path, {"v": "u32", "when": "timestamp_ms"})


def test_a_row_with_bytes_outside_of_the_encoding_is_skipped(tmp_path: Path) -> None:
    """A row with such bytes is left out and counted, as one that is not UTF-8."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"host,v\n" + "\u4f60,1\n".encode("gbk") * 60 + b"h\xff\xff,2\n")
    assert [("\u4f60", 1)] * 60 == read_rows(
        path, {"host": "text", "v": "u32"}, {"kind": "csv", "encoding": "gbk"}
    )


def test_ip_addresses_are_not_taken_for_numbers(tmp_path: Path) -> None:
    """An IPv4 address is not taken for a number with groups of digits."""
    path = tmp_path / "a.csv"
    path.write_text("v,ip\n" + "1,0.100.100.100\n" * 30)
    assert [(1, "0.100.100.100")] * 30 == read_rows(path, {"v": "u32", "ip": "ipv4"})


@pytest.mark.parametrize(
    ("times", "is_told"), [(["13/11/68", "14/11/69"], True), (["13/11/2068", "14/11/1969"], False)]
)
def test_the_century_of_two_digit_years_is_reported(
    tmp_path: Path, times: list[str], is_told: bool
) -> None:
    """Years of two digits are those of the next century up to 68."""
    path = tmp_path / "s.csv"
    path.write_text("when\n" + "".join(f"{time}\n" for time in times))
    sample = open_sample(path, Design("t", "[when]", fields={"when": "date"}).fields, None)
    days = [row["when"] for events in sample.read_events() for row in events.rows.to_pylist()]
    assert [2068, 1969] == [day.year for day in days]
    assert is_told == (" with years from 1969 to 2068" in str(sample.assumptions[0]))


def read_numbers(path: Path, text: str, options: Any = None) -> tuple[list[Any], str]:
    """Return the numbers of the column v of a file, and what was assumed."""
    path.write_text(text)
    fields = Design("t", "[host]", fields={"v": "float64", "host": "text"}).fields
    sample = open_sample(path, fields, None, options)
    rows = [row for events in sample.read_events() for row in events.rows.to_pylist()]
    return [row["v"] for row in rows], " ".join(map(str, sample.assumptions))


def test_a_point_that_may_group_thousands_is_reported(tmp_path: Path) -> None:
    """Where semicolons separate values, 1.037 may be 1037; what is told reads it so."""
    path = tmp_path / "a.csv"
    numbers, told = read_numbers(path, "v;host\n1.037;a\n25.500;b\n")
    remedy = 'if the point groups thousands, declare numbers = { v = "1.234,56" }'
    assert ([1.037, 25.5], True) == (numbers, remedy in told)
    options = {"kind": "csv", "numbers": {"v": "1.234,56"}}
    assert [1037, 25500] == read_numbers(path, path.read_text(), options)[0]
    for text in ("v;host\n1.037;a\n0.500;b\n", "v;host\n1.037;a\n5.5;b\n", "v,host\n1.037,a\n"):
        numbers, told = read_numbers(path, text)
        assert (1.037, False) == (numbers[0], "thousands" in told)


def test_a_zero_before_a_comma_proves_a_decimal_comma(tmp_path: Path) -> None:
    """No group of thousands follows a zero: `0,005` is no number of 1,234.56."""
    numbers, told = read_numbers(tmp_path / "a.csv", "v;host\n0,005;a\n1,234;b\n")
    assert [0.005, 1.234] == numbers
    assert "the numbers of v are written as 1.234,56, such as 0,005" in told


def test_times_of_day_dropped_from_a_date_are_counted(tmp_path: Path) -> None:
    """Midnight is no more than the day; a note has the number of the others and one of them."""
    texts = ["2024-03-04T10:11:12", "2024-03-05 00:00", "2024-03-06", "2024-03-07T23:30:00-05:00"]
    (tmp_path / "a.csv").write_text("d\n" + "".join(f"{text}\n" for text in texts))
    times = pa.array([1_709_546_400, 1_709_596_800], pa.timestamp("s"))
    parquet.write_table(pa.table({"d": times}), tmp_path / "a.parquet")
    for name, count in (("a.csv", 2), ("a.parquet", 1)):
        sample = open_sample(tmp_path / name, Design("t", "[d]", fields={"d": "date"}).fields, None)
        days = [str(day)[:10] for one in sample.read_events() for day in one.rows["d"].to_pylist()]
        assert ["2024-03-04", "2024-03-05", "2024-03-06", "2024-03-07"][: len(days)] == days
        said = f"values of d with a time of day, which is dropped: {count}, such as 2024-03-04"
        assert [said] == [one[: len(said)] for one in sample.assumptions]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_nan_is_null_in_a_nullable_field(tmp_path: Path, name: str) -> None:
    """The rows are kept, and a note has the number of such values; else the rows are named."""
    path = tmp_path / name
    numbers = [1.5, float("nan"), 2.5, float("nan"), *[3.5] * 5]
    if name == "a.csv":
        path.write_text("n,x\n" + "".join(f"{n},{x}\n" for n, x in enumerate(numbers)))
    elif name == "a.jsonl":
        path.write_text("".join(f"{json.dumps({'n': n, 'x': x})}\n" for n, x in enumerate(numbers)))
    else:
        parquet.write_table(pa.table({"n": range(len(numbers)), "x": numbers}), path)
    optional: dict[str, Any] = {"n": "u8", "x": {"type": "float64", "nullable": True}}
    sample = open_sample(path, Design("t", "[n]", fields=optional).fields, None)
    values = [x for events in sample.read_events() for x in events.rows["x"].to_pylist()]
    assert [1.5, None, 2.5, None, *[3.5] * 5] == values
    said = "x is NaN 2 times, which no field can hold: x is null there"
    assert [said] == list(map(str, sample.assumptions))
    required = Design("t", "[n]", fields={"n": "u8", "x": "float64"}).fields
    sample = open_sample(path, required, None)
    assert 7 == sum(len(events) for events in sample.read_events())
    place = {"a.csv": "line 3", "a.jsonl": "line 2", "a.parquet": "row 2"}[name]
    assert sample.skipped_rows.first_problem.lower().startswith(f"{place}: x is")


@pytest.mark.parametrize(
    "layout",
    ["%b %d %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%d-%b-%Y", "%d/%b/%Y", "%Y-%m-%d",
     "%Y/%m/%d", "%Y.%m.%d", "%Y-%b-%d", "%b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Y"],
)  # fmt: skip
def test_first_days_of_months_have_one_layout(layout: str) -> None:
    """A year such as 2010 is no time of day, and nothing is asked where only one order is."""
    days = [
        datetime(year, month, 1, tzinfo=UTC) for year in range(2000, 2024) for month in (1, 2, 12)
    ]
    detector = LayoutDetector(is_time=True)
    detector.add_texts(pa.array([day.strftime(layout) for day in days]))
    found = detector.decide()
    assert found is not None
    assert (layout, ()) == (found.layout.text, found.rivals)
