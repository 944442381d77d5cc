"""Keys that a design could have, checked by hand and by properties."""

from __future__ import annotations

import tomllib
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from example_counts import thin_out
from rowkey.design import Design
from rowkey.keys import Determinant
from rowkey.proposals import KeyProposal, has_enough_values, list_candidates
from rowkey.schema import FieldFacts

if TYPE_CHECKING:
    from rowkey.keys import Key


def test_a_proposed_key_is_printed_as_valid_toml() -> None:
    """Each part of the text is TOML, also for a key with quotes in it."""
    proposal = KeyProposal(key="[host]['a\"b'][ts]", splits="per_bucket")
    options = tomllib.loads(proposal.toml_text.replace(" and ", "\n"))
    assert {"key": proposal.key, "splits": "per_bucket"} == options
    assert KeyProposal(key="[ts]").toml_text == 'key = "[ts]"'
    unique = KeyProposal(key="[id]", unique_fields=("id",))
    assert unique.toml_text == 'key = "[id]" with unique = true under id'


@pytest.mark.parametrize(("values", "is_enough"), [(15, False), (16, True), (None, True)])
def test_at_least_four_values_are_needed_per_proposed_bucket(
    values: int | None, is_enough: bool
) -> None:
    """Two servers get four buckets, which sixteen values fill; an unknown number may."""
    assert is_enough == has_enough_values(values, servers=2)


@pytest.mark.parametrize(("distinct", "is_listed"), [(500, True), (4, True), (3, False)])
def test_heavy_values_are_listed_only_if_most_values_are_light(
    distinct: int, *, is_listed: bool
) -> None:
    """Two heavy users of hundreds are listed; two of three are not, as that would list most."""
    design = Design("log", "[user][ts]", fields={"user": "text", "ts": "timestamp_ms"})
    facts = {"user": FieldFacts(distinct_count=distinct, heaviest_values=(("a", 0.3), ("b", 0.3)))}
    found = list_candidates(design, facts, has_sample=True, added_fields=())
    listed = [one.heavy_values for one in found if one.heavy_values]
    assert is_listed == bool(listed)
    assert all(one == {"user": ("a", "b")} for one in listed)


def test_no_bucket_of_a_field_is_proposed_before_its_digest() -> None:
    """A digest in front spreads its values already; a bucket of them costs a byte more."""
    fields = {"user": "text", "ts": "timestamp_ms", "text": "text"}
    design = Design("log", "[digest(user, 4)][user][ts]", fields=fields)
    found = list_candidates(design, {}, has_sample=True, added_fields=())
    keys = [one.key for one in found]
    assert "[digest(user, 4)][user][ts]" in keys
    assert [] == [key for key in keys if "[bucket(user, 16)][digest(user, 4)]" in key]
    assert any("[bucket(user, ts, 16)][digest(user, 4)]" in key for key in keys)


STEPPED_KEYS = [
    "[time_bucket(ts, 1h)][host][ts]",
    "[host][time_bucket(ts, 1d)][time_bucket(ts, 1h)][n]",
    "[desc(time_bucket(ts, 1h))][n][desc(ts)][host]",
    "[mod(ts, 7)][host][ts]",
    "[truncate(host, 1)][host][ts]",
    "[digest(host, 2)][ts][host]",
]
ROWS = [
    {"host": host, "ts": day * 86_400 + hour * 3_600 + second, "n": n}
    for host, day, hour, second, n in product(("a", "ab", "b"), (0, 9), (0, 5), (0, 3), (1, 2))
]
"""Rows among which each pair of fields, and the steps of a time, vary on their own."""


@pytest.mark.parametrize("text", thin_out(STEPPED_KEYS, 2))
def test_each_part_of_a_candidate_key_distinguishes_more_rows(text: str) -> None:
    """For each part there are rows that only this part, of those up to it, tells apart."""
    design = Design(
        "log",
        text,
        fields={"host": "text", "ts": "timestamp_s", "n": "u32"},
        reads=[
            {"name": "a", "where": "host = ?", "order": "ts desc", "limit": 9},
            {"name": "b", "where": "n = ? and ts between ? and ?"},
        ],
    )
    found = list_candidates(design, {}, has_sample=True, added_fields=design.fields)
    assert len(found) > 10
    assert [] == [one.key for one in found if list_needless_parts(one.bound_key)]
    for one in found:
        assert set(design.key.fields) <= set(one.bound_key.fields)


