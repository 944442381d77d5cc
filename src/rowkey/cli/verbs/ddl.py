"""The verb `ddl`."""

from __future__ import annotations

from pathlib import PurePath

import click

from rowkey.cli.options import DESIGN, FORMAT, SAMPLE, SEED, print_lines


@click.command(short_help="Text that creates the table, for HBase's shell or in Java.")
@DESIGN
@click.option(
    "--dialect",
    type=click.Choice(["hbase-shell", "java"]),
    default="hbase-shell",
    show_default=True,
    help="What the text is written in.",
)
@SAMPLE
@FORMAT
@SEED
def command(
    design: str, dialect: str, sample: str | None, sample_format: str | None, seed: int
) -> None:
    """Print a text that creates the table of a design by hand: the same table as `create` makes.

    Boundaries that follow from a sample are taken from all of it. The table keeps the design among
    its attributes, so that rowkey opens it as one that `create` has made.

    \b
    rowkey ddl logs.toml > logs.rb
    rowkey ddl logs.toml --sample events.csv
    rowkey ddl logs.toml --dialect java > CreateLogs.java
    """
    from rowkey.design import Design
    from rowkey.render import DIALECTS, creation_of
    from rowkey.simulate import cut_design

    found = Design.read(design)
    words = None if sample_format is None else {"kind": sample_format}
    cut = cut_design(found, sample, format_words=words, seed=seed)
    creation = creation_of(found, cut.boundaries.splits, PurePath(design).name)
    print_lines(DIALECTS[dialect.replace("-", "_")](creation))
