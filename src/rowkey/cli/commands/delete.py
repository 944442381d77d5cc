"""The command `delete`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from rowkey import render
from rowkey.cli.conditions import WHERE_OPTION, parse_conditions
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGN_ARGUMENT,
    LIMIT_OPTION,
    PROGRESS_OPTION,
    SKIP_UNDECODABLE_OPTION,
    print_errors,
    print_lines,
    print_notes,
    show_progress,
)
from rowkey.cli.row_formats import format_rows
from rowkey.cli.tables import (
    CATALOG_OPTION,
    TABLE_URL_OPTION,
    add_confirmation_option,
    confirm_name,
    open_existing_table,
)
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.progress import Progress
    from rowkey.table import BulkDelete


@define_command("Run", "Delete the rows that meet conditions, after a preview.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@CATALOG_OPTION
@WHERE_OPTION
@click.option("--all-rows", is_flag=True, help="Delete every row, without a condition.")
@LIMIT_OPTION
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@add_confirmation_option(
    "Confirm without a preview; needs the NAME where the table is given by a design file."
)
@SKIP_UNDECODABLE_OPTION
@PROGRESS_OPTION
def command(
    design: str,
    url: str,
    where: tuple[str, ...],
    limit: int | None,
    yes: str | None,
    progress: str,
    *,
    all_rows: bool,
    dry_run: bool,
    skip_undecodable: bool,
) -> None:
    """Delete the rows that meet all conditions, under every row key and in all companions.

    On a terminal the command shows how many rows these are, the first of them, and how they are
    found; then type the table's name to confirm. Cells in columns that the design does not declare
    are not deleted. What clients put after a row was read stays. If the command is interrupted, run
    it again.

    \b
    rowkey delete logs.toml --on rocks:./data --where host=web-1 --dry-run
    rowkey delete logs.toml --on rocks:./data --where "host=web-1 and ts<2024-01-01" --yes logs
    """
    conditions = parse_conditions(where)
    if all_rows == bool(conditions):
        raise click.UsageError(
            "--all-rows deletes every row, and --where some: remove one of them."
            if all_rows
            else "without a condition every row would be deleted. Give --where, or --all-rows."
        )
    with open_existing_table(design, url) as table:
        name = table.design.table
        table.explain(conditions)  # raises an error with every mistake in them

        def run(*, is_dry_run: bool = False, total: int = 0) -> BulkDelete:
            with show_progress(progress) as bar:

                def report(now: Progress) -> None:
                    if bar is not None:
                        bar(replace(now, total=total))

                return table.delete_where(
                    conditions,
                    dry_run=is_dry_run,
                    limit=limit,
                    all_rows=all_rows,
                    skip_undecodable=skip_undecodable,
                    progress=report,
                )

        if dry_run:
            print_lines(_format_preview(run(is_dry_run=True)))
            return
        preview = None
        if yes is None and sys.stdin.isatty():
            preview = run(is_dry_run=True)
            if not preview.row_count:
                print_lines(_format_preview(preview))
                return
        lines = () if preview is None else _format_preview(preview)
        confirm_name(name, design, yes, lines, f"no row of {name} is deleted")
        try:
            done = run(total=0 if preview is None else preview.row_count)
        except KeyboardInterrupt:
            print_errors(
                [f"{name}: some rows may be deleted. The same command deletes the others."]
            )
            raise
    print_lines([f"{name}: {pluralize(done.row_count, 'row')} deleted"])
    if done.changed_count:
        changed = pluralize(done.changed_count, "row")
        print_notes([f"{changed} changed meanwhile and did not meet the conditions: not deleted"])
    print_notes(_format_remaining(done))


def _format_preview(preview: BulkDelete) -> Iterator[str]:
    """Yield what would be deleted, and how it is found, as lines of text."""
    name = preview.tables[0]
    yield f"{name}: {pluralize(preview.row_count, 'row')} would be deleted"
    yield from render.format_explanation_text("", preview.explanation)
    if len(preview.tables) > 1:
        yield f"tables  {', '.join(preview.tables)}"
    if preview.first_rows:
        yield from format_rows(preview.first_rows, preview.scan.design.fields)
        if others := preview.row_count - len(preview.first_rows):
            yield f"… and {pluralize(others, 'more row')}"
    yield from _format_remaining(preview)


def _format_remaining(result: BulkDelete) -> Iterator[str]:
    """Yield what is not deleted: undeclared cells, and rows that cannot be decoded."""
    if result.scan.undeclared_cells.cell_count:
        yield "these cells are not deleted:"
    yield from render.format_scan_notes(result.scan, outcome="not deleted")
