"""The verb `vectors`."""

from __future__ import annotations

import click

from rowkey.cli.options import DESIGN, TEXT_OR_JSON, print_json, print_lines


@click.command(short_help="Values and their bytes, for producers in other languages.")
@DESIGN
@click.option(
    "-n", "--count", type=click.IntRange(1, 10_000), default=8, show_default=True, help="How many."
)
@click.option(
    "--rows", metavar="FILE", help="Rows to encode instead, JSON lines; - is standard input."
)
@TEXT_OR_JSON
def command(design: str, count: int, rows: str | None, output: str) -> None:
    """Print the byte format of a key in words, and rows with their keys.

    Whoever writes the same keys from Java, Flink or Go tests their code against these.

    \b
    rowkey vectors logs.toml
    rowkey vectors logs.toml --rows rows.jsonl -f json
    """
    from rowkey.cli.rows import opened, read_rows
    from rowkey.design import Design
    from rowkey.render import vector_lines, vectors_document

    key = Design.read(design).key
    if rows is None:
        found = key.examples(count)
    else:
        with opened(rows) as stream:
            found = [row for _, row in read_rows(stream, "jsonl", key.fields)]
    document = vectors_document(key, found)
    if output == "json":
        print_json(document)
    else:
        print_lines(vector_lines(document))
