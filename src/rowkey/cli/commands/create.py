"""The command `create`."""

from __future__ import annotations

from pathlib import Path

import rowkey
from rowkey import render, simulate
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    NO_CACHE_OPTION,
    PROGRESS_OPTION,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    print_lines,
    show_progress,
)
from rowkey.cli.tables import TABLE_URL_OPTION


@define_command("Run", "Create a table, split into regions as designed.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@SEED_OPTION
@PROGRESS_OPTION
def command(
    design: str,
    url: str,
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    seed: int,
    progress: str,
) -> None:
    """Create the table of a design: its families and its region boundaries, then verify both.

    The companions of the design are created before it. Boundaries that a design takes from a sample
    use the whole sample, and are stored with the table.

    \b
    rowkey create logs.toml --on rocks:./data
    rowkey create logs.toml --on rocks:./data --sample events.csv
    """
    declared_design = rowkey.Design.read(design)
    designs = {declared_design.table: declared_design, **declared_design.companions}
    splits = {
        name: simulate.choose_design_splits(
            one, sample, format_options=format_options, seed=seed
        ).boundaries.splits
        for name, one in designs.items()
    }
    with (
        show_progress(progress, {"regions": "opening"}) as opened,
        rowkey.table.create_table(
            declared_design,
            url,
            splits=splits[declared_design.table],
            companion_splits=splits,
            progress=opened,
        ) as table,
    ):
        tables = {declared_design.table: table, **table.companions}
        for name, one in tables.items():
            line = render.format_created_table(name, len(one.regions()), designs[name].families)
            print_lines([line])
