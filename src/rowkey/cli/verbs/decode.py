"""The verb `decode`."""

from __future__ import annotations

import click

from rowkey.cli.options import DESIGN, as_json, print_lines


@click.command(short_help="Row keys to rows.")
@DESIGN
@click.argument("keys_file", metavar="[KEYS]", default="-")
@click.option(
    "--keys",
    type=click.Choice(["hex", "binary"]),
    default="hex",
    show_default=True,
    help=r"How keys are written; binary is \xNN, as HBase's shell prints.",
)
def command(design: str, keys_file: str, keys: str) -> None:
    """Print the fields that row keys hold, as JSON lines.

    A key that is none of the design, such as one in the wrong bucket, is an error.

    \b
    echo 097765622d310000000176bb3e7000 | rowkey decode logs.toml
    """
    from rowkey.cli.rows import at_line, lines_of, opened
    from rowkey.design import Design
    from rowkey.errors import Refused, RowError
    from rowkey.regions import from_binary
    from rowkey.render import row_document

    key = Design.read(design).key
    with opened(keys_file) as stream:
        for number, line in lines_of(stream):
            text = line.rstrip("\r\n")
            if not text:
                continue
            try:
                raw = bytes.fromhex(text) if keys == "hex" else from_binary(text)
            except (ValueError, Refused):
                raise RowError(f"line {number}", f"{text[:60]!r} is no key in {keys}") from None
            try:
                print_lines([as_json(row_document(key.decode(raw)))])
            except RowError as problem:
                raise at_line(number, problem) from None
