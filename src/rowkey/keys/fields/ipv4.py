"""The type `ipv4`."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.keys.base_types.domains import BytesDomain, MappedDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.strings import BytesBasedField, build_type_error, convert_value
from rowkey.keys.codecs.strings import FixedLengthCodec, RawFormat
from rowkey.keys.part_interface import GoldenVector

if TYPE_CHECKING:
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value


class Ipv4Field(BytesBasedField):
    """An IPv4 address; rows hold it as text, and `IPv4Address` objects are accepted too."""

    name = "ipv4"
    encodings: ClassVar = {"": Encoding("4 bytes in network order")}
    vectors: ClassVar = (GoldenVector("[ip]", {"ip": "ipv4"}, {"ip": "10.0.0.255"}, "0a0000ff"),)

    @property
    def domain(self) -> MappedDomain:
        """The values that an IPv4 address can have."""
        return MappedDomain(BytesDomain(4, 4), self.from_internal)

    def to_internal(self, value: Value) -> bytes:
        """Return the internal form of an IPv4 address: its 4 bytes."""
        if isinstance(value, IPv4Address):
            return value.packed
        if not isinstance(value, str):
            raise build_type_error(value, "an IPv4 address as text")
        packed: bytes = convert_value(IPv4Address, value, "an IPv4 address").packed
        return packed

    def from_internal(self, internal: Any) -> str:
        """Return an IPv4 address from its internal form."""
        return ".".join(map(str, internal))  # half the time of `IPv4Address`

    def parse(self, text: str) -> str:
        """Return the value of an IPv4 address written as text."""
        return self.from_internal(self.to_internal(text.strip()))

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        """Return the codec of an encoding of an IPv4 address."""
        return FixedLengthCodec(RawFormat(4, 4, is_text=False), 4)

    def build_plain_codec(self) -> Codec:
        """Return the codec whose bytes `digest` and `truncate` use for an IPv4 address."""
        return self.build_codec("", ())
