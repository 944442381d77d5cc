"""The command `put`."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from operator import itemgetter
from typing import IO, TYPE_CHECKING

import click

from rowkey.cli.group import define_command
from rowkey.cli.input_rows import format_place, open_rows, parse_values, read_partial_rows
from rowkey.cli.options import DESIGN_ARGUMENT, format_row_count, print_notes
from rowkey.cli.tables import CATALOG_OPTION, TABLE_URL_OPTION, open_existing_table
from rowkey.errors import BatchError, RowError, RowkeyError
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.table import Batch

_MAX_ERRORS_PRINTED = 10
"""Refused lines whose errors are printed; further lines are only counted."""


@define_command("Run", "Write a row, or rows from standard input.")
@DESIGN_ARGUMENT
@TABLE_URL_OPTION
@CATALOG_OPTION
@click.argument("values", nargs=-1, metavar="[FIELD=VALUE]…")
@click.option("--replace", is_flag=True, help="Remove all other fields of the row.")
def command(design: str, url: str, values: tuple[str, ...], *, replace: bool) -> None:
    """Write one row given as FIELD=VALUE, or rows as JSON on standard input: lines or an array.

    Fields that are not given keep their values; a JSON null removes a field. Invalid lines are
    reported, and all other lines are written.

    \b
    rowkey put logs.toml --on rocks:./data host=web-1 ts=1609459200000 message="disk full"
    rowkey put logs.toml --on rocks:./data < rows.jsonl
    """
    with open_existing_table(design, url) as table:
        if values:
            row = parse_values(values, table.design.fields)
            (table.replace if replace else table.put)(row, sync=True)
            print_notes([format_row_count(1, "written")])
            return
        lines = StdinRowWriter(table.batch(sync=True), table.design.fields)
        lines.write_rows(replace=replace)
    print_notes([format_row_count(lines.written_count, "written")])
    if lines.refused_count:
        raise RefusedLines(lines)


class StdinRowWriter:
    """Writes the rows of standard input into a table, and notes those that are refused.

    Args:
        fields: the table's fields by name.
    """

    def __init__(self, batch: Batch, fields: Mapping[str, Field]) -> None:
        self.batch = batch
        self.fields = fields
        self.line_numbers = array("q")
        self.refused_count = 0
        self.first_errors: list[tuple[int, RowError]] = []

    @property
    def written_count(self) -> int:
        """How many rows were written."""
        return self.batch.row_count - self.batch.error_count

    def write_rows(self, *, replace: bool) -> None:
        """Write all valid rows of standard input; stop at text that cannot be read."""
        try:
            with open_rows("-") as stream, self.batch:
                self._write_lines(stream, replace=replace)
        except BatchError as problem:
            for index, row_error in problem.row_errors:
                number = self.line_numbers[index]
                self.note_error(number, row_error.prefix_path(format_place(stream, number)))
            self.refused_count += problem.error_count - len(problem.row_errors)

    def _write_lines(self, stream: IO[str], *, replace: bool) -> None:
        """Write each JSON line as a row; note the lines that are refused."""
        number = 0
        write = self.batch.replace if replace else self.batch.put
        try:
            for number, row in read_partial_rows(stream, self.fields):
                if isinstance(row, RowError):
                    self.note_error(number, row)
                else:
                    self.line_numbers.append(number)
                    write(row)
        except RowError as problem:  # the text itself is broken
            self.note_error(number + 1, problem)

    def note_error(self, number: int, problem: RowError) -> None:
        """Count a refused line, and keep its error if it is among the first ones."""
        self.refused_count += 1
        self.first_errors = sorted([*self.first_errors, (number, problem)], key=itemgetter(0))[
            :_MAX_ERRORS_PRINTED
        ]


class RefusedLines(RowkeyError):
    """The error of a `put` that refused lines of standard input."""

    def __init__(self, writer: StdinRowWriter) -> None:
        lines = [str(error.prefix_path("standard input")) for _, error in writer.first_errors]
        if writer.refused_count > len(lines):
            lines.append(f"and {pluralize(writer.refused_count - len(lines), 'more line')} refused")
        super().__init__("\n".join(lines))
