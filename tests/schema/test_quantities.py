from collections.abc import Callable

import hypothesis.strategies as st
import pytest
from hypothesis import given

from rowkey.errors import InvalidArgument
from rowkey.schema import NANOSECONDS, Duration, parse_duration, parse_rate, parse_size
from schema import spellings


@given(spellings.durations)
def test_a_printed_duration_is_parsed_back_unchanged(length: Duration) -> None:
    """A duration is printed as it was written."""
    assert length == parse_duration(str(length))


def test_an_hour_and_sixty_minutes_are_different_durations_of_equal_length() -> None:
    hour, minutes = Duration(1, "h"), Duration(60, "m")
    assert hour.nanoseconds == minutes.nanoseconds
    assert hour != minutes


@given(st.integers(0, 10**15), st.sampled_from(sorted(NANOSECONDS)))
def test_a_rate_is_converted_to_events_per_second(count: int, unit: str) -> None:
    """A rate per any unit of time is converted to events a second."""
    assert parse_rate(f"{count}/{unit}") == pytest.approx(count * 1e9 / NANOSECONDS[unit])


@given(st.integers(0, 10**6), st.sampled_from([("kB", 10**3), ("KiB", 2**10), ("GiB", 2**30)]))
def test_decimal_and_binary_units_of_a_size_are_distinguished(
    count: int, unit: tuple[str, int]
) -> None:
    assert count * unit[1] == parse_size(f"{count}{unit[0]}")


WRONG: list[tuple["Callable[[str], object]", str, str]] = [
    (parse_duration, "30 days", "such as 30d"),
    (parse_duration, "1.5h", "such as 30d"),
    (parse_duration, "-1s", "such as 30d"),
    (parse_duration, "", "such as 30d"),
    (parse_duration, "1" * 19 + "s", "such as 30d"),
    (parse_duration, "٣s", "such as 30d"),
    (parse_rate, "5000", "such as 5000/s"),
    (parse_rate, "-5/s", "such as 5000/s"),
    (parse_rate, "5k/s", "such as 5000/s"),
    (parse_rate, "1e400/s", "such as 5000/s"),
    (parse_size, "16 gigs", "such as 16GiB"),
    (parse_size, "16GB" * 100, "such as 16GiB"),
]


@pytest.mark.parametrize(("read", "text", "example"), WRONG)
def test_an_invalid_quantity_is_refused_with_a_valid_example(
    read: "Callable[[str], object]", text: str, example: str
) -> None:
    """Each refusal shows the text, cut short, and a valid example."""
    with pytest.raises(InvalidArgument) as caught:
        read(text)
    mistake = caught.value.mistake
    assert mistake.expected.endswith(example)
    assert repr(text[:64]) in mistake.problem


@given(st.text(max_size=80))
def test_any_text_is_parsed_as_a_quantity_or_refused(text: str) -> None:
    for read in (parse_duration, parse_rate, parse_size):
        try:
            found = read(text)
        except InvalidArgument:
            continue
        assert found is not None
