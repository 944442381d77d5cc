"""The command `prove`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import rowkey
from rowkey import observe, render
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    NEVER_FAIL,
    NO_CACHE_OPTION,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    SEED_OPTION,
    add_fail_on_option,
    print_errors,
    print_json,
    show_progress,
)
from rowkey.cli.screen import build_console
from rowkey.cli.tables import TABLE_URL_OPTION

EXIT_CODES = {"exact": 0, "partly": 0, "unknown": 1, "different": 3}
"""The exit code of what a proof comes to."""


@contextmanager
def _print_error_notes() -> Iterator[None]:
    """Print the notes attached to an error, such as the table that an interruption leaves."""
    try:
        yield
    except BaseException as problem:
        print_errors(getattr(problem, "__notes__", ()))
        raise


@define_command("Operate", "Compare predicted with counted writes, by loading a sample.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@click.option(
    "--phases",
    type=click.IntRange(1, 1_000),
    default=20,
    show_default=True,
    help="Number of parts of the sample; the counters are read after each.",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Keep the table that was written; its regions are never split.",
)
@OUTPUT_FORMAT_OPTION
@SEED_OPTION
@PROGRESS_OPTION
@add_fail_on_option(
    ["different", "unknown"], "unknown", "Least result that makes the command exit with an error."
)
def command(
    design: str,
    url: str,
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    phases: int,
    output: str,
    seed: int,
    progress: str,
    *,
    keep: bool,
    fail_on: str,
) -> int:
    """Write a sample into a new table, and compare the counts of its regions with the prediction.

    Writes are compared per region, server and phase, declared reads per region, and the bytes on
    disk with the bytes of the cells. The table gets a new name and is dropped at the end, also
    after an interruption; if it cannot be dropped, the error names it. On a cluster, switch the
    balancer off before: a region that moves starts its counters again. Exits with 3 if a count
    differs from the prediction, and with 1 if a count is unknown;
    --fail-on says which of these counts as a failure.

    \b
    rowkey prove logs.toml --on rocks:./proof --sample events.csv
    rowkey prove logs.toml --on rocks:./proof --sample events.csv --phases 5 -f json
    """
    with _print_error_notes(), show_progress(progress) as report:
        proof = observe.prove_design(
            rowkey.Design.read(design),
            url,
            sample,
            format_options=format_options,
            phases=phases,
            keep_table=keep,
            seed=seed,
            progress=report,
        )
    if output == "json":
        print_json(render.build_proof_document(proof))
    else:
        render.print_proof(proof, build_console())
    if fail_on == NEVER_FAIL or (fail_on == "different" and proof.verdict != "different"):
        return 0
    return EXIT_CODES[proof.verdict]
