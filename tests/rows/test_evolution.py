"""Changes of a design that are safe for stored rows, and those that are refused."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from rowkey.design import Design
from rowkey.rows import find_incompatibilities

if TYPE_CHECKING:
    from rowkey.rows import Layout

TEXT = {"type": "text", "max_bytes": 8}
LISTED = {"type": "choice", "of": ["a", "b"]}
BASE: dict[str, Any] = {
    "id": "u8",
    "note": TEXT,
    "level": LISTED,
    "size": {"type": "decimal", "precision": 8, "scale": 1},
    "x": {"type": "u8", "pack": "p"},
    "q": {"type": "choice", "of": ["a", "b"], "at": "qualifier"},
    "sure": "u8",
}


def build_layout(
    key: str = "[id]", families: tuple[str, ...] = ("d", "e"), **fields: Any
) -> Layout:
    """Build a layout of the base fields, some of them changed, added, or None to omit them."""
    declared = {name: words for name, words in {**BASE, **fields}.items() if words is not None}
    listed: dict[str, Any] = {name: {} for name in families}
    return Design("t", key, fields=declared, families=listed).layout


def build_bare_layout(*families: str) -> Layout:
    """Build a layout whose rows have only a marker cell."""
    return Design("t", "[id]", fields={"id": "u8"}, families={f: {} for f in families}).layout


GROWN_FIELDS: tuple[dict[str, Any], ...] = (
    {},
    {"more": {"type": "u8", "nullable": True}},
    {"more": {"type": "u8", "nullable": True, "pack": "p"}},
    {"note": {"type": "text", "max_bytes": 9}},
    {"note": {"type": "text"}},
    {"note": {**TEXT, "nullable": True}},
    {"level": {"type": "choice", "of": ["a", "b", "c"]}},
    {"size": {"type": "decimal", "precision": 9, "scale": 1}},
    {"q": {"type": "choice", "of": ["a", "b", "c"], "at": "qualifier"}},
    {"key": "[id][more]", "more": {"type": "u8", "nullable": True}},
)


@pytest.mark.parametrize("changes", GROWN_FIELDS)
def test_adding_nullable_fields_is_safe_and_removing_them_is_not(changes: dict[str, Any]) -> None:
    old, new = build_layout(), build_layout(**changes)
    assert [] == find_incompatibilities(old, new)
    assert bool(changes) == bool(find_incompatibilities(new, old))


@pytest.mark.parametrize(
    ("changes", "path", "what"),
    [
        ({"key": "[desc(id)]"}, "key", "gives stored rows other row keys"),
        ({"note": None}, "fields.note", "stored rows have this field"),
        ({"note": {**TEXT, "family": "e"}}, "fields.note", "the field moves from d:note to e:note"),
        ({"note": {**TEXT, "qualifier": "n"}}, "fields.note", "the field moves from d:note to d:n"),
        ({"note": {**TEXT, "pack": "z"}}, "fields.note", "the field moves from d:note to d:z"),
        ({"x": {"type": "u8", "pack": "p:protobuf"}}, "fields.x",
         "the position or format of the field within d:p"),
        ({"sure": {"type": "u8", "at": "qualifier"}}, "fields.sure", "to the qualifier"),
        ({"note": {"type": "text", "max_bytes": 7}}, "fields.note", "stored values have the type"),
        ({"level": {"type": "choice", "of": ["b", "a"]}}, "fields.level", "stored values"),
        ({"size": {"type": "decimal", "precision": 10, "scale": 1}}, "fields.size", "stored"),
        ({"sure": "u16"}, "fields.sure", "stored values have the type u8()"),
        ({"more": "u8"}, "fields.more", "stored rows have no value"),
        ({"more": {"type": "u8", "pack": "p"}}, "fields.more", "stored rows have no value"),
        ({"more": {"type": "u8", "at": "qualifier"}}, "fields.more", "the new field in the qual"),
        ({"t": {"type": "timestamp_ms", "at": "timestamp"}}, "fields.t", "in the timestamp"),
        ({"q": {"type": "choice", "of": [f"{n}" for n in range(300)], "at": "qualifier"}},
         "fields.q", "stored values"),
        ({"q": {"type": "choice", "of": ["a", "b"], "at": "qualifier", "nullable": True}},
         "fields.q.nullable", "adds a marker byte"),
    ],
)  # fmt: skip
def test_an_unsafe_change_is_refused_with_its_field_and_reason(
    changes: dict[str, Any], path: str, what: str
) -> None:
    """The error of an unsafe change names the field and the reason once."""
    (mistake,) = find_incompatibilities(build_layout(), build_layout(**changes))
    assert (path, True) == (mistake.path, what in mistake.problem)


def test_a_field_can_be_added_only_at_the_end_of_a_packed_cell() -> None:
    """A field declared before another of its packed cell would take the other's number."""
    more = {"type": "u8", "nullable": True, "pack": "p"}
    fields = {"id": "u8", "more": more, **BASE}
    (mistake,) = find_incompatibilities(
        build_layout(), Design("t", "[id]", fields=fields, families={"d": {}}).layout
    )
    assert "fields.x" == mistake.path


def test_another_first_family_is_refused_because_of_marker_cells() -> None:
    """Another first family is refused, as marker cells are in the old one."""
    (mistake,) = find_incompatibilities(build_bare_layout("d", "e"), build_bare_layout("e", "d"))
    assert ("families", []) == (
        mistake.path,
        find_incompatibilities(build_bare_layout("d"), build_bare_layout("d", "e")),
    )


@given(
    changes=st.sampled_from(GROWN_FIELDS),
    note=st.text("ab", max_size=8),
    level=st.sampled_from("ab"),
    tenths=st.integers(-(10**7), 10**7),
    q=st.sampled_from("ab"),
)
def test_stored_rows_are_read_after_a_safe_change_with_null_in_new_fields(
    changes: dict[str, Any], note: str, level: str, tenths: int, q: str
) -> None:
    """After a safe change stored rows are read as before, with null in new fields."""
    old, new = build_layout(), build_layout(**changes)
    size = Decimal(tenths).scaleb(-1)
    row = {"id": 1, "note": note, "level": level, "size": size, "x": 2, "q": q, "sure": 3}
    (event,) = new.decode_events(*old.encode_event(row))
    assert [] == new.event_reader.split_cells(*old.encode_event(row))[1]
    assert {**dict.fromkeys(new.fields), **row} == event
    assert old.encode_event(row).row == new.encode_event(event).row
