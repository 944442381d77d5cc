"""The verb `load`."""

from __future__ import annotations

import click

from rowkey.cli.options import DESIGN, FORMAT, PROGRESS, print_aside, progress_to, rows_said
from rowkey.cli.tables import ON, opened


@click.command(short_help="Write the rows of a file; resumes where it was interrupted.")
@DESIGN
@click.argument("file")
@ON
@FORMAT
@click.option("--shuffle", is_flag=True, help="Mix the rows, so that a sorted file spreads.")
@click.option("--restart", is_flag=True, help="Begin anew, whatever was loaded before.")
@PROGRESS
def command(
    design: str,
    file: str,
    url: str,
    sample_format: str | None,
    progress: str,
    *,
    shuffle: bool,
    restart: bool,
) -> int:
    """Write all rows of a file: CSV, JSON lines, Parquet, Arrow, gzip of each, logs.

    Interrupted, the same command goes on where it stopped. Leaves with 1 if rows were left out.

    \b
    rowkey load logs.toml events.csv --on rocks:./data
    rowkey load logs.toml events.parquet --on rocks:./data --shuffle
    """
    from rowkey.table import load_file

    with opened(design, url) as table, progress_to(progress, "loading") as shown:
        found = load_file(
            table,
            file,
            format_words=None if sample_format is None else {"kind": sample_format},
            shuffle=shuffle,
            restart=restart,
            progress=shown,
        )
    if found.before:
        print_aside([rows_said(found.before, "stood already, from an interrupted load")])
    print_aside([rows_said(found.rows, "written")])
    if found.left_out.count:
        print_aside([rows_said(found.left_out.count, f"left out; {found.left_out.first}")])
    return 1 if found.left_out.count else 0
