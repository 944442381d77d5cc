"""The type `ipv4`."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.keys.codecs.strings import Exact, Raw
from rowkey.keys.contract import Vector
from rowkey.keys.types.domains import Blobs, Through
from rowkey.keys.types.field_type import Encoding
from rowkey.keys.types.strings import BytesType, from_standard, of_another_sort

if TYPE_CHECKING:
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value


class Ipv4(BytesType):
    """An IPv4 address; in rows it is text, `IPv4Address` objects are taken too."""

    name = "ipv4"
    encodings: ClassVar = {"": Encoding("4 bytes in network order")}
    vectors: ClassVar = (Vector("[ip]", {"ip": "ipv4"}, {"ip": "10.0.0.255"}, "0a0000ff"),)

    @property
    def domain(self) -> Through:
        return Through(Blobs(4, 4), self.release)

    def hold(self, value: Value) -> bytes:
        if isinstance(value, IPv4Address):
            return value.packed
        if not isinstance(value, str):
            raise of_another_sort(value, "an IPv4 address as text")
        held: bytes = from_standard(IPv4Address, value, "an IPv4 address").packed
        return held

    def release(self, held: Any) -> str:
        return str(IPv4Address(held))

    def parse(self, text: str) -> str:
        return self.release(self.hold(text.strip()))

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return Exact(Raw(4, 4, text=False), 4)

    def own(self) -> Codec:
        return self.codec("", ())
