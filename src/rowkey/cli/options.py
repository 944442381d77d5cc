"""Options that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DESIGN = click.argument("design", type=click.Path(dir_okay=False))

SAMPLE = click.option(
    "--sample", type=click.Path(dir_okay=False), help="A file of recorded events."
)

FORMAT = click.option(
    "--format",
    "sample_format",
    metavar="KIND",
    help="How the sample is read: csv, json_lines, parquet, apache, columns.",
)

TEXT_OR_JSON = click.option(
    "-f",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What is printed.",
)

EXIT_ZERO = click.option("--exit-zero", is_flag=True, help="Leave with 0 whatever was found.")

SEED = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, help="Where randomness begins."
)


def print_json(document: Any) -> None:
    """Print a document as JSON."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of text."""
    for line in lines:
        click.echo(line)


def progress_to(mode: str, label: str) -> Callable[[int, int], None] | None:
    """Something that shows how far long work is, on stderr.

    Args:
        mode: `auto` for a line on a terminal and nothing elsewhere, `json` for a line of JSON a
            second, `none`.
        label: what is being done.
    """
    if mode == "none" or (mode == "auto" and not sys.stderr.isatty()):
        return None
    from rowkey.cli.progress import Progress

    return Progress(label, as_json=mode == "json")


PROGRESS = click.option(
    "--progress",
    type=click.Choice(["auto", "json", "none"]),
    default="auto",
    show_default=True,
    help="How progress is shown, on stderr.",
)
