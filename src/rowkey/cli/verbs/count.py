"""The verb `count`."""

from __future__ import annotations

import click

from rowkey.cli.conditions import WHERE
from rowkey.cli.options import DESIGN, TEXT_OR_JSON, print_json, print_lines
from rowkey.cli.tables import CATALOG, ON, opened


@click.command(short_help="How many rows meet conditions; by region.")
@DESIGN
@ON
@CATALOG
@WHERE
@click.option("--regions", is_flag=True, help="What each region has counted, in place of rows.")
@TEXT_OR_JSON
def command(design: str, url: str, where: tuple[str, ...], output: str, *, regions: bool) -> None:
    """Count the rows that meet all conditions; they are read to be counted.

    \b
    rowkey count logs.toml --on rocks:./data --where host=web-1
    rowkey count logs.toml --on rocks:./data --regions -f json
    """
    from rowkey.cli.conditions import conditions_of
    from rowkey.render import count_document, regions_document, regions_lines

    if regions and where:
        raise click.UsageError("--regions tells what regions have counted: it takes no --where.")
    with opened(design, url) as table:
        if regions:
            counts = table.regions()
            if output == "json":
                print_json(regions_document(table.design, counts))
            else:
                print_lines(regions_lines(table.design, counts))
            return
        count = table.count(conditions_of(where))
    if output == "json":
        print_json(count_document(table.design, count))
    else:
        print_lines([str(count)])
