from collections.abc import Callable
from decimal import Decimal
from functools import partial

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from rowkey.errors import InvalidArgument, Mistake
from rowkey.schema import Condition, Ordering, Parameter, parse_order, parse_where
from schema import spellings
from schema.growth import SHORTER, measure_growth


def parse_or_refuse(read: "Callable[[str], object]", text: str) -> Mistake | None:
    """Return the message with which a parser refuses a text, or None."""
    try:
        read(text)
    except InvalidArgument as problem:
        return problem.mistake
    return None


@given(st.lists(spellings.draw_conditions(), max_size=5))
@example([Condition("a", "=", (Decimal("1E-7"),))])
def test_printed_conditions_parse_to_the_same_conditions(conditions: list[Condition]) -> None:
    """Printed conditions parse to the same conditions, whatever their fields are called."""
    assert tuple(conditions) == parse_where(" and ".join(map(str, conditions)))


@given(st.lists(spellings.orderings, max_size=5))
def test_a_printed_order_parses_to_the_same_order(orderings: list[Ordering]) -> None:
    """A printed order parses to the same order, most significant field first."""
    assert tuple(orderings) == parse_order(", ".join(map(str, orderings)))


def test_question_marks_are_bound_by_position_from_the_left() -> None:
    """Values are bound by position over all conditions of the read."""
    read = parse_where("host = ? and ts between ? and ? and type in (?, 'x')")
    expected = [Parameter(0), Parameter(1), Parameter(2), Parameter(3), "x"]
    assert expected == [operand for one in read for operand in one.operands]


def test_keywords_of_a_condition_may_be_in_capitals() -> None:
    """Keywords may be in capitals, as in SQL."""
    expected = (Condition("a", "between", (1, Decimal("2.5"))), Condition("b", "starts", ("x",)))
    assert expected == parse_where("a BETWEEN 1 AND 2.5 And b Starts With 'x'")
    assert (Ordering("ts", descending=True),) == parse_order("ts DESC")


def test_a_doubled_quote_within_a_text_is_one_quote() -> None:
    """A quote within a text is doubled, as in SQL."""
    assert (Condition("a", "=", ("it's",)),) == parse_where("a = 'it''s'")


BARE: dict[str, str | int | Decimal] = {
    "web-1": "web-1",
    "2021-01-01T00:00:00.5+01:00": "2021-01-01T00:00:00.5+01:00",
    "/a?b=c<d": "/a?b=c<d",
    "5": 5,
    "-2.50": Decimal("-2.50"),
    "007": "007",
    "-0": "-0",
    "1e5": "1e5",
    "e\u0301": "e\u0301",
}


@pytest.mark.parametrize("text", BARE)
def test_a_value_without_quotes_ends_at_a_space(text: str) -> None:
    """A value without spaces, commas, quotes and parentheses needs no quotes."""
    expected = (Condition("a", "in", (BARE[text], "x")), Condition("b", ">", (BARE[text],)))
    assert expected == parse_where(f"a in ({text},'x') and b>{text}")


WRONG = {
    "a = 1 or b = 2": (
        "found 'or' instead of and (character 7)",
        "Declare one read for each side of the or, or use in.",
    ),
    "a =": ("the end is not a value (character 4)", ""),
    "a": ("the end is not an operator (character 2)", ""),
    "a in (1": ("found the end instead of ) (character 8)", ""),
    "a like 'x'": ("'like' is not an operator (character 3)", "Write a starts with 'x'."),
    "a = 'x": ("a text is not closed (character 5)", "Write ' inside a text as ''."),
    'a = "x': ("a quoted name is not closed (character 5)", ""),
    "a != 1": (
        "'!= 1' is not valid syntax (character 3)",
        "Inequality is not supported: list the wanted values with in.",
    ),
    "a == ?": ("'=' is not a value (character 4)", "Write = once."),
    "a = and": ("'and' is not a value (character 5)", "Put quotes around it: 'and'."),
    "a = ?x": ("'?' is not a value (character 5)", ""),
    "a = b c": ("found 'c' instead of and (character 7)", ""),
    "a = b'c'": ("found \"'c'\" instead of and (character 6)", ""),
    "a = 'b'c": ("found 'c' instead of and (character 8)", ""),
    "a in [1]": (
        "'[1]' is not valid syntax (character 6)",
        "Write in ('a', 'b'), between 1 and 2, or quotes around a value.",
    ),
    "a = null": ("'null' is not a value (character 5)", "Write ? and pass null as its value."),
    "a is null": (
        "'is' is not an operator (character 3)",
        "Write a = ? and pass null as its value.",
    ),
    "= 1": ("'=' is not the name of a field (character 1)", ""),
    "and = 1": ("'and' is not the name of a field (character 1)", ""),
    " and ".join(["a = 1"] * 65): ("there are too many conditions (character 641)", ""),
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_an_invalid_condition_is_refused_with_its_position(text: str) -> None:
    """The error names the problem, its position, what is expected, and a remedy if known."""
    found = parse_or_refuse(parse_where, text)
    assert found is not None
    assert WRONG[text] == (found.problem, found.remedy)
    assert found.expected


WRONG_ORDER = {
    "ts dsc": ("'dsc' is not a sort direction (character 4)", "Did you mean desc?"),
    "ts,": ("the end is not the name of a field (character 4)", ""),
    ", ts": ("',' is not the name of a field (character 1)", ""),
    "ts desc host": ("found 'host' instead of , (character 9)", ""),
}


@pytest.mark.parametrize("text", WRONG_ORDER)
def test_an_invalid_order_is_refused_with_its_position(text: str) -> None:
    """An order with anything but fields, directions and commas is refused."""
    found = parse_or_refuse(parse_order, text)
    assert found is not None
    assert WRONG_ORDER[text] == (found.problem, found.remedy)


@given(st.text(max_size=60))
def test_any_text_is_parsed_as_a_condition_or_refused(text: str) -> None:
    """Any text is parsed or refused with the parser's error."""
    for read in (parse_where, parse_order):
        found = parse_or_refuse(read, text)
        assert found is None or "(character " in found.problem


@pytest.mark.parametrize(
    "run", ["'", "''", '"', " ", "(", "a in (", "1", "-", ":a", "?,", "a = 1 and "]
)
@pytest.mark.parametrize("before", ["", "a = ", "a in (", "a = '"])
def test_a_long_invalid_condition_is_refused_in_linear_time(before: str, run: str) -> None:
    """The time of a parse grows with the length of the text, not with its square."""
    for read in (parse_where, parse_order):
        assert measure_growth(partial(parse_or_refuse, read), before, run, 4_000) < 3 * SHORTER


def test_a_condition_of_more_than_4000_characters_is_refused() -> None:
    """4,000 characters are parsed, and 4,001 are refused with their number."""
    fits = "a = '" + "x" * 3_994 + "'"
    assert len(parse_where(fits)) == 1
    found = parse_or_refuse(parse_where, fits + " ")
    assert found is not None
    assert found.expected == "at most 4,000 characters"
