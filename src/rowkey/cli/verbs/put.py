"""The verb `put`."""

from __future__ import annotations

from array import array
from operator import itemgetter
from typing import IO, TYPE_CHECKING

import click

from rowkey.cli.options import DESIGN, print_aside, rows_said
from rowkey.cli.tables import CATALOG, ON, opened
from rowkey.errors import RowkeyError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.errors import RowError
    from rowkey.keys import Field
    from rowkey.table import Batch

_TOLD = 10
"""Refused lines that are told; further ones are counted."""


@click.command(short_help="Write a row, or rows from standard input.")
@DESIGN
@ON
@CATALOG
@click.argument("values", nargs=-1, metavar="[FIELD=VALUE]…")
@click.option("--replace", is_flag=True, help="Take all other fields of the row away.")
def command(design: str, url: str, values: tuple[str, ...], *, replace: bool) -> None:
    """Write one row given as FIELD=VALUE, or rows as JSON lines on standard input.

    A field left out stays as it is; in JSON, null takes it away. Lines that are no rows are told,
    the others are written.

    \b
    rowkey put logs.toml --on rocks:./data host=web-1 ts=1609459200000 message="disk full"
    rowkey put logs.toml --on rocks:./data < rows.jsonl
    """
    from rowkey.cli.rows import values_of

    with opened(design, url) as table:
        if values:
            row = values_of(values, table.design.fields)
            (table.replace if replace else table.put)(row, sync=True)
            print_aside([rows_said(1, "written")])
            return
        lines = Lines(table.batch(sync=True), table.design.fields)
        lines.write(replace=replace)
    print_aside([rows_said(lines.written, "written")])
    if lines.refused:
        raise RefusedLines(lines)


class Lines:
    """Rows of standard input on their way into a table, and those of them that are refused.

    Args:
        batch: what writes them.
        fields: the table's fields by name.
    """

    def __init__(self, batch: Batch, fields: Mapping[str, Field]) -> None:
        self.batch = batch
        self.fields = fields
        self.numbers = array("q")
        self.refused = 0
        self.first: list[tuple[int, RowError]] = []

    @property
    def written(self) -> int:
        """How many rows are written."""
        return self.batch.seen - self.batch.refused_count

    def write(self, *, replace: bool) -> None:
        """Write all rows that can be written; what cannot be read on ends the reading."""
        from rowkey.cli.rows import at_line, opened
        from rowkey.errors import BatchError

        try:
            with opened("-") as stream, self.batch:
                self._write_all(stream, replace=replace)
        except BatchError as problem:
            for index, one in problem.refused:
                number = self.numbers[index]
                self.refuse(number, at_line(number, one))
            self.refused += problem.count - len(problem.refused)

    def _write_all(self, stream: IO[str], *, replace: bool) -> None:
        from rowkey.cli.rows import given_rows
        from rowkey.errors import RowError

        number = 0
        write = self.batch.replace if replace else self.batch.put
        try:
            for number, row in given_rows(stream, self.fields):
                if isinstance(row, RowError):
                    self.refuse(number, row)
                else:
                    self.numbers.append(number)
                    write(row)
        except RowError as problem:  # the text itself is broken
            self.refuse(number + 1, problem)

    def refuse(self, number: int, problem: RowError) -> None:
        """Note a line that is not written."""
        self.refused += 1
        self.first = sorted([*self.first, (number, problem)], key=itemgetter(0))[:_TOLD]


class RefusedLines(RowkeyError):
    """Lines of standard input that were not written."""

    def __init__(self, lines: Lines) -> None:
        told = [str(problem) for _, problem in lines.first]
        if lines.refused > len(told):
            told.append(rows_said(lines.refused - len(told), "refused besides"))
        super().__init__("\n".join(told))
