"""The verb `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowkey.cli.conditions import WHERE
from rowkey.cli.options import (
    DESIGN,
    LIMIT,
    ORDER,
    TEXT_OR_JSON,
    print_aside,
    print_json,
    print_lines,
)
from rowkey.errors import printable

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.plan import Explanation


@click.command(short_help="How reads run: ranges, order, what is filtered after.")
@DESIGN
@click.argument("read", required=False)
@WHERE
@ORDER
@LIMIT
@TEXT_OR_JSON
def command(
    design: str,
    read: str | None,
    where: tuple[str, ...],
    order: str,
    limit: int | None,
    output: str,
) -> None:
    """Tell how each declared read runs, or one that is given by its conditions.

    Values that are not given are taken from the fields' types.

    \b
    rowkey explain logs.toml
    rowkey explain logs.toml --where host=web-1 --order "ts desc"
    """
    from rowkey.cli.conditions import conditions_of
    from rowkey.design import Design
    from rowkey.plan import ask, explain
    from rowkey.render import explanation_lines, explanations_document

    found = Design.read(design)
    if where or order or limit is not None:
        if read is not None:
            what = "is declared with its own conditions: give the one or the others."
            raise click.UsageError(f"the read {printable(read)!r} {what}")
        asked = ask(conditions_of(where), order, [], found.fields)
        told = {"": explain(found.key, asked, limit=limit)}
    else:
        told = _declared(found, read)
    if output == "json":
        print_json(explanations_document(told))
        return
    if not told:
        print_aside([f"{design} declares no reads; give one by --where, --order and --limit"])
    for name, one in told.items():
        print_lines(explanation_lines(name, one))


def _declared(design: Design, name: str | None) -> dict[str, Explanation]:
    """How the declared reads run, or one of them.

    Raises:
        ReadError: there is none of that name.
    """
    from rowkey.errors import ReadError, did_you_mean
    from rowkey.plan import example_of, explain

    named = {one.name: one for one in design.reads}
    if name is not None and name not in named:
        remedy = did_you_mean(name, named) if named else "The design declares no reads."
        raise ReadError("read", f"there is no read {name!r}", ", ".join(named), remedy)
    chosen = named if name is None else {name: named[name]}
    return {
        label: explain(design.key, example_of(one), limit=one.limit)
        for label, one in chosen.items()
    }
