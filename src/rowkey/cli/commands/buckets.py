"""The command `buckets`."""

from __future__ import annotations

import click

from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    parse_limit,
    print_json,
    print_lines,
    show_progress,
)
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table
from rowkey.errors import InvalidArgument

MAX_STALE_OPTION, ROWS_OPTION = "--max-stale", "--rows"
PHASE_LABELS = {
    "regions": "splitting",
    "seconds": "waiting for clients",
    "wait": "waiting for clients",
    "copy": "copying",
    "remove": "removing",
}
USERS = {
    "COUNT": ("set",),
    "--part": ("set",),
    MAX_STALE_OPTION: ("set",),
    ROWS_OPTION: ("retire",),
}
"""Which steps take an argument or an option."""


@define_command("Operate", "Show or change the number of buckets of a table in use.")
@click.argument("what", type=click.Choice(["show", "set", "retire", "history"]))
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
@click.option(ROWS_OPTION, metavar="RATE", help="retire: most rows a second, such as 20000/s.")
@PROGRESS_OPTION
@OUTPUT_FORMAT_OPTION
def command(
    what: str,
    design: str,
    count: int | None,
    url: str,
    part: str | None,
    max_stale: str | None,
    rows: str | None,
    progress: str,
    output: str,
) -> None:
    """Show how many buckets a table has, change the number, retire or list earlier numbers.

    The table stays in use while the number changes. The command splits regions at the boundaries
    of the new buckets and announces the new number in the catalog. Then it waits until every
    client knows the number: a little longer than a client may work without reaching the catalog,
    60 s unless --max-stale declares another time. From then on rows are written with the new
    number; rows written earlier stay where they are and are still found, by more reads.

    buckets retire moves these rows to where the current number puts them, so that reads look in one
    place again. It reads the whole table and compacts it; the table stays in use.

    If the command is interrupted, run it again to continue.

    \b
    rowkey buckets show logs.toml --on rocks:./data
    rowkey buckets set logs.toml 32 --on rocks:./data
    rowkey buckets retire logs.toml --on rocks:./data
    rowkey buckets history logs.toml --on rocks:./data
    """
    from rowkey import render
    from rowkey.move import BucketRetirement, RateLimit
    from rowkey.schema import parse_rate

    given = {"COUNT": count, "--part": part, MAX_STALE_OPTION: max_stale, ROWS_OPTION: rows}
    wrong = [one for one, value in given.items() if value is not None and what not in USERS[one]]
    if wrong:
        users = " and ".join(dict.fromkeys(user for one in wrong for user in USERS[one]))
        raise click.UsageError(
            f"buckets {what} takes no {' and no '.join(wrong)}: that is for buckets {users}."
        )
    if what == "set" and count is None:
        raise click.UsageError(
            f"the new number of buckets is missing. Write rowkey buckets set {design} COUNT."
        )
    stale_s = None if max_stale is None else _parse_max_stale(max_stale)
    limit = (
        None if rows is None else RateLimit(parse_limit(ROWS_OPTION, rows, "20000/s", parse_rate))
    )
    with open_existing_table(design, url) as table:
        name = table.design.table
        if what in ("set", "retire"):
            with show_progress(progress, PHASE_LABELS) as bar:
                if what == "set":
                    place = int(part) if part is not None and part.isdecimal() else part
                    assert count is not None
                    result = table.set_buckets(count, part=place, max_stale=stale_s, progress=bar)
                    document = render.build_bucket_change_document(name, result)
                    lines = render.format_bucket_change(name, result)
                else:
                    retired = BucketRetirement(table, limit=limit, progress=bar).run()
                    document = render.build_bucket_retirement_document(name, retired)
                    lines = render.format_bucket_retirement(name, retired)
        elif what == "show":
            document = render.build_buckets_document(table.buckets)
            lines = render.format_buckets(table.buckets)
        else:
            document = render.build_history_document(table.buckets)
            lines = render.format_history(table.buckets)
    if output == "json":
        print_json(document)
    else:
        print_lines(lines)


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
