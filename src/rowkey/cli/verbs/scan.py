"""The verb `scan`."""

from __future__ import annotations

import click

from rowkey.cli.conditions import WHERE
from rowkey.cli.options import DESIGN, LIMIT, ORDER, print_aside
from rowkey.cli.tables import FORM, ON, opened, print_rows


@click.command(short_help="Rows that meet conditions, in order.")
@DESIGN
@ON
@WHERE
@ORDER
@LIMIT
@click.option("--resume", metavar="TOKEN", help="Go on where an earlier scan stopped.")
@click.option("--token", is_flag=True, help="Print where the scan stopped, on stderr.")
@FORM
def command(
    design: str,
    url: str,
    where: tuple[str, ...],
    order: str,
    limit: int | None,
    resume: str | None,
    form: str,
    *,
    token: bool,
) -> None:
    """Print the rows that meet all conditions, in the order asked for.

    Without --order they come in the order of the key less what only spreads them.

    \b
    rowkey scan logs.toml --on rocks:./data --where host=web-1 --order "ts desc" --limit 100
    rowkey scan logs.toml --on rocks:./data --where "ts>=2021-01-01" -f csv
    """
    from rowkey.cli.conditions import conditions_of

    with opened(design, url) as table:
        found = table.scan(conditions_of(where), order=order, limit=limit, resume=resume)
        print_rows(found, form)
        if token:
            print_aside([found.token or "no row was read"])
