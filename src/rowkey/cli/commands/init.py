"""The command `init`."""

from __future__ import annotations

from pathlib import Path

import click

from rowkey import advise
from rowkey.cli.destination import Destination
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    FILE_PATH,
    FORCE_OPTION,
    NO_CACHE_OPTION,
    PROGRESS_OPTION,
    SAMPLE_FORMAT_OPTION,
    SEED_OPTION,
    check_overwrite,
    format_row_count,
    print_notes,
    show_progress,
)
from rowkey.cli.streams import is_standard_input, resolve_input_file
from rowkey.messages import shorten_text


@define_command("Design", "Draft a design file from recorded events.")
@click.argument("sample", metavar="FILE", type=FILE_PATH, callback=resolve_input_file)
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@click.option(
    "-o", "--output", metavar="FILE", type=FILE_PATH, help="Write the design to a new file."
)
@FORCE_OPTION
@click.option("--table", metavar="NAME", help="The table's name; if not given, the sample's.")
@click.option(
    "--servers",
    type=click.IntRange(1, 10_000),
    default=8,
    show_default=True,
    help="Region servers of the cluster.",
)
@SEED_OPTION
@PROGRESS_OPTION
def command(
    sample: str | Path,
    format_options: dict[str, str] | None,
    output: str | None,
    table: str | None,
    servers: int,
    seed: int,
    progress: str,
    *,
    force: bool,
) -> None:
    """Draft a design from recorded events: any file that `simulate` reads.

    Types are inferred from the values. The key is checked by the rules and by replaying the
    sample; if it has a warning or a hot spot, a better one is searched, as rowkey advise does.
    Comments in the file give the evidence and
    the reason of each choice, and suggest reads to start from: only you know the real ones.

    \b
    rowkey init events.csv > events.toml
    rowkey init events.csv --table access_log -o access_log.toml
    """
    to = None if output in (None, "-") else output
    check_overwrite(to, force=force)
    with show_progress(progress, weights={}) as report:
        draft = advise.draft_design(
            sample,
            table=table,
            format_options=format_options,
            servers=servers,
            folder="" if to is None else Path(to).parent,
            seed=seed,
            is_temporary=is_standard_input(sample),
            progress=report,
        )
    with Destination("toml", to).open_text() as stream:
        stream.write(draft.text)
    print_notes(shorten_text(f"assumed: {sentence}") for sentence in draft.assumptions)
    if draft.skipped_rows.count:
        left_out = format_row_count(draft.skipped_rows.count, "left out")
        print_notes([shorten_text(f"{left_out}: {draft.skipped_rows.first_problem}")])
    if draft.left_out_columns:
        print_notes([draft.left_out_columns])
    if draft.missing_data:
        print_notes([shorten_text(note) for note in draft.missing_data])
    if to is not None:
        decisive = draft.verdict.decisive
        verdict = f"{decisive.grade.upper()}: {decisive.subject}: {decisive.message}"
        result = "the sample is too small for a verdict" if draft.is_thin else verdict
        print_notes([f"{shorten_text(to)}: the key is {draft.design.declaration.key}", result])
