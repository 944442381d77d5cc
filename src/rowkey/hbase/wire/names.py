"""How HBase names its servers, tables and regions on the wire."""

from __future__ import annotations

import re
from hashlib import md5
from typing import NamedTuple

from rowkey.errors import Refused
from rowkey.hbase.wire.proto import Malformed, Message, blob, sint64, text, uint

META_REGION = b"hbase:meta,,1"
"""The one region of hbase:meta, an old name without a hash. Source: RegionInfoBuilder."""

_META_ENCODED = "1588230740"
"""Its short name, the Jenkins hash of the above. Source: RegionInfoBuilder; znodes of 2.6.4."""

_DEFAULT = "default"
"""The namespace that a table's name leaves out. Source: NamespaceDescriptor."""

_ENCODED = re.compile(rb"\.([0-9a-f]{32})\.\Z")

_REGION_NAME = 1
"""Source: HBase.proto, RegionSpecifier.RegionSpecifierType; servers do not look at it."""


class Server(NamedTuple):
    """One life of a server: started again it has another start code.

    Args:
        host: its name or address.
        port: of its RPC, 1..65535.
        start_code: milliseconds since 1970 when it started; 0 if unknown.

    >>> str(Server("rs1", 16020, 1700000000000))
    'rs1,16020,1700000000000'
    """

    host: str
    port: int
    start_code: int = 0

    @property
    def address(self) -> tuple[str, int]:
        """Where to connect to."""
        return self.host, self.port

    def __str__(self) -> str:
        return f"{self.host},{self.port},{self.start_code}"

    @classmethod
    def parse(cls, name: str) -> Server:
        """The server of a name as HBase prints it, `host,port,code`, or of `host:port`.

        Raises:
            Malformed: the text is neither.

        >>> Server.parse("rs1:16020")
        Server(host='rs1', port=16020, start_code=0)
        """
        host, *numbers = name.split(",") if "," in name else name.rpartition(":")[::2]
        wanted = 2 if "," in name else 1
        if not host or len(numbers) != wanted or not all(map(_number, numbers)):
            raise Malformed(f"the server {name!r}", "host,port,code or host:port")
        port, code = (*map(int, numbers), 0)[:2]
        return cls(host, _port(port, name), code)

    @classmethod
    def read(cls, sent: Message) -> Server:
        """The server that a protobuf ServerName names.

        Raises:
            Malformed: it has no host, or a port that is none.

        Source: HBase.proto, ServerName {1:host_name, 2:port, 3:start_code}.
        """
        host, port = sent.text(1), sent.uint(2)
        if not host:
            raise Malformed("a server without a name", "a host")
        return cls(host, _port(port, f"{host}:{port}"), sent.uint(3))

    def encode(self) -> bytes:
        """The protobuf ServerName of it; the inverse of `read`."""
        return text(1, self.host) + uint(2, self.port) + uint(3, self.start_code)


def _number(digits: str) -> bool:
    """Whether it is a decimal number that 64 bits may hold; `int` takes much more than that."""
    return digits.isascii() and digits.isdigit() and len(digits) < 20


def _port(port: int, server: str) -> int:
    if not 0 < port < 1 << 16:
        raise Malformed(f"the server {server!r} with port {port}", "a port of 1..65535")
    return port


def full_table(name: str) -> tuple[str, str]:
    """Namespace and qualifier of a table's name; `default` for a name without a namespace.

    >>> full_table("t"), full_table("ns:t")
    (('default', 't'), ('ns', 't'))
    """
    space, colon, qualifier = name.rpartition(":")
    return (space if colon else _DEFAULT), qualifier


def short_table(name: str) -> str:
    """A table's name as regions and hbase:meta have it: without the namespace `default`.

    >>> short_table("default:t"), short_table("ns:t")
    ('t', 'ns:t')
    """
    return name.removeprefix(f"{_DEFAULT}:")


def table_name(name: str) -> bytes:
    r"""The protobuf TableName of a table.

    Source: HBase.proto, TableName {1:namespace, 2:qualifier}.

    >>> table_name("t")
    b'\n\x07default\x12\x01t'
    """
    space, qualifier = full_table(name)
    return text(1, space) + text(2, qualifier)


def read_table_name(sent: Message) -> str:
    """The table that a protobuf TableName names, without the namespace `default`."""
    return short_table(f"{sent.text(1)}:{sent.text(2)}")


def region_name(table: str, start: bytes, region_id: int | str, replica: int = 0) -> bytes:
    """The full name of a region: `table,start,id`, its replica, and the hash of all that.

    Args:
        table: its name; the namespace `default` is left out.
        start: its start key, any bytes.
        region_id: milliseconds since 1970 when it was made.
        replica: 0 for the primary, to 65535.

    Raises:
        Refused: the replica is not in that range.

    Source: RegionInfo.createRegionName, RegionReplicaUtil.

    >>> region_name("tablename", b"startkey", "id")
    b'tablename,startkey,id.e3365833b0bc503b5c0f4e8441da5897.'
    """
    if not 0 <= replica < 1 << 16:
        raise Refused("replica", f"{replica} is out of range", "0..65535")
    tail = f"_{replica:04X}" if replica else ""
    name = b"%s,%s,%s" % (short_table(table).encode(), start, f"{region_id}{tail}".encode())
    if name == META_REGION:
        return name
    return b"%s.%s." % (name, md5(name, usedforsecurity=False).hexdigest().encode())


def encoded_name(name: bytes) -> str:
    """The short name of a region: the hash in its full name, as folders and znodes have it.

    Raises:
        Malformed: the name has no hash, and is not that of hbase:meta.

    >>> encoded_name(b"t,,1.0123456789abcdef0123456789abcdef.")
    '0123456789abcdef0123456789abcdef'
    """
    if name == META_REGION:
        return _META_ENCODED
    found = _ENCODED.search(name)
    if not found:
        raise Malformed(f"the region {name!r}", "a name that ends in .hash.")
    return found[1].decode()


def region_specifier(name: bytes) -> bytes:
    """The protobuf RegionSpecifier of a region.

    Args:
        name: the full name; the encoded one for MoveRegion and MergeTableRegions.

    Source: HBase.proto, RegionSpecifier {1:type, 2:value}; tried on HBase 2.6.4.
    """
    return sint64(1, _REGION_NAME) + blob(2, name)
