"""Times as digits of the calendar are distinguished from counts, by whole columns."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.workload import open_sample
from rowkey.workload.values.calendar_digits import has_calendar_digits, parse_calendar_digits

if TYPE_CHECKING:
    from rowkey.keys import Field

PER_SECOND = {"timestamp_s": 1, "timestamp_ms": 10**3, "timestamp_ns": 10**9}
FORMS = {"%Y%m%d": 86_400, "%Y%m%d%H%M%S": 1}
INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(2099, 12, 31, 23, 59, 59))  # noqa: DTZ001 - UTC


def build_field(kind: str) -> Field:
    """Build a field of times."""
    return Design("t", "[ts]", fields={"ts": {"type": kind, "nullable": True}}).fields["ts"]


@pytest.mark.parametrize("kind", PER_SECOND)
@given(
    written=st.lists(st.tuples(INSTANTS, st.sampled_from(sorted(FORMS))), min_size=1, max_size=6),
    is_text=st.booleans(),
)
def test_calendar_digits_are_parsed_as_by_strptime(
    kind: str, written: list[tuple[datetime, str]], *, is_text: bool
) -> None:
    """Calendar digits, as text or numbers, are parsed as strptime does."""
    digits = [instant.strftime(form) for instant, form in written]
    array = pa.array(digits) if is_text else pa.array(list(map(int, digits)))
    expected = []
    for instant, form in written:
        seconds = int(instant.replace(microsecond=0, tzinfo=UTC).timestamp())
        expected.append(seconds // FORMS[form] * FORMS[form] * PER_SECOND[kind])
    declared = build_field(kind)
    assert has_calendar_digits(declared, array)
    assert expected == parse_calendar_digits(declared, array).cast(pa.int64()).to_pylist()


@given(
    numbers=st.lists(
        st.one_of(
            st.integers(19_700_101, 20_991_231), st.integers(19_700_101_000_000, 20_991_231_235_959)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_column_with_an_impossible_date_is_parsed_as_counts(numbers: list[int]) -> None:
    """A column with a 31st of April, an hour 24 or a second 60 is parsed as counts."""
    assert all(map(_is_instant, numbers)) == has_calendar_digits(
        build_field("timestamp_s"), pa.array(numbers)
    )


def _is_instant(number: int) -> bool:
    try:
        datetime.strptime(str(number).ljust(14, "0"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return False
    return number % 100 < 60 or number < 10**8


@pytest.mark.parametrize(
    ("column", "expected", "remark_count"),
    [
        (["20240131", "20240201"], [1_706_659_200, 1_706_745_600], 1),
        (["20240131", "20240231"], [20_240_131, 20_240_231], 0),
        (["20240131", "7"], [20_240_131, 7], 0),
        (["24380101", "24380102"], [24_380_101, 24_380_102], 0),
        (["2024-01-31", "20240131"], [1_706_659_200, 20_240_131], 0),
        (["1704067200"], [1_704_067_200], 0),
    ],
)
def test_all_or_no_values_of_a_column_are_taken_for_calendar_digits(
    tmp_path: Path, column: list[str], expected: list[int], remark_count: int
) -> None:
    """All values of a column are calendar digits, with a remark, or none is."""
    path = tmp_path / "a.csv"
    path.write_text("id,ts\n" + "".join(f"{n},{text}\n" for n, text in enumerate(column)))
    design = Design("t", "[id][ts]", fields={"id": "u32", "ts": "timestamp_s"})
    sample = open_sample(path, design.collect_needed_fields(), design.writes.time)
    columns = [some.rows.column("ts").cast(pa.int64()) for some in sample.read_events()]
    assert expected == pa.chunked_array(columns).to_pylist()
    assert remark_count == sum("calendar" in one for one in sample.assumptions)


def test_empty_columns_are_not_calendar_digits() -> None:
    """Empty columns and fields of other types are not calendar digits."""
    assert (
        has_calendar_digits(build_field("timestamp_s"), pa.array([None, None], pa.string())) is None
    )
    number = Design("t", "[n]", fields={"n": "u64"}).fields["n"]
    assert False is has_calendar_digits(number, pa.array([20_240_131]))
