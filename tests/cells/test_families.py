"""Attributes of families: their defaults, limits and errors."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from rowkey.cells import ATTRIBUTES, Family, bind_family, find_family_mistakes
from rowkey.errors import InvalidDesign


def list_paths(attributes: dict[str, Any], name: str = "d") -> list[str]:
    """Return the paths of a family's mistakes."""
    return [refusal.mistake.path for refusal in find_family_mistakes(name, attributes)]


def test_the_class_and_the_table_of_family_attributes_have_the_same_names() -> None:
    assert [field.default for field in fields(Family)[1:]] == [
        row.default for row in ATTRIBUTES.values()
    ]


def test_family_defaults_equal_those_of_hbase() -> None:
    """The defaults are those that HBase 2.6 returns for a new family."""
    expected = {
        "VERSIONS": 1, "MIN_VERSIONS": 0, "TTL": 2_147_483_647, "BLOCKSIZE": 65_536,
        "BLOOMFILTER": "ROW", "COMPRESSION": "NONE", "DATA_BLOCK_ENCODING": "NONE",
        "KEEP_DELETED_CELLS": "FALSE", "REPLICATION_SCOPE": 0, "IN_MEMORY": False,
        "BLOCKCACHE": True,
    }  # fmt: skip
    defaults = {row.hbase_name: row.default for row in ATTRIBUTES.values()}
    assert expected == {name: defaults[name] for name in expected}


def test_a_family_that_spells_out_all_defaults_has_no_mistakes() -> None:
    written = {row.key: row.default for row in ATTRIBUTES.values() if row.default is not None}
    assert [] == list_paths(written)
    assert Family("d") == bind_family("d", written)


def test_every_family_attribute_is_documented() -> None:
    """Each attribute has a description, a source and its allowed values."""
    assert [] == [
        row.key
        for row in ATTRIBUTES.values()
        if not (row.description and row.source and row.allowed_values)
    ]


@pytest.mark.parametrize("row", ATTRIBUTES.values(), ids=lambda row: row.key)
def test_an_invalid_family_attribute_is_reported_by_name(row: Any) -> None:
    """A value out of range, of a wrong type or unknown is reported at its attribute."""
    wrong: list[Any] = [None, 1.5, [], {}, "nonsense", 10**5000]
    wrong += [0, 1] if isinstance(row.default, bool) else [True]
    if not row.choices and not isinstance(row.default, bool):
        wrong += [row.min_value - 1, row.max_value + 1]
    assert [[row.key]] * len(wrong) == [list_paths({row.key: value}) for value in wrong]


@pytest.mark.parametrize(
    ("attributes", "path"),
    [({"block_size": 1_023}, "block_size"), ({"block_size": 16 * 2**20 + 1}, "block_size"),
     ({"ttl": 0}, "ttl"), ({"versions": 0}, "versions"),
     ({"bloom": "ROWPREFIX_FIXED_LENGTH"}, "bloom"),
     ({"bloom": "ROWPREFIX_FIXED_LENGTH(n)"}, "bloom"), ({"compression": "zstd"}, "compression"),
     ({"bloom": "ROWPREFIX_FIXED_LENGTH(0)"}, "bloom"), ({"encoding": "PREFIX_TREE"}, "encoding"),
     ({"bloom": "ROWPREFIX_FIXED_LENGTH(32768)"}, "bloom"), ({"min_versions": 1}, "min_versions"),
     ({"min_versions": 3, "versions": 2, "ttl": 60}, "min_versions"),
     ({"VERSIONS": 1}, "VERSIONS")],
)  # fmt: skip
def test_values_just_outside_the_limits_of_hbase_are_reported(
    attributes: dict[str, Any], path: str
) -> None:
    """Values just outside each of HBase's limits are reported."""
    assert [path] == list_paths(attributes)


@pytest.mark.parametrize(
    "attributes",
    [{"block_size": 1_024}, {"block_size": 16 * 2**20}, {"ttl": 1},
     {"bloom": "ROWPREFIX_FIXED_LENGTH(32767)"}, {"min_versions": 2, "versions": 2, "ttl": 60}],
)  # fmt: skip
def test_the_limits_themselves_are_allowed(attributes: dict[str, Any]) -> None:
    """The least and the greatest value of each range are allowed."""
    assert [] == list_paths(attributes)


def test_all_mistakes_of_a_family_are_reported_together() -> None:
    """A bad name, an unknown attribute, a bad value and a conflict are reported together."""
    attributes = {"versions": 1, "blom": "ROW", "ttl": -1, "min_versions": 2}
    with pytest.raises(InvalidDesign) as caught:
        bind_family("a:b", attributes)
    places = [mistake.path for mistake in caught.value.mistakes]
    below = ["", ".blom", ".ttl", ".min_versions", ".min_versions"]
    assert [f"families.a:b{place}" for place in below] == places


@pytest.mark.parametrize(
    ("word", "remedy"),
    [("compresion", "Did you mean compression?"), ("BLOCKSIZE", "Did you mean block_size?"),
     ("keep_deleted_cells", "Did you mean keep_deleted?"), ("zzzzz", "")],
)  # fmt: skip
def test_an_unknown_attribute_gets_the_nearest_name_as_suggestion(word: str, remedy: str) -> None:
    """An unknown attribute, or HBase's own name of one, gets a suggestion."""
    assert [remedy] == [refusal.mistake.remedy for refusal in find_family_mistakes("d", {word: 1})]


def test_a_choice_in_the_wrong_case_gets_a_suggestion() -> None:
    (refusal,) = find_family_mistakes("d", {"compression": "zstd"})
    assert "Did you mean ZSTD?" == refusal.mistake.remedy


def test_the_prefix_length_of_a_bloom_filter_is_stored_as_a_number() -> None:
    lengths = [
        Family("d").prefix_length,
        Family("d", bloom="ROWPREFIX_FIXED_LENGTH(12)").prefix_length,
    ]
    assert [None, 12] == lengths


@pytest.mark.parametrize(
    ("ttl", "days"),
    [
        (2_592_000_000, 30),
        (31_536_000_000, 365),
        (2_592_000_001, None),  # no span that anybody means
        (2_147_483_648, None),
        (86_400_000 * 10**9, None),  # as milliseconds it is too long as well
        (0, None),
        (-86_400_000, None),
    ],
)
def test_a_time_to_live_in_milliseconds_is_refused_with_a_hint(ttl: int, days: int | None) -> None:
    """A time to live given in milliseconds is refused with a hint about the unit."""
    [refusal] = find_family_mistakes("d", {"ttl": ttl})
    assert refusal.mistake.remedy == (
        ""
        if days is None
        else f'Write "{days}d": {ttl} looks like {days} days in ms, but a number is in seconds.'
    )


def test_a_version_count_that_is_too_large_gets_no_hint_about_days() -> None:
    [refusal] = find_family_mistakes("d", {"versions": 2_592_000_000})
    assert not refusal.mistake.remedy
