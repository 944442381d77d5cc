"""The verb `get`."""

from __future__ import annotations

import click

from rowkey.cli.options import DESIGN, as_json, print_aside, print_lines
from rowkey.cli.tables import CATALOG, ON, opened


@click.command(short_help="One row, by the fields of its key.")
@DESIGN
@ON
@CATALOG
@click.argument("values", nargs=-1, required=True, metavar="FIELD=VALUE…")
def command(design: str, url: str, values: tuple[str, ...]) -> int:
    """Print one row as JSON; leaves with 1 if there is none.

    \b
    rowkey get logs.toml --on rocks:./data host=web-1 ts=1609459200000
    """
    from rowkey.cli.rows import values_of
    from rowkey.render import row_document

    with opened(design, url) as table:
        names = table.writing.identity
        fields = {name: table.design.fields[name] for name in names}
        row = table.get(values_of(values, fields))
    if row is None:
        print_aside(["there is no such row"])
        return 1
    print_lines([as_json(row_document(row))])
    return 0
