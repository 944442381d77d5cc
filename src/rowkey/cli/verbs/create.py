"""The verb `create`."""

from __future__ import annotations

import click

from rowkey.cli.options import (
    DESIGN,
    FORMAT,
    PROGRESS,
    SAMPLE,
    SEED,
    print_lines,
    progress_to,
)
from rowkey.cli.tables import ON


@click.command(short_help="Make a table, pre-split as designed.")
@DESIGN
@ON
@SAMPLE
@FORMAT
@SEED
@PROGRESS
def command(
    design: str,
    url: str,
    sample: str | None,
    sample_format: str | None,
    seed: int,
    progress: str,
) -> None:
    """Make the table of a design: its families and its region boundaries, read back and compared.

    Boundaries that follow from a sample are taken from all of it, and kept with the table.

    \b
    rowkey create logs.toml --on rocks:./data
    rowkey create logs.toml --on rocks:./data --sample events.csv
    """
    import rowkey
    from rowkey.simulate import cut_design
    from rowkey.table import create_table

    found = rowkey.Design.read(design)
    words = None if sample_format is None else {"kind": sample_format}
    cut = cut_design(found, sample, format_words=words, seed=seed)
    with (
        progress_to(progress, "opening", "regions") as opened,
        create_table(found, url, splits=cut.boundaries.splits, progress=opened) as table,
    ):
        families = ", ".join(found.families)
        regions = len(table.regions())
        print_lines([f"{found.table}: {regions} regions, families {families}"])
