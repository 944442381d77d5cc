"""The verb `dump`."""

from __future__ import annotations

import click

from rowkey.cli.options import DESIGN
from rowkey.cli.tables import ON, opened, print_rows


@click.command(short_help="All rows, for a file.")
@DESIGN
@ON
@click.option(
    "-f",
    "form",
    type=click.Choice(["jsonl", "csv", "arrow"]),
    default="jsonl",
    show_default=True,
    help="How rows are printed.",
)
def command(design: str, url: str, form: str) -> None:
    """Print all rows, in the order of the key less what only spreads them; `load` takes them back.

    In CSV a null stands as nothing and an empty text as two quotes, which `load` reads alike: where
    texts may be null, JSON lines and Arrow keep them apart.

    \b
    rowkey dump logs.toml --on rocks:./data > rows.jsonl
    rowkey dump logs.toml --on rocks:./data -f arrow > rows.arrows
    """
    with opened(design, url) as table:
        print_rows(table.scan(), form)
