"""The command `ddl`."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from rowkey.cli.grouped_command import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    print_lines,
)

if TYPE_CHECKING:
    from pathlib import Path


@define_command("Design", "Print a script that creates the table, for HBase's shell or Java.")
@DESIGN_ARGUMENT
@click.option(
    "--dialect",
    type=click.Choice(["hbase-shell", "java"]),
    default="hbase-shell",
    show_default=True,
    help="Language of the script.",
)
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@SEED_OPTION
def command(
    design: str,
    dialect: str,
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    seed: int,
) -> None:
    """Print a script that creates the table of a design, the same table as `create` creates.

    Boundaries that the design takes from a sample use the whole sample. The script stores the
    design in the table's attributes, so that rowkey opens the table like one that `create` created.

    \b
    rowkey ddl logs.toml > logs.rb
    rowkey ddl logs.toml --sample events.csv
    rowkey ddl logs.toml --dialect java > CreateLogs.java
    """
    from rowkey.design import Design
    from rowkey.render import DIALECTS, build_create_statement
    from rowkey.simulate import choose_design_splits

    declared_design = Design.read(design)
    splits = choose_design_splits(declared_design, sample, format_options=format_options, seed=seed)
    creation = build_create_statement(
        declared_design, splits.boundaries.splits, PurePath(design).name
    )
    print_lines(DIALECTS[dialect.replace("-", "_")](creation))
