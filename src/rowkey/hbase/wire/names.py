"""Names of servers, tables and regions in HBase's protocol."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import md5
from typing import NamedTuple

from rowkey.errors import InvalidArgument
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    encode_bytes,
    encode_int64,
    encode_text,
    encode_uint,
)

META_TABLE = "hbase:meta"
"""The table that lists all regions."""

META_REGION_NAME = b"hbase:meta,,1"
"""The one region of hbase:meta, an old name without a hash. Source: RegionInfoBuilder."""

_META_ENCODED_NAME = "1588230740"
"""Its encoded name, the Jenkins hash of the name. Source: RegionInfoBuilder; znodes of 2.6.4."""

_DEFAULT_NAMESPACE = "default"
"""The namespace that a table's name leaves out. Source: NamespaceDescriptor."""

_ENCODED_NAME_PATTERN = re.compile(rb"\.([0-9a-f]{32})\.\Z")

_REGION_NAME_TYPE = 1
"""Source: HBase.proto, RegionSpecifier.RegionSpecifierType; servers ignore it."""


class ServerName(NamedTuple):
    """The name of a running server: host, port and start code, which a restart changes.

    Args:
        host: its name or address.
        port: its RPC port, 1..65535.
        start_code: when it started, in ms since 1970; 0 if unknown.

    >>> str(ServerName("rs1", 16020, 1700000000000))
    'rs1,16020,1700000000000'
    """

    host: str
    port: int
    start_code: int = 0

    @property
    def address(self) -> tuple[str, int]:
        """The host and port to connect to."""
        return self.host, self.port

    def __str__(self) -> str:
        return f"{self.host},{self.port},{self.start_code}"

    @classmethod
    def parse(cls, name: str) -> ServerName:
        """Parse a server name as HBase prints it, `host,port,startcode`, or `host:port`.

        Raises:
            WireFormatError: the text is neither.

        >>> ServerName.parse("rs1:16020")
        ServerName(host='rs1', port=16020, start_code=0)
        """
        host, *numbers = name.split(",") if "," in name else name.rpartition(":")[::2]
        wanted = 2 if "," in name else 1
        if not host or len(numbers) != wanted or not all(map(_is_number, numbers)):
            raise WireFormatError(
                f"{name!r} is not the name of a server", "HOST,PORT,STARTCODE or HOST:PORT"
            )
        port, code = (*map(int, numbers), 0)[:2]
        return cls(host, _check_port(port, name), code)

    @classmethod
    def from_message(cls, msg: ProtoMessage) -> ServerName:
        """Convert a protobuf ServerName.

        Raises:
            WireFormatError: it has no host, or no valid port.

        Source: HBase.proto, ServerName {1:host_name, 2:port, 3:start_code}.
        """
        host, port = msg.get_text(1), msg.get_uint(2)
        if not host:
            raise WireFormatError("the name of a server has no host", "HOST,PORT,STARTCODE")
        return cls(host, _check_port(port, f"{host}:{port}"), msg.get_uint(3))

    def encode(self) -> bytes:
        """Encode the server as a protobuf ServerName; the inverse of `from_message`."""
        return (
            encode_text(1, self.host) + encode_uint(2, self.port) + encode_uint(3, self.start_code)
        )


def _is_number(digits: str) -> bool:
    """Return whether a text is a decimal number of at most 64 bits; `int` accepts much more."""
    return digits.isascii() and digits.isdigit() and len(digits) < 20


def _check_port(port: int, server: str) -> int:
    """Return a server's port, which must be 1..65535.

    Raises:
        WireFormatError: it is not.
    """
    if not 0 < port < 1 << 16:
        raise WireFormatError(
            f"the server {server!r} has the port {port}", "a port from 1 to 65535"
        )
    return port


