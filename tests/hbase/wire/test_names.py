"""Names of servers, tables and regions, compared with those of clusters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.hbase.wire.names import (
    META_REGION_NAME,
    ServerName,
    build_region_name,
    encode_region_specifier,
    encode_table_name,
    extract_encoded_name,
    parse_table_name,
    shorten_table_name,
    split_table_name,
)
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError, encode_text, encode_uint

hosts = st.from_regex(r"[a-z][a-z0-9.-]{0,30}", fullmatch=True)
servers = st.builds(ServerName, hosts, st.integers(1, 65_535), st.integers(0, 2**63 - 1))


@pytest.mark.parametrize(
    ("replica", "expected"),
    [
        (0, b"tablename,startkey,id.e3365833b0bc503b5c0f4e8441da5897."),
        (1, b"tablename,startkey,id_0001.7fb14b65c4d5af359300d6fd204706c4."),
    ],
)
def test_region_names_have_the_recorded_hash(replica: int, expected: bytes) -> None:
    """The hash in a region name covers table, start key, id and replica."""
    assert expected == build_region_name("tablename", b"startkey", "id", replica)
    assert expected[-33:-1].decode() == extract_encoded_name(expected)


def test_the_name_of_the_region_of_meta_has_no_hash() -> None:
    """The name of hbase:meta has no hash, and its encoded name is a number."""
    assert META_REGION_NAME == build_region_name("hbase:meta", b"", 1)
    assert "1588230740" == extract_encoded_name(META_REGION_NAME)


def test_the_default_namespace_is_left_out_of_names() -> None:
    """`default:t` and `t` are one table, with the same region names."""
    assert build_region_name("t", b"k", 7) == build_region_name("default:t", b"k", 7)
    assert build_region_name("t", b"k", 7) != build_region_name("ns:t", b"k", 7)
    assert encode_table_name("t") == encode_table_name("default:t")


@given(start=st.binary(max_size=60), region_id=st.integers(0, 2**63 - 1))
def test_a_start_key_in_a_region_name_may_be_any_bytes(start: bytes, region_id: int) -> None:
    """Commas, points, 00 and FF bytes in a start key stay, and the hash is found."""
    name = build_region_name("ns:t", start, region_id)
    assert b"ns:t,%s,%d." % (start, region_id) == name[:-33]
    assert name[-33:-1].decode() == extract_encoded_name(name)


@pytest.mark.parametrize("name", [b"", b"t,,1", b"t,,1.xyz.", b"t,,1.0123.", b"hbase:meta,,2"])
def test_a_region_name_without_hash_is_malformed(name: bytes) -> None:
    """Only a full name has an encoded name."""
    with pytest.raises(WireFormatError):
        extract_encoded_name(name)


@pytest.mark.parametrize("replica", [-1, 65_536])
def test_a_replica_number_has_four_hexadecimal_digits(replica: int) -> None:
    """A replica beyond four hexadecimal digits is rejected."""
    with pytest.raises(InvalidArgument):
        build_region_name("t", b"", 1, replica)


def test_a_region_specifier_has_the_recorded_bytes() -> None:
    """A region specifier has the bytes of the lookup of hbase:meta."""
    assert "0801120d68626173653a6d6574612c2c31" == encode_region_specifier(META_REGION_NAME).hex()


def test_a_table_name_has_the_recorded_bytes() -> None:
    """A table name has the bytes of the request that creates a table."""
    assert "0a0764656661756c74120174" == encode_table_name("t").hex()


@pytest.mark.parametrize("name", ["t", "ns:t", "hbase:meta"])
def test_a_table_name_survives_encoding(name: str) -> None:
    """A table name is equal after encoding and decoding."""
    assert name == parse_table_name(ProtoMessage(encode_table_name(name)))
    assert name == shorten_table_name(":".join(split_table_name(name)))


@given(server=servers)
def test_a_server_name_survives_encoding(server: ServerName) -> None:
    """A server is equal after encoding and decoding, as text and as protobuf."""
    assert server == ServerName.parse(str(server))
    assert server == ServerName.from_message(ProtoMessage(server.encode()))
    assert (server.host, server.port) == server.address


def test_a_server_without_start_code_is_parsed() -> None:
    """A server in `info:server` has a host and a port, and no start code."""
    assert ServerName("::1", 16_020) == ServerName.parse("::1:16020")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "rs1",
        "rs1:",
        ":16020",
        "rs1,16020",
        "rs1,16020,",
        "rs1,16020,-1",
        "rs1,16020,x",
        "rs1,0,1",
        "rs1,65536,1",
        "rs1,-1,1",
        "rs1,16020,1,2",
        "rs1,²,1",
        "rs1:" + "9" * 5_000,
    ],
)
def test_malformed_server_names_are_rejected(name: str) -> None:
    """Each text that names no server raises an error."""
    with pytest.raises(WireFormatError):
        ServerName.parse(name)


@given(name=st.text(max_size=30))
def test_any_text_is_a_server_name_or_raises_an_error(name: str) -> None:
    """No text raises another error, and a parsed server prints as a text that parses the same."""
    try:
        server = ServerName.parse(name)
    except WireFormatError:
        return
    assert server == ServerName.parse(str(server))


@pytest.mark.parametrize(
    "sent",
    [b"", encode_text(1, "rs1"), encode_uint(2, 5), encode_text(1, "a") + encode_uint(2, 65_536)],
)
def test_a_protobuf_server_name_without_host_or_port_is_malformed(sent: bytes) -> None:
    """A ServerName without host or valid port raises an error."""
    with pytest.raises(WireFormatError):
        ServerName.from_message(ProtoMessage(sent))
