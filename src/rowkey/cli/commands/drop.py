"""The command `drop`."""

from __future__ import annotations

import sys

import click

from rowkey.cli.grouped_command import define_command
from rowkey.cli.options import print_errors, print_lines
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, find_table_name, get_catalog_url


@define_command("Run", "Remove a table and all its rows.")
@click.argument("table")
@TABLE_URL_OPTION
@CATALOG_OPTION
@click.option("--yes", metavar="NAME", help="The table's name, to confirm without a prompt.")
def command(table: str, url: str, yes: str | None) -> None:
    """Remove a table, given by its name or its design file; type its name to confirm.

    Its companions are removed after it.

    A damaged table can be removed too. If its design declares a catalog, give the design file: a
    damaged table cannot be asked which catalog it is in.

    \b
    rowkey drop logs.toml --on rocks:./data --yes logs
    """
    from rowkey.design import Design
    from rowkey.table import drop_table

    name = find_table_name(table)
    typed = yes
    if typed is None and sys.stdin.isatty():
        print_errors([f"This removes the table {name} on {url} and all its rows."])
        typed = click.prompt("Type the table's name to confirm", err=True)
    if typed != name:
        reason = "no name was typed" if typed is None else f"{typed[:40]!r} is not the table's name"
        raise click.UsageError(f"{name} is not dropped: {reason}. Give --yes {name}.")
    design = table if name == table else Design.read(table)
    dropped = drop_table(design, url, catalog=get_catalog_url())
    print_lines([f"{one}: dropped" for one in dropped])
