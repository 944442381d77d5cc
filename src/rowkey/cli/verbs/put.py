"""The verb `put`."""

from __future__ import annotations

import click

from rowkey.cli.options import DESIGN, print_aside
from rowkey.cli.tables import ON, opened


@click.command(short_help="Write a row, or rows from standard input.")
@DESIGN
@ON
@click.argument("values", nargs=-1, metavar="[FIELD=VALUE]…")
@click.option("--replace", is_flag=True, help="Take all other fields of the row away.")
def command(design: str, url: str, values: tuple[str, ...], *, replace: bool) -> None:
    """Write one row given as FIELD=VALUE, or rows as JSON lines on standard input.

    A field left out stays as it is; in JSON, null takes it away.

    \b
    rowkey put logs.toml --on rocks:./data host=web-1 ts=1609459200000 message="disk full"
    rowkey put logs.toml --on rocks:./data < rows.jsonl
    """
    from rowkey.cli.rows import given_rows, values_of

    with opened(design, url) as table, table.batch(sync=True) as batch:
        write = batch.replace if replace else batch.put
        fields = table.design.fields
        rows = [values_of(values, fields)] if values else given_rows("-", fields)
        for row in rows:
            write(row)
    print_aside([f"{batch.seen:,} rows written"])
