"""The command `decode`."""

from __future__ import annotations

import click

import rowkey
from rowkey import regions, render
from rowkey.cli.group import define_command
from rowkey.cli.input_rows import open_input, read_lines
from rowkey.cli.options import DESIGN_ARGUMENT, FILE_PATH, print_lines, to_json
from rowkey.errors import InvalidArgument, RowError


@define_command("Design", "Decode row keys to rows.")
@DESIGN_ARGUMENT
@click.argument("keys_file", metavar="[KEYS]", default="-", type=FILE_PATH)
@click.option(
    "--keys",
    type=click.Choice(["hex", "binary"]),
    default="hex",
    show_default=True,
    help=r"How keys are written; binary is \xNN, as HBase's shell prints.",
)
def command(design: str, keys_file: str, keys: str) -> None:
    """Print the fields that row keys contain, as JSON lines.

    A key that the design cannot have written, such as one in the wrong bucket, is an error.

    \b
    echo 097765622d310000000176bb3e7000 | rowkey decode logs.toml
    """
    key = rowkey.Design.read(design).key
    with open_input(keys_file) as stream:
        for number, line in read_lines(stream):
            text = line.rstrip("\r\n")
            if not text:
                continue
            try:
                raw = bytes.fromhex(text) if keys == "hex" else regions.from_string_binary(text)
            except (ValueError, InvalidArgument):
                raise RowError(
                    f"line {number}",
                    f"{text[:60]!r} is not a row key in the format {keys}",
                    remedy="Write one row key per line, or give its format as --keys.",
                ) from None
            try:
                print_lines([to_json(render.build_row_document(key.decode(raw)))])
            except RowError as problem:
                raise problem.prefix_path(f"line {number}") from None
