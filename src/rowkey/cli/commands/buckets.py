"""The command `buckets`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    print_json,
    print_lines,
    show_progress,
)
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from rowkey.table import BucketChangeResult, Table


MAX_STALE_OPTION = "--max-stale"
PHASE_LABELS = {"regions": "splitting", "seconds": "waiting for clients"}


@define_command("Operate", "Show or change the number of buckets of a table in use.")
@click.argument("what", type=click.Choice(["show", "set", "history"]))
@DESIGN_ARGUMENT
@click.argument("count", required=False, type=int)
@TABLE_URL_OPTION
@CATALOG_OPTION
@click.option(
    "--part",
    metavar="PART",
    help="The part to change if several parts have buckets: its index from 0, its plugin name, or "
    "the part as written.",
)
@click.option(
    MAX_STALE_OPTION,
    metavar="TIME",
    help="How long clients may work without reaching the catalog from now on, such as 30s.",
)
@PROGRESS_OPTION
@OUTPUT_FORMAT_OPTION
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
    """Show how many buckets a table has, change the number, or list earlier numbers.

    The table stays in use while the number changes. The command splits regions at the boundaries
    of the new buckets and announces the new number in the catalog. Then it waits until every
    client knows the number: a little longer than a client may work without reaching the catalog,
    60 s unless --max-stale declares another time. From then on rows are written with the new
    number; rows written earlier stay where they are and are still found. If the command is
    interrupted, run it again to continue.

    \b
    rowkey buckets show logs.toml --on rocks:./data
    rowkey buckets set logs.toml 32 --on rocks:./data
    rowkey buckets history logs.toml --on rocks:./data
    """
    from rowkey import render

    if what != "set" and not (count is None and part is None and max_stale is None):
        raise click.UsageError(
            f"buckets {what} only reads: remove the number, --part and --max-stale, or write "
            "rowkey buckets set."
        )
    if what == "set" and count is None:
        raise click.UsageError(
            f"the new number of buckets is missing. Write rowkey buckets set {design} COUNT."
        )
    stale_s = None if max_stale is None else _parse_max_stale(max_stale)
    with open_existing_table(design, url) as table:
        if what == "set":
            assert count is not None
            result = _set_buckets(table, count, part, stale_s, progress)
            name = table.design.table
            if output == "json":
                print_json(render.build_bucket_change_document(name, result))
            else:
                print_lines(render.format_bucket_change(name, result))
            return
        buckets = table.buckets
        if what == "show":
            document, lines = render.build_buckets_document, render.format_buckets
        else:
            document, lines = render.build_history_document, render.format_history
        if output == "json":
            print_json(document(buckets))
        else:
            print_lines(lines(buckets))


def _parse_max_stale(text: str) -> float:
    """Return the seconds that clients may work without the catalog, parsed from --max-stale.

    Raises:
        InvalidArgument: the text is not a valid time.
    """
    from rowkey.catalog import check_max_stale
    from rowkey.schema import parse_duration

    try:
        seconds = parse_duration(text).nanoseconds / 1e9
    except InvalidArgument as refusal:
        why = refusal.mistake
        raise InvalidArgument(
            MAX_STALE_OPTION, why.problem, why.expected, "Give a time such as 30s."
        ) from None
    check_max_stale(seconds, MAX_STALE_OPTION, text)
    return seconds


def _set_buckets(
    table: Table, count: int, part: str | None, stale_s: float | None, progress: str
) -> BucketChangeResult:
    place = int(part) if part is not None and part.isdecimal() else part
    with show_progress(progress, PHASE_LABELS) as bar:
        return table.set_buckets(count, part=place, max_stale=stale_s, progress=bar)
