"""What is tested of each row after reading: the conditions that no range of keys implies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import RowError
from rowkey.schema import Equal, OneOf, Range, StartsWith

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    import pyarrow as pa

    from rowkey.keys import Field, Row
    from rowkey.schema import Bound, Bounds, Value

    Test = Callable[[Any], bool]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]


class Residual:
    """Tells which rows meet the conditions on some fields; true of every row if there are none.

    Args:
        names: the fields whose conditions are tested, as a plan's `residual` lists them.
        bounds: what is asked of each field, in normal values.
        fields: the declared fields, by name.

    Nulls never meet a condition but `= null`, alone or among listed values.

    >>> from rowkey.keys import bind_key
    >>> fields = bind_key("[kind]", {"kind": {"type": "choice", "of": ["low", "high"]}}).fields
    >>> residual = Residual(["kind"], {"kind": Range(low="low", with_low=False)}, fields)
    >>> residual({"kind": "high"}), residual({"kind": "low"}), residual({"kind": None})
    (True, False, False)
    """

    def __init__(self, names: Iterable[str], bounds: Bounds, fields: Mapping[str, Field]) -> None:
        self.fields = {name: fields[name] for name in names}
        self.bounds = {name: bounds[name] for name in self.fields}
        self._conditions = tuple(
            _Condition(self.fields[name], bound) for name, bound in self.bounds.items()
        )
        self._tests = tuple((one.field.name, one.test) for one in self._conditions)

    def __bool__(self) -> bool:
        """Whether anything is tested at all."""
        return bool(self._tests)

    def __call__(self, row: Row) -> bool:
        """Whether a row of normal values meets all conditions; what it lacks is null.

        Cost: 0.1 to 0.5 µs a condition.
        """
        return all(test(row.get(name)) for name, test in self._tests)

    def mask(self, batch: pa.RecordBatch | pa.Table) -> pa.BooleanArray:
        """Which rows of a batch meet all conditions: the same as the call says of each.

        Args:
            batch: a column for each tested field, of normal values.

        Returns:
            An Arrow array of one truth value a row, without nulls.

        Raises:
            RowError: the batch lacks a column, or a value is none of its field.

        Cost: 1 to 20 ns a row and condition; a Python test for each different value where a type
        has no numbers and is no text.
        """
        import numpy as np
        import pyarrow as pa

        found = np.ones(batch.num_rows, np.bool_)
        for one in self._conditions:
            found &= one.mask(_column(batch, one.field.name))
        return pa.array(found)


class _Condition:
    """What is asked of one field, made ready for many rows.

    Args:
        field: the field.
        bound: what is asked of it.
    """

    def __init__(self, field: Field, bound: Bound) -> None:
        self.field = field
        self.bound = bound
        self.test = _test_of(field, bound)
        self._wanted: Any = None

    def mask(self, array: pa.Array) -> Mask:
        """Which values of a column satisfy it."""
        import pyarrow as pa

        if self.field.type.is_sequence and _is_plain(array.type):
            return self._masked_texts(array)
        if pa.types.is_null(array.type):
            return _repeated(self.test(None), len(array))
        return self._masked_values(array)

    def _masked_texts(self, array: pa.Array) -> Mask:
        """Which texts satisfy it; of a longer list than the column, no table is made each time."""
        if isinstance(self.bound, OneOf) and len(self.bound.values) > len(array):
            return self._tested(array.to_pylist())
        return _masked_text(self.bound, array)

    def _masked_values(self, array: pa.Array) -> Mask:
        """Which values satisfy it: as numbers where their type is held so, else one by one."""
        import numpy as np

        from rowkey.keys import batch_column

        column = batch_column(self.field, array)
        if isinstance(column.values, np.ndarray) and column.values.dtype.kind in "iufb":
            tested = self._compared(column.values)
        else:
            tested = self._tested(self.field.type.listed(column.values))
        if column.codes is None:
            return tested
        return np.append(tested, self.test(None))[column.codes]  # a null has the code -1: the last

    def _tested(self, values: Iterable[Value]) -> Mask:
        import numpy as np

        return np.fromiter(map(self.test, values), np.bool_)

    def _compared(self, held: Any) -> Mask:
        """Which held numbers satisfy it."""
        import numpy as np

        if not isinstance(self.bound, Range):
            return _among(held, self._listed(held))
        found = np.ones(len(held), np.bool_)
        low, high = _ends(self.field, self.bound)
        if low is not None:
            found &= (held >= low) if self.bound.with_low else (held > low)
        if high is not None:
            found &= (held <= high) if self.bound.with_high else (held < high)
        return found

    def _listed(self, held: Any) -> Any:
        """The listed values as an array of the same sort as held numbers, ascending."""
        import numpy as np

        if self._wanted is None or self._wanted.dtype != held.dtype:
            assert isinstance(self.bound, Equal | OneOf)
            given = (self.bound.value,) if isinstance(self.bound, Equal) else self.bound.values
            hold = self.field.type.hold
            wanted = [hold(value) for value in given if value is not None]
            self._wanted = np.sort(np.array(wanted, held.dtype))
        return self._wanted


def _column(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    index = batch.schema.get_field_index(name)
    if index < 0:
        names = ", ".join(batch.schema.names)
        raise RowError(name, "the batch has no such column, but it is tested", names)
    column = batch.column(index)
    return column.combine_chunks() if hasattr(column, "chunks") else column


def _test_of(field: Field, bound: Bound) -> Test:
    """A bound as a function of a normal value."""
    match bound:
        case Equal(wanted):
            return lambda value: bool(value == wanted)
        case OneOf(values):
            return frozenset(values).__contains__
        case StartsWith(prefix):
            return lambda value: value is not None and value.startswith(prefix)
    assert isinstance(bound, Range)
    return _within(field, bound)


def _within(field: Field, bound: Range) -> Test:
    """Whether a value lies in a range, in the order of its type."""
    hold = field.type.hold
    low, high = _ends(field, bound)
    with_low, with_high = bound.with_low, bound.with_high

    def test(value: Value) -> bool:
        if value is None:
            return False
        held = hold(value)
        if low is not None and (held < low or (held == low and not with_low)):
            return False
        return high is None or held < high or bool(held == high and with_high)

    return test


def _ends(field: Field, bound: Range) -> tuple[Any, Any]:
    """The ends of a range in held form."""
    hold = field.type.hold
    low = None if bound.low is None else hold(bound.low)
    return low, None if bound.high is None else hold(bound.high)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether Arrow compares a column as text and bytes compare."""
    import pyarrow as pa

    return any(
        (
            pa.types.is_string(kind),
            pa.types.is_large_string(kind),
            pa.types.is_binary(kind),
            pa.types.is_large_binary(kind),
        )
    )


