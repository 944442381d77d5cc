"""Writes rows as text, JSON, CSV, Parquet or Arrow while they are read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import click

import rowkey
from rowkey import render, workload
from rowkey.array_libraries import pa
from rowkey.cli.destination import OUTPUT_OPTION, SPREADSHEET_OPTION, Destination
from rowkey.cli.options import print_notes
from rowkey.messages import escape_json, shorten_text

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.table import Scan

SCAN_FORMATS = ("table", "json", "jsonl", "csv", "arrow", "parquet")
DUMP_FORMATS = ("jsonl", "csv", "arrow", "parquet")
"""Formats that `load` reads."""
GROUP_ROWS = 65_536
"""Rows of a group of Parquet, and of a batch of Arrow: what is held in memory."""
TEXT_BATCH_ROWS = 8_192
"""Rows that become text together."""
_WIDTH_SAMPLE_ROWS = 200
"""First rows, whose widths decide the columns of a table; later cells may be wider."""
_MAX_COLUMN_WIDTH = 60


def add_format_options(formats: Sequence[str]) -> Callable[[Any], Any]:
    """Return a decorator that adds -f, -o and --spreadsheet to a command that writes rows.

    Args:
        formats: the formats it can write, the default first.
    """

    def decorate(command: Any) -> Any:
        add_format = click.option(
            "-f",
            "--format",
            "form",
            type=click.Choice(formats),
            help=f"Format of the rows; if not given, by the file's name, else {formats[0]}.",
        )
        return add_format(OUTPUT_OPTION(SPREADSHEET_OPTION(command)))

    return decorate


def write_rows(scan: Scan, destination: Destination, *, row_by_row: bool = False) -> int:
    """Write the rows of a scan to a destination as they are read; return how many.

    Args:
        destination: where they go.
        row_by_row: whether each row is written at once, so that the scan's resume token is exact;
            else thousands of rows become text together, which takes half the time.
    """
    if destination.row_format == "arrow":
        with destination.open_binary() as sink:
            return _write_arrow(scan, sink, is_stream=destination.is_stream)
    if destination.row_format == "parquet":
        with destination.open_binary() as sink:
            return _write_parquet(scan, sink)
    if destination.row_format == "csv":
        return _write_csv(scan, destination, row_by_row=row_by_row)
    with destination.open_text() as out:
        return _write_text(scan, destination.row_format, out, row_by_row=row_by_row)


# Columns


def _write_arrow(scan: Scan, sink: BinaryIO, *, is_stream: bool) -> int:
    """Write the rows of a scan as an Arrow file or stream; return how many."""
    schema, make = scan.schema, pa.ipc.new_stream if is_stream else pa.ipc.new_file
    count = 0
    with make(sink, schema) as out:
        for batch in scan.batches(GROUP_ROWS):
            out.write_batch(batch.cast(schema))
            count += batch.num_rows
    return count


def _write_parquet(scan: Scan, sink: BinaryIO) -> int:
    """Write the rows of a scan as Parquet, one row group at a time; return how many.

    Raises:
        UsageError: Parquet cannot represent a value: its times are milliseconds or finer, so
            seconds beyond the year 292,000,000 do not fit.
    """
    from pyarrow import parquet

    schema, count = scan.schema, 0
    with parquet.ParquetWriter(sink, schema, compression="zstd") as out:
        for group in _group_batches(scan.batches(GROUP_ROWS), schema):
            try:
                out.write_table(group)
            except pa.ArrowInvalid as problem:
                what = f"Parquet cannot hold a value: {shorten_text(str(problem))}"
                raise click.UsageError(f"-f parquet: {what}. Use -f arrow.") from None
            count += group.num_rows
    return count


def _group_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield tables of at least `GROUP_ROWS` rows joined from smaller batches."""
    pending: list[pa.RecordBatch] = []
    for batch in chain(batches, [None]):
        if batch is not None:
            pending.append(batch.cast(schema))
        if pending and (
            batch is None or sum(pending_batch.num_rows for pending_batch in pending) >= GROUP_ROWS
        ):
            yield pa.Table.from_batches(pending, schema)
            pending = []


# Text


def _write_text(scan: Scan, row_format: str, out: TextIO, *, row_by_row: bool) -> int:
    """Write the rows of a scan as JSON, JSON lines or a text table; return how many."""
    names = scan.column_names
    documents = (
        _read_documents(scan, is_loadable=row_format in DUMP_FORMATS, row_by_row=row_by_row)
        if row_format != "table"
        else _read_displayed_rows(scan, row_by_row=row_by_row)
    )
    rows = _CountedRows(documents)
    is_utf = (out.encoding or "").lower().startswith("utf")
    if row_format == "json":
        pieces = _format_json_array(rows, is_utf=is_utf)
    elif row_format == "jsonl":
        pieces = (f"{_to_json(row, is_utf=is_utf)}\n" for row in rows)
    else:
        pieces = _format_columns(names, rows)
    out.writelines(pieces)
    return rows.count


