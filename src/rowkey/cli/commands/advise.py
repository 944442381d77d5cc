"""The command `advise`."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

import rowkey
from rowkey import advise, render
from rowkey.cli.destination import Destination
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    FILE_PATH,
    NO_CACHE_OPTION,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    REPLAY_WEIGHTS,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    check_overwrite,
    print_json,
    print_lines,
    print_notes,
    show_progress,
)
from rowkey.cli.screen import build_console

if TYPE_CHECKING:
    from rowkey.advise import Advice, JudgedDesign


@define_command("Judge", "Search for better keys, judged by the same events.")
@DESIGN_ARGUMENT
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@click.option(
    "--write",
    "write_path",
    metavar="FILE",
    type=FILE_PATH,
    help="Write the proposed design to a new file, with the comments of the declared one; further "
    "tables to FILE_2 and so on.",
)
@click.option("--force", is_flag=True, help="Overwrite the files of --write if they exist.")
@OUTPUT_FORMAT_OPTION
@SEED_OPTION
@PROGRESS_OPTION
def command(
    design: str,
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    write_path: str | None,
    output: str,
    seed: int,
    progress: str,
    *,
    force: bool,
) -> None:
    """Propose better keys for a design, each with its verdict, reads and bytes.

    Keys are orders of the fields of the present key, and of fields that declared reads give, with
    nothing, a salt or a bucket in front. A proposed key has no worse verdict than the present one,
    and no new warning but one on the size of its regions. Where several tables serve the reads
    better than any single one, they are proposed. Declare the reads and their rates in the design:
    they decide which key is best. Ctrl-C ends the search with the best keys so far.

    \b
    rowkey advise logs.toml --sample events.csv
    rowkey advise logs.toml --sample events.csv --write better.toml
    """
    check_overwrite(write_path, force=force)
    with show_progress(progress, weights=REPLAY_WEIGHTS) as report:
        advice = advise.search(
            rowkey.Design.read(design),
            sample,
            format_options=format_options,
            seed=seed,
            progress=report,
        )
    _print_advice(advice, output)
    if write_path is not None and advice.recommendation:
        _write_designs(advice, write_path, force=force)
    elif write_path is not None:
        found = "nothing better was found" if advice.is_complete else "the search was interrupted"
        print_notes([f"{write_path} is not written: {found}"])
    if not advice.is_complete:
        raise KeyboardInterrupt  # the exit code of a command that was interrupted


def _print_advice(advice: Advice, output: str) -> None:
    if output == "json":
        print_json(render.build_advice_document(advice))
        return

    print_lines(render.format_advice(advice, build_console().width))


def _list_files(advice: Advice, path: str) -> list[tuple[Path, JudgedDesign]]:
    """Return the files of the recommended design: one, or one for each of its tables."""
    first, *others = advice.recommendation
    file = Path(path)
    further = (file.with_name(f"{file.stem}_{number}{file.suffix}") for number in count(2))
    return [(file, first), *zip(further, others, strict=False)]


def _write_designs(advice: Advice, path: str, *, force: bool) -> None:
    """Write the recommended design, or the designs of its tables, to files.

    Raises:
        UsageError: a file exists and `--force` was not given.
    """
    from rowkey.schema import format_key

    files = _list_files(advice, path)
    for file, _ in files:
        check_overwrite(str(file), force=force)
    (main_file, main), *others = files
    companions = {judged.design.table: file.name for file, judged in others}
    if advice.companion_obstacle is not None:
        companions = {}
    for file, judged in files:
        declared = companions if judged is main else {}
        with Destination("toml", str(file)).open_text() as stream:
            stream.write(render.format_advised_design(advice, judged, file, declared))
        print_notes([f"{file}: {format_key(judged.design.key.terms)}"])
    if not advice.is_complete:
        print_notes([f"{main_file}: from a search that was interrupted; other keys may be better"])
    if advice.companion_obstacle is not None:
        what = "no table is a companion of another: write each event to all tables"
        print_notes([f"{what} ({advice.companion_obstacle})"])
    present = advice.declared.design.companions
    obstacle = rowkey.design.find_companion_obstacle(main.design, present) if present else None
    if obstacle is not None:
        names = ", ".join(present)
        print_notes([f"{main_file}: without the present companions, {names} ({obstacle})"])
    if companions:
        print_notes([f"{main_file}: keeps {', '.join(companions)} in step as companions"])
