"""The verb `drop`."""

from __future__ import annotations

import sys

import click

from rowkey.cli.options import print_aside, print_lines
from rowkey.cli.tables import CATALOG, ON, name_of, named_catalog


@click.command(short_help="Remove a table and all its rows.")
@click.argument("table")
@ON
@CATALOG
@click.option("--yes", metavar="NAME", help="The table's name again, in place of typing it.")
def command(table: str, url: str, yes: str | None) -> None:
    """Remove a table, named as it is or by its design file; its name must be typed again.

    A damaged table is removed as well. If its design declares a catalog, name the file then: the
    table cannot tell it.

    \b
    rowkey drop logs.toml --on rocks:./data --yes logs
    """
    from rowkey.design import Design
    from rowkey.table import drop_table

    name = name_of(table)
    typed = yes
    if typed is None and sys.stdin.isatty():
        print_aside([f"All rows of {name} on {url} will be gone."])
        typed = click.prompt("Its name", err=True)
    if typed != name:
        given = "its name was not typed" if typed is None else f"{typed[:40]!r} is not its name"
        raise click.UsageError(f"{name} stays: {given}. Give --yes {name}.")
    design = table if name == table else Design.read(table)
    drop_table(design, url, catalog=named_catalog())
    print_lines([f"{name}: dropped"])
