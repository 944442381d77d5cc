"""Columns of IPv4 addresses have the bytes and the texts of Python's `ipaddress`."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.keys.fields.addresses import Ipv4Field, format_addresses
from rowkey.schema import FieldDeclaration

TYPE = Ipv4Field(FieldDeclaration(type="ipv4"))


@given(st.lists(st.ip_addresses(v=4)))
def test_a_column_of_ipv4_addresses_is_encoded_to_the_bytes_of_each_address(
    addresses: list[IPv4Address],
) -> None:
    """Texts have the bytes of their addresses, in a slice too, and bytes have the texts again."""
    texts = pa.array(map(str, addresses), pa.large_string())
    expected = [one.packed for one in addresses]
    assert expected == TYPE.to_internal_batch(texts).tolist()
    assert expected[1:] == TYPE.to_internal_batch(texts[1:]).tolist()
    assert texts.to_pylist() == format_addresses(pa.array(expected, pa.binary())).to_pylist()


@given(st.from_regex(r"[0-9a. ]{0,4}(\.[0-9٣]{1,3}){3}\s?", fullmatch=True))
@example("1.2.3.256")
@example("01.2.3.4")
@example("1.2.3.4\n")
@example("1.2.3.4.5")
@example("")
def test_a_column_refuses_an_ipv4_address_that_python_refuses(text: str) -> None:
    """A text that may look like an address is refused in a column if `ipaddress` refuses it."""
    texts = pa.array(["10.0.0.255", text])
    try:
        expected = IPv4Address(text).packed
    except AddressValueError:
        with pytest.raises(InvalidArgument, match="not an IPv4 address"):
            TYPE.to_internal_batch(texts)
    else:
        assert [b"\n\0\0\xff", expected] == TYPE.to_internal_batch(texts).tolist()


def test_a_generated_ipv4_address_is_the_text_of_its_drawn_bytes() -> None:
    """A generated address is the text of the 4 bytes that are drawn for its number."""
    indexes = np.array([0, 1, 7, 2**31])
    base = TYPE.domain.base.draw_values(indexes).to_pylist()
    assert [str(IPv4Address(one)) for one in base] == TYPE.domain.draw_values(indexes).to_pylist()
    assert [] == TYPE.domain.draw_values(indexes[:0]).to_pylist()
