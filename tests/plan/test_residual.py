"""What is tested after reading: row by row and column by column alike, as told naively."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.designs import FIELDS, bounds, matches, normal, rows
from rowkey.errors import RowError
from rowkey.keys import bind_key
from rowkey.plan import ResidualFilter
from rowkey.schema import Equal, OneOf, Range, StartsWith
from strategies import fields as any_fields
from strategies import values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.schema import Bound

KEY = bind_key("".join(f"[{name}]" for name in FIELDS), FIELDS)


def column(field: Field, listed: Sequence[Any]) -> pa.Array:
    """Values as a column in the type of their field."""
    kind = field.type.build_arrow_type()
    if pa.types.is_timestamp(kind):
        return pa.array(listed, pa.int64()).cast(kind)
    return pa.array(listed, kind)


def batch(found: Sequence[Mapping[str, Any]], fields: Mapping[str, Field]) -> pa.RecordBatch:
    """Rows as columns."""
    columns = [column(field, [row[name] for row in found]) for name, field in fields.items()]
    return pa.record_batch(columns, names=list(fields))


@given(st.data())
def test_rows_and_columns_are_tested_alike(data: st.DataObject) -> None:
    """One row at a time and a batch at a time give what a naive test of each row gives."""
    asked = data.draw(bounds(KEY))
    found = data.draw(rows(KEY))
    residual = ResidualFilter(asked, asked, KEY.fields)
    expected = [matches(row, asked, set(asked)) for row in found]
    assert expected == [residual(row) for row in found]
    assert expected == residual.compute_mask(batch(found, KEY.fields)).to_pylist()
    assert bool(asked) == bool(residual)


@given(st.data())
def test_every_type_is_tested_alike_in_rows_and_columns(data: st.DataObject) -> None:
    """Whatever the type: a value of its own, a list of some, a range from one to another."""
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
    asked = data.draw(st.sampled_from(forms))
    residual = ResidualFilter([name], {name: asked}, fields)
    told = [residual(row) for row in found]
    columns = pa.record_batch([column(field, [row[name] for row in found])], names=[name])
    assert told == residual.compute_mask(columns).to_pylist()
    coded = pa.record_batch([columns.column(0).dictionary_encode()], names=[name])
    assert told == residual.compute_mask(coded).to_pylist()


NULLS: list[tuple[Any, bool]] = [
    (Equal(None), True),
    (Equal("a"), False),
    (OneOf(("a", None)), True),
    (OneOf(("a",)), False),
    (Range(low=""), False),
    (StartsWith(""), False),
]


@pytest.mark.parametrize(("bound", "expected"), NULLS)
def test_a_null_meets_nothing_but_null(bound: Any, expected: bool) -> None:
    """Absent and null alike, in rows and in columns, even in a column of nulls alone."""
    residual = ResidualFilter(["note"], {"note": bound}, KEY.fields)
    nothing = pa.record_batch([pa.nulls(1)], names=["note"])
    typed = pa.record_batch([pa.array([None], pa.string())], names=["note"])
    found = [residual({"note": None}), residual({}), *residual.compute_mask(nothing).to_pylist()]
    assert [expected] * 4 == [*found, *residual.compute_mask(typed).to_pylist()]


def test_nothing_to_test_keeps_every_row() -> None:
    """Without conditions every row is kept, and the filter says that it tests nothing."""
    residual = ResidualFilter((), {}, KEY.fields)
    row = normal(KEY, {"n": 1})
    columns = pa.record_batch([pa.array([1, 2])], names=["n"])
    assert (False, True, [True, True]) == (
        bool(residual), residual(row), residual.compute_mask(columns).to_pylist()
    )  # fmt: skip


def test_a_column_that_is_tested_must_be_there() -> None:
    """A batch without it is refused by name: no row is dropped in silence."""
    residual = ResidualFilter(["n"], {"n": Equal(1)}, KEY.fields)
    with pytest.raises(RowError, match="n: the batch lacks this column, which a condition"):
        residual.compute_mask(pa.record_batch([pa.array([1])], names=["u"]))


@pytest.mark.parametrize("kind", ["i8", "u8", "i64", "u64", "timestamp_ms"])
@pytest.mark.parametrize("column", [pa.int8(), pa.uint8(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("wanted", [-5, 7, 200, 2**63, 2**64 - 1])
def test_a_number_that_the_column_cannot_hold_is_found_nowhere(
    kind: str, column: pa.DataType, wanted: int
) -> None:
    """Masks over columns of other widths and signs say what the filter says of each row."""
    fields = bind_key("[n]", {"n": kind}).fields
    try:
        fields["n"].to_internal(wanted)
    except RowError:
        return
    values = [1, 7, 100]
    for bound in (Equal(wanted), OneOf((wanted, 7)), Range(low=wanted), Range(high=wanted)):
        residual = ResidualFilter(["n"], {"n": bound}, fields)
        mask = residual.compute_mask(pa.record_batch({"n": pa.array(values, column)}))
        assert [residual({"n": value}) for value in values] == mask.to_pylist()
