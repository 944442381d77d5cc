"""The command `explain`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

import rowkey
from rowkey import advise, plan, render
from rowkey.cli.conditions import WHERE_OPTION, parse_conditions
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    LIMIT_OPTION,
    NO_CACHE_OPTION,
    ORDER_OPTION,
    OUTPUT_FORMAT_OPTION,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    print_json,
    print_lines,
    print_notes,
)
from rowkey.errors import ReadError
from rowkey.messages import shorten_text, suggest_name

if TYPE_CHECKING:
    from rowkey.advise import JudgedDesign
    from rowkey.explanations import Explanation


@define_command("Judge", "Show how reads run: ranges, order, what is filtered after.")
@DESIGN_ARGUMENT
@click.argument("read", required=False)
@WHERE_OPTION
@ORDER_OPTION
@LIMIT_OPTION
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@OUTPUT_FORMAT_OPTION
def command(
    design: str,
    read: str | None,
    where: tuple[str, ...],
    order: str,
    limit: int | None,
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    output: str,
) -> None:
    """Show how each declared read runs, or one read that --where, --order and --limit describe.

    Where a declared read leaves a value open, the most frequent value of the sample is used, or
    else a value of the field's type. Of a design with companions, the output
    says which table serves the read, and why.

    \b
    rowkey explain logs.toml
    rowkey explain logs.toml --where host=web-1 --order "ts desc"
    """
    from rowkey.explanations import explain_chosen_read, explain_read

    declared_design = rowkey.Design.read(design)
    if where or order or limit is not None:
        if read is not None:
            raise click.UsageError(
                f"the read {shorten_text(read)!r} declares its own conditions. Remove its name, "
                "or remove --where, --order and --limit."
            )
        bound_read = plan.bind_read(parse_conditions(where), order, [], declared_design.fields)
        keys = declared_design.companion_keys
        explain = (
            partial(explain_chosen_read, keys)
            if keys
            else partial(explain_read, declared_design.key)
        )
        explanations = {"": explain(bound_read, limit=limit)}
    else:
        judged = advise.JudgedDesign(
            declared_design, sample, format_options=format_options, names_keys=True
        )
        explanations = _explain_declared_reads(judged, read)
    if output == "json":
        print_json(render.build_explanations_document(explanations))
        return
    if not explanations:
        print_notes([f"{design} declares no reads; describe one by --where, --order and --limit"])
    for name, explanation in explanations.items():
        print_lines(render.format_explanation_text(name, explanation))


def _explain_declared_reads(judged: JudgedDesign, name: str | None) -> dict[str, Explanation]:
    """Return the explanation of each declared read of a design, or of the named one only.

    Raises:
        ReadError: the design has no read of that name.
    """
    plans = judged.companion_plans if judged.design.companions else judged.plans
    explanations = dict(plans)
    if name is None:
        return explanations
    if name not in explanations:
        expected = f"one of {', '.join(explanations)}" if explanations else ""
        remedy = suggest_name(name, explanations)
        remedy = remedy or "Declare it as [[reads]], or describe it by --where."
        raise ReadError("read", f"the design declares no read {name!r}", expected, remedy)
    return {name: explanations[name]}
