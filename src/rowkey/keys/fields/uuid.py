"""The type `uuid`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from rowkey.keys.base_types.domains import BytesDomain, MappedDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.strings import BytesBasedField, build_type_error, convert_value
from rowkey.keys.codecs.strings import FixedLengthCodec, RawFormat
from rowkey.keys.part_interface import GoldenVector

if TYPE_CHECKING:
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value


class UuidField(BytesBasedField):
    """A UUID; rows hold it as text, and `UUID` objects are accepted too."""

    name = "uuid"
    encodings: ClassVar = {"": Encoding("16 bytes in the order of RFC 9562")}
    vectors: ClassVar = (
        GoldenVector(
            "[id]",
            {"id": "uuid"},
            {"id": "00112233-4455-6677-8899-aabbccddeeff"},
            "00112233445566778899aabbccddeeff",
        ),
    )

    @property
    def domain(self) -> MappedDomain:
        """The values that a UUID can have."""
        return MappedDomain(BytesDomain(16, 16), self.from_internal)

    def to_internal(self, value: Value) -> bytes:
        """Return the internal form of a UUID: its 16 bytes."""
        if isinstance(value, UUID):
            return value.bytes
        if isinstance(value, bytes) and len(value) == 16:
            return value
        if not isinstance(value, str):
            raise build_type_error(value, "a UUID as text")
        uuid_bytes: bytes = convert_value(UUID, value, "a UUID").bytes
        return uuid_bytes

    def from_internal(self, internal: Any) -> str:
        """Return a UUID from its internal form."""
        return str(UUID(bytes=internal))

    def parse(self, text: str) -> str:
        """Return the value of a UUID written as text."""
        return self.from_internal(self.to_internal(text.strip()))

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        """Return the codec of an encoding of a UUID."""
        return FixedLengthCodec(RawFormat(16, 16, is_text=False), 16, cardinality=256**16)

    def build_plain_codec(self) -> Codec:
        """Return the codec whose bytes `digest` and `truncate` use for a UUID."""
        return self.build_codec("", ())
