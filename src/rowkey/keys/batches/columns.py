"""The values of many rows, column by column, ready to be encoded.

A column of few different values, or one with nulls, is kept as codes into its values: everything
that one field decides is then computed once per value, and gathered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rowkey.errors import RowError
from rowkey.keys.batches.pieces import Ints, Pieces, joined
from rowkey.keys.dictionary import IDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rowkey.keys.contract import Part, Row
    from rowkey.keys.dictionary import Dictionary
    from rowkey.keys.parts.field import Field

PROBE = 2_048
"""Values looked at before a text column is coded; coding one that never repeats would cost more
than it saves (150 ns a value against 15)."""


@dataclass(slots=True)
class Column:
    """One field's values.

    Args:
        declared: the field.
        values: the values as the type holds them (`FieldType.physical`): one per row, or one per
            code.
        codes: for each row the index of its value, -1 for null; None if every row has its own.
        made: what was computed from `values`, by what made it.
        dictionary: the Arrow array that `values` were read from, if codes came with it.
    """

    declared: Field
    values: Any
    codes: Ints | None = None
    made: dict[Any, Any] = field(default_factory=dict)
    dictionary: pa.Array | None = None

    def slice(self, start: int, stop: int) -> Column:
        """The rows from `start` up to `stop`."""
        if self.codes is not None:
            # A block's codes are widened to what NumPy gathers by while they are in the cache.
            return self.with_codes(self.codes[start:stop].astype(np.intp, copy=False))
        return Column(self.declared, self.values[start:stop])

    def take(self, rows: Ints) -> Column:
        """The given rows, in their order."""
        if self.codes is not None:
            return self.with_codes(self.codes.take(rows))
        return Column(self.declared, self.declared.type.taken(self.values, rows))

    def with_codes(self, codes: Ints) -> Column:
        """The same values under other codes; what was computed of them is shared."""
        return Column(self.declared, self.values, codes, self.made, self.dictionary)

    def listed(self) -> list[Any]:
        """The rows' values as the field's normal Python values, None for null."""
        values = self.declared.type.listed(self.values)
        if self.codes is None:
            return values
        values.append(None)  # what code -1 gathers
        return [values[code] for code in self.codes.tolist()]

    def distinct(self) -> Columns:
        """The values alone, each as a row of its own."""
        return Columns({self.declared.name: Column(self.declared, self.values)}, len(self.values))


class Columns:
    """Some fields of `count` rows."""

    def __init__(
        self,
        columns: Mapping[str, Column],
        count: int,
        salts: Ints | None = None,
        trial: Dictionary | None = None,
    ) -> None:
        self.columns = dict(columns)
        self.count = count
        self.salts = salts
        self.trial = trial
        """The dictionary that the rows are tried with, if they are."""

    def __len__(self) -> int:
        return self.count

    @classmethod
    def of(
        cls, batch: pa.RecordBatch, fields: Sequence[Field], before: Columns | None = None
    ) -> Columns:
        """The given fields of a batch.

        Args:
            batch: the rows.
            fields: the fields wanted.
            before: the same fields of an earlier batch: what was computed of its coded values is
                used again where this batch has the same.

        Raises:
            RowError: the batch lacks a column, or a value cannot be what its field declares.
        """
        columns = {}
        for declared in fields:
            index = batch.schema.get_field_index(declared.name)
            if index < 0:
                raise RowError(
                    declared.name, "the batch has no such column", str(batch.schema.names)
                )
            earlier = before.columns[declared.name] if before is not None else None
            columns[declared.name] = batch_column(declared, batch.column(index), earlier)
        return cls(columns, batch.num_rows)

    def slice(self, start: int, stop: int) -> Columns:
        """The rows from `start` up to `stop`."""
        stop = min(stop, self.count)
        sliced = {name: column.slice(start, stop) for name, column in self.columns.items()}
        salts = None if self.salts is None else self.salts[start:stop]
        return Columns(sliced, stop - start, salts, self.trial)

    def take(self, rows: Ints) -> Columns:
        """The given rows, in their order."""
        taken = {name: column.take(rows) for name, column in self.columns.items()}
        salts = None if self.salts is None else self.salts.take(rows)
        return Columns(taken, len(rows), salts, self.trial)

    def values(self, name: str) -> Any:
        """The values of a field, one per row, as its type holds them.

        Raises:
            RowError: a value is null.
        """
        column = self.columns[name]
        if column.codes is None:
            return column.values
        self._refuse_nulls(column)
        return column.declared.type.taken(column.values, column.codes)

    def chance(self, n: int) -> Ints:
        """The random salts of the rows, each below n.

        Raises:
            RowError: salts were given that are not.
        """
        assert self.salts is not None, "a salted key draws its salts first"
        for extreme in (self.salts.min(), self.salts.max()) if self.count else ():
            if not 0 <= int(extreme) < n:
                raise RowError("salt", f"{extreme} is no salt", f"0..{n - 1}")
        return self.salts

    def nulls(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
        """Where a field is null; None if it never is."""
        codes = self.columns[name].codes
        missing = codes < 0 if codes is not None else None
        return missing if missing is not None and missing.any() else None

    def once(self, *parts: Part) -> Pieces:
        """The joined pieces of parts of one field, computed once per different value."""
        column = self.columns[parts[0].fields[0]]
        if column.codes is None:
            return joined([part.batch(self) for part in parts])
        self._refuse_nulls(column)
        return self.distinct_pieces(*parts).take(column.codes)

    def distinct_pieces(self, *parts: Part) -> Pieces:
        """The joined pieces of parts of one coded field, one for each of its values."""
        pieces: Pieces = self.per_value(
            parts[0].fields[0],
            tuple(map(id, parts)),
            lambda distinct: joined([part.batch(distinct) for part in parts]),
        )
        return pieces

    def per_value(self, name: str, key: object, make: Callable[[Columns], Any]) -> Any:
        """What `make` gives for the different values of a coded field, computed once.

        Args:
            name: the field.
            key: what tells this from all else that is computed of the field.
            make: computes it, from the values as rows of their own.
        """
        column = self.columns[name]
        if key not in column.made:
            column.made[key] = make(column.distinct())
        return column.made[key]

    def is_coded(self, name: str) -> bool:
        """Whether a field's values are kept as codes."""
        return self.columns[name].codes is not None

    def rows(self, names: Sequence[str]) -> Iterator[Row]:
        """The rows as mappings of Python values."""
        lists = [self.columns[name].listed() for name in names]
        if self.trial is not None:
            names, lists = [*names, IDS], [*lists, [self.trial] * self.count]
        for values in zip(*lists, strict=True) if lists else ((),) * self.count:
            yield dict(zip(names, values, strict=True))

    def _refuse_nulls(self, column: Column) -> None:
        assert column.codes is not None
        if len(column.codes) and int(column.codes.min()) < 0:
            row = int(np.argmin(column.codes))
            raise RowError(
                column.declared.name,
                f"row {row} has no value",
                remedy="Declare the field nullable, or leave the row out.",
            )


