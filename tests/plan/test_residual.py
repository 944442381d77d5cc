"""The residual filter gives the same result for rows, for columns and as a plain check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.random_keys import FIELDS, bounds, normalize_row, rows, satisfies_bounds
from rowkey.errors import RowError
from rowkey.keys import bind_key
from rowkey.plan import ResidualFilter
from rowkey.schema import Equal, OneOf, Range, StartsWith
from strategies import fields as any_fields
from strategies import values

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.schema import Bound

KEY = bind_key("".join(f"[{name}]" for name in FIELDS), FIELDS)


def build_column(field: Field, listed: Sequence[Any]) -> pa.Array:
    """Build an Arrow column in the type of a field."""
    field_type = field.type.build_arrow_type()
    if pa.types.is_timestamp(field_type):
        return pa.array(listed, pa.int64()).cast(field_type)
    return pa.array(listed, field_type)


def build_batch(found: Sequence[Mapping[str, Any]], fields: Mapping[str, Field]) -> pa.RecordBatch:
    """Build an Arrow batch of rows."""
    columns = [build_column(field, [row[name] for row in found]) for name, field in fields.items()]
    return pa.record_batch(columns, names=list(fields))


@given(st.data())
def test_rows_and_columns_are_filtered_equally(data: st.DataObject) -> None:
    """Filtering single rows and batches gives what a plain check of each row gives."""
    conditions = data.draw(bounds(KEY))
    found = data.draw(rows(KEY))
    residual = ResidualFilter(conditions, conditions, KEY.fields)
    expected = [satisfies_bounds(row, conditions, set(conditions)) for row in found]
    assert expected == [residual(row) for row in found]
    assert expected == residual.compute_mask(build_batch(found, KEY.fields)).to_pylist()
    assert bool(conditions) == bool(residual)


@given(st.data())
def test_every_field_type_is_filtered_equally_in_rows_and_columns(data: st.DataObject) -> None:
    """Every field type is filtered by a value, a list and a range."""
    fields = data.draw(any_fields())
    name = data.draw(st.sampled_from(sorted(fields)))
    field = fields[name]
    few = st.lists(values(field).map(field.normalize), min_size=1, max_size=6)
    pool = [*data.draw(few), *([None] if field.nullable else [])]
    found = [{name: value} for value in data.draw(st.lists(st.sampled_from(pool), max_size=12))]
    present = [value for value in pool if value is not None]
    low, high = data.draw(st.sampled_from(present)), data.draw(st.sampled_from(present))
    ranged = Range(low, high, data.draw(st.booleans()), data.draw(st.booleans()))
    forms: list[Bound] = [Equal(pool[-1]), OneOf(tuple(pool[::2])), ranged]
    conditions = data.draw(st.sampled_from(forms))
    residual = ResidualFilter([name], {name: conditions}, fields)
    expected = [residual(row) for row in found]
    columns = pa.record_batch([build_column(field, [row[name] for row in found])], names=[name])
    assert expected == residual.compute_mask(columns).to_pylist()
    coded = pa.record_batch([columns.column(0).dictionary_encode()], names=[name])
    assert expected == residual.compute_mask(coded).to_pylist()


BOUNDS_OF_NULL: list[tuple[Any, bool]] = [
    (Equal(None), True),
    (Equal("a"), False),
    (OneOf(("a", None)), True),
    (OneOf(("a",)), False),
    (Range(low=""), False),
    (StartsWith(""), False),
]


@pytest.mark.parametrize(("bound", "expected"), BOUNDS_OF_NULL)
def test_only_a_condition_on_null_matches_a_missing_value(bound: Any, expected: bool) -> None:
    """A missing value and a null are the same, in rows and in columns of any type."""
    residual = ResidualFilter(["note"], {"note": bound}, KEY.fields)
    nothing = pa.record_batch([pa.nulls(1)], names=["note"])
    typed = pa.record_batch([pa.array([None], pa.string())], names=["note"])
    found = [residual({"note": None}), residual({}), *residual.compute_mask(nothing).to_pylist()]
    assert [expected] * 4 == [*found, *residual.compute_mask(typed).to_pylist()]


def test_a_filter_without_conditions_keeps_every_row() -> None:
    """A filter without conditions is false and keeps all rows."""
    residual = ResidualFilter((), {}, KEY.fields)
    row = normalize_row(KEY, {"n": 1})
    columns = pa.record_batch([pa.array([1, 2])], names=["n"])
    assert (False, True, [True, True]) == (
        bool(residual), residual(row), residual.compute_mask(columns).to_pylist()
    )  # fmt: skip


def test_a_batch_without_the_column_of_a_condition_is_refused() -> None:
    """A batch without the column of a condition is refused with the name of the column."""
    residual = ResidualFilter(["n"], {"n": Equal(1)}, KEY.fields)
    with pytest.raises(RowError, match="n: the batch has no such column, which a condition"):
        residual.compute_mask(pa.record_batch([pa.array([1])], names=["u"]))


@pytest.mark.parametrize("field_type", ["i8", "u8", "i64", "u64", "timestamp_ms"])
@pytest.mark.parametrize("column", [pa.int8(), pa.uint8(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("number", [-5, 7, 200, 2**63, 2**64 - 1])
def test_a_number_out_of_the_range_of_a_column_matches_as_in_rows(
    field_type: str, column: pa.DataType, number: int
) -> None:
    """Columns of other widths and signs are filtered as single rows are."""
    fields = bind_key("[n]", {"n": field_type}).fields
    try:
        fields["n"].to_internal(number)
    except RowError:
        return
    values = [1, 7, 100]
    for bound in (Equal(number), OneOf((number, 7)), Range(low=number), Range(high=number)):
        residual = ResidualFilter(["n"], {"n": bound}, fields)
        mask = residual.compute_mask(pa.record_batch({"n": pa.array(values, column)}))
        assert [residual({"n": value}) for value in values] == mask.to_pylist()
