"""Record batches read from files: validated, and split to bounded memory.

Arrow reads buffers as they lie in a file. Until an array is validated, an offset may point
anywhere; and values that are dictionary-encoded or seen through views take many times their own
bytes once they are written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import SampleError
from rowkey.workload.columnar.arrow_ipc import MAX_FILE_RATIO, MAX_UNPACKED_BYTES, DamagedFileError
from rowkey.workload.joined_columns import expand_names, join_batch
from rowkey.workload.sample_streams import MARK_INVALID_BYTES, resolve_columns

if TYPE_CHECKING:
    from rowkey.workload.contract import SampleFormat
    from rowkey.workload.records import SkippedRows

MAX_BATCH_BYTES = 1 << 27
"""Bytes of the values of a batch, written out; batches of more are cut."""
MAX_BATCH_ROWS = 65_536
"""Rows of a typed table that are converted together."""
MAX_JOINED_ROWS, MAX_JOINED_BYTES = 1 << 16, 1 << 23
"""Rows and bytes of small batches that are joined to one."""
MAX_VALUE_BYTES = 1 << 26
"""Bytes of a value, as many as a line of JSON may have."""
MAX_FREE_ROWS, MAX_ROWS_PER_BYTE = 1_000_000, 20
"""Rows that any file may have, and those that a larger one may have for each of its bytes."""


@contextmanager
def refuse_damaged(path: Path, format_name: str) -> Iterator[None]:
    """Raise a SampleError for whatever Arrow raises while it reads a file.

    Raises:
        SampleError: the file is damaged, of another format, or does not fit into memory.
    """
    try:
        yield
    except MemoryError as problem:
        raise SampleError(
            str(path),
            f"the file does not fit into memory: {problem}",
            remedy="Give a smaller sample, such as one day of events.",
        ) from None
    except (DamagedFileError, pa.ArrowException, UnicodeDecodeError, OSError) as problem:
        reason = " ".join(str(problem).split()).rstrip(".")
        what = f"the file is damaged, or is not {format_name}: {reason}"
        remedy = "Write or copy the file again, or declare its format under [sample]."
        raise SampleError(str(path), what, remedy=remedy) from None


def read_batches(
    sample_format: SampleFormat, path: Path, columns: Sequence[str] | None, left_out: SkippedRows
) -> Iterator[pa.RecordBatch]:
    """Return the batches of a file, which need not be trusted, each of bounded size.

    Args:
        columns: the columns wanted, in any order; None for all.
        left_out: where lines that are no rows are noted.

    Yields:
        Valid batches of bounded size, of plain columns: none is coded.

    Raises:
        SampleError: the file cannot be read, is damaged, or holds absurdly much for its size.
    """
    _require_plausible(path, rows=sample_format.count_rows(path) or 0)
    rows = size = 0
    joins = sample_format.joins
    own_columns = columns if columns is None else expand_names(joins, columns)
    for raw in sample_format.read_batches(path, own_columns, left_out):
        batch = join_batch(joins, raw, columns) if joins else raw
        rows += batch.num_rows
        _require_plausible(path, rows=rows)
        with refuse_damaged(path, type(sample_format).__name__.removesuffix("Format")):
            for part in split_batch(batch, path):
                size += part.nbytes
                _require_plausible(path, size=size)
                yield part


def join_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return batches with small neighbours joined, since each batch has a cost of its own.

    The first one stays alone: from its rows the meaning of digits is guessed.
    """
    yield from islice(batches, 1)
    pending: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        is_large = batch.num_rows > MAX_JOINED_ROWS // 2 or batch.nbytes > MAX_JOINED_BYTES // 2
        if pending and (is_large or batch.schema != pending[0].schema):
            yield _join_rows(pending)
            pending, rows, size = [], 0, 0
        pending.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows > MAX_JOINED_ROWS // 2 or size > MAX_JOINED_BYTES // 2:
            yield _join_rows(pending)
            pending, rows, size = [], 0, 0
    if pending:
        yield _join_rows(pending)


