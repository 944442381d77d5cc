"""The command `report`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_bytes
from time import gmtime, perf_counter, strftime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import rowkey
from rowkey import advise, render
from rowkey.cli.destination import Destination
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGNS_ARGUMENT,
    FILE_PATH,
    FORCE_OPTION,
    NO_CACHE_OPTION,
    PROGRESS_OPTION,
    REPLAY_WEIGHTS,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    check_overwrite,
    print_errors,
    print_notes,
    show_progress,
)
from rowkey.errors import IncomparableDesigns

if TYPE_CHECKING:
    from rowkey.advise import Comparison, JudgedDesign
    from rowkey.design import Design


@define_command("Judge", "Write designs, their costs and hot spots as one HTML page.")
@DESIGNS_ARGUMENT
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=FILE_PATH,
    help="The HTML file; standard output if not given.",
)
@FORCE_OPTION
@click.option(
    "--redact",
    is_flag=True,
    help="Show hashes instead of values, so that the page reveals no data.",
)
@click.option(
    "--lang",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    help="The language of the page.",
)
@click.option("--second-half", is_flag=True, help="Replay only the second half of the sample.")
@SEED_OPTION
@PROGRESS_OPTION
def command(
    designs: tuple[str, ...],
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    output: str | None,
    lang: str,
    seed: int,
    progress: str,
    *,
    force: bool,
    redact: bool,
    second_half: bool,
) -> None:
    """Write designs, what they cost and where they run hot as one HTML file.

    The file needs no network and no other file. Two to eight designs are compared as `rowkey
    compare` does, on one sample and one scale, before each is shown by itself. If they cannot be
    compared, the page says why and shows each by itself.

    \b
    rowkey report logs.toml -o logs.html
    rowkey report by_time.toml by_host.toml --sample events.csv -o both.html
    rowkey report logs.toml --sample events.csv --redact --lang zh -o redacted.html
    """
    destination = Destination.from_options("html", output, ["html"])
    check_overwrite(destination.path, force=force)
    if destination.path is None and sys.stdout.isatty():
        raise click.UsageError(
            "standard output is a terminal, which cannot show HTML. Give -o FILE."
        )
    if len(designs) > advise.MAX_DESIGNS:
        raise click.UsageError(
            f"{len(designs)} designs are given, but a report has at most {advise.MAX_DESIGNS}."
        )
    read = [
        (n, rowkey.Design.read(path))
        for n, path in zip(choose_names(designs), designs, strict=True)
    ]
    options = _JudgeOptions(sample, format_options, second_half, seed, progress)
    judged, comparison = _judge_all(read, options)
    redaction = render.Redaction(token_bytes(render.REDACTION_KEY_BYTES) if redact else None)
    created = strftime("%Y-%m-%d %H:%M UTC", gmtime())
    page = render.build_report_page(
        render.build_report_document(judged, redaction, comparison, created), lang
    )
    with destination.open_text() as stream:
        stream.write(page)
    if destination.path is not None:
        print_notes(
            [f"{output}: {len(page.encode()) / 1000:,.0f} kB written; open it in a browser"]
        )


class _JudgeOptions(NamedTuple):
    """The options that all designs of a report are judged with."""

    sample: str | Path | None
    format_options: Mapping[str, Any] | None
    second_half: bool
    seed: int
    progress: str


def _judge_all(
    designs: Sequence[tuple[str, Design]], options: _JudgeOptions
) -> tuple[list[JudgedDesign], Comparison | IncomparableDesigns | None]:
    """Return the judged designs of a report and their comparison; None for a single design."""
    refusal = None
    if len(designs) > 1:
        try:
            comparison = _compare_designs(designs, options)
            return advise.judge_comparison(comparison), comparison
        except IncomparableDesigns as problem:
            refusal = problem
            print_errors(["The designs cannot be compared, so each is judged by itself:"])
            print_errors([f"  {mistake}" for mistake in problem.mistakes])
    half = options.second_half or any(
        declared_design.splits.needs_sample for _, declared_design in designs
    )
    return [
        _judge_design(name, design, options, second_half=half) for name, design in designs
    ], refusal


def _compare_designs(designs: Sequence[tuple[str, Design]], options: _JudgeOptions) -> Comparison:
    with show_progress(options.progress, weights=REPLAY_WEIGHTS) as report:
        comparison = advise.compare_designs(
            [design for _, design in designs],
            options.sample,
            names=[name for name, _ in designs],
            format_options=options.format_options,
            second_half=options.second_half,
            seed=options.seed,
            clock=perf_counter,
            progress=report,
        )
        for one in comparison.designs:
            _ = one.verdict  # its key is searched for now, while the progress is shown
        return comparison


def _judge_design(
    name: str, design: Design, options: _JudgeOptions, *, second_half: bool
) -> advise.JudgedDesign:
    """Return one design of a report, judged by its rules and a replay."""
    is_sampled = options.sample is not None or design.sample_path is not None
    with show_progress(options.progress, weights=REPLAY_WEIGHTS) as report:
        judged = advise.JudgedDesign(
            design,
            options.sample,
            name=name,
            format_options=options.format_options,
            second_half=second_half and is_sampled,
            seed=options.seed,
            names_keys=True,
            progress=report,
        )
        _ = judged.sample, judged.simulation  # the rules need more columns than the replay
    return judged


def choose_names(paths: Sequence[str]) -> list[str]:
    """Return a distinct name for each design: the shortest unique end of its file's path.

    A design that is given twice gets a number.

    >>> choose_names(["a/logs.toml", "b/logs.toml", "b/hosts.toml", "b/hosts.toml"])
    ['a/logs', 'b/logs', 'hosts', 'hosts#2']
    """
    parts = [(*Path(path).parent.parts, Path(path).stem) for path in paths]
    names = []
    for number, own_parts in enumerate(parts):
        other_parts = {path_parts for path_parts in parts if path_parts != own_parts}
        part_count = next(
            n
            for n in range(1, len(own_parts) + 1)
            if n == len(own_parts)
            or all(path_parts[-n:] != own_parts[-n:] for path_parts in other_parts)
        )
        again = parts[:number].count(own_parts)
        names.append(
            "/".join(own_parts[-part_count:]).replace("//", "/") + f"#{again + 1}" * bool(again)
        )
    return names
