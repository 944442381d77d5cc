"""The verb `live`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rowkey.cli.options import EXIT_ZERO, as_json, print_json, print_lines
from rowkey.cli.tables import ON

if TYPE_CHECKING:
    from rowkey.observe import Live


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
    "at the end, as is json; jsonl is a line for each look.",
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
    and nothing is concluded from that look. Where writes lie unevenly, some thousand rows that
    were just written are read, to tell why. Leaves with 1 if it runs hot.

    \b
    rowkey live logs --on rocks:./data --every 500ms --for 1s
    rowkey live logs --on rocks:./data --design logs.toml --every 500ms --for 1s -f jsonl

    \b
    On a cluster: --on hbase://zk1,zk2,zk3 --for 10m
    """
    from rowkey.design import Design
    from rowkey.observe import watch

    known = None if design is None else Design.read(design)
    last: Live | None = None
    looks = watch(
        table, url, design=known, every_s=seconds(every, "--every"), for_s=seconds(lasting, "--for")
    )
    for last in looks:
        _show_look(last, output)
    if last is None:
        return 0
    _show_end(last, output)
    return 1 if last.is_hot and not exit_zero else 0


def seconds(text: str, option: str) -> float:
    """A length of time in seconds.

    Args:
        text: such as `2s` or `10m`.
        option: where it was given.

    Raises:
        UsageError: it is none.
    """
    from rowkey.errors import Refused
    from rowkey.schema import NANOSECONDS, read_duration

    try:
        return read_duration(text).nanoseconds / NANOSECONDS["s"]
    except Refused as refusal:
        raise click.UsageError(f"{option}: {refusal.mistake.what}.") from None


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
