"""The command `simulate`."""

from __future__ import annotations

import click

from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    EXIT_ZERO_OPTION,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    print_json,
    show_progress,
)


@click.command(short_help="Replay events: where writes land, and why a design runs hot.")
@DESIGN_ARGUMENT
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@click.option(
    "--second-half",
    is_flag=True,
    help="Replay only the second half of the sample, as is done for designs that take their splits "
    "from the first half.",
)
@OUTPUT_FORMAT_OPTION
@SEED_OPTION
@PROGRESS_OPTION
@EXIT_ZERO_OPTION
def command(
    design: str,
    sample: str | None,
    format_options: dict[str, str] | None,
    output: str,
    seed: int,
    progress: str,
    *,
    second_half: bool,
    exit_zero: bool,
) -> int:
    """Judge a design by a recorded sample, or by events generated from its declaration.

    Exits with 1 if the design runs hot.

    \b
    rowkey simulate logs.toml --sample events.csv
    rowkey simulate logs.toml -f json
    """
    from rowkey.advise import JudgedDesign
    from rowkey.design import Design

    with show_progress(progress, "replaying") as report:
        judged = JudgedDesign(
            Design.read(design),
            sample,
            format_options=format_options,
            second_half=second_half,
            seed=seed,
            progress=report,
        )
        simulation = judged.simulation
    if output == "json":
        from rowkey.render import build_simulation_document

        print_json(build_simulation_document(simulation, judged.packing))
    else:
        from rowkey.cli.screen import build_console
        from rowkey.render import print_simulation

        print_simulation(simulation, build_console(), judged.packing)
    return 1 if simulation.verdict.is_hot and not exit_zero else 0
