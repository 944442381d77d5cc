"""The verb `prove`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from rowkey.cli.options import (
    DESIGN,
    EXIT_ZERO,
    FORMAT,
    PROGRESS,
    SAMPLE,
    SEED,
    TEXT_OR_JSON,
    print_aside,
    print_json,
    progress_to,
)
from rowkey.cli.tables import ON

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAVES = {"exact": 0, "partly": 0, "unknown": 1, "different": 3}
"""The exit code of what a proof comes to."""


@contextmanager
def _noted() -> Iterator[None]:
    """Print what was noted of an error, such as which table an interruption leaves behind."""
    try:
        yield
    except BaseException as problem:
        print_aside(getattr(problem, "__notes__", ()))
        raise


@click.command(short_help="Predicted against counted, by replaying a sample through a table.")
@DESIGN
@ON
@SAMPLE
@FORMAT
@click.option(
    "--phases",
    type=click.IntRange(1, 1_000),
    default=20,
    show_default=True,
    help="Parts of the sample after each of which the counters are read.",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Leave the table that was written where it is; its regions are never split.",
)
@TEXT_OR_JSON
@SEED
@PROGRESS
@EXIT_ZERO
def command(
    design: str,
    url: str,
    sample: str | None,
    sample_format: str | None,
    phases: int,
    output: str,
    seed: int,
    progress: str,
    *,
    keep: bool,
    exit_zero: bool,
) -> int:
    """Write a sample into a fresh table, and compare what regions count with what was predicted.

    Writes are compared per region, server and phase, declared reads per region, and the bytes on
    disk with those of the cells. The table has a name of its own and is dropped in the end, also
    when it is interrupted; an error names it where it is left. On a cluster, switch the balancer
    off meanwhile: a region that moves forgets what it counted. Leaves with 3 where a count is
    another, with 1 where one is not known.

    \b
    rowkey prove logs.toml --on rocks:./proof --sample events.csv
    rowkey prove logs.toml --on rocks:./proof --sample events.csv --phases 5 -f json
    """
    from rowkey.design import Design
    from rowkey.observe import prove

    with _noted(), progress_to(progress, "writing") as shown:
        found = prove(
            Design.read(design),
            url,
            sample,
            format_words=None if sample_format is None else {"kind": sample_format},
            phases=phases,
            keep=keep,
            seed=seed,
            progress=shown,
        )
    if output == "json":
        from rowkey.render import proof_document

        print_json(proof_document(found))
    else:
        from rowkey.cli.screen import console
        from rowkey.render import print_proof

        print_proof(found, console())
    return 0 if exit_zero else LEAVES[found.verdict]