def list_needless_parts(key: Key) -> list[int]:
    """Return which parts of a key are equal wherever all parts before them are.

    Hashes are left out: those of a few rows are as different as the rows.
    """
    parts = [
        part
        for part in key.parts
        if part.determined_by is Determinant.FIELDS
        and not all(part.residue(name).is_total for name in part.fields)
    ]
    needless = []
    for place, part in enumerate(parts):
        values: dict[Any, set[bytes]] = {}
        for row in ROWS:
            earlier = tuple(one.encode(row) for one in parts[:place])
            values.setdefault(earlier, set()).add(part.encode(row))
        needless += [place] * all(len(found) == 1 for found in values.values())
    return needless


def test_a_time_bucket_directly_before_its_time_is_left_out() -> None:
    """An hour before its time sorts as the time does; behind it a later hour may come first."""
    fields = {"host": "text", "ts": "timestamp_s"}
    design = Design("log", "[host][time_bucket(ts, 1h)][ts]", fields=fields)
    keys = [one.key for one in list_candidates(design, {}, has_sample=True, added_fields=())]
    assert "[host][ts]" in keys
    assert "[host][time_bucket(ts, 1h)][ts]" not in keys
    assert "[time_bucket(ts, 1h)][host][ts]" in keys


@pytest.mark.parametrize("is_unique", [True, False])
@pytest.mark.parametrize("where", ["id = ?", "zip = ?", "zip = ? and ts between ? and ?"])
def test_a_key_may_lack_fields_that_no_read_needs_only_with_a_unique_field(
    where: str, *, is_unique: bool
) -> None:
    """A unique field keeps all rows apart; without one each field of the present key may."""
    fields: dict[str, Any] = {
        "street": "text", "ts": "timestamp_s", "zip": "text",
        "id": {"type": "u64", "unique": is_unique},
    }  # fmt: skip
    design = Design(
        "calls", "[street][ts][id]", fields=fields, writes={"time": "ts"},
        reads=[{"name": "it", "where": where}],
    )  # fmt: skip
    facts = {"zip": FieldFacts(distinct_count=900, heaviest_values=(("a", 0.3),))}
    found = list_candidates(design, facts, has_sample=True, added_fields=design.fields)
    lacking = [one for one in found if not set(design.key.fields) <= set(one.bound_key.fields)]
    assert is_unique == bool(lacking)
    if is_unique and where != "id = ?":
        assert any(one.heavy_values for one in lacking)
    for one in lacking:
        assert ("id",) == one.unique_fields
        assert "id" in one.bound_key.fields
        assert "ts" in one.bound_key.fields or ["id"] == [*one.bound_key.fields]


def test_a_key_of_the_unique_field_alone_is_judged_next_to_longer_keys() -> None:
    """A key that also has the time is cheaper, but serves the read of one row by no get."""
    design = Design(
        "orders",
        "[at][user]",
        fields={"at": "timestamp_s", "user": "text", "id": {"type": "u64", "unique": True}},
        writes={"time": "at"},
        reads=[{"name": "one", "where": "id = ?"}],
    )
    found = list_candidates(design, {}, has_sample=True, added_fields=design.fields)
    kinds = {one.key: one.kind for one in found}
    for front in ("", "[bucket(id, 16)]", "[salt(16)]"):
        assert kinds[f"{front}[id]"] != kinds[f"{front}[id][at]"]


@pytest.mark.parametrize(
    ("read", "is_one"),
    [
        ({"where": "user = ?"}, True),
        ({"where": "user = ?", "limit": 1}, True),
        ({"where": "user = ?", "limit": 50}, False),
        ({"where": "user = ?", "order": "ts desc", "limit": 1}, False),
        ({"where": "user = ? and ts >= ? and ts < ?"}, False),
    ],
)
def test_a_field_by_which_several_rows_are_read_is_not_taken_as_unique(
    read: dict[str, Any], *, is_one: bool
) -> None:
    """A short sample has each user once; who asks for his latest fifty rows knows better."""
    design = Design(
        "ads",
        "[campaign][ts][user]",
        fields={"campaign": "u32", "ts": "timestamp_s", "user": "u64"},
        reads=[{"name": "it", **read}],
    )
    facts = {"user": FieldFacts(distinct_count=9_000, value_count=9_000, exact=True)}
    found = list_candidates(design, facts, has_sample=True, added_fields=design.fields)
    assert is_one == any(one.unique_fields for one in found)
    assert is_one == ("[user]" in {one.key for one in found})
