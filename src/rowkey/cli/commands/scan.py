"""The command `scan`."""

from __future__ import annotations

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
from rowkey.messages import shorten_text

if TYPE_CHECKING:
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
    from rowkey.cli.read_values import parse_read_values

    read = table.declared_reads.get(name)
    if read is None:
        return table.read(name)  # raises the error that names the declared reads
    values, named_values = parse_read_values(read, texts)
    return table.read(name, *values, **options, **named_values)
