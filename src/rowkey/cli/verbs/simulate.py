"""The verb `simulate`."""

from __future__ import annotations

import click

from rowkey.cli.options import (
    DESIGN,
    EXIT_ZERO,
    FORMAT,
    PROGRESS,
    SAMPLE,
    SEED,
    TEXT_OR_JSON,
    print_json,
    progress_to,
)


@click.command(short_help="Where operations land, how hot it gets, when and why.")
@DESIGN
@SAMPLE
@FORMAT
@click.option(
    "--second-half",
    is_flag=True,
    help="Replay only the second half of the sample, as designs whose splits come from it are.",
)
@TEXT_OR_JSON
@SEED
@PROGRESS
@EXIT_ZERO
def command(
    design: str,
    sample: str | None,
    sample_format: str | None,
    output: str,
    seed: int,
    progress: str,
    *,
    second_half: bool,
    exit_zero: bool,
) -> int:
    """Judge a design by a recorded sample, or by events made from its file.

    Leaves with 1 if it runs hot.

    \b
    rowkey simulate logs.toml --sample events.csv
    rowkey simulate logs.toml -f json
    """
    from rowkey.cli.packing import packing_for
    from rowkey.design import Design
    from rowkey.simulate import run

    words = None if sample_format is None else {"kind": sample_format}
    judged = Design.read(design)
    with progress_to(progress, "replaying") as shown:
        found = run(
            judged,
            sample,
            format_words=words,
            second_half=second_half,
            seed=seed,
            progress=shown,
        )
    packing = packing_for(judged, sample, words)
    if output == "json":
        from rowkey.render import simulation_document

        print_json(simulation_document(found, packing))
    else:
        from rowkey.cli.screen import console
        from rowkey.render import print_simulation

        print_simulation(found, console(), packing)
    return 1 if found.verdict.is_hot and not exit_zero else 0
