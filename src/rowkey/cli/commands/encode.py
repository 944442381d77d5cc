"""The command `encode`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import click

import rowkey
from rowkey import regions
from rowkey.cli.group import define_command
from rowkey.cli.input_rows import format_place, open_rows, read_rows
from rowkey.cli.options import DESIGN_ARGUMENT, FILE_PATH, print_lines
from rowkey.errors import RowError


@define_command("Design", "Encode rows to row keys.")
@DESIGN_ARGUMENT
@click.argument("rows", default="-", type=FILE_PATH)
@click.option(
    "--sample-format",
    "form",
    metavar="FORMAT",
    type=click.Choice(["json_lines", "csv"]),
    help="Format of the rows, json_lines or csv. If not given: by the file's name; JSON lines for "
    "standard input.",
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
    key = rowkey.Design.read(design).key
    salt_random = Random(0)  # noqa: S311 - the same rows give the same keys
    form = form or ("csv" if rows.endswith(".csv") else "json_lines")
    shows: dict[str, Callable[[bytes], str]] = {
        "hex": lambda encoded: encoded.hex(),
        "binary": regions.to_string_binary,
        "decoded": key.format_prefix,
    }
    show = shows[keys]
    with open_rows(rows) as stream:
        for number, row in read_rows(stream, form, key.fields):
            try:
                salt = salt_random.randrange(key.salt_count) if key.is_salted else None
                print_lines([show(key.encode(row, salt=salt))])
            except RowError as problem:
                raise problem.prefix_path(format_place(stream, number)) from None
