"""The command `verify`."""

from __future__ import annotations

import click

import rowkey
from rowkey import render
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    print_json,
    print_lines,
    show_progress,
)
from rowkey.cli.tables import TABLE_URL_OPTION, find_table_name


@define_command("Operate", "Read every block of a table and report what is damaged.")
@click.argument("table", required=False)
@TABLE_URL_OPTION
@OUTPUT_FORMAT_OPTION
@PROGRESS_OPTION
def command(table: str | None, url: str, output: str, progress: str) -> int:
    """Read every block of every file of a table, or of all tables at a URL; change nothing.

    Each damaged or missing file is reported with the rows that lack cells because of it. A table
    is sound if this user can open, read and write it: the catalog entry, links and other things in
    place of files, and modes are checked as opening checks them. Exits with 3 if a table is not.
    Cells in columns that the design does not declare are no damage, and are counted as stored.

    \b
    rowkey verify logs.toml --on rocks:./data
    rowkey verify --on rocks:./data -f json
    """
    names = [] if table is None else [find_table_name(table)]
    with show_progress(progress) as reported:
        examinations = list(rowkey.table.verify_tables(url, names, reported))
    if output == "json":
        print_json(render.build_verify_document(url, examinations))
    else:
        print_lines(
            line for examination in examinations for line in render.format_examination(examination)
        )
        if not examinations:
            print_lines([f"there is no table at {url}"])
    return 0 if all(examination.is_sound for examination in examinations) else 3
