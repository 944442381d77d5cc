"""The type `uuid`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from rowkey.keys.codecs.strings import Exact, Raw
from rowkey.keys.contract import Vector
from rowkey.keys.types.domains import Blobs, Through
from rowkey.keys.types.field_type import Encoding
from rowkey.keys.types.strings import BytesType, from_standard, of_another_sort

if TYPE_CHECKING:
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value


class Uuid(BytesType):
    """A UUID; in rows it is text, `UUID` objects are taken too."""

    name = "uuid"
    encodings: ClassVar = {"": Encoding("16 bytes in the order of RFC 9562")}
    vectors: ClassVar = (
        Vector(
            "[id]",
            {"id": "uuid"},
            {"id": "00112233-4455-6677-8899-aabbccddeeff"},
            "00112233445566778899aabbccddeeff",
        ),
    )

    @property
    def domain(self) -> Through:
        return Through(Blobs(16, 16), self.release)

    def hold(self, value: Value) -> bytes:
        if isinstance(value, UUID):
            return value.bytes
        if isinstance(value, bytes) and len(value) == 16:
            return value
        if not isinstance(value, str):
            raise of_another_sort(value, "a UUID as text")
        held: bytes = from_standard(UUID, value, "a UUID").bytes
        return held

    def release(self, held: Any) -> str:
        return str(UUID(bytes=held))

    def parse(self, text: str) -> str:
        return self.release(self.hold(text.strip()))

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return Exact(Raw(16, 16, text=False), 16, cardinality=256**16)

    def own(self) -> Codec:
        return self.codec("", ())
