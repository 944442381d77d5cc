"""The command `compare`."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import click

import rowkey
from rowkey import advise, render
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGNS_ARGUMENT,
    NO_CACHE_OPTION,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    REPLAY_WEIGHTS,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    print_json,
    show_progress,
)
from rowkey.cli.screen import build_console
from rowkey.errors import IncomparableDesigns, InvalidDesign, Mistake


@define_command("Judge", "Compare two to eight designs on one sample, measure by measure.")
@DESIGNS_ARGUMENT
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@OUTPUT_FORMAT_OPTION
@click.option("--second-half", is_flag=True, help="Replay only the second half of the sample.")
@SEED_OPTION
@PROGRESS_OPTION
def command(
    designs: tuple[str, ...],
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    output: str,
    seed: int,
    progress: str,
    *,
    second_half: bool,
) -> None:
    """Compare designs: where writes land, what reads cost, bytes, time to make a key, findings.

    Each design replays the same events on the same servers and runs every read that any of them
    declares. The best value of each measure is marked. There is no total score, because only you
    know how much each measure matters. Without --sample, all designs must declare the same sample.

    \b
    rowkey compare by_time.toml by_host.toml --sample events.csv
    rowkey compare by_time.toml by_host.toml --sample events.csv -f json > compared.json
    """
    read = _read_designs(designs)
    with show_progress(progress, weights=REPLAY_WEIGHTS) as report:
        comparison = advise.compare_designs(
            read,
            sample,
            names=designs,
            format_options=format_options,
            second_half=second_half,
            seed=seed,
            clock=perf_counter,
            progress=report,
        )
        for one in comparison.designs:
            _ = one.verdict  # its key is searched for now, while the progress is shown
    if output == "json":
        print_json(render.build_comparison_document(comparison))
        return

    render.print_comparison(comparison, build_console())


def _read_designs(paths: tuple[str, ...]) -> list[rowkey.Design]:
    """Return the designs of several files; collect the mistakes of all files in one error.

    Raises:
        IncomparableDesigns: with the mistakes of all of them.
    """
    designs, mistakes = [], []
    for path in paths:
        try:
            designs.append(rowkey.Design.read(path))
        except InvalidDesign as problem:
            for mistake in problem.mistakes:
                place = ":".join(str(step) for step in (path, mistake.line, mistake.column) if step)
                where = f"{place}: {mistake.path}" if mistake.path else place
                mistakes.append(Mistake(where, mistake.problem, mistake.expected, mistake.remedy))
    if mistakes:
        raise IncomparableDesigns(mistakes)
    return designs
