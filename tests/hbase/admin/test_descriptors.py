"""Families in HBase's words and back, and how differences are told."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import ATTRIBUTES, Attribute, Family
from rowkey.errors import Mistake
from rowkey.hbase.admin.descriptors import (
    Described,
    family_differences,
    family_schema,
    field_of,
    split_differences,
    word_differences,
)
from rowkey.hbase.messages.schema import FamilySchema, TableSchema


def values(row: Attribute) -> st.SearchStrategy[Any]:
    """All that an attribute may be."""
    plain = st.just(row.default)
    if isinstance(row.default, bool):
        return st.booleans()
    if row.hbase == "BLOOMFILTER":
        prefixes = st.integers(1, 32_767).map("ROWPREFIX_FIXED_LENGTH({})".format)
        return prefixes | st.sampled_from(["NONE", "ROW", "ROWCOL"])
    if row.choices:
        return plain | st.sampled_from(row.choices)
    return plain | st.integers(row.least, row.most)


families = st.builds(
    Family, st.just("d"), **{field_of(row): values(row) for row in ATTRIBUTES.values()}
)


def read(schema: FamilySchema) -> tuple[Family, dict[str, str]]:
    """A family as a table with it is described, and what no field holds."""
    described = Described.of(TableSchema("t", (schema,)))
    return described.families[0], dict(described.others.get("d", {}))


@given(families)
def test_families_read_back(family: Family) -> None:
    """Every family is described as it was declared, and nothing is left over."""
    assert (family, {}) == read(family_schema(family))


@given(families, families)
def test_changed_families_read_back(old: Family, new: Family) -> None:
    """A family changed into any other is that one, whatever it was; words of others are kept."""
    words = {**family_schema(old).attributes, "STORAGE_POLICY": "HOT"}
    known = FamilySchema("d", words, {**family_schema(old).configuration, "x.y": "1"})
    kept = {"STORAGE_POLICY": "HOT", "x.y": "1"}
    assert (new, kept) == read(family_schema(new, known))


@given(families)
def test_no_differences(family: Family) -> None:
    """A family does not differ from itself."""
    assert [] == list(family_differences([family], [family, Family("e")]))


@given(families, families)
def test_differences(asked: Family, found: Family) -> None:
    """Each attribute that differs is told, by its word."""
    differing = {
        f"families.d.{row.word}"
        for row in ATTRIBUTES.values()
        if getattr(asked, field_of(row)) != getattr(found, field_of(row))
    }
    assert differing == {one.path for one in family_differences([asked], [found])}


def test_what_no_field_holds() -> None:
    """Misspelt words, and values that no field can hold, are told apart from the family."""
    words = {"VERSIONS": "many", "compression": "GZ", "IN_MEMORY": "yes", "TTL": "5"}
    bloom = {"BLOOMFILTER": "ROWPREFIX_FIXED_LENGTH"}
    others = {"VERSIONS": "many", "compression": "GZ", **bloom}
    assert (Family("d", ttl_s=5), others) == read(FamilySchema("d", {**words, **bloom}))


def test_codecs_in_small_letters() -> None:
    """HBase takes a codec in small letters and acts on it; it is read as what it does."""
    assert (Family("d", compression="GZ"), {}) == read(FamilySchema("d", {"COMPRESSION": "gz"}))


def test_own_words_of_hbase() -> None:
    """What HBase keeps with each table by itself is not shown, unless it is something else."""
    words = {"IS_META": "false", "hbase.store.file-tracker.impl": "DEFAULT", "a.b": "1"}
    assert {"a.b": "1"} == Described.of(TableSchema("t", (), words)).attributes
    words = {"hbase.store.file-tracker.impl": "FILE"}
    assert words == Described.of(TableSchema("t", (), words)).attributes


def test_missing_family() -> None:
    """A family that is not there is one difference."""
    expected = Mistake("families.e", "declared it, remembered nothing")
    assert [expected] == list(family_differences([Family("e")], [Family("d")]))


def test_word_differences() -> None:
    """Words that differ, are missing, or should be gone are told."""
    found = word_differences(
        {"a": "1", "b": "2", "c": None, "d": "4"}, {"b": "3", "c": "5", "d": "4"}
    )
    assert [
        "attributes.a: declared 1, remembered nothing.",
        "attributes.b: declared 2, remembered 3.",
        "attributes.c: declared nothing, remembered 5.",
    ] == [str(one) for one in found]


def test_split_differences() -> None:
    """Splits that are missing and those that nobody asked for are told, the first five of each."""
    asked = [bytes([n]) for n in range(1, 100)]
    told = [str(one) for one in split_differences(asked, [b"\x01", b"x"])]
    assert [
        "splits: declared 99 keys, remembered 2.",
        "splits: declared b'\\x02', remembered nothing.",
    ] == told[:2]
    assert 7 == len(told)
    assert ["splits: declared nothing, remembered b'z'."] == [
        str(one) for one in split_differences([b"a"], [b"a", b"z"])
    ][1:]
    assert [] == list(split_differences([b"a"], (b"a",)))
