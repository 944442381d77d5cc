"""The command `dump`."""

from __future__ import annotations

from rowkey import render
from rowkey.cli.destination import Destination
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    SKIP_UNDECODABLE_OPTION,
    format_row_count,
    print_notes,
)
from rowkey.cli.row_formats import DUMP_FORMATS, add_format_options, write_rows
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table


@define_command("Run", "Write all rows of a table to a file.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@CATALOG_OPTION
@SKIP_UNDECODABLE_OPTION
@add_format_options(DUMP_FORMATS)
def command(
    design: str,
    url: str,
    form: str | None,
    output: str | None,
    *,
    spreadsheet: bool,
    skip_undecodable: bool,
) -> None:
    """Write all rows in key order, ignoring salts and buckets; `load` reads the output back.

    Standard output gets JSON lines unless -f names another format. A file gets its name only when
    it is complete: an interrupted dump leaves no file. In CSV a null is nothing between two commas
    and an empty text is two quotes, and `load` reads both the same way. Text that begins with =,
    +, - or @ is written unchanged and counted on stderr, because a spreadsheet may run it as a
    formula. Cells in columns that the design does not declare are left out and counted on stderr;
    scan --undeclared writes them.

    \b
    rowkey dump logs.toml --on rocks:./data -o rows.parquet
    rowkey dump logs.toml --on rocks:./data -f csv | gzip > rows.csv.gz
    """
    to = Destination.from_options(form, output, DUMP_FORMATS, spreadsheet=spreadsheet)
    with open_existing_table(design, url) as table:
        scan = table.scan(count_undeclared=True, skip_undecodable=skip_undecodable)
        count = write_rows(scan, to)
    if to.path is not None:
        print_notes([format_row_count(count, f"written to {to.path}")])
    print_notes(render.format_scan_notes(scan, outcome="not written"))
