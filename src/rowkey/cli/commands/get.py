"""The command `get`."""

from __future__ import annotations

import click

from rowkey.cli.grouped_command import define_command
from rowkey.cli.options import DESIGN_ARGUMENT, print_lines, print_notes, to_json
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table


@define_command("Run", "Print one row by the fields of its key.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@CATALOG_OPTION
@click.argument("values", nargs=-1, required=True, metavar="FIELD=VALUE…")
def command(design: str, url: str, values: tuple[str, ...]) -> int:
    """Print one row as JSON; exits with 1 if the table has no such row.

    \b
    rowkey get logs.toml --on rocks:./data host=web-1 ts=1609459200000
    """
    from rowkey.cli.input_rows import parse_values
    from rowkey.render import build_row_document

    with open_existing_table(design, url) as table:
        names = table.writer.identity_fields
        fields = {name: table.design.fields[name] for name in names}
        identity = parse_values(values, fields)
        if missing_names := [
            name for name in names if not (name in identity or fields[name].nullable)
        ]:
            raise click.UsageError(
                f"{', '.join(missing_names)}: no value is given. Give FIELD=VALUE for each of "
                f"{', '.join(names)}, or find rows by some of them with rowkey scan."
            )
        row = table.get(identity)
    if row is None:
        print_notes([f"{table.design.table} has no row with {' '.join(values)}"])
        return 1
    print_lines([to_json(build_row_document(row))])
    return 0
