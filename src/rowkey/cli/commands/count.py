"""The command `count`."""

from __future__ import annotations

import click

from rowkey import render
from rowkey.cli.conditions import WHERE_OPTION, parse_conditions
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    OUTPUT_FORMAT_OPTION,
    SKIP_UNDECODABLE_OPTION,
    print_json,
    print_lines,
    print_notes,
)
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table


@define_command("Run", "Count rows that meet conditions, or the requests of regions.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@CATALOG_OPTION
@WHERE_OPTION
@SKIP_UNDECODABLE_OPTION
@click.option("--regions", is_flag=True, help="Show the request counts of each region instead.")
@OUTPUT_FORMAT_OPTION
def command(
    design: str,
    url: str,
    where: tuple[str, ...],
    output: str,
    *,
    regions: bool,
    skip_undecodable: bool,
) -> None:
    """Count the rows that meet all conditions, by reading each of them.

    Cells in columns that the design does not declare are counted on stderr, and so are rows that
    have no other cells: they are no rows of the design.

    \b
    rowkey count logs.toml --on rocks:./data --where host=web-1
    rowkey count logs.toml --on rocks:./data --regions -f json
    """
    if regions and where:
        raise click.UsageError(
            "--regions and --where exclude each other: regions count all requests. Remove one."
        )
    with open_existing_table(design, url) as table:
        if regions:
            counts = table.regions()
            if output == "json":
                print_json(render.build_regions_document(table.design, counts))
            else:
                print_lines(render.format_regions(table.design, counts))
            return
        scan = table.scan(
            parse_conditions(where), count_undeclared=True, skip_undecodable=skip_undecodable
        )
        count = scan.count()
    if output == "json":
        print_json(render.build_count_document(scan, count))
    else:
        print_lines([str(count)])
        print_notes(render.format_scan_notes(scan, outcome="not counted"))
