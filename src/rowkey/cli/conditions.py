"""Conditions of the command line: each `--where` is one; all behind its operator is the value."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from rowkey.schema import Condition

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEST = re.compile(
    r'\s*(?:"(?P<quoted>[^"]+)"|(?P<name>[^\s<>="]+))'
    r"\s*(?P<operator><=|>=|<|>|=|\s(?:in|between|starts\s+with)(?=[\s\[]))(?P<value>.*)",
    re.DOTALL | re.IGNORECASE,
)
_FORM = (
    "FIELD=VALUE, with < <= > >= too, FIELD in [JSON], FIELD between [JSON], FIELD starts with TEXT"
)

WHERE = click.option(
    "--where",
    metavar="TEST",
    multiple=True,
    help='A condition, such as host=web-1 or "ts>=2021-01-01"; several are joined by and. All '
    "behind the operator is the value; in and between take a JSON list.",
)


def conditions_of(tests: Iterable[str]) -> list[Condition]:
    """The conditions of the command line.

    Raises:
        UsageError: one is not understood.

    >>> [str(test) for test in conditions_of(["host=web-1", "ts >= 2021-01-01", 'n in [1, 2]'])]
    ["host = 'web-1'", "ts >= '2021-01-01'", 'n in (1, 2)']
    """
    return [_condition(test) for test in tests]


def _condition(test: str) -> Condition:
    found = _TEST.fullmatch(test)
    if found is None:
        raise click.UsageError(f"--where {test!r} is not understood; expected {_FORM}.")
    field = found["quoted"] or found["name"]
    operator = " ".join(found["operator"].lower().split())
    value = found["value"]
    if operator in ("in", "between"):
        return Condition(field, operator, _listed(test, value, operator))
    if operator == "starts with":
        return Condition(field, "starts", (value.strip(),))
    return Condition(field, operator, (value if operator == "=" else value.strip(),))


def _listed(test: str, text: str, operator: str) -> tuple[Any, ...]:
    """The values of a JSON list."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or not all(isinstance(v, str | int) for v in values):
        raise click.UsageError(f"--where {test!r}: {operator} takes a JSON list of values.")
    if operator == "between" and len(values) != 2:
        raise click.UsageError(f"--where {test!r}: between takes two values.")
    return tuple(values)
