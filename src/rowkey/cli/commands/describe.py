"""The command `describe`."""

from __future__ import annotations

import click

from rowkey import observe
from rowkey.cli.destination import Destination
from rowkey.cli.group import define_command
from rowkey.cli.options import FILE_PATH, FORCE_OPTION, check_overwrite, print_notes
from rowkey.cli.tables import TABLE_URL_OPTION
from rowkey.messages import pluralize


@define_command("Operate", "Write a design file for a live table.")
@click.argument("table")
@TABLE_URL_OPTION
@click.option(
    "-o", "--output", metavar="FILE", type=FILE_PATH, help="Write the design to a new file."
)
@FORCE_OPTION
def command(table: str, url: str, output: str | None, *, force: bool) -> None:
    """Write a design file that describes a live table and can create the same table again.

    Families, their attributes and the regions are those of the table. If rowkey created the table,
    its design is stored with it. For any other table the command reads the first rows of each
    region and declares the key parts that all these rows agree with, with the evidence as a
    comment. Parts that stay unknown are declared as bytes and marked with a comment.

    \b
    rowkey describe logs --on rocks:./data > found.toml
    rowkey describe logs --on rocks:./data -o described.toml
    """
    to = None if output in (None, "-") else output
    check_overwrite(to, force=force)
    description = observe.describe_table(table, url)
    with Destination("toml", to).open_text() as stream:
        stream.write(description.text)
    how = (
        "as stored by rowkey"
        if description.is_own_table
        else f"inferred from {pluralize(description.sampled_rows, 'row')}"
    )
    print_notes([f"{table}: the key is {description.design.declaration.key}, {how}"])
