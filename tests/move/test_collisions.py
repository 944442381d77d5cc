"""Rows of the source that would have one place in the target are all found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from example_counts import IS_LONG
from move.twins import DESIGNS, FIELDS, MADE_EARLIER_MS, WIDE, build_row, get_identity, write_row
from rowkey import Design
from rowkey.move import find_collisions

if TYPE_CHECKING:
    from rowkey.move import CollisionResult

    Row = dict[str, Any]

LOSSY = {
    name: Design(name, key, fields=fields)
    for name, key, fields in (
        ("dropped", "[user][at]", FIELDS),
        ("truncated", "[truncate(user, 1)][at][number]", FIELDS),
        ("digest", "[digest(user, 1)][number]", FIELDS),
        ("hour", "[time_bucket(at, 1h)][user]", FIELDS),
        ("wide_hour", "[time_bucket(at, 1h)][user]", WIDE),
        ("salted", "[salt(3)][time_bucket(at, 1h)][user]", FIELDS),
    )
}


def check_table(
    rows: Iterable[Row], target: Design, source: str = "by_user", **options: Any
) -> CollisionResult:
    """Return the collisions of a table with some rows."""
    with rowkey.open(DESIGNS[source], "memory:") as table:
        for row in rows:
            write_row(table, row, MADE_EARLIER_MS)
        return find_collisions(table.get_state(), target, **options)


def find_place(target: Design, row: Row) -> tuple[bytes, bytes]:
    """Return the row key and the qualifier prefix of a row, encoded by itself."""
    prefix = target.layout.qualifier_prefix
    salt = 0 if target.key.is_salted else None
    return target.key.encode(row, salt=salt), b"" if prefix is None else prefix.encode(row)


rows_of_few_values = st.builds(
    lambda user, at, number: build_row(number, user=user, at=at),
    st.sampled_from(["", "a", "ab", "b"]),
    st.sampled_from([0, 5, 3_600]),
    st.sampled_from([0, 1, 256]),
)


@given(
    st.sampled_from([*LOSSY]),
    st.sampled_from(["by_user", "wide", "salted"]),
    st.lists(rows_of_few_values, max_size=15, unique_by=get_identity),
    st.sampled_from([1, 1_000]),
)
@settings(max_examples=30 if IS_LONG else 12)
def test_colliding_rows_are_those_a_dictionary_would_overwrite(
    target: str, source: str, rows: list[Row], in_memory: int
) -> None:
    """The rows that share a place are those that a dictionary by places would overwrite."""
    result = check_table(rows, LOSSY[target], source, max_rows_in_memory=in_memory)
    counts = Counter(find_place(LOSSY[target], row) for row in rows)
    shared = {place: count for place, count in counts.items() if count > 1}
    assert len(rows) == result.rows
    assert (len(shared), sum(shared.values())) == (result.place_count, result.row_count)
    listed = sorted((one.row_key, one.row_count) for one in result.collisions)
    assert sorted((key, count) for (key, _), count in shared.items()) == listed
    for collision in result.collisions:
        places = {find_place(LOSSY[target], one) for one in collision.identities}
        assert {collision.row_key} == {key for key, _ in places}
        assert collision.row_count == len({get_identity(one) for one in collision.identities})


@pytest.mark.parametrize("planted", [1, 10, 200])
def test_each_planted_collision_is_counted_and_the_first_are_listed(planted: int) -> None:
    """Each of many planted collisions is found, and the first are listed with both rows."""
    rows = [build_row(number, user="u", at=number) for number in range(1_000)]
    rows += [build_row(number + 5_000, user="u", at=number) for number in range(planted)]
    result = check_table(rows, LOSSY["dropped"], listed=7)
    assert (planted, 2 * planted) == (result.place_count, result.row_count)
    assert min(planted, 7) == len(result.collisions)
    assert {2} == {len(one.identities) for one in result.collisions}
    assert not result.has_passed


def test_no_row_is_read_for_collisions_if_the_target_key_has_all_fields() -> None:
    """If the target's key has all fields whole, no row is read."""
    results = [check_table([build_row(1)], DESIGNS[name]) for name in ("by_number", "wide")]
    assert [(True, 0, True)] * 2 == [(one.is_proven, one.rows, one.has_passed) for one in results]


def test_rows_that_the_target_key_refuses_are_counted_with_the_reason() -> None:
    """A row without a place in the target is counted, with the reason."""
    fields = {**FIELDS, "user": {"type": "text", "max_bytes": 2}}
    target = Design("short", "[truncate(user, 1)][at][number]", fields=fields)
    rows = [build_row(1, user="ab"), build_row(2, user="abc")]
    result = check_table(rows, target)
    assert (1, 1) == (result.rows, result.refused_count)
    assert "user" in result.refusals[0]
