"""The values of many rows, column by column, ready to be encoded.

A column with few different values, or with nulls, is stored as codes into its values: what depends
on this field alone is then computed once per value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.errors import RowError
from rowkey.keys.base_types.strings import NULLABLE_REMEDY
from rowkey.keys.batches.byte_columns import ByteColumn, IntArray
from rowkey.keys.declared_field import Field
from rowkey.keys.dictionary import DICTIONARY_FIELD, Dictionary

MAX_VALUES_OF_A_ROW = 32
"""Values of a dictionary for each row of a batch; with more, only those that rows have are read.
Fewer are all read, as the next batch may have the same dictionary."""
PROBE_ROWS = 2_048
"""Values in the sample that decides whether a text column gets codes; codes for a column without
repeated values cost more than they save (150 ns a value against 15)."""


@dataclass(slots=True)
class FieldColumn:
    """The values of one field in a batch of rows, dictionary-encoded or one per row.

    Args:
        values: the internal forms (`FieldType.to_internal_batch`): one per row, or one per code.
        codes: for each row the index of its value, -1 for null; None if every row has its own.
        cache: results computed from `values`, by a key that identifies the computation.
        dictionary: the Arrow array that `values` were read from, if codes came with it.
    """

    declared_field: Field
    values: Any
    codes: IntArray | None = None
    cache: dict[Any, Any] = field(default_factory=dict)
    dictionary: pa.Array | None = None

    def slice(self, start: int, stop: int) -> FieldColumn:
        """Return the rows from `start` up to `stop`."""
        if self.codes is not None:
            # A block's codes are widened to what NumPy gathers by while they are in the cache.
            return self.replace_codes(self.codes[start:stop].astype(np.intp, copy=False))
        return FieldColumn(self.declared_field, self.values[start:stop])

    def take(self, rows: IntArray) -> FieldColumn:
        """Return the given rows, in their order."""
        if self.codes is not None:
            return self.replace_codes(self.codes.take(rows))
        return FieldColumn(
            self.declared_field, self.declared_field.type.take_rows(self.values, rows)
        )

    def replace_codes(self, codes: IntArray) -> FieldColumn:
        """Return the same dictionary for other rows, given as indexes into it."""
        return FieldColumn(self.declared_field, self.values, codes, self.cache, self.dictionary)

    def to_list(self) -> list[Any]:
        """Return the rows' values as normal Python values, None for null."""
        values = self.declared_field.type.from_internal_batch(self.values)
        if self.codes is None:
            return values
        values.append(None)  # what code -1 gathers
        return [values[code] for code in self.codes.tolist()]

    def to_distinct_rows(self) -> ColumnBatch:
        """Return a batch with one row for each value of the dictionary."""
        return ColumnBatch(
            {self.declared_field.name: FieldColumn(self.declared_field, self.values)},
            len(self.values),
        )