def _join_rows(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of some batches of one schema as one batch."""
    filled = [batch for batch in batches if batch.num_rows] or batches[:1]
    if len(filled) == 1:
        return filled[0]
    return pa.Table.from_batches(filled).combine_chunks().to_batches()[0]


def _require_plausible(path: Path, rows: int = 0, size: int = 0) -> None:
    """Raise SampleError if a file declares more rows or bytes than its size allows."""
    if rows <= MAX_FREE_ROWS and size <= MAX_UNPACKED_BYTES:
        return
    file_bytes = path.stat().st_size
    most_rows = MAX_FREE_ROWS + MAX_ROWS_PER_BYTE * file_bytes
    most_bytes = max(MAX_UNPACKED_BYTES, MAX_FILE_RATIO * file_bytes)
    if rows > most_rows:
        claim, allowed = f"{rows:,} rows", f"at most {most_rows:,}"
    elif size > most_bytes:
        claim, allowed = f"{size:,} bytes of values", f"at most {most_bytes:,}"
    else:
        return
    what = f"the file of {file_bytes:,} bytes declares {claim}, which cannot be true"
    raise SampleError(str(path), what, allowed, "Write the file again, uncompressed.")


def find_unread_columns(schema: pa.Schema) -> dict[str, str]:
    """Return the columns that are left out where none is named, with the reason of each.

    These hold several values a row, or are the unnamed index of a pandas DataFrame.
    """
    nested = find_nested_columns(schema)
    indexes = dict.fromkeys(filter(is_unnamed_index, schema.names), "is an unnamed pandas index")
    types = {n: f"has the type {kind}, which no field type can store" for n, kind in nested.items()}
    return {**indexes, **types}


def is_unnamed_index(column_name: str) -> bool:
    """Return whether pandas gives this name to the column of an index without a name.

    >>> is_unnamed_index("__index_level_0__")
    True
    """
    return re.fullmatch(r"__index_level_\d+__", column_name) is not None


def find_nested_columns(schema: pa.Schema) -> dict[str, str]:
    """Return the columns that hold several values a row, by name, with their types."""
    return {one.name: str(one.type) for one in schema if is_nested(one.type)}


def is_nested(data_type: pa.DataType) -> bool:
    """Return whether values of a type contain other values."""
    if isinstance(data_type, pa.BaseExtensionType):
        return is_nested(data_type.storage_type)
    if isinstance(data_type, pa.DictionaryType):
        return isinstance(data_type.value_type, pa.DictionaryType) or is_nested(
            data_type.value_type
        )
    return bool(pa.types.is_nested(data_type) or pa.types.is_run_end_encoded(data_type))


def choose_columns(schema: pa.Schema, columns: Sequence[str] | None, path: Path) -> list[int]:
    """Return the indexes of the columns to read; by default all that can be fields.

    Raises:
        SampleError: the file lacks a column, has it twice, or it has several values in a row.
    """
    nested, names = find_nested_columns(schema), schema.names
    if columns is None:
        unread = find_unread_columns(schema)
        return [place for place, name in enumerate(names) if name not in unread]
    column_names = resolve_columns(names, columns, path)
    for name in column_names:
        if name in nested:
            what = f"the column {name!r} has the type {nested[name]}"
            raise SampleError(str(path), what, "a column of numbers, times, text or bytes")
    return [names.index(name) for name in column_names]


def split_batch(batch: pa.RecordBatch, path: Path) -> Iterator[pa.RecordBatch]:
    """Return a batch as batches of plain columns and of a bounded number of bytes."""
    batch.validate()
    columns = [
        _validate_named_column(name, column)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    for start, stop in _split_rows(columns, batch.num_rows, path):
        if not any(map(_is_coded, columns)) and (start, stop) == (0, batch.num_rows):
            parts = columns
        else:
            parts = [decode_column(column.slice(start, stop - start)) for column in columns]
        yield pa.RecordBatch.from_arrays(parts, names=batch.schema.names)


def _validate_named_column(name: str, column: pa.Array) -> pa.Array:
    """Return a column as `_validate_column` does, or raise an error that has its name."""
    try:
        return _validate_column(column)
    except pa.ArrowException as problem:
        raise DamagedFileError(f"column {name!r}: {problem}") from None


def _validate_column(column: pa.Array) -> pa.Array:
    """Return a column after every value was checked; text that is not UTF-8 is marked.

    Raises:
        ArrowInvalid: it is damaged.
    """
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        if isinstance(column.type, pa.DictionaryType):
            column.indices.validate(full=True)
            return _mark_dictionary(column)
        raw = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}.get(column.type)
        if raw is None:
            raise
        column = column.view(raw)
        column.validate(full=True)
        texts = [
            one if one is None else one.decode("utf-8", MARK_INVALID_BYTES)
            for one in column.to_pylist()
        ]
        return pa.array(texts, pa.string())
    return column


def _mark_dictionary(column: pa.DictionaryArray) -> pa.Array:
    """Return a dictionary-encoded column in which text that is not UTF-8 is marked.

    Raises:
        ArrowInvalid: it is damaged.
    """
    return pa.DictionaryArray.from_arrays(column.indices, _validate_column(column.dictionary))


def _is_coded(column: pa.Array) -> bool:
    """Return whether a column is dictionary-encoded or made of views."""
    views = (pa.types.is_string_view, pa.types.is_binary_view)
    return pa.types.is_dictionary(column.type) or any(one(column.type) for one in views)


def decode_column(column: pa.Array) -> pa.Array:
    """Return a column with one value for each row, without a dictionary and views."""
    if pa.types.is_dictionary(column.type):
        # Arrow decodes no dictionary of views, which polars has.
        values = decode_column(column.dictionary)
        return decode_column(values.take(column.indices))
    if pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    return column.cast(pa.binary()) if pa.types.is_binary_view(column.type) else column


def _split_rows(columns: Sequence[pa.Array], rows: int, path: Path) -> Iterator[tuple[int, int]]:
    """Return where to split rows so that each part takes a bounded number of bytes.

    Raises:
        SampleError: a value alone takes too many.
    """
    if sum(_bound_bytes(column) for column in columns) <= MAX_BATCH_BYTES:
        yield 0, rows
        return
    each = np.zeros(rows, np.int64)
    for column in columns:
        values = _measure_values(column)
        if np.max(values, initial=0) > MAX_VALUE_BYTES:
            raise SampleError(
                str(path),
                f"a value has {int(np.max(values)):,} bytes",
                f"at most {MAX_VALUE_BYTES:,} bytes",
            )
        each += values
    upto = np.cumsum(each)
    start = 0
    while start < rows:
        before = int(upto[start - 1]) if start else 0
        stop = max(int(np.searchsorted(upto, before + MAX_BATCH_BYTES, "right")), start + 1)
        yield start, stop
        start = stop


def _bound_bytes(column: pa.Array) -> int:
    """Return an upper bound of the bytes of a column, decoded."""
    if not _is_coded(column):
        return int(column.nbytes)
    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    return len(column) * int(np.max(_measure_values(values), initial=0))


def _measure_values(column: pa.Array) -> Any:
    """Return the bytes of each value of a column, or one number if all have the same."""
    if isinstance(column, pa.ExtensionArray):
        return _measure_values(column.storage)
    kind = column.type
    if pa.types.is_dictionary(kind):
        values = np.append(
            np.broadcast_to(_measure_values(column.dictionary), len(column.dictionary)), 0
        )
        return values.take(column.indices.cast(pa.int64()).fill_null(-1).to_numpy())
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, 4)
        held = views[column.offset : column.offset + len(column), 0]
        return np.where(column.is_valid().to_numpy(zero_copy_only=False), held, 0).astype(np.int64)
    if pa.types.is_null(kind) or pa.types.is_boolean(kind):
        return 1
    if pa.types.is_fixed_size_binary(kind):
        return kind.byte_width
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        return kind.bit_width // 8
    lengths: np.ndarray[Any, Any] = pc.binary_length(column).fill_null(0).to_numpy()
    return lengths.astype(np.int64)
