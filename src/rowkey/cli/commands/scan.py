"""The command `scan`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rowkey import render
from rowkey.cli.conditions import WHERE_OPTION, parse_conditions
from rowkey.cli.destination import Destination
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    LIMIT_OPTION,
    ORDER_OPTION,
    SKIP_UNDECODABLE_OPTION,
    UNDECLARED_OPTION,
    format_row_count,
    print_errors,
    print_notes,
)
from rowkey.cli.row_formats import SCAN_FORMATS, add_format_options, write_rows
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table
from rowkey.messages import pluralize, shorten_text
from rowkey.schema import Condition, Parameter

if TYPE_CHECKING:
    from rowkey.plan import DeclaredRead
    from rowkey.table import Scan, Table


@define_command("Run", "Print the rows that meet conditions, in order.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@CATALOG_OPTION
@click.argument("values", nargs=-1, metavar="[VALUE]…")
@click.option(
    "--read",
    metavar="NAME",
    help="Run the read of this name that the design declares, with a VALUE for each ? in turn and "
    "name=VALUE for each :name.",
)
@WHERE_OPTION
@ORDER_OPTION
@LIMIT_OPTION
@click.option("--resume", metavar="TOKEN", help="Continue where an earlier scan stopped.")
@click.option(
    "--token", is_flag=True, help="Print a token for --resume as the last line of stderr."
)
@UNDECLARED_OPTION
@SKIP_UNDECODABLE_OPTION
@add_format_options(SCAN_FORMATS)
def command(
    design: str,
    url: str,
    values: tuple[str, ...],
    read: str | None,
    where: tuple[str, ...],
    order: str,
    limit: int | None,
    resume: str | None,
    form: str | None,
    output: str | None,
    *,
    token: bool,
    undeclared: bool,
    skip_undecodable: bool,
    spreadsheet: bool,
) -> None:
    """Print the rows that meet all conditions, or those of a declared read, or write them.

    Without --order the rows come in key order, ignoring salts and buckets. A table shows times in
    ISO 8601; json, jsonl and csv have their counts. Cells of these rows in columns that the design
    does not declare are counted on stderr, of the companion where one serves the read; with
    --undeclared they are columns of their own.

    \b
    rowkey scan logs.toml --on rocks:./data --where host=web-1 --order "ts desc" --limit 100
    rowkey scan logs.toml --on rocks:./data --where "ts>=2021-01-01" -f csv
    rowkey scan logs.toml --on rocks:./data --where host=web-1 -o web-1.parquet
    rowkey scan logs.toml --on rocks:./data --read tail web-1
    """
    to = Destination.from_options(form, output, SCAN_FORMATS, spreadsheet=spreadsheet)
    if read is not None and (where or order):
        raise click.UsageError(
            f"the read {shorten_text(read)} declares its own conditions and order. Remove --read, "
            "or --where and --order."
        )
    if values and read is None:
        raise click.UsageError(
            f"{shorten_text(values[0])!r} is a value for a declared read. Give --read NAME before "
            "it, or a condition as --where FIELD=VALUE."
        )
    options: dict[str, Any] = {
        "limit": limit,
        "resume": resume,
        "undeclared": undeclared,
        "skip_undecodable": skip_undecodable,
    }
    with open_existing_table(design, url) as table:
        if read is None:
            rows = table.scan(parse_conditions(where), order=order, **options)
        else:
            rows = _run_declared_read(table, read, values, **options)
        if not undeclared:
            rows.count_undeclared()
        count = write_rows(rows, to, row_by_row=True)
        if to.path is not None:
            print_notes([format_row_count(count, f"written to {to.path}")])
        if undeclared:
            print_notes(render.format_undecodable_rows(rows.undecodable_rows))
        else:
            outcome = "not printed" if to.path is None else "not written"
            print_notes(render.format_scan_notes(rows, outcome=outcome))
        if token:
            print_errors([rows.token or "no row was read, so there is no token"])


def _run_declared_read(table: Table, name: str, texts: tuple[str, ...], **options: Any) -> Scan:
    """Return the scan of a declared read, with the values of its parameters as text."""
    read = table.declared_reads.get(name)
    if read is None:
        return table.read(name)  # raises the error that names the declared reads
    values, named_values = _parse_read_values(read, texts)
    return table.read(name, *values, **options, **named_values)


def _parse_read_values(
    read: DeclaredRead, texts: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
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
    values = {name: _read_parameter(conditions[name], text) for name, text in given.items()}
    return (
        [values[number] for number in sorted(name for name in values if isinstance(name, int))],
        {name: value for name, value in values.items() if isinstance(name, str)},
    )


def _read_parameter(condition: Condition, text: str) -> str | list[Any]:
    """Return the text of a parameter as it is, or for the only operand of `in` its JSON list.

    Raises:
        UsageError: the text is no such list.
    """
    if condition.operator == "in" and len(condition.operands) == 1:
        return _parse_json_list(condition, text)
    return text


def _parse_json_list(condition: Condition, text: str) -> list[Any]:
    """Return the values of a JSON list for the parameter of `in`.

    Raises:
        UsageError: the text is no list of texts and numbers.
    """
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
