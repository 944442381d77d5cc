"""The command `splits`."""

from __future__ import annotations

from pathlib import Path

import click

import rowkey
from rowkey import render, simulate
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    FILE_PATH,
    NO_CACHE_OPTION,
    OUTPUT_FORMAT_OPTION,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    print_json,
    print_lines,
    print_notes,
)


@define_command("Judge", "Print region boundaries, and how many regions there should be.")
@click.argument("design", required=False, type=FILE_PATH)
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@click.option("--algorithm", metavar="NAME", help="Use this split algorithm instead of a design.")
@click.option("-n", "--regions", type=click.IntRange(1, 100_000), help="Number of regions.")
@click.option(
    "--keys",
    type=click.Choice(["binary", "hex"]),
    default="binary",
    show_default=True,
    help=r"How keys are printed; binary is \xNN, as HBase's shell reads them.",
)
@OUTPUT_FORMAT_OPTION
@SEED_OPTION
def command(
    design: str | None,
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    algorithm: str | None,
    regions: int | None,
    keys: str,
    output: str,
    seed: int,
) -> None:
    """Print the row keys at which regions begin, one per line, and the number of regions needed.

    \b
    rowkey splits logs.toml
    rowkey splits logs.toml --sample events.csv
    rowkey splits --algorithm hex-string -n 16
    """
    if (design is None) == (algorithm is None):
        raise click.UsageError("Give either a design or --algorithm.")
    if design is not None:
        if regions is not None:
            raise click.UsageError(
                "-n works only with --algorithm: a design file gives its own number of regions. "
                "Remove -n."
            )

        choice = simulate.choose_design_splits(
            rowkey.Design.read(design), sample, format_options=format_options, seed=seed
        )
    else:
        choice = simulate.choose_algorithm_splits(str(algorithm), regions)
    if output == "json":
        print_json(render.build_splits_document(choice))
        return
    show = rowkey.regions.to_string_binary if keys == "binary" else bytes.hex
    if choice.sizing is not None:
        print_notes(render.format_sizing(choice.sizing, len(choice.boundaries)))
    print_notes(f"  {remark}" for remark in choice.remarks)
    print_lines(map(show, choice.boundaries.splits))
