"""Parses the conditions of `--where`; all text after the operator is the value."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from rowkey.messages import pluralize
from rowkey.schema import Condition

if TYPE_CHECKING:
    from collections.abc import Iterable

_CONDITION_PATTERN = re.compile(
    r'\s*(?:"(?P<quoted>[^"]+)"|(?P<name>[^\s<>="]+))'
    r"(?P<space>\s*)(?P<operator><=|>=|<(?!>)|>|=|\s(?:in|between|starts\s+with)(?=[\s\[]))(?P<value>.*)",
    re.DOTALL | re.IGNORECASE,
)
_EXPECTED_FORM = (
    "FIELD=VALUE (or < <= > >=), FIELD in [JSON], FIELD between [JSON] or FIELD starts with TEXT"
)

_MAX_QUOTED_LENGTH = 80
"""Characters of a condition that a message repeats."""

WHERE_OPTION = click.option(
    "--where",
    metavar="TEST",
    multiple=True,
    help='A condition, such as host=web-1 or "ts>=2021-01-01"; several are joined by and. The '
    "value is all text after the operator, without the spaces around the operator; in and between "
    "take a JSON list.",
)


def parse_conditions(texts: Iterable[str]) -> list[Condition]:
    """Return the conditions that the `--where` options of a command line state.

    Raises:
        UsageError: one is not understood.

    >>> [str(test) for test in parse_conditions(["host=web-1", "ts >= 2021-01-01", 'n in [1, 2]'])]
    ["host = 'web-1'", "ts >= '2021-01-01'", 'n in (1, 2)']
    >>> [str(test) for test in parse_conditions(["host = web-1", "host= web-1"])]
    ["host = 'web-1'", "host = ' web-1'"]
    """
    return [_parse_condition(test) for test in texts]


def _parse_condition(text: str) -> Condition:
    """Return the condition that one `--where` option states."""
    match = _CONDITION_PATTERN.fullmatch(text)
    if match is None:
        raise click.UsageError(
            f"--where {_quote_condition(text)} is not a condition; expected {_EXPECTED_FORM}."
        )
    field = match["quoted"] or match["name"]
    operator = " ".join(match["operator"].lower().split())
    value = match["value"]
    if operator in ("in", "between"):
        return Condition(field, operator, parse_json_list(text, value, operator))
    if operator == "starts with":
        return Condition(field, "starts", (value.strip(),))
    if operator != "=":
        value = value.strip()
    elif match["space"]:
        value = value.removeprefix(" ")
    return Condition(field, operator, (value,))


def parse_json_list(condition: str, text: str, operator: str) -> tuple[Any, ...]:
    """Return the values of the JSON list after `in` or `between`."""
    try:
        values = json.loads(text, parse_float=str)  # decimals keep their digits
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or not all(isinstance(v, str | int) for v in values):
        what = f"the value after {operator} is not a JSON list of texts and numbers"
        example = '["a", "b"]' if operator == "between" else '["a", "b", "c"]'
        raise click.UsageError(
            f"--where {_quote_condition(condition)}: {what}. Write, for example, {example}."
        )
    if operator == "between" and len(values) != 2:
        what = f"the list has {pluralize(len(values), 'value')}; between needs two"
        raise click.UsageError(f"--where {_quote_condition(condition)}: {what}.")
    return tuple(values)


def _quote_condition(condition: str) -> str:
    """Return a condition in quotes, shortened if it is long."""
    return repr(
        condition if len(condition) <= _MAX_QUOTED_LENGTH else f"{condition[:_MAX_QUOTED_LENGTH]}…"
    )
