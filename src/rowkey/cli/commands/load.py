"""The command `load`."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Self

import click

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

if TYPE_CHECKING:
    from rowkey.cli.screen import Progress


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
    """Write all rows of a file: CSV, JSON lines, Parquet, Arrow, logs, also compressed.

    A nullable field without a column in the file stays null. If the load is interrupted, run the
    same command again to continue; a load of standard input, -, begins again. Exits with 1 if rows
    were left out.

    \b
    rowkey load logs.toml events.csv --on rocks:./data
    rowkey load logs.toml events.parquet --on rocks:./data --shuffle
    """
    from rowkey.table import load_file

    _check_argument_order(design, str(file))
    with (
        open_existing_table(design, url) as table,
        LoadProgress(can_resume=not is_standard_input(file)) as load_progress,
        show_progress(progress, "loading", "rows") as load_progress.display,
    ):
        result = load_file(
            table,
            file,
            format_options=format_options,
            shuffle=shuffle,
            restart=restart,
            progress=load_progress.report_progress,
            on_resume=load_progress.report_resume,
        )
    print_notes(render.format_load_result(result))
    print_errors(render.format_left_out_rows(result))
    return 1 if result.left_out.count else 0


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


class LoadProgress:
    """Prints the start and progress of a load, and how to resume it after an interruption.

    Args:
        can_resume: whether the same command continues the load.
    """

    def __init__(self, *, can_resume: bool) -> None:
        self.can_resume = can_resume
        self.display: Progress | None = None
        self.rows_done = 0

    def report_resume(self, rows_before: int) -> None:
        """Print how many rows an interrupted load has already processed."""
        self.rows_done = rows_before
        what = "skipped: an interrupted load has processed them; --restart loads them again"
        print_notes([format_row_count(rows_before, what)])
        if self.display is not None:
            self.display.start_from(rows_before)

    def report_progress(self, count: int, total: int) -> None:
        """Show how many rows of the file are processed."""
        self.rows_done = count
        if self.display is not None:
            self.display(count, total)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if error_type is not None and issubclass(error_type, KeyboardInterrupt):
            done = format_row_count(self.rows_done, "of the file processed")
            again = "run the same command again to continue, or add --restart"
            print_errors([f"{done}; {again}" if self.can_resume else done])
