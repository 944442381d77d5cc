"""Conditions and orders are bound to fields, and all their mistakes are reported at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pytest

from plan.random_keys import FIELDS
from rowkey.errors import ReadError
from rowkey.keys import bind_key
from rowkey.plan import BoundRead, bind_read
from rowkey.schema import Condition, Equal, OneOf, Ordering, Parameter, Range, StartsWith

KEY = bind_key("".join(f"[{name}]" for name in FIELDS), FIELDS)


def bind_text(
    where: str | Sequence[Condition],
    order: str = "",
    values: Sequence[Any] | Mapping[Any, Any] = (),
) -> BoundRead:
    """Bind a read of conditions and order to the fields."""
    return bind_read(where, order, values, KEY.fields)


def test_parameters_are_bound_by_position_and_by_name() -> None:
    """A read may have question marks, names, or both."""
    by_place = bind_text("host = ? and ts >= ?", "ts desc", ("a", 60))
    by_name = bind_text("host = :host and ts >= :since", "ts desc", {"host": "a", "since": 60})
    mixed = bind_text("host = ? and ts >= :since", "ts desc", {0: "a", "since": 60})
    expected = BoundRead(
        {"host": Equal("a"), "ts": Range(low=60)}, (Ordering("ts", descending=True),)
    )
    assert [expected] * 3 == [by_place, by_name, mixed]


@pytest.mark.parametrize(
    ("where", "values", "expected"),
    [
        ("", (), {}),
        ("n in ?", ([2, 1, 2],), {"n": OneOf((2, 1))}),
        ("n in ?", ((),), {"n": OneOf(())}),
        ("n in ?", ({3},), {"n": OneOf((3,))}),
        ("n in (?, ?)", (2, 1), {"n": OneOf((2, 1))}),
        ("note = ?", (None,), {"note": Equal(None)}),
        ("note in ?", ([None, "a"],), {"note": OneOf((None, "a"))}),
        ("day between ? and '2024-02-01'", (date(2024, 1, 1),),
         {"day": Range(date(2024, 1, 1), date(2024, 2, 1))}),
        ("ts >= '1970-01-01T00:01:00Z'", (), {"ts": Range(low=60)}),
        ("n > ? and n <= ? and n <= 7", (1, 9), {"n": Range(1, 7, includes_low=False)}),
        ("host starts with ? and host starts with 'ab'", ("a",), {"host": StartsWith("ab")}),
        ("host = ? and host in ?", ("a", ["b", "c"]), {"host": OneOf(())}),
        ("n >= 5 and n < 3", (), {"n": Range(5, 3, includes_high=False)}),
    ],
)  # fmt: skip
def test_several_conditions_on_a_field_become_one_bound(
    where: str, values: tuple[Any, ...], expected: dict[str, Any]
) -> None:
    """Several conditions on a field are merged, also those that no value satisfies."""
    assert expected == bind_text(where, "", values).bounds


def test_condition_and_ordering_objects_mean_the_same_as_text() -> None:
    conditions = [Condition("host", "=", ("a",)), Condition("n", ">=", (Parameter(0),))]
    order = (Ordering("n"),)
    expected = bind_text("host = 'a' and n >= ?", "n", (1,))
    assert expected == bind_read(conditions, order, (1,), KEY.fields)


def test_only_the_first_mention_of_a_field_in_an_order_counts() -> None:
    """An order uses only the first mention of a field."""
    found = bind_text("", "ts desc, n, ts asc, n desc").order
    assert ["ts desc", "n"] == [str(one) for one in found]


INVALID_READS: list[tuple[str, str, Any, list[str]]] = [
    ("host = ? and", "", ("a",), ["where"]),
    ("host = ?", "ts downwards", ("a",), ["order"]),
    ("hots = ? and n = 1", "tss", ("a",), ["where[0]", "order[0]"]),
    ("n = 1 and ts starts with ?", "", (1,), ["where[1]"]),
    ("host = ? and n = ?", "", ("a",), ["value of ? number 2"]),
    ("host = ?", "", ("a", "b", "c"), ["value of ? number 2", "value of ? number 3"]),
    ("host = :host", "", {"hots": "a"}, ["value of :host", "value of :hots"]),
    ("n = ? and ts = ? and f > ?", "", ("x", 1.5, None), ["where[0]", "where[1]", "where[2]"]),
    ("kind = ? and note < ?", "hots", ("fatal", None), ["order[0]", "where[0]", "where[1]"]),
    ("host starts with ? and host > ?", "", ("a", "b"), ["where"]),
    ("", "", ("a",), ["value of ? number 1"]),
]


@pytest.mark.parametrize(("where", "order", "values", "paths"), INVALID_READS)
def test_all_mistakes_of_a_read_are_reported_at_once(
    where: str, order: str, values: Any, paths: list[str]
) -> None:
    """Each mistake names its condition, ordering or value."""
    with pytest.raises(ReadError) as caught:
        bind_text(where, order, values)
    assert paths == [mistake.path for mistake in caught.value.mistakes]
    assert [str(m) for m in caught.value.mistakes] == str(caught.value).splitlines()


def test_a_misspelt_field_gets_a_suggestion() -> None:
    """The error of an unknown field suggests a similar name."""
    with pytest.raises(ReadError, match=r"where\[0\]: there is no field 'hots'.*Did you mean host"):
        bind_text("hots = 1")
