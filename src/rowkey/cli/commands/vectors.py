"""The command `vectors`."""

from __future__ import annotations

import click

import rowkey
from rowkey import render
from rowkey.cli.group import define_command
from rowkey.cli.input_rows import open_rows, read_rows
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    FILE_PATH,
    OUTPUT_FORMAT_OPTION,
    print_json,
    print_lines,
)


@define_command("Design", "Print rows and the bytes of their keys, to test other languages.")
@DESIGN_ARGUMENT
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1, 10_000),
    default=8,
    show_default=True,
    help="Number of rows.",
)
@click.option(
    "--rows",
    metavar="FILE",
    type=FILE_PATH,
    help="Rows to encode instead, JSON lines; - is standard input.",
)
@OUTPUT_FORMAT_OPTION
def command(design: str, count: int, rows: str | None, output: str) -> None:
    """Describe the byte format of a key, and print rows with their keys.

    Use them to test code that writes the same keys from Java, Flink or Go.

    \b
    rowkey vectors logs.toml
    rowkey vectors logs.toml --rows rows.jsonl -f json
    """
    key = rowkey.Design.read(design).key
    if rows is None:
        vector_rows = key.generate_rows(count)
    else:
        with open_rows(rows) as stream:
            vector_rows = [row for _, row in read_rows(stream, "json_lines", key.fields)]
    document = render.build_vectors_document(key, vector_rows)
    if output == "json":
        print_json(document)
    else:
        print_lines(render.format_vectors(document))
