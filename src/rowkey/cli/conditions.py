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
    r"(?P<space>\s*)(?P<operator><=|>=|<(?!>)|>|=|\s(?:in|between|starts\s+with)(?=[\s\[]))(?P<value>.*)",
    re.DOTALL | re.IGNORECASE,
)
_FORM = (
    "FIELD=VALUE, with < <= > >= too, FIELD in [JSON], FIELD between [JSON], FIELD starts with TEXT"
)

_SHOWN = 80
"""Characters of a condition that a message repeats."""

WHERE = click.option(
    "--where",
    metavar="TEST",
    multiple=True,
    help='A condition, such as host=web-1 or "ts>=2021-01-01"; several are joined by and. All '
    "behind the operator is the value, but for spaces on both of its sides; in and between take a "
    "JSON list.",
)


def conditions_of(tests: Iterable[str]) -> list[Condition]:
    """The conditions of the command line.

    Raises:
        UsageError: one is not understood.

    >>> [str(test) for test in conditions_of(["host=web-1", "ts >= 2021-01-01", 'n in [1, 2]'])]
    ["host = 'web-1'", "ts >= '2021-01-01'", 'n in (1, 2)']
    >>> [str(test) for test in conditions_of(["host = web-1", "host= web-1"])]
    ["host = 'web-1'", "host = ' web-1'"]
    """
    return [_condition(test) for test in tests]


def _condition(test: str) -> Condition:
    found = _TEST.fullmatch(test)
    if found is None:
        raise click.UsageError(f"--where {_quoted(test)} is not understood; expected {_FORM}.")
    field = found["quoted"] or found["name"]
    operator = " ".join(found["operator"].lower().split())
    value = found["value"]
    if operator in ("in", "between"):
        return Condition(field, operator, _listed(test, value, operator))
    if operator == "starts with":
        return Condition(field, "starts", (value.strip(),))
    if operator != "=":
        value = value.strip()
    elif found["space"]:
        value = value.removeprefix(" ")
    return Condition(field, operator, (value,))


def _listed(test: str, text: str, operator: str) -> tuple[Any, ...]:
    """The values of a JSON list."""
    try:
        values = json.loads(text, parse_float=str)  # decimals keep their digits
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or not all(isinstance(v, str | int) for v in values):
        what = f"{operator} takes a JSON list of texts and numbers"
        example = '["a", "b"]' if operator == "between" else '["a", "b", "c"]'
        raise click.UsageError(f"--where {_quoted(test)}: {what}, such as {example}.")
    if operator == "between" and len(values) != 2:
        what = f"{len(values):,} values; between takes two"
        raise click.UsageError(f"--where {_quoted(test)} has {what}.")
    return tuple(values)


def _quoted(test: str) -> str:
    """A condition in quotes, cut where it is long: what is said of it must stay in sight."""
    return repr(test if len(test) <= _SHOWN else f"{test[:_SHOWN]}…")
