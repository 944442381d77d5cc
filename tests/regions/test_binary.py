"""Bytes as HBase's shell prints and reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.regions import from_string_binary, to_string_binary


@given(st.binary(max_size=40))
@pytest.mark.claims(85)
def test_what_is_printed_is_read_back(row: bytes) -> None:
    """Every row survives, in printable ASCII."""
    text = to_string_binary(row)
    assert row == from_string_binary(text)
    assert text.isascii()
    assert text.isprintable()


@pytest.mark.claims(85)
def test_printed_golden() -> None:
    """20 to 7E but the backslash stay; all else is two upper-case digits."""
    assert "a~ \\x5C\\x00\\x7F\\xFF" == to_string_binary(b"a~ \\\x00\x7f\xff")


def test_read_golden() -> None:
    """Escapes are bytes, every other character is its own."""
    assert b"a\xff\\q\x0a" == from_string_binary("a\\xFF\\q\n")


@pytest.mark.parametrize("text", ["\\xff", "\\x4", "\\x", "\\xG0", "é", "€", "\ud800", "a\\x0g"])
def test_what_the_shell_would_garble_is_refused(text: str) -> None:
    """The shell drops backslashes and high bytes silently; here it is a mistake with a remedy."""
    with pytest.raises(InvalidArgument) as caught:
        from_string_binary(text)
    assert caught.value.mistake.remedy
