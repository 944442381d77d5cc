from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import Refused
from rowkey.hbase.settings import _RANGES, Deadline, Settings


def test_defaults_are_in_their_ranges() -> None:
    """No argument is needed; the default user is the login name."""
    assert ("", False, 120.0) == (Settings().user, Settings().compress, Settings().operation_s)


def test_every_number_has_a_range() -> None:
    """A limit that is added without one would be taken as it comes."""
    numbers = {one.name for one in fields(Settings) if one.type in {"int", "float"}}
    assert numbers == set(_RANGES)


@pytest.mark.parametrize("name", sorted(_RANGES))
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 1e30, "1", None, True, [1]])
def test_what_is_no_number_of_the_range_is_refused(name: str, value: object) -> None:
    """With the name of the limit in front, whatever was given."""
    with pytest.raises(Refused, match=f"^{name}: .* expected "):
        Settings(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(_RANGES))
def test_ends_of_a_range_belong_to_it(name: str) -> None:
    """Both ends are taken; a pause stays below the longest pause."""
    for end in _RANGES[name]:
        kind = int if name in {one.name for one in fields(Settings) if one.type == "int"} else float
        with_longest = {"pause_most_s": 86_400.0} if name == "pause_s" else {}
        if name == "pause_most_s":
            with_longest = {"pause_s": 0.0}
        settings = Settings(**{name: kind(end), **with_longest})  # type: ignore[arg-type]
        assert end == getattr(settings, name)


def test_a_fraction_of_a_call_is_refused() -> None:
    """What is counted is a whole number."""
    with pytest.raises(Refused, match=r"in_flight: 1\.5 is not a whole number"):
        Settings(in_flight=1.5)  # type: ignore[arg-type]


def test_words_and_truths_are_checked_too() -> None:
    """A user is a text, compress is true or false, the longest pause is not the shorter one."""
    with pytest.raises(Refused, match="user: 7 is not a text"):
        Settings(user=7)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="compress: 'yes' is not a truth"):
        Settings(compress="yes")  # type: ignore[arg-type]
    with pytest.raises(Refused, match=r"pause_most_s: 0\.1 is below the first pause, 0\.5"):
        Settings(pause_s=0.5, pause_most_s=0.1)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_sooner_deadline_is_never_later(one: float, other: float) -> None:
    """Whichever comes first, and its time left is between 0 and what was given."""
    deadline = Deadline.after(one)
    sooner = deadline.sooner(other)
    assert sooner.at <= deadline.at
    assert 0.0 <= sooner.left() <= min(one, other) + 1e-3
    assert sooner is deadline or sooner.at < deadline.at


def test_a_deadline_that_is_over_has_nothing_left() -> None:
    """Not even a negative number, which locks and polls take for ever."""
    deadline = Deadline.after(-5)
    assert (0.0, True) == (deadline.left(), deadline.expired)
