"""The verb `splits`."""

from __future__ import annotations

import click

from rowkey.cli.options import (
    FORMAT,
    SAMPLE,
    SEED,
    TEXT_OR_JSON,
    print_aside,
    print_json,
    print_lines,
)


@click.command(short_help="Region boundaries; how many regions and why.")
@click.argument("design", required=False)
@SAMPLE
@FORMAT
@click.option("--algorithm", metavar="NAME", help="A split algorithm, in place of a design.")
@click.option("-n", "--regions", type=click.IntRange(1, 100_000), help="How many regions.")
@click.option(
    "--keys",
    type=click.Choice(["binary", "hex"]),
    default="binary",
    show_default=True,
    help=r"How keys are printed; binary is \xNN, as HBase's shell takes them.",
)
@TEXT_OR_JSON
@SEED
def command(
    design: str | None,
    sample: str | None,
    sample_format: str | None,
    algorithm: str | None,
    regions: int | None,
    keys: str,
    output: str,
    seed: int,
) -> None:
    """Print the row keys at which regions begin, one a line, and how many there should be.

    \b
    rowkey splits logs.toml
    rowkey splits logs.toml --sample events.csv
    rowkey splits --algorithm hex-string -n 16
    """
    from rowkey.regions import to_binary
    from rowkey.render import sizing_lines
    from rowkey.simulate import cut_by_algorithm, cut_design

    if (design is None) == (algorithm is None):
        raise click.UsageError("Give either a design or --algorithm.")
    if design is not None:
        if regions is not None:
            raise click.UsageError("The design says how many regions; -n goes with --algorithm.")
        from rowkey.design import Design

        words = None if sample_format is None else {"kind": sample_format}
        found = cut_design(Design.read(design), sample, format_words=words, seed=seed)
    else:
        found = cut_by_algorithm(str(algorithm), regions)
    if output == "json":
        from rowkey.render import splits_document

        print_json(splits_document(found))
        return
    show = to_binary if keys == "binary" else bytes.hex
    print_lines(map(show, found.boundaries.splits))
    print_aside(f"  {remark}" for remark in found.remarks)
    if found.sizing is not None:
        print_aside([f"{len(found.boundaries)} regions. How many there should be:"])
        print_aside(sizing_lines(found.sizing))
