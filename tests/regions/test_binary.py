"""Binary row keys in the format of HBase's shell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.regions import from_string_binary, to_string_binary


@given(st.binary(max_size=40))
@pytest.mark.claims(85)
def test_a_printed_row_key_is_parsed_back_to_itself(row: bytes) -> None:
    """Every row key is printed in ASCII, and parsed back to itself."""
    text = to_string_binary(row)
    assert row == from_string_binary(text)
    assert text.isascii()
    assert text.isprintable()


@pytest.mark.claims(85)
def test_printable_bytes_are_printed_as_they_are_and_others_as_escapes() -> None:
    """Bytes 20 to 7E except the backslash are printed as they are, all others as \\\\xNN."""
    assert "a~ \\x5C\\x00\\x7F\\xFF" == to_string_binary(b"a~ \\\x00\x7f\xff")


def test_escapes_are_parsed_as_bytes() -> None:
    """Escapes are parsed as bytes, every other character as its own."""
    assert b"a\xff\\q\x0a" == from_string_binary("a\\xFF\\q\n")


@pytest.mark.parametrize("text", ["\\xff", "\\x4", "\\x", "\\xG0", "é", "€", "\ud800", "a\\x0g"])
def test_text_that_the_hbase_shell_would_garble_is_refused(text: str) -> None:
    """Backslashes and high bytes that the shell would drop are refused with a remedy."""
    with pytest.raises(InvalidArgument) as caught:
        from_string_binary(text)
    assert caught.value.mistake.remedy
