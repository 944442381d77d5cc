"""The verb `dump`."""

from __future__ import annotations

import click

from rowkey.cli.forms import DUMPED, form_option
from rowkey.cli.options import DESIGN, print_aside, rows_said
from rowkey.cli.tables import CATALOG, ON, opened


@click.command(short_help="All rows, for a file.")
@DESIGN
@ON
@CATALOG
@form_option(DUMPED)
def command(
    design: str, url: str, form: str | None, output: str | None, *, spreadsheet: bool
) -> None:
    """Write all rows, in the order of the key less what only spreads them; `load` takes them back.

    Standard output gets JSON lines unless -f says otherwise. A file gets its name once it is whole:
    a dump that is interrupted leaves none. In CSV a null is nothing between two commas and an empty
    text is two quotes; `load` reads them so. Text that begins with =, +, - or @ is written as it
    is and counted on stderr, for a spreadsheet may run it as a formula.

    \b
    rowkey dump logs.toml --on rocks:./data -o rows.parquet
    rowkey dump logs.toml --on rocks:./data -f csv | gzip > rows.csv.gz
    """
    from rowkey.cli.forms import write_rows
    from rowkey.cli.outputs import Destination

    to = Destination.of(form, output, DUMPED, spreadsheet=spreadsheet)
    with opened(design, url) as table:
        count = write_rows(table.scan(), to)
    if to.path is not None:
        print_aside([rows_said(count, f"written to {to.path}")])
