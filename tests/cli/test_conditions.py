"""The conditions of the command line are parsed correctly or refused."""

from __future__ import annotations

import json
import os

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cli.conditions import parse_conditions
from rowkey.schema import Condition


def parse_one(test: str) -> tuple[str, str, tuple[object, ...]]:
    """Return field, operator and operands of one condition."""
    (found,) = parse_conditions([test])
    return found.field, found.operator, found.operands


@pytest.mark.parametrize(
    ("test", "field", "operator", "values"),
    [
        ("host=web-1", "host", "=", ("web-1",)),
        ("host = web-1", "host", "=", ("web-1",)),
        ("host =  web-1 ", "host", "=", (" web-1 ",)),
        ("host= web-1", "host", "=", (" web-1",)),
        ("host=", "host", "=", ("",)),
        ("host=a=b", "host", "=", ("a=b",)),
        ("host=<b> and c>=d", "host", "=", ("<b> and c>=d",)),
        ("host=a\nb", "host", "=", ("a\nb",)),
        ("ts>=2021-01-01", "ts", ">=", ("2021-01-01",)),
        ("ts <= 2021-01-01 ", "ts", "<=", ("2021-01-01",)),
        ("n<5", "n", "<", ("5",)),
        ("n > -5", "n", ">", ("-5",)),
        ('"my field"=a', "my field", "=", ("a",)),
        ('"a=b" > c', "a=b", ">", ("c",)),
        ('n in [1, "2", 2.50]', "n", "in", (1, "2", "2.50")),
        ("n in[1]", "n", "in", (1,)),
        ("n IN []", "n", "in", ()),
        ('host in ["a, b", "c]"]', "host", "in", ("a, b", "c]")),
        ("n between [1, 5]", "n", "between", (1, 5)),
        ("host starts  with web-", "host", "starts", ("web-",)),
        ("between between [1, 2]", "between", "between", (1, 2)),
    ],
)
def test_what_a_condition_means(
    test: str, field: str, operator: str, values: tuple[object, ...]
) -> None:
    """Everything after the operator is the value, without trimming."""
    assert (field, operator, values) == parse_one(test)


@pytest.mark.parametrize(
    "test",
    ["", "host", "=a", "my field=a", "host != a", "host <> a", "host<>a", "host like a",
     "host starts with", "host starting with a", '"host=a', "ts between", "between [1, 2]",
     "n inside [1]"],
)  # fmt: skip
def test_what_is_no_condition_is_told(test: str) -> None:
    """An invalid condition is quoted, with the valid forms."""
    with pytest.raises(click.UsageError) as told:
        parse_conditions([test])
    assert told.value.message.startswith(f"--where {test!r} is not a condition; expected FIELD=")


@pytest.mark.parametrize(
    ("test", "what"),
    [
        ("n in 5", "the value after in is not a JSON list of texts and numbers"),
        ("n in (1, 2)", "the value after in is not a JSON list of texts and numbers"),
        ("n in [null]", "the value after in is not a JSON list of texts and numbers"),
        ("n in [[1]]", "the value after in is not a JSON list of texts and numbers"),
        ("n between 1 and 2", "the value after between is not a JSON list of texts and numbers"),
        ("n between [1]", "the list has 1 value; between needs two"),
        ("n between [1, 2, 3]", "the list has 3 values; between needs two"),
    ],
)
def test_what_is_no_list_is_told(test: str, what: str) -> None:
    """An invalid list is refused with an example of a list."""
    with pytest.raises(click.UsageError) as told:
        parse_conditions([test])
    assert what in told.value.message


LENGTH = 10**7 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 10**6


@pytest.mark.parametrize("test", ["x" * LENGTH, "n in " + "[" * LENGTH, "n in [" + "9" * 10**5])
def test_a_monstrous_condition_is_told_in_a_line(test: str) -> None:
    """A condition of megabytes is refused quickly in one short line."""
    with pytest.raises(click.UsageError) as told:
        parse_conditions([test])
    assert len(told.value.message) < 400


VALUES = st.text(max_size=20)
LETTERS = st.characters(categories=["L", "Nl", "No"], include_characters="_")
WORD_CHARACTERS = st.characters(categories=["L", "N"], include_characters="_")
NAMES = st.builds(str.__add__, LETTERS, st.text(WORD_CHARACTERS, max_size=8))
"""Texts that match `[^\\W\\d]\\w{0,8}`; Hypothesis takes seconds to draw from a pattern."""


@given(NAMES, VALUES, st.lists(VALUES | st.integers(), max_size=5))
def test_every_value_can_be_asked_for(name: str, value: str, values: list[str | int]) -> None:
    """Any text can be compared with = or in a JSON list, and names may be quoted."""
    one = Condition(name, "=", (value,))
    several = Condition(name, "in", tuple(values))
    listed = json.dumps(values)
    tests = [f"{name}={value}", f'"{name}"={value}', f"{name} in {listed}"]
    assert [one, one, several] == parse_conditions(tests)
