"""The command `get`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from rowkey import render
from rowkey.cli.conditions import format_where_option
from rowkey.cli.group import define_command
from rowkey.cli.input_rows import parse_values
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    OUTPUT_FORMAT_OPTION,
    UNDECLARED_OPTION,
    print_lines,
    print_notes,
    to_json,
)
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table

if TYPE_CHECKING:
    from rowkey.keys import Field


@define_command("Run", "Print one row by the fields of its key.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@CATALOG_OPTION
@click.argument("values", nargs=-1, metavar="FIELD=VALUE…")
@UNDECLARED_OPTION
@OUTPUT_FORMAT_OPTION
def command(
    design: str, url: str, values: tuple[str, ...], output: str, *, undeclared: bool
) -> int:
    """Print one row; exits with 1 if the table has no such row.

    The text shows times in ISO 8601; JSON has the counts of their unit since 1970. Cells of the row
    in columns that the design does not declare are counted on stderr.

    \b
    rowkey get logs.toml --on rocks:./data host=web-1 ts=2021-01-01T00:00:00Z
    rowkey get logs.toml --on rocks:./data host=web-1 ts=1609459200000 -f json
    """
    from rowkey.cli.row_formats import format_rows

    with open_existing_table(design, url) as table:
        names = table.writer.identity_fields
        fields = {name: table.design.fields[name] for name in names}
        identity = parse_values(values, fields)
        missing_names = [name for name in names if not (name in identity or fields[name].nullable)]
        if missing_names:
            raise click.UsageError(_describe_missing_fields(design, missing_names, values, fields))
        row = table.get(identity, undeclared=undeclared)
        found = table.get_state().getter.count_undeclared_cells(identity)
    if row is None:
        print_notes([f"{table.design.table} has no row with {' '.join(values)}"])
    elif output == "json":
        print_lines([to_json(render.build_row_document(row))])
    else:
        print_lines(format_rows([row], table.design.fields))
    if not undeclared:
        print_notes(render.format_undeclared_cells(table.design.table, found, "not printed"))
    return 1 if row is None else 0


def _describe_missing_fields(
    design: str, missing_names: list[str], values: tuple[str, ...], fields: Mapping[str, Field]
) -> str:
    """Return which fields a row needs to be found, with a command that gives them."""
    examples = [
        f"{name}={shlex.quote(field.type.format_value(field.type.domain.generate_value(1)))}"
        for name, field in fields.items()
        if name in missing_names
    ]
    given = list(map(shlex.quote, values))
    text = (
        f"{', '.join(missing_names)}: no value is given; a row is found by {', '.join(fields)}. "
        f"Write, for example, rowkey get {design} {' '.join([*given, *examples])}"
    )
    scan = f"rowkey scan {design} {' '.join(map(format_where_option, values))}"
    return f"{text}; or find rows by some of the fields: {scan}." if given else f"{text}."
