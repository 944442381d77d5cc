"""The type `ipv6`."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.codecs.strings import Exact, Raw
from rowkey.keys.contract import Vector
from rowkey.keys.types.domains import Blobs, Through
from rowkey.keys.types.field_type import Encoding
from rowkey.keys.types.strings import BytesType, from_standard, of_another_sort

if TYPE_CHECKING:
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value

GLOBAL = (0b001, 3)
"""Every address of the open net begins with these bits: 2000::/3.

Source: RFC 4291, 2.5.4, and IANA's registry of the IPv6 address space.
"""


class Ipv6(BytesType):
    """An IPv6 address without a zone; in rows it is text, `IPv6Address` objects are taken too."""

    name = "ipv6"
    encodings: ClassVar = {"": Encoding("16 bytes in network order")}
    vectors: ClassVar = (
        Vector("[ip]", {"ip": "ipv6"}, {"ip": "2001:db8::1"}, "20010db8000000000000000000000001"),
    )

    @property
    def domain(self) -> Through:
        return Through(Blobs(16, 16, GLOBAL), self.release)

    def hold(self, value: Value) -> bytes:
        if isinstance(value, IPv6Address):
            return value.packed
        if not isinstance(value, str):
            raise of_another_sort(value, "an IPv6 address as text")
        if "%" in value:
            raise Refused("", f"{value[:60]!r} has a zone", "an IPv6 address without one")
        held: bytes = from_standard(IPv6Address, value, "an IPv6 address").packed
        return held

    def release(self, held: Any) -> str:
        return str(IPv6Address(held))

    def parse(self, text: str) -> str:
        return self.release(self.hold(text.strip()))

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return Exact(Raw(16, 16, text=False), 16)

    def own(self) -> Codec:
        return self.codec("", ())
