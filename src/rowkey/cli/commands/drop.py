"""The command `drop`."""

from __future__ import annotations

import click

import rowkey
from rowkey.cli.group import define_command
from rowkey.cli.options import print_lines
from rowkey.cli.tables import (
    CATALOG_OPTION,
    TABLE_URL_OPTION,
    add_confirmation_option,
    confirm_drop,
    get_catalog_url,
    read_design_or_name,
)


@define_command("Run", "Remove a table and all its rows.")
@click.argument("table")
@TABLE_URL_OPTION
@CATALOG_OPTION
@add_confirmation_option(
    "Confirm without a prompt; needs the NAME where the table is given by a design file."
)
def command(table: str, url: str, yes: str | None) -> None:
    """Remove a table, given by its name or its design file; type its name to confirm.

    Its companions are removed after it. Cells that other programs wrote to columns of no design are
    removed too; rowkey count tells how many there are.

    A damaged table can be removed too. If its design declares a catalog, give the design file: a
    damaged table cannot be asked which catalog it is in.

    \b
    rowkey drop logs.toml --on rocks:./data --yes logs
    """
    dropped = rowkey.table.drop_table(
        read_design_or_name(table),
        url,
        catalog=get_catalog_url(),
        confirm=lambda name: confirm_drop(name, url, table, yes),
    )
    print_lines([f"{one}: dropped" for one in dropped])
