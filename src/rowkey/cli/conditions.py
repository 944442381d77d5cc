"""The conditions of `--where`, in the grammar of reads in design files and in Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextlib import suppress

import click

from rowkey.errors import InvalidArgument
from rowkey.messages import shorten_text
from rowkey.schema import Condition, parse_where

WHERE_OPTION = click.option(
    "--where",
    metavar="TEST",
    multiple=True,
    help='Conditions as in a design file, such as host=web-1 or "ts >= 2021-01-01 and n in (1, 2)'
    '"; several are joined by and. A value with spaces or commas needs quotes: "note=\'a, b\'".',
)


def parse_conditions(texts: Iterable[str]) -> list[Condition]:
    """Return the conditions that the `--where` options of a command line state.

    Raises:
        UsageError: one is not understood.

    >>> [str(test) for test in parse_conditions(["host=web-1", "ts >= 2021-01-01 and n in (1, 2)"])]
    ["host = 'web-1'", "ts >= '2021-01-01'", 'n in (1, 2)']
    """
    conditions: list[Condition] = []
    for text in texts:
        try:
            found = parse_where(text)
        except InvalidArgument as problem:
            raise click.UsageError(f"--where {shorten_text(text)!r}: {problem}") from None
        if not found:
            raise click.UsageError("--where '': the text has no condition. Write FIELD=VALUE.")
        conditions += found
    return conditions


def format_where_option(pair: str) -> str:
    """Return the option that finds rows by a FIELD=VALUE argument, for a shell.

    >>> print(format_where_option("host=web-1"), format_where_option("note=disk full"))
    --where host=web-1 --where "note = 'disk full'"
    """
    field, _, value = pair.partition("=")
    with suppress(InvalidArgument):
        if [value] == [str(operand) for one in parse_where(pair) for operand in one.operands]:
            return f"--where {shlex.quote(pair)}"
    text = str(Condition(field, "=", (value,)))
    return "--where " + (shlex.quote(text) if set(text) & set('"$`!\\') else f'"{text}"')
