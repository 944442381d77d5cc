"""How rows are written: text for people and programs, Parquet and Arrow; each as they come."""

from __future__ import annotations

import io
import json
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from rowkey.cli.csv_encoder import CsvEncoder
from rowkey.cli.options import print_aside
from rowkey.cli.outputs import OUTPUT, SPREADSHEET, Destination
from rowkey.errors import escaped_json, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO, TextIO

    import pyarrow as pa

    from rowkey.table import Scan

SHOWN = ("table", "json", "jsonl", "csv", "arrow", "parquet")
DUMPED = ("jsonl", "csv", "arrow", "parquet")
"""Forms that `load` reads."""
GROUP_ROWS = 65_536
"""Rows of a group of Parquet, and of a batch of Arrow: what is held in memory."""
TEXT_ROWS = 8_192
"""Rows that become text together."""
_SHOWN_FIRST = 200
"""Rows whose widths decide the columns of a table; later ones may stand out."""
_WIDEST = 60


def form_option(forms: Sequence[str]) -> Callable[[Any], Any]:
    """The options of a verb that can write rows in these forms, the first unless told."""

    def decorated(verb: Any) -> Any:
        chosen = click.option(
            "-f",
            "--format",
            "form",
            type=click.Choice(forms),
            help=f"How rows are written; told by the file's name, else {forms[0]}.",
        )
        return chosen(OUTPUT(SPREADSHEET(verb)))

    return decorated


def write_rows(scan: Scan, to: Destination, *, at_once: bool = False) -> int:
    """Write the rows of a scan as they come; gives how many.

    Args:
        scan: the rows.
        to: where they go.
        at_once: whether the first one should come soon and the scan tell where it stopped; else
            text is made of thousands together, which takes half the time.
    """
    if to.form == "arrow":
        with to.binary() as sink:
            return _write_arrow(scan, sink, is_stream=to.is_stream)
    if to.form == "parquet":
        with to.binary() as sink:
            return _write_parquet(scan, sink)
    if to.form == "csv":
        return _write_csv(scan, to, at_once=at_once)
    with to.text() as out:
        return _write_text(scan, to.form, out, at_once=at_once)


# Columns


def _write_arrow(scan: Scan, sink: BinaryIO, *, is_stream: bool) -> int:
    import pyarrow as pa

    schema, make = _schema(scan), pa.ipc.new_stream if is_stream else pa.ipc.new_file
    count = 0
    with make(sink, schema) as out:
        for batch in scan.batches(GROUP_ROWS):
            out.write_batch(batch.cast(schema))
            count += batch.num_rows
    return count


def _write_parquet(scan: Scan, sink: BinaryIO) -> int:
    """Write Parquet, a group of rows at a time.

    Raises:
        UsageError: a value is none of Parquet's, whose times are milliseconds or finer: seconds
            beyond the year 292,000,000 do not fit.
    """
    import pyarrow as pa
    from pyarrow import parquet

    schema, count = _schema(scan), 0
    with parquet.ParquetWriter(sink, schema, compression="zstd") as out:
        for group in _groups(scan.batches(GROUP_ROWS), schema):
            try:
                out.write_table(group)
            except pa.ArrowInvalid as problem:
                what = f"Parquet cannot hold it: {printable(str(problem))}"
                raise click.UsageError(f"{what}. Take -f arrow.") from None
            count += group.num_rows
    return count


def _schema(scan: Scan) -> pa.Schema:
    """A column for each field, in its type."""
    import pyarrow as pa

    return pa.schema([(name, f.type.arrow()) for name, f in scan.design.fields.items()])


def _groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Batches as tables of `GROUP_ROWS` or more, but for the last one."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    for batch in chain(batches, [None]):
        if batch is not None:
            held.append(batch.cast(schema))
        if held and (batch is None or sum(one.num_rows for one in held) >= GROUP_ROWS):
            yield pa.Table.from_batches(held, schema)
            held = []


# Text


