"""The command `types`."""

from __future__ import annotations

import rowkey
from rowkey import render
from rowkey.cli.group import define_command
from rowkey.cli.options import DESIGN_ARGUMENT, print_lines


@define_command("Design", "Print the rows of a design as a TypedDict, for type checkers.")
@DESIGN_ARGUMENT
def command(design: str) -> None:
    """Print a Python module with a TypedDict of the design's rows.

    With it, a type checker finds misspelt fields and values of other types in the rows of `put`
    and `scan`.

    \b
    rowkey types logs.toml > logs_rows.py
    """
    print_lines(render.format_row_types(rowkey.Design.read(design)))
