"""The verb `live`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rowkey.cli.options import EXIT_ZERO, as_json, print_json, print_lines
from rowkey.cli.tables import ON

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.design import Design
    from rowkey.errors import Mistakes
    from rowkey.observe import Live

LENGTHS = {"--every": "2s or 500ms", "--for": "60s or 10m"}
"""What may be written for each length of time."""
MOST_S = 86_400 * 366
"""Seconds below which a table is watched, as `rowkey.observe.watch` has it."""


@click.command(short_help="How hot a running table is, where and why, from its counters.")
@click.argument("table")
@ON
@click.option(
    "--design", metavar="FILE", help="Its design, where neither a catalog nor the table knows it."
)
@click.option("--every", default="2s", show_default=True, help="From one look to the next.")
@click.option("--for", "lasting", default="60s", show_default=True, help="Until it ends.")
@click.option(
    "-f",
    "output",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    show_default=True,
    help="What is printed: on a terminal the text is drawn anew after each look, elsewhere once "
    "at the end or when interrupted, as is json; jsonl is a line for each look.",
)
@EXIT_ZERO
def command(
    table: str,
    url: str,
    design: str | None,
    every: str,
    lasting: str,
    output: str,
    *,
    exit_zero: bool,
) -> int:
    """Watch the counters of a table's regions: rates, heat by region and server, and its cause.

    A region that is moved, split or restored forgets what it counted: its rate is not known then,
    and nothing is concluded from that look, unless the region did next to nothing before. Where
    writes lie unevenly, some thousand rows that were just written are read, to tell why. Leaves
    with 1 if it runs hot.

    \b
    rowkey live logs --on rocks:./data --every 500ms --for 1s
    rowkey live logs --on rocks:./data --design logs.toml --every 500ms --for 1s -f jsonl

    \b
    On a cluster: --on hbase://zk1,zk2,zk3 --for 10m
    """
    last: Live | None = None
    looks = _looks(table, url, design, {"--every": every, "--for": lasting})
    try:
        for last in looks:
            _show_look(last, output)
    except KeyboardInterrupt:
        if last is not None:
            _show_end(last, output)
        raise
    if last is None:
        return 0
    _show_end(last, output)
    return 1 if last.is_hot and not exit_zero else 0


def _looks(table: str, url: str, design: str | None, lengths: dict[str, str]) -> Iterator[Live]:
    """The looks that are asked for; all that is wrong with the options is told at once."""
    from rowkey.errors import Mistakes, Refused
    from rowkey.observe import watch

    found = Mistakes()
    every_s, for_s = (_seconds(text, option, found) for option, text in lengths.items())
    known = _design(design, found)
    found.raise_any()
    try:
        return watch(table, url, design=known, every_s=every_s, for_s=for_s)
    except Refused as refusal:
        wrong = refusal.mistake
        if (option := f"--{wrong.path}") not in lengths:
            raise
        allowed = wrong.allowed.replace(" every", " --every")
        raise Refused(option, wrong.what, allowed, wrong.remedy) from None


def _seconds(text: str, option: str, found: Mistakes) -> float:
    """A length of time in seconds; what is wrong with it is noted."""
    from rowkey.errors import Refused
    from rowkey.schema import NANOSECONDS, read_duration

    try:
        length_s = read_duration(text).nanoseconds / NANOSECONDS["s"]
        what = f"{text} is out of range"
    except Refused as refusal:
        length_s, what = 0.0, refusal.mistake.what
    if not 0 < length_s < MOST_S:
        allowed = "a whole number and ms, s, m, h or d, above 0 and at most 365d"
        found.add(option, what, allowed, f"Write such as {LENGTHS[option]}.")
    return length_s


def _design(name: str | None, found: Mistakes) -> Design | None:
    """The design that is given; what is wrong with it is told with what is wrong beside it."""
    from rowkey.design import Design
    from rowkey.errors import DeclarationError

    try:
        return None if name is None else Design.read(name)
    except DeclarationError as problem:
        if not found.found:
            raise
        for sentence in str(problem).splitlines():
            found.add("", sentence)
        return None


def _show_look(found: Live, output: str) -> None:
    """Show one look, where each is shown."""
    if output == "jsonl":
        from rowkey.render import live_document

        print_lines([as_json(live_document(found))])
        sys.stdout.flush()
    elif output == "text":
        from rowkey.cli.screen import console
        from rowkey.render import print_live

        screen = console()
        if screen.is_terminal:
            screen.clear()
            print_live(found, screen)


def _show_end(found: Live, output: str) -> None:
    """Show the last look, where only that is shown."""
    if output == "json":
        from rowkey.render import live_document

        print_json(live_document(found))
    elif output == "text":
        from rowkey.cli.screen import console
        from rowkey.render import print_live

        screen = console()
        if not screen.is_terminal:
            print_live(found, screen)