def _write_text(scan: Scan, form: str, out: TextIO, *, at_once: bool) -> int:
    names = list(scan.design.fields)
    rows = _Counted(_documents(scan, loadable=form in DUMPED, at_once=at_once))
    is_utf = (out.encoding or "").lower().startswith("utf")
    if form == "json":
        pieces = _array(rows, is_utf=is_utf)
    elif form == "jsonl":
        pieces = (f"{_as_json(row, is_utf=is_utf)}\n" for row in rows)
    else:
        pieces = _aligned(names, rows)
    out.writelines(pieces)
    return rows.count


def _write_csv(scan: Scan, to: Destination, *, at_once: bool) -> int:
    """Write CSV, exact unless a terminal or a spreadsheet takes it; tell how many formulas."""
    import pyarrow as pa

    fields = scan.design.fields
    text_columns = [name for name, field in fields.items() if field.type.arrow() == pa.string()]
    rows = _Counted(_documents(scan, loadable=True, at_once=at_once))
    with to.text() as out:
        is_terminal = out.isatty()
        if not is_terminal and isinstance(out, io.TextIOWrapper):
            out.reconfigure(encoding="utf-8", errors="strict")  # `load` reads UTF-8 anywhere
        encoder = CsvEncoder(
            list(fields),
            text_columns,
            guards_formulas=to.is_spreadsheet,
            escapes_controls=is_terminal,
        )
        out.writelines(encoder.encode_lines(rows))
        out.flush()
    print_aside(encoder.format_notes())
    return rows.count


def _documents(scan: Scan, *, loadable: bool, at_once: bool) -> Iterator[dict[str, Any]]:
    """The rows as JSON has them.

    What is to be loaded must be read as what it was: a count that is as well a day's digits, such
    as 20210101, is written as the instant that it counts.
    """
    from rowkey.render import row_document
    from rowkey.workload import looks_of_calendar

    fields = scan.design.fields
    times = [f for f in fields.values() if loadable and f.type.tick is not None]
    for row in _rows(scan, at_once=at_once):
        found = row_document(row)
        for field in times:
            if looks_of_calendar(found[field.name]):
                found[field.name] = field.type.show(row[field.name])
        yield found


def _rows(scan: Scan, *, at_once: bool) -> Iterator[dict[str, Any]]:
    """The rows with all fields."""
    fields = scan.design.fields
    if at_once:
        for row in scan:
            yield {name: row.get(name) for name in fields}
        return
    from rowkey.keys import batch_column

    for batch in scan.batches(TEXT_ROWS):
        lists = [
            # Arrow's own texts and bytes are the field's normal values.
            column.to_pylist() if field.type.is_sequence else batch_column(field, column).listed()
            for field, column in zip(fields.values(), batch.columns, strict=True)
        ]
        for values in zip(*lists, strict=True):
            yield dict(zip(fields, values, strict=True))


class _Counted:
    """Rows, and how many of them have come."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            self.count += 1
            yield row


def _as_json(row: dict[str, Any], *, is_utf: bool) -> str:
    return escaped_json(json.dumps(row, ensure_ascii=not is_utf, allow_nan=False))


def _array(rows: Iterable[dict[str, Any]], *, is_utf: bool) -> Iterator[str]:
    """One JSON array, a row a line."""
    before = "["
    for row in rows:
        yield f"{before}\n  {_as_json(row, is_utf=is_utf)}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _values(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> Iterator[list[Any]]:
    return ([row[name] for name in names] for row in rows)


def _aligned(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Columns side by side, as wide as the first rows need them."""
    head = [_shown(name) for name in names]
    lines = ([_shown(value) for value in line] for line in _values(names, rows))
    first = list(islice(lines, _SHOWN_FIRST))
    widths = [
        min(_WIDEST, max(len(line[at]) for line in [head, *first])) for at in range(len(names))
    ]
    for line in chain([head, ["-" * width for width in widths]], first, lines):
        cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  ".join(cells).rstrip() + "\n"


def _shown(value: Any) -> str:
    """A value on one line of a terminal; nothing for null."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if text.isprintable() else repr(text)[1:-1]
