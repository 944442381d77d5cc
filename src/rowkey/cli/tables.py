"""What the verbs of a table share: where it lives, and how rows are printed."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from rowkey.cli.options import as_json, print_lines
from rowkey.errors import RowkeyError, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.table import Scan, Table

ON = click.option(
    "--on",
    "url",
    metavar="URL",
    required=True,
    help="Where the table lives: rocks:PATH, a directory with a folder for each table.",
)

FORMS = ("table", "json", "jsonl", "csv", "arrow")
FORM = click.option(
    "-f",
    "form",
    type=click.Choice(FORMS),
    default="table",
    show_default=True,
    help="How rows are printed; arrow is a stream for other programs.",
)
_SHOWN_FIRST = 200
"""Rows whose widths decide the columns of a table; later ones may stand out."""
_WIDEST = 60


class Unreached(RowkeyError):
    """The place where tables live cannot be used; the command leaves with a code of its own."""


@contextmanager
def reaching() -> Iterator[None]:
    """Tell what is missing or broken within the block as the fault of the place of the tables.

    Raises:
        Unreached: in place of `Unsupported`.
    """
    try:
        yield
    except Unsupported as problem:
        raise Unreached(str(problem)) from problem


@contextmanager
def opened(design: str, url: str) -> Iterator[Table]:
    """The table of a design file, or of a name that the catalog knows; it must exist."""
    from rowkey.table import open_table

    found = _named(design)
    with reaching(), open_table(found, url, create=False) as table:
        yield table


def name_of(design: str) -> str:
    """The name of the table of a design file, or the name given."""
    found = _named(design)
    return found if isinstance(found, str) else found.table


def _named(design: str) -> Design | str:
    """A design file that is named, or the name of a table."""
    from rowkey.design import Design

    # pathlib raises for a name that no file can have.
    is_file = design.endswith(".toml") or os.path.isfile(design)  # noqa: PTH113
    return Design.read(design) if is_file else design


def print_rows(scan: Scan, form: str) -> None:
    """Print the rows of a scan in one of the forms, as they come."""
    if form == "arrow":
        _print_arrow(scan)
        return
    from rowkey.render import row_document

    names = list(scan.design.fields)
    rows = ({name: row.get(name) for name in names} for row in map(row_document, scan))
    if form == "jsonl":
        print_lines(map(as_json, rows))
    elif form == "json":
        _print_array(rows)
    elif form == "csv":
        print_lines(",".join(map(_csv, line)) for line in chain([names], _values(names, rows)))
    else:
        print_lines(_aligned(names, rows))


def _print_arrow(scan: Scan) -> None:
    """An Arrow stream on standard output."""
    import pyarrow as pa

    if sys.stdout.isatty():
        raise click.UsageError("-f arrow is for a file or another program, not a terminal.")
    table: pa.Table = scan.to_arrow()
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)


def _print_array(rows: Iterable[Any]) -> None:
    """One JSON array, a row a line."""
    before = "["
    for row in rows:
        sys.stdout.write(f"{before}\n  {as_json(row)}")
        before = ","
    sys.stdout.write("[]\n" if before == "[" else "\n]\n")


def _values(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> Iterator[list[Any]]:
    return ([row[name] for name in names] for row in rows)


def _csv(value: Any) -> str:
    """A value in CSV: nothing for null, two quotes for an empty text."""
    if value is None:
        return ""
    text = _text(value)
    if text and not any(sign in text for sign in ',"\r\n'):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _aligned(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Columns side by side, as wide as the first rows need them."""
    lines = ([_shown(value) for value in line] for line in _values(names, rows))
    first = list(islice(lines, _SHOWN_FIRST))
    widths = [
        min(_WIDEST, max(len(line[at]) for line in [list(names), *first]))
        for at in range(len(names))
    ]
    for line in chain([list(names), ["-" * width for width in widths]], first, lines):
        cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _shown(value: Any) -> str:
    """A value on one line of a terminal; nothing for null."""
    text = "" if value is None else _text(value)
    return text if text.isprintable() else repr(text)[1:-1]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