def _repeated(answer: bool, count: int) -> Mask:
    import numpy as np

    return np.full(count, answer, np.bool_)


def _masked_text(bound: Bound, array: pa.Array) -> Mask:
    """Which texts satisfy a bound; Arrow compares them by their bytes, which is by code point."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def one(value: Value) -> pa.Scalar:
        return pa.scalar(value, array.type)

    match bound:
        case Equal(None):
            found = pc.is_null(array)
        case Equal(value):
            found = pc.equal(array, one(value))
        case OneOf(values):
            found = pc.is_in(array, pa.array(values, array.type))
        case StartsWith(prefix):
            found = pc.starts_with(array, prefix)
        case Range(low, high, with_low, with_high):
            found = pc.is_valid(array)
            if low is not None:
                above = pc.greater_equal if with_low else pc.greater
                found = pc.and_(found, above(array, one(low)))
            if high is not None:
                below = pc.less_equal if with_high else pc.less
                found = pc.and_(found, below(array, one(high)))
    mask: Mask = pc.fill_null(found, False).to_numpy(zero_copy_only=False)
    return mask


def _among(held: Any, wanted: Any) -> Mask:
    """Which numbers are among others, which ascend.

    Cost: 10 to 100 ns a number, by how many others there are.
    """
    import numpy as np

    if not len(wanted):
        return _repeated(False, len(held))
    places = np.searchsorted(wanted, held)
    found: Mask = wanted[np.minimum(places, len(wanted) - 1)] == held
    return found