def batch_column(declared: Field, array: pa.Array, before: Column | None = None) -> Column:
    """A field's column from an Arrow array of any type its values can come in.

    Args:
        declared: the field.
        array: the values.
        before: a column of an earlier batch; its values serve again if they are the same array.

    Raises:
        RowError: a value cannot be what the field declares.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    array = _without_views(array)
    if _is_text(array.type) and _repeats(array):
        array = array.dictionary_encode()
    if isinstance(array.type, pa.DictionaryType):
        if before is not None and _is_same(before.dictionary, array.dictionary):
            return before.with_codes(_codes(array))
        return _coded(declared, array)
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        codes = np.where(valid, np.cumsum(valid) - 1, -1)
        return Column(declared, declared.physical(array.drop_null()), codes)
    return Column(declared, declared.physical(array))


def _without_views(array: pa.Array) -> pa.Array:
    """Return the same values without views, which few of Arrow's functions take."""
    kind = array.type
    if isinstance(kind, pa.DictionaryType):
        values = _without_views(array.dictionary)
        if values.type == kind.value_type:
            return array
        return pa.DictionaryArray.from_arrays(array.indices, values)
    if pa.types.is_string_view(kind):
        return array.cast(pa.string())
    return array.cast(pa.binary()) if pa.types.is_binary_view(kind) else array


def _coded(declared: Field, array: pa.DictionaryArray) -> Column:
    codes, dictionary = _codes(array), array.dictionary
    if not dictionary.null_count:
        try:
            return Column(declared, declared.physical(dictionary), codes, dictionary=dictionary)
        except RowError:  # perhaps of a value that no row has, which is nobody's mistake
            pass
    kept = _used(codes, len(dictionary)) & dictionary.is_valid().to_numpy(zero_copy_only=False)
    renumbered = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    codes, dictionary = renumbered.take(codes), dictionary.filter(pa.array(kept))
    return Column(declared, declared.physical(dictionary), codes)


def _codes(array: pa.DictionaryArray) -> Ints:
    """Each row's index into the dictionary, -1 for null."""
    indices = array.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(-1)  # Polars has unsigned ones
    codes: Ints = indices.to_numpy()
    return codes


def _is_same(one: pa.Array | None, other: pa.Array) -> bool:
    """Whether two arrays are one: the same memory, seen the same way."""
    if one is None or (one.type, one.offset, len(one)) != (other.type, other.offset, len(other)):
        return False
    return _addresses(one) == _addresses(other)


def _addresses(array: pa.Array) -> list[int | None]:
    return [None if part is None else part.address for part in array.buffers()]


def _used(codes: Ints, count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which of `count` values some row has; what a filtered table lost is not looked at."""
    used = np.zeros(count + 1, np.bool_)
    used[codes] = True  # -1, which stands for null, marks the one behind the last
    return used[:-1]


def _is_text(kind: pa.DataType) -> bool:
    return any(
        (
            pa.types.is_string(kind),
            pa.types.is_large_string(kind),
            pa.types.is_binary(kind),
            pa.types.is_large_binary(kind),
        )
    )


def _repeats(array: pa.Array) -> bool:
    """Whether a text column holds few values, judged by how often a spread sample repeats itself.

    Among m draws of D equally likely values about m²/2D repeat an earlier one.
    """
    if len(array) < PROBE:
        return False
    probe = array.take(pa.array(np.linspace(0, len(array) - 1, PROBE).astype(np.int64)))
    repeats = PROBE - len(probe.unique())
    return repeats * len(array) > 8 * PROBE * PROBE // 2


def own_pieces(declared: Field, values: Any) -> Pieces:
    """The own bytes of held values, such as `digest` takes."""
    return declared.type.own().pack_batch(values)
