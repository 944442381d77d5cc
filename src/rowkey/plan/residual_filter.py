"""Filtering of rows by conditions that the ranges of keys do not imply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import RowError
from rowkey.schema import Bound, Bounds, Equal, OneOf, Range, StartsWith, Value

if TYPE_CHECKING:
    from rowkey.keys import Field, Row

    Test = Callable[[Any], bool]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]


class ResidualFilter:
    """Tests rows against the conditions that the key ranges of a read do not imply.

    Args:
        names: the fields whose conditions are tested, as a plan's `residual` lists them.
        bounds: what is asked of each field, in normal values.
        fields: the declared fields, by name.

    Nulls never meet a condition but `= null`, alone or among listed values.

    >>> from rowkey.keys import bind_key
    >>> fields = bind_key("[kind]", {"kind": {"type": "choice", "of": ["low", "high"]}}).fields
    >>> residual = ResidualFilter(["kind"], {"kind": Range(low="low", includes_low=False)}, fields)
    >>> residual({"kind": "high"}), residual({"kind": "low"}), residual({"kind": None})
    (True, False, False)
    """

    def __init__(self, names: Iterable[str], bounds: Bounds, fields: Mapping[str, Field]) -> None:
        self.fields = {name: fields[name] for name in names}
        self.bounds = {name: bounds[name] for name in self.fields}
        self._conditions = tuple(
            _FieldTest(self.fields[name], bound) for name, bound in self.bounds.items()
        )
        self._tests = tuple((one.field.name, one.test) for one in self._conditions)

    def __bool__(self) -> bool:
        """Return whether there are conditions to test."""
        return bool(self._tests)

    def __call__(self, row: Row) -> bool:
        """Return whether a row of normalized values meets all conditions; absent fields are null.

        Cost: 0.1 to 0.5 µs a condition.
        """
        return all(test(row.get(name)) for name, test in self._tests)

    def compute_mask(self, batch: pa.RecordBatch | pa.Table) -> pa.BooleanArray:
        """Return which rows of an Arrow batch meet all conditions.

        Args:
            batch: a column for each tested field, of normal values.

        Returns:
            An Arrow array with one Boolean for each row, without nulls.

        Raises:
            RowError: the batch lacks a column, or a value does not fit its field.

        Cost: 1 to 20 ns a row and condition; a Python test for each different value where a type
        has no numbers and is no text.
        """
        mask = np.ones(batch.num_rows, np.bool_)
        for one in self._conditions:
            mask &= one.compute_mask(_find_column(batch, one.field.name))
        return pa.array(mask)


class _FieldTest:
    """The conditions on one field, prepared to test many values.

    Args:
        bound: what is asked of it.
    """

    def __init__(self, field: Field, bound: Bound) -> None:
        self.field = field
        self.bound = bound
        self.test = _build_test(field, bound)
        self._member_array: Any = None

    def compute_mask(self, array: pa.Array) -> Mask:
        """Return which values of a column satisfy the condition."""
        if self.field.type.is_sequence and _is_arrow_comparable(array.type):
            return self._mask_texts(array)
        if pa.types.is_null(array.type):
            return _fill_mask(self.test(None), len(array))
        return self._mask_values(array)

    def _mask_texts(self, array: pa.Array) -> Mask:
        if isinstance(self.bound, OneOf) and len(self.bound.values) > len(array):
            return self._test_each(array.to_pylist())
        return _mask_text_column(self.bound, array)

    def _mask_values(self, array: pa.Array) -> Mask:
        """Return which values meet the condition, compared as numbers where possible."""
        from rowkey.keys import build_field_column

        column = build_field_column(self.field, array)
        if isinstance(column.values, np.ndarray) and column.values.dtype.kind in "iufb":
            tested = self._compare_numbers(column.values)
        else:
            tested = self._test_each(self.field.type.from_internal_batch(column.values))
        if column.codes is None:
            return tested
        return np.append(tested, self.test(None))[column.codes]  # a null has the code -1: the last

    def _test_each(self, values: Iterable[Value]) -> Mask:
        """Return which values meet the condition, tested one by one."""
        return np.fromiter(map(self.test, values), np.bool_)

    def _compare_numbers(self, numbers: Any) -> Mask:
        """Return which values meet the condition, given their internal numbers."""
        if not isinstance(self.bound, Range):
            return _mask_members(numbers, self._build_member_array(numbers))
        mask = np.ones(len(numbers), np.bool_)
        low, high = _to_internal_ends(self.field, self.bound)
        if low is not None:
            mask &= (numbers >= low) if self.bound.includes_low else (numbers > low)
        if high is not None:
            mask &= (numbers <= high) if self.bound.includes_high else (numbers < high)
        return mask

    def _build_member_array(self, numbers: Any) -> Any:
        """Return the listed values as an ascending array with the type of `numbers`."""
        if self._member_array is None or self._member_array.dtype != numbers.dtype:
            assert isinstance(self.bound, Equal | OneOf)
            listed_values = (
                (self.bound.value,) if isinstance(self.bound, Equal) else self.bound.values
            )
            to_internal = self.field.type.to_internal
            members = [to_internal(value) for value in listed_values if value is not None]
            if numbers.dtype.kind in "iu":  # no row has a value beyond the type of the column
                limits = np.iinfo(numbers.dtype)
                members = [one for one in members if limits.min <= one <= limits.max]
            self._member_array = np.sort(np.array(members, numbers.dtype))
        return self._member_array


def _find_column(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    """Return a column of an Arrow batch or table as one array.

    Raises:
        RowError: there is no such column.
    """
    index = batch.schema.get_field_index(name)
    if index < 0:
        what = "the batch has no such column, which a condition of the read needs; it has only "
        raise RowError(
            f"column {name}",
            what + ", ".join(batch.schema.names),
            remedy=f"Add the column {name} to the batch.",
        )
    column = batch.column(index)
    return column.combine_chunks() if hasattr(column, "chunks") else column


def _build_test(field: Field, bound: Bound) -> Test:
    """Return a function that tests whether a normalized value meets a bound."""
    match bound:
        case Equal(wanted):
            return lambda value: bool(value == wanted)
        case OneOf(values):
            return frozenset(values).__contains__
        case StartsWith(prefix):
            return lambda value: value is not None and value.startswith(prefix)
    assert isinstance(bound, Range)
    return _build_range_test(field, bound)


def _build_range_test(field: Field, bound: Range) -> Test:
    to_internal = field.type.to_internal
    low, high = _to_internal_ends(field, bound)
    with_low, with_high = bound.includes_low, bound.includes_high

    def test(value: Value) -> bool:
        if value is None:
            return False
        internal = to_internal(value)
        if low is not None and (internal < low or (internal == low and not with_low)):
            return False
        return high is None or internal < high or bool(internal == high and with_high)

    return test


def _to_internal_ends(field: Field, bound: Range) -> tuple[Any, Any]:
    to_internal = field.type.to_internal
    low = None if bound.low is None else to_internal(bound.low)
    return low, None if bound.high is None else to_internal(bound.high)


def _is_arrow_comparable(arrow_type: pa.DataType) -> bool:
    """Return whether Arrow compares values of a type in the order of the field."""
    return any(
        (
            pa.types.is_string(arrow_type),
            pa.types.is_large_string(arrow_type),
            pa.types.is_binary(arrow_type),
            pa.types.is_large_binary(arrow_type),
        )
    )


def _fill_mask(answer: bool, count: int) -> Mask:
    """Return a mask with the same answer for all rows."""
    return np.full(count, answer, np.bool_)


def _mask_text_column(bound: Bound, array: pa.Array) -> Mask:
    """Return which texts meet a bound; Arrow compares them by their UTF-8 bytes."""

    def build_scalar(value: Value) -> pa.Scalar:
        return pa.scalar(value, array.type)

    match bound:
        case Equal(None):
            matches = pc.is_null(array)
        case Equal(value):
            matches = pc.equal(array, build_scalar(value))
        case OneOf(values):
            matches = pc.is_in(array, pa.array(values, array.type))
        case StartsWith(prefix):
            matches = pc.starts_with(array, prefix)
        case Range(low, high, with_low, with_high):
            matches = pc.is_valid(array)
            if low is not None:
                above = pc.greater_equal if with_low else pc.greater
                matches = pc.and_(matches, above(array, build_scalar(low)))
            if high is not None:
                below = pc.less_equal if with_high else pc.less
                matches = pc.and_(matches, below(array, build_scalar(high)))
    mask: Mask = pc.fill_null(matches, False).to_numpy(zero_copy_only=False)
    return mask


def _mask_members(numbers: Any, members: Any) -> Mask:
    """Return which numbers are members of an ascending array.

    Cost: 10 to 100 ns a number, more for a longer array.
    """
    if not len(members):
        return _fill_mask(False, len(numbers))
    places = np.searchsorted(members, numbers)
    mask: Mask = members[np.minimum(places, len(members) - 1)] == numbers
    return mask
