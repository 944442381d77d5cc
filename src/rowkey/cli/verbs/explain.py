"""The verb `explain`."""

from __future__ import annotations

import click

from rowkey.cli.conditions import WHERE
from rowkey.cli.options import DESIGN, TEXT_OR_JSON, print_json, print_lines


@click.command(short_help="How reads run: ranges, order, what is filtered after.")
@DESIGN
@click.argument("read", required=False)
@WHERE
@click.option("--order", default="", metavar="FIELDS", help='Such as "ts desc".')
@TEXT_OR_JSON
def command(design: str, read: str | None, where: tuple[str, ...], order: str, output: str) -> None:
    """Tell how each declared read runs, or one that is given by its conditions.

    Values that are not given are taken from the fields' types.

    \b
    rowkey explain logs.toml
    rowkey explain logs.toml --where host=web-1 --order "ts desc"
    """
    from rowkey.cli.conditions import conditions_of
    from rowkey.design import Design
    from rowkey.errors import ReadError, did_you_mean
    from rowkey.plan import ask, example_of, explain
    from rowkey.render import explanation_document, explanation_lines

    found = Design.read(design)
    if where or order:
        asked = {"": ask(conditions_of(where), order, [], found.fields)}
    else:
        named = {one.name: one for one in found.reads}
        if read is not None and read not in named:
            remedy = did_you_mean(read, named)
            raise ReadError("read", f"there is no read {read!r}", ", ".join(named), remedy)
        chosen = [named[read]] if read is not None else list(named.values())
        asked = {one.name: example_of(one) for one in chosen}
    told = {name: explain(found.key, one) for name, one in asked.items()}
    if output == "json":
        documents = [explanation_document(name, one) for name, one in told.items()]
        print_json({"format": 1, "reads": documents})
        return
    for name, one in told.items():
        print_lines(explanation_lines(name, one))
