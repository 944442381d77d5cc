"""The command `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowkey.cli.conditions import WHERE_OPTION
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    LIMIT_OPTION,
    ORDER_OPTION,
    OUTPUT_FORMAT_OPTION,
    print_json,
    print_lines,
    print_notes,
)
from rowkey.messages import shorten_text

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.explanations import Explanation


@click.command(short_help="Show how reads run: ranges, order, what is filtered after.")
@DESIGN_ARGUMENT
@click.argument("read", required=False)
@WHERE_OPTION
@ORDER_OPTION
@LIMIT_OPTION
@OUTPUT_FORMAT_OPTION
def command(
    design: str,
    read: str | None,
    where: tuple[str, ...],
    order: str,
    limit: int | None,
    output: str,
) -> None:
    """Show how each declared read runs, or one read that --where, --order and --limit describe.

    Where a declared read leaves a value open, a value of the field's type is used.

    \b
    rowkey explain logs.toml
    rowkey explain logs.toml --where host=web-1 --order "ts desc"
    """
    from rowkey.cli.conditions import parse_conditions
    from rowkey.design import Design
    from rowkey.explanations import explain_read
    from rowkey.plan import bind_read
    from rowkey.render import build_explanations_document, format_explanation_text

    declared_design = Design.read(design)
    if where or order or limit is not None:
        if read is not None:
            raise click.UsageError(
                f"the read {shorten_text(read)!r} declares its own conditions. Remove its name, "
                "or remove --where, --order and --limit."
            )
        bound_read = bind_read(parse_conditions(where), order, [], declared_design.fields)
        explanations = {"": explain_read(declared_design.key, bound_read, limit=limit)}
    else:
        explanations = _explain_declared_reads(declared_design, read)
    if output == "json":
        print_json(build_explanations_document(explanations))
        return
    if not explanations:
        print_notes([f"{design} declares no reads; describe one by --where, --order and --limit"])
    for name, explanation in explanations.items():
        print_lines(format_explanation_text(name, explanation))


def _explain_declared_reads(design: Design, name: str | None) -> dict[str, Explanation]:
    """Return the explanation of each declared read of a design, or of the named one only.

    Raises:
        ReadError: the design has no read of that name.
    """
    from rowkey.errors import ReadError
    from rowkey.explanations import explain_read
    from rowkey.messages import suggest_name
    from rowkey.plan import bind_example

    reads = {declared_read.name: declared_read for declared_read in design.reads}
    if name is not None and name not in reads:
        expected = f"one of {', '.join(reads)}" if reads else ""
        remedy = suggest_name(name, reads) or "Declare it as [[reads]], or describe it by --where."
        raise ReadError("read", f"the design declares no read {name!r}", expected, remedy)
    chosen = reads if name is None else {name: reads[name]}
    return {
        label: explain_read(design.key, bind_example(declared_read), limit=declared_read.limit)
        for label, declared_read in chosen.items()
    }
