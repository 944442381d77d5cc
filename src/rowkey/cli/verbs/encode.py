"""The verb `encode`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowkey.cli.options import DESIGN, print_lines

if TYPE_CHECKING:
    from collections.abc import Callable


@click.command(short_help="Rows to row keys.")
@DESIGN
@click.argument("rows", default="-")
@click.option(
    "--input",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    help="What the rows are; from the file's name, JSON lines for standard input.",
)
@click.option(
    "--keys",
    type=click.Choice(["hex", "binary", "decoded"]),
    default="hex",
    show_default=True,
    help=r"How keys are printed; binary is \xNN, as HBase's shell prints.",
)
def command(design: str, rows: str, form: str | None, keys: str) -> None:
    """Print the row key of each row, one a line.

    \b
    echo '{"host": "web-1", "ts": 1609459200000}' | rowkey encode logs.toml
    rowkey encode logs.toml rows.csv --keys binary
    """
    from rowkey.cli.rows import at_line, opened, read_rows
    from rowkey.design import Design
    from rowkey.errors import RowError
    from rowkey.regions import to_binary

    key = Design.read(design).key
    form = form or ("csv" if rows.endswith(".csv") else "jsonl")
    shows: dict[str, Callable[[bytes], str]] = {
        "hex": lambda encoded: encoded.hex(),
        "binary": to_binary,
        "decoded": key.show,
    }
    show = shows[keys]
    with opened(rows) as stream:
        for number, row in read_rows(stream, form, key.fields):
            try:
                print_lines([show(key.encode(row))])
            except RowError as problem:
                raise at_line(number, problem) from None