def _write_csv(scan: Scan, destination: Destination, *, row_by_row: bool) -> int:
    """Write the rows of a scan as CSV; guard or count cells that look like formulas."""
    fields = scan.design.fields
    text_columns = [
        name for name, field in fields.items() if field.type.build_arrow_type() == pa.string()
    ]
    rows = _CountedRows(
        map(
            _write_undeclared_as_text,
            _read_documents(scan, is_loadable=True, row_by_row=row_by_row),
        )
    )
    with destination.open_text() as out:
        is_terminal = out.isatty()
        if not is_terminal and isinstance(out, io.TextIOWrapper):
            out.reconfigure(encoding="utf-8", errors="strict")  # `load` reads UTF-8 anywhere
        encoder = render.CsvEncoder(
            scan.column_names,
            text_columns,
            guards_formulas=destination.is_spreadsheet,
            escapes_controls=is_terminal,
        )
        out.writelines(encoder.encode_lines(rows))
        out.flush()
    print_notes(encoder.format_notes())
    return rows.count


def _read_documents(scan: Scan, *, is_loadable: bool, row_by_row: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of a scan as JSON documents.

    Output that `load` reads must keep its meaning: a timestamp whose digits also look like a date,
    such as 20210101, or like a time in another unit, is written as a date and time.
    """
    fields = scan.design.fields
    times = [f for f in fields.values() if is_loadable and f.type.unit_ns is not None]
    for row in _read_rows(scan, row_by_row=row_by_row):
        document = render.build_row_document(row)
        for field in times:
            if workload.has_other_reading(field, document[field.name]):
                document[field.name] = field.type.format_value(row[field.name])
        yield document


def _read_displayed_rows(scan: Scan, *, row_by_row: bool) -> Iterator[dict[str, Any]]:
    """Return the rows of a scan for people, with times in ISO 8601."""
    return (
        _write_undeclared_as_text(render.build_displayed_row(row, scan.design.fields))
        for row in _read_rows(scan, row_by_row=row_by_row)
    )


def format_rows(rows: Iterable[Mapping[str, Any]], fields: Mapping[str, Field]) -> Iterator[str]:
    """Return the lines of a text table that has some rows, at least one."""
    displayed = [_write_undeclared_as_text(render.build_displayed_row(r, fields)) for r in rows]
    return (line.rstrip("\n") for line in _format_columns(list(displayed[0]), displayed))


def _write_undeclared_as_text(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its undeclared cells, if it has them, as the text of a JSON object."""
    texts = {name: json.dumps(value) for name, value in row.items() if isinstance(value, dict)}
    return row | texts if texts else row


def _read_rows(scan: Scan, *, row_by_row: bool) -> Iterator[dict[str, Any]]:
    fields = scan.design.fields
    if row_by_row:
        for row in scan:
            yield {name: row.get(name) for name in scan.column_names}
        return

    for batch in scan.batches(TEXT_BATCH_ROWS):
        lists = [
            # Arrow's own texts and bytes are the field's normal values.
            column.to_pylist()
            if field.type.is_sequence
            else rowkey.keys.build_field_column(field, column).to_list()
            for field, column in zip(fields.values(), batch.columns, strict=True)
        ]
        for values in zip(*lists, strict=True):
            yield dict(zip(fields, values, strict=True))


class _CountedRows:
    """Iterates over rows and counts them."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            self.count += 1
            yield row


def _to_json(row: dict[str, Any], *, is_utf: bool) -> str:
    return escape_json(json.dumps(row, ensure_ascii=not is_utf, allow_nan=False))


def _format_json_array(rows: Iterable[dict[str, Any]], *, is_utf: bool) -> Iterator[str]:
    """Yield the pieces of a JSON array that has one row per line."""
    separator = "["
    for row in rows:
        yield f"{separator}\n  {_to_json(row, is_utf=is_utf)}"
        separator = ","
    yield "[]\n" if separator == "[" else "\n]\n"


def _list_values(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield the values of each row in the order of the columns."""
    return ([row[name] for name in names] for row in rows)


def _format_columns(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a text table; the first rows decide the column widths."""
    head = [_format_cell(name) for name in names]
    lines = ([_format_cell(value) for value in line] for line in _list_values(names, rows))
    first = list(islice(lines, _WIDTH_SAMPLE_ROWS))
    widths = [
        min(_MAX_COLUMN_WIDTH, max(len(line[at]) for line in [head, *first]))
        for at in range(len(names))
    ]
    for line in chain([head, ["-" * width for width in widths]], first, lines):
        cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  ".join(cells).rstrip() + "\n"


def _format_cell(value: Any) -> str:
    """Return a value as one line of text for a terminal; empty for null."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if text.isprintable() else repr(text)[1:-1]
