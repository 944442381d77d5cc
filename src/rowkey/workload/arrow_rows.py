"""Conversion of Arrow rows to what fields can hold, by the rules that hold for files too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.errors import RowError, SampleError
from rowkey.messages import format_value
from rowkey.workload.arrow_source import (
    ALLOWED_SOURCES,
    COLLECT_REMEDY,
    is_arrow_source,
    name_source,
    open_arrow_source,
    read_new_batches,
)
from rowkey.workload.columnar.batches import decode_column, is_nested, is_unnamed_index
from rowkey.workload.values.time_range import check_time_unit, find_foreign_time
from rowkey.workload.values.typed_columns import convert_column, format_first_value, mark_blanks

if TYPE_CHECKING:
    from rowkey.keys import Field


def read_arrow_rows(source: Any, fields: Mapping[str, Field]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table in memory, without the unnamed index of a pandas DataFrame.

    Args:
        source: an object with `__arrow_c_stream__` or `__arrow_c_array__`.
        fields: the fields of the table that the rows are for, by name.

    Raises:
        RowError: it is no table, or cannot be read as Arrow.
    """
    if not is_arrow_source(source):
        what = f"{format_value(source)} is not a table"
        raise RowError("argument rows", what, ALLOWED_SOURCES, COLLECT_REMEDY)
    try:
        for batch in read_new_batches(open_arrow_source(source), name_source(source)):
            yield batch.select(
                [
                    index
                    for index, name in enumerate(batch.schema.names)
                    if name in fields or not is_unnamed_index(name)
                ]
            )
    except SampleError as problem:
        mistake = problem.mistake
        where = f"argument rows, {mistake.path}"
        raise RowError(where, mistake.problem, mistake.expected, mistake.remedy) from None


def convert_rows(
    fields: Mapping[str, Field], rows: pa.RecordBatch
) -> tuple[pa.RecordBatch, RowError | None]:
    """Return rows with values that their fields can hold, up to the first that has another value.

    Args:
        fields: the fields, by name.
        rows: columns named as them.

    Returns:
        The rows before the first with a value that cannot be converted, and the error of that one;
        all rows and None if there is none.

    Cost: as `convert_column` for each column.
    """
    columns, stop, error = [], rows.num_rows, None
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        field = fields.get(name)
        if field is None or is_nested(column.type):
            columns.append(column)
            continue
        plain = decode_column(column)
        converted = convert_column(field, plain)
        columns.append(converted)
        lost = _find_lost_value(field, plain, converted)
        if lost < stop:
            stop, error = lost, _explain_lost_value(field, plain.slice(lost, 1))
        foreign = find_foreign_time(field, plain)
        if 0 <= foreign < stop:
            stop, error = foreign, _explain_lost_value(field, plain.slice(foreign, 1))
    converted_rows = pa.RecordBatch.from_arrays(columns, names=rows.schema.names)
    return converted_rows.slice(0, stop), error


def require_time_units(fields: Mapping[str, Field], rows: pa.RecordBatch) -> None:
    """Raise if a column has numbers that are times of our days in another unit.

    Raises:
        RowError: the first of them, as `check_time_unit` has it.
    """
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if name in fields and (at := find_foreign_time(fields[name], column)) >= 0:
            check_time_unit(fields[name], column[at].as_py())


def _find_lost_value(field: Field, column: pa.Array, converted: pa.Array) -> int:
    """Return the index of the first value that is null after the conversion only.

    An empty text is null in a nullable field. Without such a value the number of rows is returned.
    """
    if converted.null_count == column.null_count:
        return len(column)
    is_null = mark_blanks(column) if field.nullable else column.is_null().to_numpy(False)
    lost = converted.is_null().to_numpy(zero_copy_only=False) & ~is_null
    return int(np.argmax(lost)) if lost.any() else len(column)


def _explain_lost_value(field: Field, value: pa.Array) -> RowError:
    """Return the error of one value that cannot be converted."""
    text = format_first_value(value) or ""
    try:
        check_time_unit(field, text)
        field.to_internal(field.parse(text))
    except RowError as problem:
        return problem
    what = f"{text!r} cannot be stored"
    return RowError(f"field {field.name}", what, f"a value of type {field.type.name}")