class ColumnBatch:
    """The columns of the key's fields in a batch of `row_count` rows."""

    def __init__(
        self,
        columns: Mapping[str, FieldColumn],
        row_count: int,
        salts: IntArray | None = None,
        tentative_dictionary: Dictionary | None = None,
    ) -> None:
        self.columns = dict(columns)
        self.row_count = row_count
        self.salts = salts
        self.tentative_dictionary = tentative_dictionary
        """The dictionary for encoding the rows before their values get ids, if any."""

    def __len__(self) -> int:
        return self.row_count

    @classmethod
    def from_batch(
        cls, batch: pa.RecordBatch, fields: Sequence[Field], previous: ColumnBatch | None = None
    ) -> ColumnBatch:
        """Return the columns of the given fields of an Arrow batch.

        Args:
            previous: the same fields of an earlier batch; its cached results are used again where
                this batch has the same values.

        Raises:
            RowError: the batch lacks a column, or a field has no such value.
        """
        columns = {}
        for declared_field in fields:
            index = batch.schema.get_field_index(declared_field.name)
            if index < 0:
                raise build_missing_column_error(declared_field.name, batch)
            previous_column = (
                previous.columns[declared_field.name] if previous is not None else None
            )
            columns[declared_field.name] = build_field_column(
                declared_field, batch.column(index), previous_column
            )
        return cls(columns, batch.num_rows)

    def slice(self, start: int, stop: int) -> ColumnBatch:
        """Return the rows from `start` up to `stop`."""
        stop = min(stop, self.row_count)
        columns = {name: column.slice(start, stop) for name, column in self.columns.items()}
        salts = None if self.salts is None else self.salts[start:stop]
        return ColumnBatch(columns, stop - start, salts, self.tentative_dictionary)

    def take(self, rows: IntArray) -> ColumnBatch:
        """Return the given rows, in their order."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        salts = None if self.salts is None else self.salts.take(rows)
        return ColumnBatch(columns, len(rows), salts, self.tentative_dictionary)

    def find_values(self, name: str) -> Any:
        """Return the internal forms of a field, one per row.

        Raises:
            RowError: a value is null.
        """
        column = self.columns[name]
        if column.codes is None:
            return column.values
        refuse_nulls(column.declared_field.name, column.codes >= 0)
        return column.declared_field.type.take_rows(column.values, column.codes)

    def find_salts(self, n: int) -> IntArray:
        """Return the random salts of the rows, each below n.

        Raises:
            RowError: a salt is not from 0 to n-1.
        """
        assert self.salts is not None, "build_columns asks for them"
        for extreme in (self.salts.min(), self.salts.max()) if self.row_count else ():
            if not 0 <= int(extreme) < n:
                raise RowError("argument salts", f"{extreme} is out of range", f"0..{n - 1}")
        return self.salts

    def find_nulls(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
        """Return which rows have a null in a field; None if no row has one."""
        codes = self.columns[name].codes
        missing = codes < 0 if codes is not None else None
        return missing if missing is not None and missing.any() else None

    def encode_field(
        self, name: str, key: object, encode: Callable[[ColumnBatch], ByteColumn]
    ) -> ByteColumn:
        """Return a function's bytes for each row, computed once per distinct value if possible.

        Args:
            name: the only field that the function reads.
            key: identifies the function in the cache of the field.

        Raises:
            RowError: a value is null.
        """
        column = self.columns[name]
        if column.codes is None:
            return encode(self)
        refuse_nulls(column.declared_field.name, column.codes >= 0)
        pieces: ByteColumn = self.compute_per_value(name, key, encode)
        return pieces.take(column.codes)

    def compute_per_value(self, name: str, key: object, make: Callable[[ColumnBatch], Any]) -> Any:
        """Return a function's result for each value of a dictionary-encoded field, cached.

        Args:
            key: identifies the function in the cache of the field.
            make: the function; its argument is a batch with one row for each value.
        """
        column = self.columns[name]
        if key not in column.cache:
            column.cache[key] = make(column.to_distinct_rows())
        return column.cache[key]

    def has_codes(self, name: str) -> bool:
        """Return whether the column of a field is dictionary-encoded."""
        return self.columns[name].codes is not None

    def iterate_rows(self, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Yield the rows as mappings of Python values."""
        lists = [self.columns[name].to_list() for name in names]
        if self.tentative_dictionary is not None:
            names, lists = (
                [*names, DICTIONARY_FIELD],
                [*lists, [self.tentative_dictionary] * self.row_count],
            )
        for values in zip(*lists, strict=True) if lists else ((),) * self.row_count:
            yield dict(zip(names, values, strict=True))


def build_missing_column_error(name: str, batch: pa.RecordBatch) -> RowError:
    """Return the error of a batch that lacks the column of a field which every row needs."""
    names = ", ".join(batch.schema.names[:12]) or "no columns"
    remedy = f"Add a column {name} to the batch, or rename the one that holds the values."
    what = f"the batch has no such column; it has {names}"
    return RowError(f"column {name}", what, "a column of this name", remedy)


