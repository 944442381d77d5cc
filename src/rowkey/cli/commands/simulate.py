"""The command `simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import rowkey
from rowkey import advise, render
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    FAIL_ON_GRADE_OPTION,
    NO_CACHE_OPTION,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    REPLAY_WEIGHTS,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    is_failing,
    print_json,
    show_progress,
)
from rowkey.cli.screen import build_console

if TYPE_CHECKING:
    from rowkey.simulate import MapLoad


@define_command("Judge", "Replay events: a verdict on writes and reads, and why.")
@DESIGN_ARGUMENT
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@click.option(
    "--second-half",
    is_flag=True,
    help="Replay only the second half of the sample, as is done for designs that take their splits "
    "from the first half.",
)
@click.option(
    "--map",
    "map_load",
    type=click.Choice(["writes", "reads", "both"]),
    default="writes",
    show_default=True,
    help="Which load the heat map shows: writes, reads, which are constant over time, or the "
    "operations a second of both. JSON has all three.",
)
@OUTPUT_FORMAT_OPTION
@SEED_OPTION
@PROGRESS_OPTION
@FAIL_ON_GRADE_OPTION
def command(
    design: str,
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    map_load: MapLoad,
    output: str,
    seed: int,
    progress: str,
    fail_on: str,
    *,
    second_half: bool,
) -> int:
    """Judge a design by a recorded sample, or by events generated from its declaration.

    The verdict joins writes, declared reads and the findings of the rules: good, fair or poor, the
    worst first. Exits with 1 if it is poor, or as --fail-on says.

    \b
    rowkey simulate logs.toml --sample events.csv
    rowkey simulate logs.toml --map both
    rowkey simulate logs.toml -f json
    """
    with show_progress(progress, weights=REPLAY_WEIGHTS) as report:
        judged = advise.JudgedDesign(
            rowkey.Design.read(design),
            sample,
            format_options=format_options,
            names_keys=True,
            second_half=second_half,
            seed=seed,
            progress=report,
        )
        judged.verdict  # noqa: B018 - computed while the progress is shown
        if output == "json":
            document = render.build_simulation_document(judged)
    if output == "json":
        print_json(document)
    else:
        render.print_simulation(judged, build_console(), map_load)
    return int(is_failing(judged.verdict.grade, fail_on))
