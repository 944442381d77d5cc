"""Families convert to HBase's attributes and back, and differences are found."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import ATTRIBUTES, Family, FamilyAttribute
from rowkey.errors import Mistake
from rowkey.hbase.admin.descriptors import (
    TableDescriptor,
    build_family_schema,
    find_attribute_differences,
    find_family_differences,
    find_family_field,
    find_split_differences,
)
from rowkey.hbase.messages.schema import FamilySchema, TableSchema


def list_values(row: FamilyAttribute) -> st.SearchStrategy[Any]:
    """Return a strategy of an attribute's values."""
    plain = st.just(row.default)
    if isinstance(row.default, bool):
        return st.booleans()
    if row.hbase_name == "BLOOMFILTER":
        prefixes = st.integers(1, 32_767).map("ROWPREFIX_FIXED_LENGTH({})".format)
        return prefixes | st.sampled_from(["NONE", "ROW", "ROWCOL"])
    if row.choices:
        return plain | st.sampled_from(row.choices)
    return plain | st.integers(row.min_value, row.max_value)


families = st.builds(
    Family,
    st.just("d"),
    **{find_family_field(row): list_values(row) for row in ATTRIBUTES.values()},
)


def read_family(schema: FamilySchema) -> tuple[Family, dict[str, str]]:
    """Return a family as a table with it is described, and its unknown attributes."""
    described = TableDescriptor.from_schema(TableSchema("t", (schema,)))
    return described.families[0], dict(described.other_attributes.get("d", {}))


@given(families)
def test_every_family_is_described_as_it_was_declared(family: Family) -> None:
    """Every family is described as it was declared, without unknown attributes."""
    assert (family, {}) == read_family(build_family_schema(family))


@given(families, families)
def test_a_family_changed_into_another_reads_back_as_that_one(old: Family, new: Family) -> None:
    """A family changed into any other reads back as that one, and unknown attributes stay."""
    words = {**build_family_schema(old).attributes, "STORAGE_POLICY": "HOT"}
    known = FamilySchema("d", words, {**build_family_schema(old).configuration, "x.y": "1"})
    kept = {"STORAGE_POLICY": "HOT", "x.y": "1"}
    assert (new, kept) == read_family(build_family_schema(new, known))


@given(families)
def test_a_family_does_not_differ_from_itself(family: Family) -> None:
    assert [] == list(find_family_differences([family], [family, Family("e")]))


@given(families, families)
def test_each_attribute_that_differs_is_reported_by_name(asked: Family, found: Family) -> None:
    differing = {
        f"families.d.{row.key}"
        for row in ATTRIBUTES.values()
        if getattr(asked, find_family_field(row)) != getattr(found, find_family_field(row))
    }
    assert differing == {one.path for one in find_family_differences([asked], [found])}


def test_misspelt_attributes_are_returned_separately_from_the_family() -> None:
    """Misspelt attributes and invalid values are returned separately from the family."""
    words = {"VERSIONS": "many", "compression": "GZ", "IN_MEMORY": "yes", "TTL": "5"}
    bloom = {"BLOOMFILTER": "ROWPREFIX_FIXED_LENGTH"}
    others = {"VERSIONS": "many", "compression": "GZ", **bloom}
    assert (Family("d", ttl_s=5), others) == read_family(FamilySchema("d", {**words, **bloom}))


def test_a_codec_in_lower_case_is_read_as_that_codec() -> None:
    """HBase accepts a codec in lower case, so it is read as that codec."""
    assert (Family("d", compression="GZ"), {}) == read_family(
        FamilySchema("d", {"COMPRESSION": "gz"})
    )


def test_attributes_that_hbase_adds_are_hidden_at_their_defaults() -> None:
    """Attributes that HBase adds itself are hidden unless they have another value."""
    words = {"IS_META": "false", "hbase.store.file-tracker.impl": "DEFAULT", "a.b": "1"}
    assert {"a.b": "1"} == TableDescriptor.from_schema(TableSchema("t", (), words)).attributes
    words = {"hbase.store.file-tracker.impl": "FILE"}
    assert words == TableDescriptor.from_schema(TableSchema("t", (), words)).attributes


def test_a_missing_family_is_one_difference() -> None:
    expected = Mistake("families.e", "the family was requested, but the table does not have it")
    assert [expected] == list(find_family_differences([Family("e")], [Family("d")]))


def test_table_attributes_that_differ_or_are_missing_are_reported() -> None:
    """Attributes that differ, are missing, or should be removed are reported."""
    found = find_attribute_differences(
        {"a": "1", "b": "2", "c": None, "d": "4"}, {"b": "3", "c": "5", "d": "4"}
    )
    assert [
        "attributes.a: requested 1, but the table has no value.",
        "attributes.b: requested 2, but the table has 3.",
        "attributes.c: requested no value, but the table has 5.",
    ] == [str(one) for one in found]


def test_missing_and_surplus_split_keys_are_reported() -> None:
    """Missing and surplus split keys are reported, the first five of each."""
    asked = [bytes([n]) for n in range(1, 100)]
    told = [str(one) for one in find_split_differences(asked, [b"\x01", b"x"])]
    assert [
        "splits: requested 99 split keys, but the table has 2.",
        "splits: the split key b'\\x02' is missing in HBase.",
    ] == told[:2]
    assert 7 == len(told)
    assert ["splits: HBase has the split key b'z', which was not requested."] == [
        str(one) for one in find_split_differences([b"a"], [b"a", b"z"])
    ][1:]
    assert [] == list(find_split_differences([b"a"], (b"a",)))
