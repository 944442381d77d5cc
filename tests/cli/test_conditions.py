"""The conditions of the command line have the grammar of reads in design files."""

from __future__ import annotations

import shlex

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cli.conditions import format_where_option, parse_conditions
from rowkey.schema import Condition, parse_where


def test_a_where_option_is_parsed_as_where_in_a_design_file() -> None:
    """Options are parsed as `where` in a design file, and joined."""
    texts = ["host='a' and n in (1, 2)", "ts>=2021-01-01"]
    assert parse_where(" and ".join(texts)) == tuple(parse_conditions(texts))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the text has no condition. Write FIELD=VALUE."),
        ("host", "the end is not an operator"),
        ("=a", "'=' is not the name of a field"),
        ("host != a", "Inequality is not supported"),
        ("host=disk full", "found 'full' instead of and"),
        ("n in [1]", "Write in ('a', 'b')"),
        ("host='a", "a text is not closed"),
        ("x" * 10**6, "the text has 1,000,000 characters"),
    ],
)
def test_an_invalid_condition_is_refused_in_one_line_with_its_place(text: str, what: str) -> None:
    """A text that is not understood is refused in one short line with its place."""
    with pytest.raises(click.UsageError) as told:
        parse_conditions([text])
    assert what in told.value.message
    assert len(told.value.message) < 500


LETTERS = st.characters(categories=["L", "Nl", "No"], include_characters="_")
WORD_CHARACTERS = st.characters(categories=["L", "N"], include_characters="_")
NAMES = st.builds(str.__add__, LETTERS, st.text(WORD_CHARACTERS, max_size=8))
"""Texts that match `[^\\W\\d]\\w{0,8}`; Hypothesis takes seconds to draw from a pattern."""


@given(NAMES, st.text(st.characters(exclude_characters="\0"), max_size=20))
def test_the_where_option_that_a_message_suggests_finds_the_value(name: str, value: str) -> None:
    """The option that a message suggests for FIELD=VALUE is a condition with this value."""
    (option, text) = shlex.split(format_where_option(f"{name}={value}"))
    [condition] = parse_conditions([text])
    assert ("--where", "=", value) == (option, condition.operator, str(condition.operands[0]))


@given(NAMES, st.lists(st.text(max_size=20) | st.integers(), min_size=1, max_size=5))
def test_any_text_or_number_can_be_compared_in_a_condition(
    name: str, values: list[str | int]
) -> None:
    """Any text in quotes and any number can be compared, also if it is in no normal form."""
    condition = Condition(name, "in", tuple(values))
    [found] = parse_conditions([str(condition)])
    assert condition.operands == found.operands