def build_meta_sort_key(row: bytes) -> tuple[bytes, bytes, bytes, bytes, bytes]:
    """Return the sort key of a row of hbase:meta: by table, start key and region id.

    Source: MetaCellComparator.compareRows.

    >>> sorted([b"t,a,1.x", b"t,,2.y", b"t!,,3.z"], key=build_meta_sort_key)
    [b't,,2.y', b't,a,1.x', b't!,,3.z']
    """
    table, comma, rest = row.partition(b",")
    start, last_comma, number = rest.rpartition(b",")
    return (
        (table, comma, start, last_comma, number) if last_comma else (table, comma, rest, b"", b"")
    )


def split_table_name(name: str) -> tuple[str, str]:
    """Return the namespace and the qualifier of a table name; the default namespace is `default`.

    >>> split_table_name("t"), split_table_name("ns:t")
    (('default', 't'), ('ns', 't'))
    """
    space, colon, qualifier = name.rpartition(":")
    return (space if colon else _DEFAULT_NAMESPACE), qualifier


def shorten_table_name(name: str) -> str:
    """Remove the namespace `default` from a table name, as hbase:meta does.

    >>> shorten_table_name("default:t"), shorten_table_name("ns:t")
    ('t', 'ns:t')
    """
    return name.removeprefix(f"{_DEFAULT_NAMESPACE}:")


def encode_table_name(name: str) -> bytes:
    r"""Encode a table name as a protobuf TableName.

    Source: HBase.proto, TableName {1:namespace, 2:qualifier}.

    >>> encode_table_name("t")
    b'\n\x07default\x12\x01t'
    """
    space, qualifier = split_table_name(name)
    return encode_text(1, space) + encode_text(2, qualifier)


def parse_table_name(msg: ProtoMessage) -> str:
    """Convert a protobuf TableName to a table name, without the namespace `default`."""
    return shorten_table_name(f"{msg.require_fields(1, 2).get_text(1)}:{msg.get_text(2)}")


def build_region_name(table: str, start: bytes, region_id: int | str, replica: int = 0) -> bytes:
    """Build the full name of a region from its table, start key, id and replica.

    Args:
        table: its name; the namespace `default` is left out.
        start: its start key, any bytes.
        region_id: when it was created, in ms since 1970.
        replica: 0 for the primary, to 65535.

    Raises:
        InvalidArgument: the replica is not in that range.

    Source: RegionInfo.createRegionName, RegionReplicaUtil.

    >>> build_region_name("tablename", b"startkey", "id")
    b'tablename,startkey,id.e3365833b0bc503b5c0f4e8441da5897.'
    """
    if not 0 <= replica < 1 << 16:
        raise InvalidArgument("replica", f"{replica} is out of range", "a number from 0 to 65535")
    tail = f"_{replica:04X}" if replica else ""
    name = b"%s,%s,%s" % (shorten_table_name(table).encode(), start, f"{region_id}{tail}".encode())
    if name == META_REGION_NAME:
        return name
    return b"%s.%s." % (name, md5(name, usedforsecurity=False).hexdigest().encode())


def extract_encoded_name(name: bytes) -> str:
    """Return the encoded name of a region: the hash in its full name.

    Raises:
        WireFormatError: the name has no hash, and is not that of hbase:meta.

    >>> extract_encoded_name(b"t,,1.0123456789abcdef0123456789abcdef.")
    '0123456789abcdef0123456789abcdef'
    """
    if name == META_REGION_NAME:
        return _META_ENCODED_NAME
    match = _ENCODED_NAME_PATTERN.search(name)
    if not match:
        raise WireFormatError(
            f"{name!r} is not the full name of a region", "a name that ends in .HASH."
        )
    return match[1].decode()


@lru_cache(maxsize=10_000)
def encode_region_specifier(name: bytes) -> bytes:
    """Encode the name of a region as a protobuf RegionSpecifier.

    Args:
        name: the full name; the encoded one for MoveRegion and MergeTableRegions.

    Source: HBase.proto, RegionSpecifier {1:type, 2:value}; tested on HBase 2.6.4.
    """
    return encode_int64(1, _REGION_NAME_TYPE) + encode_bytes(2, name)
