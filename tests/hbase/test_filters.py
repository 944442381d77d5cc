"""Encoded filters, parsed by Google's protobuf, have their arguments; invalid ones are refused."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbase.requests import protos
from rowkey.cells import LATEST
from rowkey.errors import InvalidArgument
from rowkey.hbase import filters as f

PACKAGE = "org.apache.hadoop.hbase.filter."
BYTES = st.binary(max_size=6)
NUMBERS = st.integers(1, 2**31 - 1)
TEXT = st.text(min_size=1, max_size=6)
SIGNS = {"<": 0, "<=": 1, "=": 2, "!=": 3, ">=": 4, ">": 5}


def _fields(sent: f.Filter | f.Comparator) -> dict[str, Any]:
    """Return the protobuf fields of a filter or a comparator."""
    kind = "Filter" if isinstance(sent, f.Filter) else "Comparator"
    outer = protos.list_fields(protos.parse_message(kind, sent.encode()))
    name = type(sent).__name__
    assert outer["name"] == PACKAGE + name
    word = "serialized_filter" if kind == "Filter" else "serialized_comparator"
    return protos.list_fields(protos.parse_message(name, outer[word]))


def _inner(sent: f.Filter | f.Comparator) -> dict[str, Any]:
    kind = "Filter" if isinstance(sent, f.Filter) else "Comparator"
    return protos.list_fields(protos.parse_message(kind, sent.encode()))


@given(BYTES, BYTES, NUMBERS, st.booleans(), st.booleans())
def test_each_filter_encodes_its_arguments_in_its_fields(
    one: bytes, two: bytes, number: int, first: bool, second: bool
) -> None:
    """Each filter of keys and columns has its arguments in the fields of its class."""
    for sent, fields in (
        (f.PrefixFilter(one), {"prefix": one}),
        (f.InclusiveStopFilter(one), {"stop_row_key": one}),
        (f.PageFilter(number), {"page_size": number}),
        (f.RandomRowFilter(0.5), {"chance": 0.5}),
        (f.KeyOnlyFilter(first), {"len_as_val": first}),
        (f.FirstKeyOnlyFilter(), {}),
        (f.ColumnPrefixFilter(one), {"prefix": one}),
        (
            f.MultipleColumnPrefixFilter((one, two, one)),
            {"sorted_prefixes": sorted({one, two})},
        ),
        (
            f.ColumnRangeFilter(one, two, first, second),
            {
                "min_column": one,
                "min_column_inclusive": first,
                "max_column": two,
                "max_column_inclusive": second,
            },
        ),
        (
            f.ColumnRangeFilter(),
            {"min_column_inclusive": True, "max_column_inclusive": False},
        ),
        (f.ColumnPaginationFilter(number, 3), {"limit": number, "offset": 3}),
        (f.ColumnPaginationFilter(number, one), {"limit": number, "column_offset": one}),
        (f.ColumnCountGetFilter(number), {"limit": number}),
        (
            f.TimestampsFilter((number, 5, LATEST), first),
            {"timestamps": sorted({number, 5, LATEST}), "can_hint": first},
        ),
        (
            f.MultiRowRangeFilter((f.RowRange(one, b"", first, second),)),
            {
                "row_range_list": [
                    {
                        "start_row": one,
                        "start_row_inclusive": first,
                        "stop_row": b"",
                        "stop_row_inclusive": second,
                    }
                ]
            },
        ),
        (
            f.FuzzyRowFilter(((b"ab", b"\0\1"),)),
            {"fuzzy_keys_data": [{"first": b"ab", "second": b"\0\1"}]},
        ),
    ):
        assert fields == _fields(sent)


@given(BYTES, TEXT, st.integers(-(2**63), 2**63 - 1))
def test_each_comparator_encodes_its_arguments_in_its_fields(
    value: bytes, text: str, number: int
) -> None:
    """Each comparator has its arguments in the fields of its class."""
    whole = {"comparable": {"value": value}}
    for sent, fields in (
        (f.BinaryComparator(value), whole),
        (f.BinaryPrefixComparator(value), whole),
        (f.BinaryComponentComparator(value, 3), {"value": value, "offset": 3}),
        (f.LongComparator(number), {"comparable": {"value": struct.pack(">q", number)}}),
        (f.BitComparator(value, "xor"), whole | {"bitwise_op": 3}),
        (f.NullComparator(), {}),
        (
            f.RegexStringComparator(text, 2),
            {"pattern": text, "pattern_flags": 2, "charset": "UTF-8"},
        ),
        (f.SubstringComparator(text), {"substr": text.lower()}),
    ):
        assert fields == _fields(sent)


@given(st.sampled_from(sorted(SIGNS)), BYTES, st.booleans(), st.booleans())
def test_a_comparing_filter_encodes_operator_and_comparator(
    sign: str, value: bytes, first: bool, second: bool
) -> None:
    """Comparing filters have their operator and their complete comparator."""
    comparator = f.BinaryComparator(value)
    compared = {"compare_op": SIGNS[sign], "comparator": _inner(comparator)}
    for kind in (f.RowFilter, f.FamilyFilter, f.QualifierFilter, f.ValueFilter):
        assert {"compare_filter": compared} == _fields(kind(sign, comparator))
    column = {"family": b"d", "qualifier": value} | compared
    assert column == _fields(f.ColumnValueFilter("d", value, sign, comparator))
    single = {"column_family": b"d", "column_qualifier": value} | compared
    single |= {"filter_if_missing": first, "latest_version_only": second}
    given_ = ("d", value, sign, comparator, first, second)
    assert single == _fields(f.SingleColumnValueFilter(*given_))
    assert {"single_column_value_filter": single} == _fields(
        f.SingleColumnValueExcludeFilter(*given_)
    )
    dependent = {"column_family": b"d", "column_qualifier": value, "drop_dependent_column": first}
    assert dependent | {"compare_filter": compared} == _fields(
        f.DependentColumnFilter("d", value, first, sign, comparator)
    )
    assert dependent | {"compare_filter": {"compare_op": 6}} == _fields(
        f.DependentColumnFilter("d", value, first)
    )


def test_filters_with_the_same_operator_become_one_list() -> None:
    """Filters combine by & and |, and lists with the same operator become one list."""
    one, two, three = f.PrefixFilter(b"a"), f.KeyOnlyFilter(), f.FirstKeyOnlyFilter()
    assert f.FilterList("all", (one, two, three)) == one & two & three
    assert f.FilterList("one", (one, two, three)) == one | (two | three)
    mixed = one & (two | three)
    assert f.FilterList("all", (one, f.FilterList("one", (two, three)))) == mixed
    assert {"operator": 2, "filters": [_inner(one), _inner(two)]} == _fields(one | two)
    assert {"operator": 1, "filters": [_inner(one), _inner(two)]} == _fields(one & two)
    for kind in (f.SkipFilter, f.WhileMatchFilter):
        assert {"filter": _inner(one)} == _fields(kind(one))


def test_a_filter_list_needs_whole_rows_if_one_of_its_filters_does() -> None:
    assert not (f.PrefixFilter(b"a") & f.KeyOnlyFilter()).needs_whole_row
    assert (f.PrefixFilter(b"a") & f.PageFilter(1)).needs_whole_row


F: Any = f
"""The filters module without types, since some arguments are wrong on purpose."""

B = f.BinaryComparator(b"v")


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("prefix", lambda: F.PrefixFilter("a")),
        ("stop", lambda: F.InclusiveStopFilter(None)),
        ("size", lambda: F.PageFilter(0)),
        ("chance", lambda: F.RandomRowFilter(1.1)),
        ("chance", lambda: F.RandomRowFilter("1")),
        ("patterns", lambda: F.FuzzyRowFilter(())),
        ("patterns", lambda: F.FuzzyRowFilter(((b"a", b""),))),
        ("patterns", lambda: F.FuzzyRowFilter(((b"a", b"\2"),))),
        ("patterns", lambda: F.FuzzyRowFilter(((b"a", "0"),))),
        ("start", lambda: F.RowRange(b"b", b"a")),
        ("stop", lambda: F.RowRange(b"b", b"b")),
        ("ranges", lambda: F.MultiRowRangeFilter(())),
        ("ranges", lambda: F.MultiRowRangeFilter((b"a",))),
        ("prefixes", lambda: F.MultipleColumnPrefixFilter(())),
        ("stop", lambda: F.ColumnRangeFilter(b"a", "b")),
        ("limit", lambda: F.ColumnPaginationFilter(0)),
        ("offset", lambda: F.ColumnPaginationFilter(1, -1)),
        ("limit", lambda: F.ColumnCountGetFilter(2**31)),
        ("timestamps", lambda: F.TimestampsFilter((-1,))),
        ("operator", lambda: F.RowFilter("==", B)),
        ("operator", lambda: F.ValueFilter("<", F.SubstringComparator("a"))),
        ("comparator", lambda: F.ValueFilter("=", b"v")),
        ("family", lambda: F.ColumnValueFilter("", b"q", "=", B)),
        ("qualifier", lambda: F.SingleColumnValueFilter("d", "q", "=", B)),
        ("operator", lambda: F.DependentColumnFilter("d", b"q", False, None, B)),
        ("join", lambda: F.FilterList("any", (F.KeyOnlyFilter(),))),
        ("filters", lambda: F.FilterList("all", ())),
        ("filters", lambda: F.KeyOnlyFilter() & B),
        ("filter", lambda: F.SkipFilter(B)),
        ("filter", lambda: F.WhileMatchFilter(None)),
        ("value", lambda: F.BinaryComparator("v")),
        ("value", lambda: F.LongComparator(2**63)),
        ("join", lambda: F.BitComparator(b"v", "nand")),
        ("pattern", lambda: F.RegexStringComparator("")),
        ("flags", lambda: F.RegexStringComparator("a", -1)),
        ("text", lambda: F.SubstringComparator(b"a")),
        ("offset", lambda: F.BinaryComponentComparator(b"a", -1)),
    ],
)
def test_an_invalid_filter_is_refused_with_the_path_of_its_mistake(
    path: str, make: Callable[[], object]
) -> None:
    with pytest.raises(InvalidArgument, match=f"^argument {re.escape(path)}: "):
        make()
