r"""Qualifiers are declared as text, in which `\xNN` is one byte."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from rowkey.design import Design
from rowkey.errors import InvalidDesign
from rowkey.rows import format_qualifier, parse_qualifier


def build_design(**note: Any) -> Design:
    """Build a design with a field of some options, and one in the qualifier."""
    fields = {"host": "text", "item": {"type": "u8", "at": "qualifier"}, "note": "u8"}
    return Design("t", "[host]", fields={**fields, "note": {"type": "u8", **note}})


@given(qualifier=st.binary(max_size=12))
def test_a_printed_qualifier_is_read_back_as_the_same_bytes(qualifier: bytes) -> None:
    """What is printed is read back as the same bytes, also from a design file."""
    text = format_qualifier(qualifier)
    assert qualifier == parse_qualifier(text)
    design = Design.loads(build_design(qualifier=text).dumps())
    (slot,) = design.layout.slots
    assert (qualifier, f"d:{text}") == (slot.qualifier, slot.title)
    (cell,) = design.layout.encode_event({"host": "a", "item": 7, "note": 1}).cells
    assert b"\7" + qualifier == cell.qualifier


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\\"), max_size=8))
def test_a_qualifier_without_backslash_is_its_utf_8(text: str) -> None:
    """A qualifier without a backslash is its UTF-8, as it always was."""
    assert text.encode() == parse_qualifier(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"qualifier": "a\\x0b"},
            r"fields\.note\.qualifier: '\\\\x0b' is not a byte .* upper case",
        ),
        ({"qualifier": "\\x"}, r"fields\.note\.qualifier: '\\\\x' is not a byte"),
        ({"pack": "\\x8:protobuf"}, r"fields\.note\.pack: '\\\\x8' is not a byte"),
    ],
)
def test_an_incomplete_hexadecimal_escape_in_a_qualifier_is_a_mistake(
    options: Any, message: str
) -> None:
    r"""A `\x` without two upper-case digits is a mistake, as HBase's shell would drop it."""
    with pytest.raises(InvalidDesign, match=message):
        build_design(**options)


def test_two_spellings_of_one_qualifier_are_one_column() -> None:
    """Two spellings of one qualifier are one column, and a packed cell may have binary names."""
    fields = {"a": {"type": "u8", "qualifier": "\\x61"}, "b": {"type": "u8", "qualifier": "a"}}
    with pytest.raises(
        InvalidDesign, match=r"fields\.b\.qualifier: d:a is already the column of a"
    ):
        Design("t", "[host]", fields={"host": "text", **fields})
    (slot,) = build_design(pack="\\x80\\x0B:protobuf").layout.slots
    assert b"\x80\x0b" == slot.qualifier
