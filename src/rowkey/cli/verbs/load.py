"""The verb `load`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowkey.cli.options import DESIGN, FORMAT, PROGRESS, print_aside, progress_to, rows_said
from rowkey.cli.tables import CATALOG, ON, opened

if TYPE_CHECKING:
    from typing import Self

    from rowkey.cli.screen import Progress
    from rowkey.table import Loaded


@click.command(short_help="Write the rows of a file; resumes where it was interrupted.")
@DESIGN
@click.argument("file")
@ON
@CATALOG
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

    A column that the file lacks stays null where the field may be. Interrupted, the same command
    goes on where it stopped. Leaves with 1 if rows were left out.

    \b
    rowkey load logs.toml events.csv --on rocks:./data
    rowkey load logs.toml events.parquet --on rocks:./data --shuffle
    """
    from rowkey.table import load_file

    with (
        opened(design, url) as table,
        Told() as told,
        progress_to(progress, "loading", "rows") as told.shown,
    ):
        found = load_file(
            table,
            file,
            format_words=None if sample_format is None else {"kind": sample_format},
            shuffle=shuffle,
            restart=restart,
            progress=told.reached,
            resumed=told.resumed,
        )
    print_aside(_sentences(found))
    return 1 if found.left_out.count else 0


def _sentences(found: Loaded) -> list[str]:
    """What a load did, a line each."""
    said = [rows_said(found.rows, "written")]
    if found.absent:
        said.append(f"no column for {', '.join(found.absent)}: it stays null")
    said += [f"assumed: {sentence}" for sentence in found.assumed]
    if found.left_out.count:
        said.append(rows_said(found.left_out.count, f"left out; {found.left_out.first}"))
    return said


class Told:
    """Says where a load begins, how far it is, and how it goes on if it is interrupted."""

    def __init__(self) -> None:
        self.shown: Progress | None = None
        self.done = 0

    def resumed(self, before: int) -> None:
        """Say how many rows are passed over."""
        self.done = before
        what = "passed over, which an interrupted load has dealt with; --restart begins anew"
        print_aside([rows_said(before, what)])
        if self.shown is not None:
            self.shown.begin(before)

    def reached(self, done: int, total: int) -> None:
        """Show how far it is."""
        self.done = done
        if self.shown is not None:
            self.shown(done, total)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            done = rows_said(self.done, "of the file dealt with")
            print_aside([f"{done}; the same command goes on behind them, --restart begins anew"])
