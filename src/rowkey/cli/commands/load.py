"""The command `load`."""

from __future__ import annotations

from pathlib import Path, PurePath

import click

import rowkey
from rowkey import render
from rowkey.cli.destination import FORMATS_BY_SUFFIX, GZIP_SUFFIX
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    FILE_PATH,
    PROGRESS_OPTION,
    SAMPLE_FORMAT_OPTION,
    format_row_count,
    print_errors,
    print_notes,
    show_progress,
)
from rowkey.cli.streams import is_standard_input, resolve_input_file
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table
from rowkey.messages import shorten_text
from rowkey.progress import Progress


@define_command("Run", "Load the rows of a file; resumes where it was interrupted.")
@DESIGN_ARGUMENT
@click.argument("file", type=FILE_PATH, callback=resolve_input_file)
@TABLE_URL_OPTION
@CATALOG_OPTION
@SAMPLE_FORMAT_OPTION
@click.option(
    "--shuffle", is_flag=True, help="Load in random order, so that a sorted file has no hot spot."
)
@click.option("--restart", is_flag=True, help="Begin at the first row, even after an interruption.")
@PROGRESS_OPTION
def command(
    design: str,
    file: str | Path,
    url: str,
    format_options: dict[str, str] | None,
    progress: str,
    *,
    shuffle: bool,
    restart: bool,
) -> int:
    """Write all rows of a file: CSV, text columns, JSON lines, Parquet, Arrow, Excel, logs.

    A nullable field without a column in the file stays null. If the load is interrupted, run the
    same command again to continue; a load of standard input, -, begins again. Exits with 1 if rows
    were left out.

    \b
    rowkey load logs.toml events.csv --on rocks:./data
    rowkey load logs.toml events.parquet --on rocks:./data --shuffle
    """
    _check_argument_order(design, str(file))
    last = Progress()
    try:
        with (
            open_existing_table(design, url) as table,
            show_progress(progress, {"rows": "loading"}) as bar,
        ):

            def report(now: Progress) -> None:
                nonlocal last
                last = now
                if bar is not None:
                    bar(now)

            result = rowkey.table.load_file(
                table,
                file,
                format_options=format_options,
                shuffle=shuffle,
                restart=restart,
                progress=report,
                on_resume=_report_resume,
            )
    except KeyboardInterrupt:
        done = format_row_count(last.done, "of the file processed")
        again = "run the same command again to continue, or add --restart"
        print_errors([done if is_standard_input(file) else f"{done}; {again}"])
        raise
    print_notes(render.format_load_result(result))
    print_errors(render.format_left_out_rows(result))
    return 1 if result.left_out.count else 0


def _report_resume(rows_before: int) -> None:
    """Print how many rows an interrupted load has already processed."""
    what = "skipped: an interrupted load has processed them; --restart loads them again"
    print_notes([format_row_count(rows_before, what)])


def _check_argument_order(design: str, file: str) -> None:
    """Raise a usage error if the design file and the file of rows are swapped.

    Raises:
        UsageError: the two arguments are swapped.
    """
    suffix = PurePath(design.lower().removesuffix(GZIP_SUFFIX)).suffix
    if (file.endswith(".toml") and not design.endswith(".toml")) or suffix in FORMATS_BY_SUFFIX:
        names = shorten_text(design), shorten_text(file)
        raise click.UsageError(
            f"the design file {names[1]} must come first. Write rowkey load {names[1]} {names[0]}."
        )
