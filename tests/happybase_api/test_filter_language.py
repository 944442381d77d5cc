"""The filter language is parsed, and every mistake is reported with its offset."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.happybase import parse_filter
from rowkey.happybase.filter_parser import MAX_DEPTH
from rowkey.hbase import filters as f

A, B, C = f.PrefixFilter(b"a"), f.PrefixFilter(b"b"), f.PrefixFilter(b"c")
PA, PB, PC = (f"PrefixFilter('{name}')" for name in "abc")
X = f.BinaryComparator(b"x")

SIMPLE: dict[str, f.Filter] = {
    "KeyOnlyFilter()": f.KeyOnlyFilter(),
    "KeyOnlyFilter ( true )": f.KeyOnlyFilter(True),
    "FirstKeyOnlyFilter()": f.FirstKeyOnlyFilter(),
    "PrefixFilter('it''s')": f.PrefixFilter(b"it's"),
    "PrefixFilter('')": f.PrefixFilter(b""),
    "PrefixFilter('''')": f.PrefixFilter(b"'"),
    "PrefixFilter('a) OR (b, c')": f.PrefixFilter(b"a) OR (b, c"),
    "PrefixFilter('é')": f.PrefixFilter("é".encode()),
    "ColumnPrefixFilter('q')": f.ColumnPrefixFilter(b"q"),
    "MultipleColumnPrefixFilter('a','b', 'c')": f.MultipleColumnPrefixFilter((b"a", b"b", b"c")),
    "ColumnCountGetFilter(4)": f.ColumnCountGetFilter(4),
    "PageFilter(0004)": f.PageFilter(4),
    "ColumnPaginationFilter(3, 5)": f.ColumnPaginationFilter(3, 5),
    "InclusiveStopFilter('z')": f.InclusiveStopFilter(b"z"),
    "TimestampsFilter (5985489, 9223372036854775807)": f.TimestampsFilter((5985489, 2**63 - 1)),
    "RowFilter(<=, 'binary:x')": f.RowFilter("<=", X),
    "RowFilter(= 'binary:x')": f.RowFilter("=", X),
    "FamilyFilter(!=,'binary:a:b')": f.FamilyFilter("!=", f.BinaryComparator(b"a:b")),
    "QualifierFilter(>,'binaryprefix:x')": f.QualifierFilter(">", f.BinaryPrefixComparator(b"x")),
    "ValueFilter(=,'regexstring:a.*')": f.ValueFilter("=", f.RegexStringComparator("a.*")),
    "ValueFilter(=,'regexstringnocase:a')": f.ValueFilter("=", f.RegexStringComparator("a", 34)),
    "ValueFilter(!=,'substring:Ab')": f.ValueFilter("!=", f.SubstringComparator("Ab")),
    "ColumnRangeFilter('a', true, 'c', FALSE)": f.ColumnRangeFilter(b"a", b"c", True, False),
    "SingleColumnValueFilter('d','q',<,'binary:x')": f.SingleColumnValueFilter("d", b"q", "<", X),
    "SingleColumnValueFilter('d','q',<,'binary:x',true,false)": f.SingleColumnValueFilter(
        "d", b"q", "<", X, True, False
    ),
    "SingleColumnValueExcludeFilter('d','',=,'binary:x')": f.SingleColumnValueExcludeFilter(
        "d", b"", "=", X
    ),
    "ColumnValueFilter('d','q',>=,'binary:x')": f.ColumnValueFilter("d", b"q", ">=", X),
    "DependentColumnFilter('d','q')": f.DependentColumnFilter("d", b"q"),
    "DependentColumnFilter('d','q',true)": f.DependentColumnFilter("d", b"q", True),
    "DependentColumnFilter('d','q',false,=,'binary:x')": f.DependentColumnFilter(
        "d", b"q", False, "=", X
    ),
}

JOINED_FILTERS: dict[str, f.Filter] = {
    f"({PA})": A,
    f" ( ( {PA} ) )\t": A,
    f"{PA} AND {PB}": f.FilterList("all", (A, B)),
    f"{PA} AND {PB} AND {PC}": f.FilterList("all", (A, B, C)),
    f"{PA} OR {PB} OR {PC}": f.FilterList("one", (A, B, C)),
    f"{PA} OR {PB} AND {PC}": f.FilterList("one", (A, f.FilterList("all", (B, C)))),
    f"{PA} AND {PB} OR {PC}": f.FilterList("one", (f.FilterList("all", (A, B)), C)),
    f"{PA} AND ({PB} OR {PC})": f.FilterList("all", (A, f.FilterList("one", (B, C)))),
    f"({PA})AND({PB})": f.FilterList("all", (A, B)),
    f"SKIP {PA}": f.SkipFilter(A),
    f"WHILE({PA})": f.WhileMatchFilter(A),
    f"SKIP WHILE {PA}": f.SkipFilter(f.WhileMatchFilter(A)),
    f"SKIP {PA} AND {PB}": f.FilterList("all", (f.SkipFilter(A), B)),
    f"SKIP ({PA} AND {PB})": f.SkipFilter(f.FilterList("all", (A, B))),
    f"{PA} OR WHILE {PB} AND {PC}": f.FilterList(
        "one", (A, f.FilterList("all", (f.WhileMatchFilter(B), C)))
    ),
}
GOOD = [*SIMPLE, *JOINED_FILTERS]


@pytest.mark.parametrize("text", GOOD)
def test_each_filter_is_parsed_from_text_and_from_bytes(text: str) -> None:
    """Each filter and each combination of filters is parsed from text and from bytes."""
    wanted = (SIMPLE | JOINED_FILTERS)[text]
    assert wanted == parse_filter(text)
    assert wanted == parse_filter(text.encode())


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("", 0, "the text ends"),
        ("   ", 3, "the text ends"),
        ("PrefixFiler('a')", 0, "Did you mean PrefixFilter?"),
        ("Nope()", 0, "'Nope' is not a filter"),
        ("PrefixFilter", 12, "no parenthesis"),
        ("PrefixFilter('a'", 16, "the parenthesis at byte 12"),
        ("PrefixFilter('a", 13, "quote is not closed"),
        ("PrefixFilter('a''", 13, "quote is not closed"),
        ("PrefixFilter(a)", 13, "is not quoted"),
        ("PrefixFilter()", 0, "PrefixFilter has 0 arguments; expected 1"),
        ("PrefixFilter('a','b')", 0, "2 arguments; expected 1"),
        ("PrefixFilter(('a'))", 13, "is not closed"),
        (f"{PA} {PB}", 18, "follows a filter"),
        (f"{PA})", 17, "has no opening parenthesis"),
        (f"({PA}", 18, "the parenthesis at byte 0"),
        (f"{PA} AND", 21, "the text ends"),
        (f"{PA} and {PB}", 18, "AND, OR or the end"),
        (f"AND {PA}", 0, "is not a filter"),
        (f"{PA} AND OR {PB}", 22, "is not a filter"),
        ("SKIP", 4, "the text ends"),
        ("PageFilter('3')", 11, "in quotes"),
        ("PageFilter(x)", 11, "not an integer"),
        ("PageFilter(-1)", 0, "size"),
        ("PageFilter(99999999999999999999)", 11, "not an integer"),
        ("KeyOnlyFilter(yes)", 14, "not a boolean"),
        ("RowFilter(==,'binary:x')", 10, "not an operator"),
        ("RowFilter('=','binary:x')", 10, "in quotes"),
        ("RowFilter(=,'x')", 12, "not a comparator"),
        ("RowFilter(=,'binray:x')", 12, "Did you mean binary?"),
        ("RowFilter(<,'substring:x')", 0, "does not support <"),
        ("RowFilter(=,'regexstring:')", 12, "pattern"),
        ("SingleColumnValueFilter('d','q',=,'binary:x',true)", 0, "5 arguments; expected 4 or 6"),
        ("ColumnValueFilter('','q',=,'binary:x')", 0, "family"),
        ("MultipleColumnPrefixFilter()", 0, "prefixes"),
        ("(" * (MAX_DEPTH + 1) + PA, MAX_DEPTH, "nested too deep"),
    ],
)
def test_each_mistake_in_a_filter_text_is_reported_with_its_byte(
    text: str, at: int, message: str
) -> None:
    """Each mistake is reported with its byte offset."""
    with pytest.raises(InvalidArgument, match=re.escape(message)) as caught:
        parse_filter(text)
    assert f"filter, byte {at}" == caught.value.mistake.path


def test_any_bytes_are_valid_only_where_a_filter_compares_bytes() -> None:
    """Any bytes are valid where bytes are compared, but not where text is expected."""
    assert f.PrefixFilter(b"\xff\0") == parse_filter(b"PrefixFilter('\xff\0')")
    for text in (b"ValueFilter(=,'substring:\xff')", b"DependentColumnFilter('\xff','q')"):
        with pytest.raises(InvalidArgument, match="UTF-8"):
            parse_filter(text)


@pytest.mark.parametrize("argument", [None, 5, ["PrefixFilter('a')"]])
def test_a_filter_that_is_neither_text_nor_bytes_raises_type_error(argument: Any) -> None:
    """A value that is neither text nor bytes raises TypeError."""
    with pytest.raises(TypeError, match="expected bytes or text"):
        parse_filter(argument)


_nested_filters = st.recursive(
    st.sampled_from([(PA, A), (PB, B), ("PageFilter(1)", f.PageFilter(1))]),
    lambda inner: st.one_of(
        inner.map(lambda one: (f"SKIP ({one[0]})", f.SkipFilter(one[1]))),
        inner.map(lambda one: (f"WHILE({one[0]})", f.WhileMatchFilter(one[1]))),
        st.lists(inner, min_size=2, max_size=3).map(
            lambda some: (
                " AND ".join(f"({text})" for text, _ in some),
                f.FilterList("all", tuple(made for _, made in some)),
            )
        ),
        st.lists(inner, min_size=2, max_size=3).map(
            lambda some: (
                "OR ".join(f"({text})" for text, _ in some),
                f.FilterList("one", tuple(made for _, made in some)),
            )
        ),
    ),
    max_leaves=12,
)


@given(_nested_filters)
def test_nested_filters_are_parsed_as_they_were_written(drawn: tuple[str, f.Filter]) -> None:
    text, made = drawn
    assert made == parse_filter(text)


@given(st.binary())
def test_any_bytes_can_be_quoted_in_a_filter_text(value: bytes) -> None:
    """Any bytes can be quoted, with each quote doubled."""
    assert f.PrefixFilter(value) == parse_filter(
        b"PrefixFilter('" + value.replace(b"'", b"''") + b"')"
    )


_pieces = st.sampled_from(
    ["(", ")", "'", "''", ",", " ", "AND", " OR ", "SKIP ", "WHILE", "=", "<=", "true", "12", "-",
     "'binary:x'", "'substring:'", "PrefixFilter", "RowFilter", "TimestampsFilter", "\0", "é"]
)  # fmt: skip


def _parse_outcome(text: str | bytes) -> type:
    """Parse a text to the bytes of a filter or to an error."""
    try:
        return type(parse_filter(text).encode())
    except InvalidArgument as refusal:
        return type(refusal)


@given(st.text() | st.binary() | st.lists(_pieces).map("".join))
def test_any_text_is_a_filter_or_raises_an_error(text: str | bytes) -> None:
    assert issubclass(_parse_outcome(text), bytes | InvalidArgument)


@given(st.sampled_from(GOOD), st.integers(0, 80), st.integers(0, 3), _pieces)
def test_a_filter_text_with_one_piece_replaced_is_valid_or_raises(
    text: str, at: int, cut: int, piece: str
) -> None:
    """A valid text with one piece replaced is a filter or raises an error."""
    assert issubclass(_parse_outcome(text[:at] + piece + text[at + cut :]), bytes | InvalidArgument)


@pytest.mark.parametrize(
    "text",
    ["(" * 30_000, "SKIP " * 30_000, "'" * 30_001, "PrefixFilter('" + "''" * 30_000,
     f"{PA} AND " * 6_000, "TimestampsFilter(" + "1," * 30_000, "A" * 300_000],
)  # fmt: skip
def test_a_long_invalid_filter_text_is_refused_in_linear_time(text: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_filter(text)
