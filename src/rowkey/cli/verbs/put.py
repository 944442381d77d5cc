"""The verb `put`."""

from __future__ import annotations

import click

from rowkey.cli.options import DESIGN, print_aside
from rowkey.cli.tables import ON, opened


@click.command(short_help="Write a row, or rows from standard input.")
@DESIGN
@ON
@click.argument("values", nargs=-1, metavar="[FIELD=VALUE]…")
@click.option("--replace", is_flag=True, help="Take all other fields of the row away.")
def command(design: str, url: str, values: tuple[str, ...], *, replace: bool) -> None:
    """Write one row given as FIELD=VALUE, or rows as JSON lines on standard input.

    A field left out stays as it is; in JSON, null takes it away. Lines that are no rows are told,
    the others are written.

    \b
    rowkey put logs.toml --on rocks:./data host=web-1 ts=1609459200000 message="disk full"
    rowkey put logs.toml --on rocks:./data < rows.jsonl
    """
    from rowkey.cli.rows import values_of

    with opened(design, url) as table:
        if values:
            row = values_of(values, table.design.fields)
            (table.replace if replace else table.put)(row, sync=True)
            count, refused = 1, []
        else:
            count, refused = _put_lines(table, replace=replace)
    print_aside([rows_said(count, "written")])
    if refused:
        raise RefusedLines(refused)


def _put_lines(table: Table, *, replace: bool) -> tuple[int, list[str]]:
    """Write the rows of standard input; gives how many, and what is wrong with the others."""
    from rowkey.cli.rows import at_line, given_rows
    from rowkey.cli.rows import opened as reading
    from rowkey.errors import BatchError, RowError

    lines, refused = array("q"), []
    batch = table.batch(sync=True)
    try:
        with reading("-") as stream, batch:
            for number, row in given_rows(stream, table.design.fields):
                if isinstance(row, RowError):
                    refused.append((number, row))
                    continue
                lines.append(number)
                (batch.replace if replace else batch.put)(row)
    except BatchError as problem:
        for index, one in problem.refused:
            refused.append((lines[index], at_line(lines[index], one)))
    told = [str(one) for _, one in sorted(refused, key=itemgetter(0))]
    return batch.seen - batch.refused_count, told
