"""What the verbs of a table share: where it lives, and how rows are printed."""

from __future__ import annotations

import csv
import sys
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from rowkey.cli.options import as_json, print_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

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


def opened(design: str, url: str) -> Table:
    """The table of a design file, or of a name that the catalog knows; it must exist."""
    from pathlib import Path

    from rowkey.design import Design
    from rowkey.table import open_table

    found = Design.read(design) if _is_file(Path(design)) else design
    return open_table(found, url, create=False)


def name_of(design: str) -> str:
    """The name of the table of a design file, or the name given."""
    from pathlib import Path

    from rowkey.design import Design

    return Design.read(design).table if _is_file(Path(design)) else design


def _is_file(path: Path) -> bool:
    return path.suffix == ".toml" or path.is_file()


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
        _print_csv(names, rows)
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


def _print_csv(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow("" if row[name] is None else _text(row[name]) for name in names)


def _aligned(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Columns side by side, as wide as the first rows need them."""
    lines = ([_text(row[name]) for name in names] for row in rows)
    first = list(islice(lines, _SHOWN_FIRST))
    widths = [
        min(_WIDEST, max(len(line[at]) for line in [list(names), *first]))
        for at in range(len(names))
    ]
    for line in chain([list(names), ["-" * width for width in widths]], first, lines):
        cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _text(value: Any) -> str:
    """A value as one line of text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = value if isinstance(value, str) else str(value)
    return text if text.isprintable() else repr(text)[1:-1]
