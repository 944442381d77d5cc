"""Binds the values of a command line to the parameters of a declared read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rowkey.messages import pluralize, shorten_text
from rowkey.schema import Condition, Parameter

if TYPE_CHECKING:
    from rowkey.plan import DeclaredRead


def parse_read_values(read: DeclaredRead, texts: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """Return the values of a read's parameters, for each `?` in turn and by name.

    Args:
        texts: the arguments: `NAME=VALUE` for `:NAME`, anything else for the next `?`. The
            parameter of `in` takes a JSON list.

    Raises:
        UsageError: a parameter has no value, or a value no parameter.
    """
    conditions = {
        operand.name: condition
        for condition in read.conditions
        for operand in condition.operands
        if isinstance(operand, Parameter)
    }
    given: dict[int | str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and name in conditions and name not in given:
            given[name] = value
        else:
            given[sum(isinstance(key, int) for key in given)] = text
    if set(given) != set(conditions):
        raise click.UsageError(_describe_mismatch(read, conditions, given))
    values = {name: _parse_value(conditions[name], text) for name, text in given.items()}
    return (
        [values[number] for number in sorted(name for name in values if isinstance(name, int))],
        {name: value for name, value in values.items() if isinstance(name, str)},
    )


def _parse_value(condition: Condition, text: str) -> Any:
    """Return the value of a parameter; a list for the only operand of `in`."""
    if condition.operator == "in" and len(condition.operands) == 1:
        return _parse_json_list(condition, text)
    return text


def _parse_json_list(condition: Condition, text: str) -> list[Any]:
    """Return the values of a JSON list for the parameter of `in`."""
    try:
        values = json.loads(text, parse_float=str)  # decimals keep their digits
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or not all(isinstance(v, str | int) for v in values):
        raise click.UsageError(
            f"{condition}: {shorten_text(text)!r} is not a JSON list of texts and numbers. Write, "
            'for example, \'["a", "b", "c"]\'.'
        )
    return values


def _describe_mismatch(
    read: DeclaredRead, conditions: dict[int | str, Condition], given: dict[int | str, str]
) -> str:
    """Return which parameters a read has, what is missing or too much, and how to call it."""
    missing = [condition for name, condition in conditions.items() if name not in given]
    extra = [text for name, text in given.items() if name not in conditions]
    problems = [f"no value is given for {condition}" for condition in missing]
    problems += [f"there is no parameter for {shorten_text(text)!r}" for text in extra]
    needed = " and ".join(str(condition) for condition in dict.fromkeys(conditions.values()))
    has = f"has {pluralize(len(conditions), 'parameter')}" + (f": {needed}" if needed else "")
    words = [
        f"{name}={_format_placeholder(condition)}"
        if isinstance(name, str)
        else _format_placeholder(condition)
        for name, condition in conditions.items()
    ]
    call = " ".join(["--read", shlex.quote(read.name), *words])
    return f"{'; '.join(problems)}. The read {read.name} {has}. Write {call}."


def _format_placeholder(condition: Condition) -> str:
    """Return what stands for the value of a parameter in an example."""
    is_list = condition.operator == "in" and len(condition.operands) == 1
    name = "".join(letter if letter.isalnum() else "_" for letter in condition.field.upper())
    return f"'[{name}, …]'" if is_list else name
