"""The type `ipv6`."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import Any, ClassVar

from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import BytesDomain, MappedDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.strings import BytesBasedField, build_type_error, convert_value
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.strings import FixedLengthCodec, RawFormat
from rowkey.keys.part_interface import GoldenVector
from rowkey.schema import Value

GLOBAL_UNICAST_PREFIX = (0b001, 3)
"""The bits that every public unicast address begins with, 2000::/3, and their count.

Source: RFC 4291, 2.5.4, and IANA's registry of the IPv6 address space.
"""


class Ipv6Field(BytesBasedField):
    """An IPv6 address without a zone; rows hold text, `IPv6Address` objects are accepted too."""

    name = "ipv6"
    encodings: ClassVar = {"": Encoding("16 bytes in network order")}
    vectors: ClassVar = (
        GoldenVector(
            "[ip]", {"ip": "ipv6"}, {"ip": "2001:db8::1"}, "20010db8000000000000000000000001"
        ),
    )

    @property
    def domain(self) -> MappedDomain:
        """The values that an IPv6 address can have."""
        return MappedDomain(BytesDomain(16, 16, GLOBAL_UNICAST_PREFIX), self.from_internal)

    def to_internal(self, value: Value) -> bytes:
        """Return the internal form of an IPv6 address: its 16 bytes."""
        if isinstance(value, IPv6Address):
            return value.packed
        if not isinstance(value, str):
            raise build_type_error(value, "an IPv6 address as text")
        if "%" in value:
            raise InvalidArgument("", f"{value[:60]!r} has a zone", "an IPv6 address without %zone")
        packed: bytes = convert_value(IPv6Address, value, "an IPv6 address").packed
        return packed

    def from_internal(self, internal: Any) -> str:
        """Return an IPv6 address from its internal form."""
        return str(IPv6Address(internal))

    def parse(self, text: str) -> str:
        """Return the value of an IPv6 address written as text."""
        return self.from_internal(self.to_internal(text.strip()))

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        """Return the codec of an encoding of an IPv6 address."""
        return FixedLengthCodec(RawFormat(16, 16, is_text=False), 16)

    def build_plain_codec(self) -> Codec:
        """Return the codec whose bytes `digest` and `truncate` use for an IPv6 address."""
        return self.build_codec("", ())
