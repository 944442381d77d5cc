"""The command `ddl`."""

from __future__ import annotations

from pathlib import Path, PurePath

import click

import rowkey
from rowkey import render, simulate
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    NO_CACHE_OPTION,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    print_lines,
    print_notes,
)
from rowkey.errors import InvalidArgument


@define_command("Design", "Print a script that creates the table, for HBase's shell or Java.")
@DESIGN_ARGUMENT
@click.option(
    "--dialect",
    type=click.Choice(["hbase-shell", "java"]),
    default="hbase-shell",
    show_default=True,
    help="Language of the script.",
)
@click.option("--companion", metavar="TABLE", help="Print the script of a companion instead.")
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@SEED_OPTION
def command(
    design: str,
    dialect: str,
    companion: str | None,
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    seed: int,
) -> None:
    """Print a script that creates the table of a design, the same table as `create` creates.

    Boundaries that the design takes from a sample use the whole sample. The script stores the
    design in the table's attributes, so that rowkey opens the table like one that `create` created.
    Each companion of the design has a script of its own; run them before that of the main table.

    \b
    rowkey ddl logs.toml > logs.rb
    rowkey ddl logs.toml --sample events.csv
    rowkey ddl logs.toml --dialect java > CreateLogs.java
    rowkey ddl orders.toml --companion orders_by_number > orders_by_number.rb
    """
    main_design = declared_design = rowkey.Design.read(design)
    companions = main_design.companions
    if companion is not None:
        if companion not in companions:
            allowed = f"one of {', '.join(companions)}" if companions else ""
            what = f"{main_design.table} has no companion {companion}"
            raise InvalidArgument("option --companion", what, allowed)
        declared_design = companions[companion]
    splits = simulate.choose_design_splits(
        declared_design, sample, format_options=format_options, seed=seed
    )
    creation = render.build_create_statement(
        declared_design,
        splits.boundaries.splits,
        PurePath(
            design if companion is None else main_design.declaration.companions[companion]
        ).name,
        main_design.table if companion is not None else "",
    )
    print_lines(render.DIALECTS[dialect.replace("-", "_")](creation))
    if companion is None:
        print_notes(
            f"create the companion {name} first: rowkey ddl {design} --companion {name}"
            for name in companions
        )
