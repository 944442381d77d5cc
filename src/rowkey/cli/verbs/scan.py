"""The verb `scan`."""

from __future__ import annotations

import click

from rowkey.cli.conditions import WHERE
from rowkey.cli.forms import SHOWN, form_option
from rowkey.cli.options import DESIGN, LIMIT, ORDER, print_aside, rows_said
from rowkey.cli.tables import CATALOG, ON, opened


@click.command(short_help="Rows that meet conditions, in order.")
@DESIGN
@ON
@CATALOG
@WHERE
@ORDER
@LIMIT
@click.option("--resume", metavar="TOKEN", help="Go on where an earlier scan stopped.")
@click.option("--token", is_flag=True, help="Print where the scan stopped, last on stderr.")
@form_option(SHOWN)
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
    """Print the rows that meet all conditions, in the order asked for, or write them to a file.

    Without --order they come in the order of the key less what only spreads them.

    \b
    rowkey scan logs.toml --on rocks:./data --where host=web-1 --order "ts desc" --limit 100
    rowkey scan logs.toml --on rocks:./data --where "ts>=2021-01-01" -f csv
    rowkey scan logs.toml --on rocks:./data --where host=web-1 -o web-1.parquet
    """
    from rowkey.cli.conditions import conditions_of
    from rowkey.cli.forms import write_rows
    from rowkey.cli.outputs import Destination

    to = Destination.of(form, output, SHOWN, spreadsheet=spreadsheet)
    with opened(design, url) as table:
        found = table.scan(conditions_of(where), order=order, limit=limit, resume=resume)
        count = write_rows(found, to, at_once=True)
        if to.path is not None:
            print_aside([rows_said(count, f"written to {to.path}")])
        if token:
            print_aside([found.token or "no row was read"])
