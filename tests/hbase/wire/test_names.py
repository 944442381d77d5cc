"""Names of servers, tables and regions, against names that clusters gave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import Refused
from rowkey.hbase.wire.names import (
    META_REGION,
    Server,
    encoded_name,
    full_table,
    read_table_name,
    region_name,
    region_specifier,
    short_table,
    table_name,
)
from rowkey.hbase.wire.proto import Malformed, Message, text, uint

hosts = st.from_regex(r"[a-z][a-z0-9.-]{0,30}", fullmatch=True)
servers = st.builds(Server, hosts, st.integers(1, 65_535), st.integers(0, 2**63 - 1))


@pytest.mark.parametrize(
    ("replica", "expected"),
    [
        (0, b"tablename,startkey,id.e3365833b0bc503b5c0f4e8441da5897."),
        (1, b"tablename,startkey,id_0001.7fb14b65c4d5af359300d6fd204706c4."),
    ],
)
def test_vectors_of_region_names(replica: int, expected: bytes) -> None:
    """The hash is of table, start key, id and replica."""
    assert expected == region_name("tablename", b"startkey", "id", replica)
    assert expected[-33:-1].decode() == encoded_name(expected)


def test_the_region_of_meta_has_an_old_name() -> None:
    """The name of hbase:meta has no hash, and its short name is a number."""
    assert META_REGION == region_name("hbase:meta", b"", 1)
    assert "1588230740" == encoded_name(META_REGION)


def test_the_default_namespace_is_left_out() -> None:
    """`default:t` and `t` are one table, and its regions have one name."""
    assert region_name("t", b"k", 7) == region_name("default:t", b"k", 7)
    assert region_name("t", b"k", 7) != region_name("ns:t", b"k", 7)
    assert table_name("t") == table_name("default:t")


@given(start=st.binary(max_size=60), region_id=st.integers(0, 2**63 - 1))
def test_start_keys_may_be_any_bytes(start: bytes, region_id: int) -> None:
    """Commas, points, 00 and FF in a start key stay as they are, and the hash is found."""
    name = region_name("ns:t", start, region_id)
    assert b"ns:t,%s,%d." % (start, region_id) == name[:-33]
    assert name[-33:-1].decode() == encoded_name(name)


@pytest.mark.parametrize("name", [b"", b"t,,1", b"t,,1.xyz.", b"t,,1.0123.", b"hbase:meta,,2"])
def test_a_name_without_hash_is_malformed(name: bytes) -> None:
    """What is no full name has no short one."""
    with pytest.raises(Malformed):
        encoded_name(name)


@pytest.mark.parametrize("replica", [-1, 65_536])
def test_replicas_have_four_digits(replica: int) -> None:
    """A replica that four hexadecimal digits cannot tell is refused."""
    with pytest.raises(Refused):
        region_name("t", b"", 1, replica)


def test_vector_of_a_region_specifier() -> None:
    """As it stands in the request that looks up hbase:meta."""
    assert "0801120d68626173653a6d6574612c2c31" == region_specifier(META_REGION).hex()


def test_vector_of_a_table_name() -> None:
    """As it stands in the request that makes a table."""
    assert "0a0764656661756c74120174" == table_name("t").hex()


@pytest.mark.parametrize("name", ["t", "ns:t", "hbase:meta"])
def test_table_names_are_read_back(name: str) -> None:
    """A table's name comes back from its protobuf."""
    assert name == read_table_name(Message(table_name(name)))
    assert name == short_table(":".join(full_table(name)))


@given(server=servers)
def test_servers_are_read_back(server: Server) -> None:
    """A server comes back from its text and from its protobuf."""
    assert server == Server.parse(str(server))
    assert server == Server.read(Message(server.encode()))
    assert (server.host, server.port) == server.address


def test_a_server_without_a_start_code() -> None:
    """`info:server` of hbase:meta has host and port alone."""
    assert Server("::1", 16_020) == Server.parse("::1:16020")


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
def test_what_is_no_server_is_malformed(name: str) -> None:
    """A text that names no server is malformed, whatever is wrong with it."""
    with pytest.raises(Malformed):
        Server.parse(name)


@given(name=st.text(max_size=30))
def test_any_text_is_a_server_or_malformed(name: str) -> None:
    """No text raises anything else; what is read prints as a text that reads the same."""
    try:
        server = Server.parse(name)
    except Malformed:
        return
    assert server == Server.parse(str(server))


@pytest.mark.parametrize("sent", [b"", text(1, "rs1"), uint(2, 5), text(1, "a") + uint(2, 65_536)])
def test_a_protobuf_that_names_no_server(sent: bytes) -> None:
    """A ServerName without host, or with a port that is none, is malformed."""
    with pytest.raises(Malformed):
        Server.read(Message(sent))
