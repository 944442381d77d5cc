"""A filter on dictionary codes, used for repeated reads, agrees with the residual filter."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import compress, count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import RowError
from rowkey.keys import ColumnBatch, bind_key
from rowkey.plan import ResidualFilter
from rowkey.schema import Equal, OneOf, Range, StartsWith
from rowkey.simulate.ranked_rows import RankedRows
from strategies import bounds_around, values
from strategies import fields as any_fields

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.schema import Bound


def build_column(field: Field, listed: Sequence[Any]) -> pa.Array:
    """Build an Arrow column in the type of a field."""
    kind = field.type.build_arrow_type()
    if pa.types.is_timestamp(kind):
        return pa.array(listed, pa.int64()).cast(kind)
    return pa.array(listed, kind)


def filter_rows(field: Field, listed: Sequence[Any], bound: Bound) -> list[bool]:
    """Return whether the residual filter accepts each value by itself."""
    residual = ResidualFilter([field.name], {field.name: bound}, {field.name: field})
    normal = [None if value is None else field.normalize(value) for value in listed]
    return [residual({field.name: value}) for value in normal]


def build_ranked_rows(field: Field, array: pa.Array) -> RankedRows:
    """Build ranked rows of one field from a column."""
    return RankedRows(ColumnBatch.from_batch(pa.record_batch([array], names=[field.name]), [field]))


@given(st.data())
def test_every_field_type_is_filtered_as_row_by_row(data: st.DataObject) -> None:
    """Values of each type, spelling and encoding are filtered as single rows."""
    fields = data.draw(any_fields())
    field = fields[data.draw(st.sampled_from(sorted(fields)))]
    pool = [*data.draw(st.lists(values(field), min_size=1, max_size=6)), None]
    if not field.nullable:
        pool.pop()
    listed = data.draw(st.lists(st.sampled_from(pool), max_size=12))
    other = data.draw(values(field)) if data.draw(st.booleans()) else pool[0]
    around = data.draw(st.sampled_from([*pool, other]))
    bound = data.draw(bounds_around(field, None if around is None else field.normalize(around)))
    residual = ResidualFilter([field.name], {field.name: bound}, {field.name: field})
    plain = build_column(field, listed)
    for array in (plain, plain.dictionary_encode()):
        accepted = filter_rows(field, listed, bound)
        found = build_ranked_rows(field, array).find_rows(residual.bounds)
        assert list(compress(count(), accepted)) == found.tolist()


@given(st.data())
def test_rows_that_meet_conditions_on_several_fields_are_kept(data: st.DataObject) -> None:
    """A row is kept if all conditions hold, and a second call gives the same."""
    fields = data.draw(any_fields())
    pools = {
        name: [
            field.normalize(v) for v in data.draw(st.lists(values(field), min_size=1, max_size=3))
        ]
        for name, field in fields.items()
    }
    rows = data.draw(
        st.lists(st.fixed_dictionaries({n: st.sampled_from(p) for n, p in pools.items()}))
    )
    bounds = {
        name: data.draw(bounds_around(field, data.draw(st.sampled_from(pools[name]))))
        for name, field in fields.items()
    }
    batch = pa.record_batch(
        [build_column(field, [row[name] for row in rows]) for name, field in fields.items()],
        names=list(fields),
    )
    held = RankedRows(ColumnBatch.from_batch(batch, list(fields.values())))
    for names in (list(fields), list(fields)[:1], []):
        residual = ResidualFilter(names, bounds, fields)
        expected = list(compress(count(), map(residual, rows)))
        assert expected == held.find_rows(residual.bounds).tolist()


FIELDS: dict[str, Any] = {
    "f": "float64",
    "d": {"type": "decimal", "precision": 6, "scale": 2, "nullable": True},
    "t": {"type": "text", "normalize": "nfc", "nullable": True},
    "c": {"type": "choice", "of": ["low", "high"]},
    "b": {"type": "bool", "nullable": True},
    "ts": "timestamp_ns",
    "u": "u64",
}
BY_HAND: list[tuple[str, list[Any], Bound, list[bool]]] = [
    ("f", [-0.0, 0.0, 1.0, float("-inf")], Equal(0.0), [True, True, False, False]),
    ("f", [-0.0, 0.0, 1.0], Range(low=0.0, includes_low=False), [False, False, True]),
    ("f", [0.0, 1.0, float("inf")], Range(low=1.0), [False, True, True]),
    ("d", [Decimal("1.00"), Decimal("1.5"), None], Equal(Decimal(1)), [True, False, False]),
    ("d", [Decimal("1.00"), Decimal("-1.5"), None], Range(high=Decimal(1)), [True, True, False]),
    ("t", ["e\u0301", "\u00e9", "e", None], StartsWith("\u00e9"), [True, True, False, False]),
    ("t", ["a", "", None], OneOf(("", None)), [False, True, True]),
    ("t", ["a", "b", None], OneOf(()), [False, False, False]),
    ("c", ["low", "high"], Range(low="low", includes_low=False), [False, True]),
    ("b", [True, False, None], Equal(None), [False, False, True]),
    ("b", [True, False, None], Equal(False), [False, True, False]),
    ("ts", [1, 1_000, 1_001], Range(1, 1_001, True, False), [True, True, False]),
    ("u", [0, 2**63, 2**64 - 1], Range(low=2**63), [False, True, True]),
    ("u", [0, 1, 2], Equal(2**64 - 1), [False, False, False]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "listed", "bound", "expected"), BY_HAND)
def test_filtered_rows_equal_those_computed_by_hand(
    name: str, listed: list[Any], bound: Bound, expected: list[bool]
) -> None:
    """Signed zeros, equal spellings, nulls, open and closed ends and unknown values are right."""
    field = bind_key(f"[{name}]", {name: FIELDS[name]}).fields[name]
    residual = ResidualFilter([name], {name: bound}, {name: field})
    assert expected == filter_rows(field, listed, bound)
    ranked_rows = build_ranked_rows(field, build_column(field, listed))
    found = ranked_rows.find_rows(residual.bounds)
    assert list(compress(count(), expected)) == found.tolist()


def test_a_field_with_only_nulls_matches_only_null() -> None:
    """A field with only nulls matches null and nothing else."""
    field = bind_key("[t]", {"t": FIELDS["t"]}).fields["t"]
    nothing = build_ranked_rows(field, pa.nulls(2, pa.string()))
    found = {
        bound: nothing.find_rows({"t": bound}).tolist()
        for bound in (Equal(None), Equal("a"), StartsWith(""), Range(low=""))
    }
    expected = {Equal(None): [0, 1], Equal("a"): [], StartsWith(""): []}
    assert {**expected, Range(low=""): []} == found


def test_nan_is_refused_in_rows_and_conditions() -> None:
    field = bind_key("[f]", {"f": "float64"}).fields["f"]
    with pytest.raises(RowError, match="NaN"):
        build_ranked_rows(field, pa.array([1.0, float("nan")]))
    with pytest.raises(RowError, match="NaN"):
        field.normalize(float("nan"))


def test_dictionary_values_that_no_row_uses_do_not_count() -> None:
    field = bind_key("[n]", {"n": {"type": "u64", "nullable": True}}).fields["n"]
    coded = pa.array([9, None, 3, 5, 2**63], pa.uint64()).dictionary_encode()
    batch = pa.record_batch([coded.take(pa.array([1, 2, 3]))], names=["n"])
    assert (3, 5) == RankedRows(ColumnBatch.from_batch(batch, [field])).find_extremes("n")
