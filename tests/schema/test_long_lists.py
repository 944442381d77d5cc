"""Long lists in a condition match as their single values do, with less work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import ReadError, RowError
from rowkey.keys import FieldType, bind_key
from rowkey.plan import ResidualFilter, bind_read, bounds
from rowkey.schema import Condition, Equal, OneOf, Parameter, Range
from strategies import fields as any_fields
from strategies import values

if TYPE_CHECKING:
    from rowkey.keys import Field

IN = Condition("f", "in", (Parameter(0),))
ODD: list[Any] = [
    0, 1, -1, 2**31, 2**64, 10**30, True, 1.5, "0", " 1", "0x1F", "+5", "1e3", "1_000", "true", "",
    "nan", "-0.0", "a", "e\u0301", "\ud800", "\0", "2021-01-01", "2021-13-01", "1.2.3.4", "::1",
    "2021-01-01T00:00:00+02:00", "DEADBEEF", "1.555", "\u0661", b"", b"\xff", None,
]  # fmt: skip
"""Values of many sorts, and texts that one type reads and another does not."""


def bind_or_refuse(ask_it: Callable[[], Any]) -> Any:
    """Return the bound with the type of each value, or the message of its refusal."""
    try:
        found = ask_it()
    except (ReadError, RowError) as problem:
        return str(problem)
    return [(type(value), value) for value in found.values]


def bind_one_by_one(field: Field, listed: Sequence[Any]) -> Any:
    """Return the bound of a list, each of whose values is bound by itself."""
    each = [
        bounds.build_bound(field, Condition("f", "=", (Parameter(0),)), [one]) for one in listed
    ]
    return OneOf(tuple(dict.fromkeys(one.value for one in each if isinstance(one, Equal))))


@given(st.data())
def test_listed_values_are_bound_as_single_values(data: st.DataObject) -> None:
    """Listed values and texts are bound as each of them is by itself."""
    fields = data.draw(any_fields())
    field = fields[data.draw(st.sampled_from(sorted(fields)))]
    some = [field.normalize(one) for one in data.draw(st.lists(values(field), max_size=6))]
    texts = [field.type.format_value(one) for one in some]
    odd = data.draw(st.lists(st.sampled_from(ODD), max_size=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "MIN_BATCH_VALUES", 1)
        for listed in (some, texts, [*some, *odd], [*texts, *odd], odd):
            expected = bind_or_refuse(partial(bind_one_by_one, field, listed))
            assert expected == bind_or_refuse(partial(bounds.build_bound, field, IN, [listed]))


@given(st.lists(st.integers(0, 40)), st.lists(st.integers(0, 40)), st.integers(0, 40))
def test_two_lists_and_a_range_are_intersected(one: list[int], other: list[int], low: int) -> None:
    """Two lists and a range are intersected, in the order of the first list."""
    fields = bind_key("[n]", {"n": "u8"}).fields
    found = bind_read("n in ? and n in ? and n > ?", "", [one, other, low], fields).bounds["n"]
    kept = tuple(n for n in dict.fromkeys(one) if n in other and n > low)
    assert (Equal(kept[0]) if len(kept) == 1 else OneOf(kept)) == found


@given(st.data(), st.booleans())
def test_batches_shorter_and_longer_than_a_list_are_filtered_equally(
    data: st.DataObject, is_long: bool
) -> None:
    """Batches shorter and longer than a list are filtered the same."""
    numbers = st.lists(st.integers(0, 30), min_size=1, max_size=5)
    listed, found = data.draw(numbers), data.draw(numbers)
    types: dict[str, tuple[str, Any]] = {
        "text": ("text", str), "u64": ("u64", lambda n: n * 2**58), "i8": ("i8", int),
        "float32": ("float32", lambda n: n / 8), "bytes": ("bytes", lambda n: bytes([n])),
        "decimal": ("decimal", int), "uuid": ("ipv4", lambda n: f"10.0.0.{n}"),
    }  # fmt: skip
    name = data.draw(st.sampled_from(sorted(types)))
    kind, make = types[name]
    words = {"type": kind} | ({"precision": 5, "scale": 1} if kind == "decimal" else {})
    field = bind_key("[f]", {"f": words}).fields["f"]
    more = range(31, 64) if is_long else ()
    wanted = tuple(dict.fromkeys(field.normalize(make(n)) for n in (*listed, *more)))
    rows = [field.normalize(make(n)) for n in found]
    residual = ResidualFilter(["f"], {"f": OneOf(wanted)}, {"f": field})
    expected = [one in wanted for one in rows]
    assert expected == [residual({"f": one}) for one in rows]
    batch = pa.record_batch([pa.array(rows, field.type.build_arrow_type())], names=["f"])
    assert expected * 2 == [
        *residual.compute_mask(batch).to_pylist(),
        *residual.compute_mask(batch).to_pylist(),
    ]


def counted_parser(monkeypatch: pytest.MonkeyPatch, kind: FieldType, verb: str) -> list[Any]:
    """Return a list to which every call of a type's method adds its value."""
    asked_of: list[Any] = []
    truth = getattr(type(kind), verb)

    def count(self: FieldType, value: Any) -> Any:
        asked_of.append(value)
        return truth(self, value)

    monkeypatch.setattr(type(kind), verb, count)
    return asked_of


def test_numbers_in_a_list_of_texts_are_parsed_in_one_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = bind_key("[n]", {"n": "u64"}).fields
    held = counted_parser(monkeypatch, fields["n"].type, "to_internal")
    found = bind_read("n in ?", "", [[str(n) for n in range(2_000)]], fields).bounds["n"]
    assert OneOf(tuple(range(2_000))) == found
    assert {int} == set(map(type, held))


def test_each_listed_value_is_prepared_once_for_all_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each listed value is prepared once, however many batches are filtered."""
    field = bind_key("[n]", {"n": "u32"}).fields["n"]
    wanted = tuple(range(0, 3_000, 3))
    residual = ResidualFilter(["n"], {"n": OneOf(wanted)}, {"n": field})
    batch = pa.record_batch([pa.array(range(9), pa.uint32())], names=["n"])
    held = counted_parser(monkeypatch, field.type, "to_internal")
    for _ in range(5):
        assert [True, False, False] * 3 == residual.compute_mask(batch).to_pylist()
    assert len(wanted) == len(held)


def test_the_ends_of_a_range_are_prepared_once_for_a_whole_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ends of a range are prepared once, not with each value of the list."""
    field = bind_key("[n]", {"n": "u32"}).fields["n"]
    held = counted_parser(monkeypatch, field.type, "to_internal")
    found = bounds.intersect_bounds(field, [OneOf(tuple(range(100))), Range(10, 12)])
    assert OneOf((10, 11, 12)) == found
    assert 102 == len(held)