def refuse_nulls(name: str, valid: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
    """Raise if a column of a field that is not nullable contains a null.

    Raises:
        RowError: there is a null.
    """
    if not valid.all():
        raise RowError(f"field {name}", "the value is missing", "a value", NULLABLE_REMEDY)


def build_field_column(
    declared_field: Field, array: pa.Array, previous: FieldColumn | None = None
) -> FieldColumn:
    """Return the column of a field from an Arrow array of any type with suitable values.

    Args:
        previous: a column of an earlier batch; its values are used again if the array is the same.

    Raises:
        RowError: the field has no such value.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_null(array.type):
        array = array.cast(declared_field.type.build_arrow_type())
    array = encode_repeated_texts(_replace_views(array))
    if isinstance(array.type, pa.DictionaryType):
        if previous is not None and _is_same_array(previous.dictionary, array.dictionary):
            return previous.replace_codes(_read_codes(array))
        return _build_coded_column(declared_field, array)
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        codes = np.where(valid, np.cumsum(valid) - 1, -1)
        return FieldColumn(
            declared_field, declared_field.to_internal_batch(array.drop_null()), codes
        )
    return FieldColumn(declared_field, declared_field.to_internal_batch(array))


def _replace_views(array: pa.Array) -> pa.Array:
    """Return the same values without string views, which few Arrow functions accept."""
    arrow_type = array.type
    if isinstance(arrow_type, pa.DictionaryType):
        values = _replace_views(array.dictionary)
        if values.type == arrow_type.value_type:
            return array
        return pa.DictionaryArray.from_arrays(array.indices, values)
    if pa.types.is_string_view(arrow_type):
        return array.cast(pa.string())
    return array.cast(pa.binary()) if pa.types.is_binary_view(arrow_type) else array


def _build_coded_column(declared_field: Field, array: pa.DictionaryArray) -> FieldColumn:
    """Return a column from a dictionary array, whose unused values need not be valid."""
    codes, dictionary = _read_codes(array), array.dictionary
    has_many_unused = len(dictionary) > MAX_VALUES_OF_A_ROW * len(codes)
    if not dictionary.null_count and not has_many_unused:
        try:
            return FieldColumn(
                declared_field,
                declared_field.to_internal_batch(dictionary),
                codes,
                dictionary=dictionary,
            )
        except RowError:  # the value may be one that no row has
            pass
    is_used = _mark_used_values(codes, len(dictionary)) & dictionary.is_valid().to_numpy(
        zero_copy_only=False
    )
    new_codes = np.append(np.where(is_used, np.cumsum(is_used) - 1, -1), -1)
    codes, dictionary = new_codes.take(codes), dictionary.filter(pa.array(is_used))
    return FieldColumn(declared_field, declared_field.to_internal_batch(dictionary), codes)


def _read_codes(array: pa.DictionaryArray) -> IntArray:
    """Return each row's index into the dictionary, -1 for null."""
    indices = array.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(-1)  # Polars has unsigned ones
    codes: IntArray = indices.to_numpy()
    return codes


def encode_repeated_texts(array: pa.Array) -> pa.Array:
    """Return a column with codes if it has text with few different values; else as it is."""
    is_repeated = _is_text_type(array.type) and _has_few_values(array)
    return array.dictionary_encode() if is_repeated else array


def _is_same_array(first: pa.Array | None, second: pa.Array) -> bool:
    """Return whether two arrays are the same memory with the same type, offset and length."""
    if first is None or (first.type, first.offset, len(first)) != (
        second.type,
        second.offset,
        len(second),
    ):
        return False
    return _list_buffer_addresses(first) == _list_buffer_addresses(second)


def _list_buffer_addresses(array: pa.Array) -> list[int | None]:
    return [None if part is None else part.address for part in array.buffers()]


def _mark_used_values(codes: IntArray, count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which of `count` values occur in a row; filtered tables keep unused values."""
    used = np.zeros(count + 1, np.bool_)
    used[codes] = True  # -1, which stands for null, marks the one after the last
    return used[:-1]


def _is_text_type(arrow_type: pa.DataType) -> bool:
    return any(
        (
            pa.types.is_string(arrow_type),
            pa.types.is_large_string(arrow_type),
            pa.types.is_binary(arrow_type),
            pa.types.is_large_binary(arrow_type),
        )
    )


def _has_few_values(array: pa.Array) -> bool:
    """Return whether a text column has few values, judged by the repeats in a sample.

    Among m draws of D equally likely values about m²/2D repeat an earlier one.
    """
    if len(array) < PROBE_ROWS:
        return False
    probe = array.take(pa.array(np.linspace(0, len(array) - 1, PROBE_ROWS).astype(np.int64)))
    repeats = PROBE_ROWS - len(probe.unique())
    return repeats * len(array) > 8 * PROBE_ROWS * PROBE_ROWS // 2


def encode_plain_values(declared_field: Field, values: Any) -> ByteColumn:
    """Return each value's bytes without terminator or bias, as `digest` hashes them."""
    return declared_field.type.build_plain_codec().pack_batch(values)
