from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.hbase.settings import _LIMIT_RANGES, Deadline, Settings


def test_all_client_settings_have_defaults_in_range() -> None:
    """All defaults are in range, and the default user is the login name."""
    assert ("", False, 120.0) == (
        Settings().user,
        Settings().compress,
        Settings().operation_timeout_s,
    )


def test_every_client_limit_has_a_checked_range() -> None:
    numbers = {one.name for one in fields(Settings) if one.type in {"int", "float"}}
    assert numbers == set(_LIMIT_RANGES)


@pytest.mark.parametrize("name", sorted(_LIMIT_RANGES))
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 1e30, "1", None, True, [1]])
def test_a_setting_out_of_range_is_rejected_by_name(name: str, value: object) -> None:
    """A value out of range raises an error that begins with the name of the limit."""
    with pytest.raises(InvalidArgument, match=f"^argument {name}: .* expected "):
        Settings(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(_LIMIT_RANGES))
def test_both_ends_of_each_range_of_a_setting_are_accepted(name: str) -> None:
    for end in _LIMIT_RANGES[name]:
        kind = int if name in {one.name for one in fields(Settings) if one.type == "int"} else float
        with_longest = {"max_retry_pause_s": 86_400.0} if name == "retry_pause_s" else {}
        if name == "max_retry_pause_s":
            with_longest = {"retry_pause_s": 0.0}
        settings = Settings(**{name: kind(end), **with_longest})  # type: ignore[arg-type]
        assert end == getattr(settings, name)


def test_a_setting_that_is_a_count_must_be_an_int() -> None:
    """A count of calls, rows or bytes must be an int."""
    with pytest.raises(InvalidArgument, match=r"max_in_flight: 1\.5 is not a whole number"):
        Settings(max_in_flight=1.5)  # type: ignore[arg-type]


def test_user_compress_and_longest_pause_are_checked() -> None:
    """User, compress and the longest pause are checked too."""
    with pytest.raises(InvalidArgument, match="user: 7 is not a text"):
        Settings(user=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="compress: 'yes' is not a boolean"):
        Settings(compress="yes")  # type: ignore[arg-type]
    with pytest.raises(
        InvalidArgument, match=r"max_retry_pause_s: 0\.1 is less than retry_pause_s, 0\.5"
    ):
        Settings(retry_pause_s=0.5, max_retry_pause_s=0.1)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_shortened_deadline_is_never_later(one: float, other: float) -> None:
    """A shortened deadline is never later than the original one."""
    deadline = Deadline.from_now(one)
    sooner = deadline.shorten_to(other)
    assert sooner.expires_at <= deadline.expires_at
    assert 0.0 <= sooner.get_remaining_s() <= min(one, other) + 1e-3
    assert sooner is deadline or sooner.expires_at < deadline.expires_at


def test_a_passed_deadline_has_no_time_left() -> None:
    """A passed deadline has 0 seconds left, never a negative number."""
    deadline = Deadline.from_now(-5)
    assert (0.0, True) == (deadline.get_remaining_s(), deadline.is_expired)
