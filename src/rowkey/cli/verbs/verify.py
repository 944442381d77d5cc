"""The command `verify`."""

from __future__ import annotations

import click

from rowkey.cli.options import PROGRESS, TEXT_OR_JSON, print_json, print_lines, progress_to
from rowkey.cli.tables import ON, name_of


@click.command(short_help="Read every block of a table, and say what is damaged.")
@click.argument("table", required=False)
@ON
@TEXT_OR_JSON
@PROGRESS
def command(table: str | None, url: str, output: str, progress: str) -> int:
    """Read every block of every file of a table, or of all tables of a place; change nothing.

    What is damaged or gone is named with its file, and with the rows that lack cells for it. It
    leaves with 3 if there is anything.

    \b
    rowkey verify logs.toml --on rocks:./data
    rowkey verify --on rocks:./data -f json
    """
    from rowkey.render import examination_lines, verify_document
    from rowkey.table import verify_tables

    names = [] if table is None else [name_of(table)]
    with progress_to(progress, "reading", "cells") as reported:
        found = list(verify_tables(url, names, reported))
    if output == "json":
        print_json(verify_document(url, found))
    else:
        print_lines(line for one in found for line in examination_lines(one))
        if not found:
            print_lines([f"{url} holds no table"])
    return 0 if all(one.is_sound for one in found) else 3
