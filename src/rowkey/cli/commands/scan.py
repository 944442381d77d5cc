"""The command `scan`."""

from __future__ import annotations

import click

from rowkey.cli.conditions import WHERE_OPTION
from rowkey.cli.grouped_command import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    LIMIT_OPTION,
    ORDER_OPTION,
    format_row_count,
    print_errors,
    print_notes,
)
from rowkey.cli.row_formats import SCAN_FORMATS, add_format_options
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table


@define_command("Run", "Print the rows that meet conditions, in order.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@CATALOG_OPTION
@WHERE_OPTION
@ORDER_OPTION
@LIMIT_OPTION
@click.option("--resume", metavar="TOKEN", help="Continue where an earlier scan stopped.")
@click.option(
    "--token", is_flag=True, help="Print a token for --resume as the last line of stderr."
)
@add_format_options(SCAN_FORMATS)
def command(
    design: str,
    url: str,
    where: tuple[str, ...],
    order: str,
    limit: int | None,
    resume: str | None,
    form: str | None,
    output: str | None,
    *,
    token: bool,
    spreadsheet: bool,
) -> None:
    """Print the rows that meet all conditions, or write them to a file.

    Without --order the rows come in key order, ignoring salts and buckets.

    \b
    rowkey scan logs.toml --on rocks:./data --where host=web-1 --order "ts desc" --limit 100
    rowkey scan logs.toml --on rocks:./data --where "ts>=2021-01-01" -f csv
    rowkey scan logs.toml --on rocks:./data --where host=web-1 -o web-1.parquet
    """
    from rowkey.cli.conditions import parse_conditions
    from rowkey.cli.destination import Destination
    from rowkey.cli.row_formats import write_rows

    to = Destination.from_options(form, output, SCAN_FORMATS, spreadsheet=spreadsheet)
    with open_existing_table(design, url) as table:
        rows = table.scan(parse_conditions(where), order=order, limit=limit, resume=resume)
        count = write_rows(rows, to, row_by_row=True)
        if to.path is not None:
            print_notes([format_row_count(count, f"written to {to.path}")])
        if token:
            print_errors([rows.token or "no row was read, so there is no token"])
