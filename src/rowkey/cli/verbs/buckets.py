"""The verb `buckets`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowkey.cli.options import (
    DESIGN,
    PROGRESS,
    TEXT_OR_JSON,
    print_json,
    print_lines,
    progress_to,
)
from rowkey.cli.tables import CATALOG, ON, opened

if TYPE_CHECKING:
    from rowkey.table import Changed, Table


OPTION = "--max-stale"


@click.command(short_help="How many buckets a table has; another number for one in use.")
@click.argument("what", type=click.Choice(["show", "set", "history"]))
@DESIGN
@click.argument("count", required=False, type=int)
@ON
@CATALOG
@click.option(
    "--part",
    metavar="PART",
    help="Which part of the key, where several count: its place from 0, its kind, or as written.",
)
@click.option(
    OPTION,
    metavar="TIME",
    help="How long clients may go on without the catalog from now on, such as 30s.",
)
@PROGRESS
@TEXT_OR_JSON
def command(
    what: str,
    design: str,
    count: int | None,
    url: str,
    part: str | None,
    max_stale: str | None,
    progress: str,
    output: str,
) -> None:
    """Show how many buckets a table has, set another number, or list those it has had.

    A new number is set while everyone goes on using the table. Regions are split where it wants
    them, and it is announced; once every client must know of it, rows are written under it: a
    little more than the longest time that a client goes on without the catalog, 60 s if none was
    declared. Rows that are there are found where they are. Interrupted, the same line goes on.

    \b
    rowkey buckets show logs.toml --on rocks:./data
    rowkey buckets set logs.toml 32 --on rocks:./data
    rowkey buckets history logs.toml --on rocks:./data
    """
    from rowkey import render

    if what != "set" and not (count is None and part is None and max_stale is None):
        raise click.UsageError(f"{what} takes no number, no --part and no --max-stale.")
    if what == "set" and count is None:
        raise click.UsageError("set takes a table and the number of buckets it is to have.")
    stale_s = None if max_stale is None else _seconds(max_stale)
    with opened(design, url) as table:
        if what == "set":
            assert count is not None
            done = _set(table, count, part, stale_s, progress)
            name = table.design.table
            if output == "json":
                print_json(render.changed_document(name, done))
            else:
                print_lines(render.changed_lines(name, done))
            return
        found = table.buckets
        if what == "show":
            document, lines = render.buckets_document, render.buckets_lines
        else:
            document, lines = render.history_document, render.history_lines
        if output == "json":
            print_json(document(found))
        else:
            print_lines(lines(found))


def _seconds(told: str) -> float:
    """The time that clients may go on without the catalog.

    Raises:
        Refused: it is none.
    """
    from rowkey.catalog import check_stale
    from rowkey.errors import Refused
    from rowkey.schema import read_duration

    try:
        seconds = read_duration(told).nanoseconds / 1e9
    except Refused as refusal:
        why = refusal.mistake
        raise Refused(OPTION, why.what, why.allowed, "Give a time such as 30s.") from None
    check_stale(seconds, OPTION, told)
    return seconds


def _set(
    table: Table, count: int, part: str | None, stale_s: float | None, progress: str
) -> Changed:
    """Change the number of buckets, and show how far it is."""
    place = int(part) if part is not None and part.isdecimal() else part
    with (
        progress_to(progress, "splitting", "regions") as split,
        progress_to(progress, "waiting for clients", "seconds") as waited,
    ):
        shown = {"regions": split, "seconds": waited}

        def told(what: str, done: int, total: int) -> None:
            if (bar := shown[what]) is not None:
                bar(done, total)

        return table.set_buckets(count, part=place, max_stale=stale_s, progress=told)
