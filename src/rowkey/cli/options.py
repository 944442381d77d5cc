"""Options that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from rowkey.cli.screen import Progress

DESIGN = click.argument("design")

SAMPLE = click.option("--sample", metavar="FILE", help="A file of recorded events.")

FORMAT = click.option(
    "--format",
    "sample_format",
    metavar="KIND",
    help="How the sample is read, such as csv; if not given, as the design declares, unless the "
    "file's name tells another kind.",
)

TEXT_OR_JSON = click.option(
    "-f",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What is printed.",
)


class _Count(click.IntRange):
    """A number of rows."""

    name = "whole number"


LIMIT = click.option("--limit", type=_Count(0, 2**63 - 1), metavar="N", help="Most rows.")

ORDER = click.option(
    "--order", default="", metavar="FIELDS", help='Such as "ts desc"; nulls come first both ways.'
)

EXIT_ZERO = click.option("--exit-zero", is_flag=True, help="Leave with 0 whatever was found.")

SEED = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, help="Where randomness begins."
)


def print_json(document: Any) -> None:
    """Print a document as JSON over several lines."""
    print_lines([as_json(document, indent=2)])


def as_json(document: Any, indent: int | None = None) -> str:
    """A document as JSON; where the terminal cannot show every character, with escapes."""
    import json

    from rowkey.errors import escaped_json

    is_utf = (sys.stdout.encoding or "").lower().startswith("utf")
    return escaped_json(json.dumps(document, indent=indent, ensure_ascii=not is_utf))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of data, what would move a terminal's cursor escaped; they are not flushed."""
    from rowkey.errors import escaped

    for line in lines:
        told = line if line.isprintable() else "\n".join(map(escaped, line.split("\n")))
        sys.stdout.write(f"{told}\n")


def print_aside(lines: Iterable[str]) -> None:
    """Print lines that are no data, to stderr; what would move a terminal's cursor is escaped."""
    from rowkey.errors import escaped

    for line in lines:
        click.echo(escaped(line), err=True)


def rows_said(count: int, what: str) -> str:
    """A number of rows and what became of them.

    >>> rows_said(1, "written"), rows_said(2_000, "written")
    ('1 row written', '2,000 rows written')
    """
    return f"{count:,} {'row' if count == 1 else 'rows'} {what}"


def progress_to(
    mode: str, label: str, unit: str = "events"
) -> AbstractContextManager[Progress | None]:
    """Something that shows how far long work is, on stderr, in a `with` block.

    Args:
        mode: `auto` for a line on a terminal and nothing elsewhere, `json` for a line of JSON a
            second, `none`.
        label: what is being done.
        unit: what is counted.
    """
    if mode == "none" or (mode == "auto" and not sys.stderr.isatty()):
        return nullcontext()
    from rowkey.cli.screen import Progress

    return Progress(label, unit=unit, as_json=mode == "json")


PROGRESS = click.option(
    "--progress",
    type=click.Choice(["auto", "json", "none"]),
    default="auto",
    show_default=True,
    help="How progress is shown, on stderr.",
)
