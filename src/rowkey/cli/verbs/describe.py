"""The verb `describe`."""

from __future__ import annotations

import click

from rowkey.cli.options import print_aside, rows_said
from rowkey.cli.tables import ON


@click.command(short_help="A design file from a live table; what is not known is said.")
@click.argument("table")
@ON
@click.option(
    "-o", "--output", metavar="FILE", help="Write the design there; it must not be there yet."
)
def command(table: str, url: str, output: str | None) -> None:
    """Describe a live table as a design file that makes the same table again.

    Families, their attributes and the regions are those of the table. Of a table that rowkey made
    the design is known; of another one the first rows of its regions are read, and what all of
    them bear out of the key is declared with its evidence. What is not known is declared as bytes,
    and said.

    \b
    rowkey describe logs --on rocks:./data > found.toml
    rowkey describe logs --on rocks:./data -o described.toml
    """
    from pathlib import Path

    from rowkey.cli.outputs import Destination
    from rowkey.errors import printable
    from rowkey.observe import describe

    to = None if output in (None, "-") else output
    if to is not None and Path(to).exists():
        raise click.UsageError(f"{printable(to)} is there already; give another name.")
    found = describe(table, url)
    with Destination("toml", to).text() as stream:
        stream.write(found.text)
    how = "its design is known" if found.is_ours else rows_said(found.sampled, "looked at")
    print_aside([f"{table}: {found.design.declaration.key}, {how}"])
