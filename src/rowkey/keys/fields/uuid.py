"""The type `uuid`."""

from __future__ import annotations

from binascii import Error as BinasciiError
from binascii import unhexlify
from typing import Any, ClassVar
from uuid import UUID

from rowkey.array_libraries import np, pa
from rowkey.keys.base_types.arrow_strings import to_byte_column
from rowkey.keys.base_types.domains import BytesDomain, MappedDomain
from rowkey.keys.base_types.field_type import Encoding
from rowkey.keys.base_types.generated_bytes import build_arrow_column, format_hex_digits
from rowkey.keys.base_types.strings import BytesBasedField, build_type_error, convert_value
from rowkey.keys.batches.byte_columns import SlicedByteColumn
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.strings import FixedLengthCodec, RawFormat
from rowkey.keys.golden_vector import GoldenVector
from rowkey.schema import Value

HYPHENS = (8, 13, 18, 23)
"""The places of the hyphens in a UUID as text, of 36 characters."""
DIGITS = ((0, 8), (9, 13), (14, 18), (19, 23), (24, 36))
"""Where the groups of digits between them start and stop."""


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
        return MappedDomain(BytesDomain(16, 16), self.from_internal, format_uuids)

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

    def to_internal_batch(self, array: pa.Array) -> SlicedByteColumn:
        found = parse_uuids(array)
        return super().to_internal_batch(array) if found is None else found

    def from_internal(self, internal: Any) -> str:
        return str(UUID(bytes=internal))

    def parse(self, text: str) -> str:
        return self.from_internal(self.to_internal(text.strip()))

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return FixedLengthCodec(RawFormat(16, 16, is_text=False), 16, cardinality=256**16)

    def build_plain_codec(self) -> Codec:
        return self.build_codec("", ())


def format_uuids(array: pa.Array) -> pa.Array:
    """Return the UUIDs of an Arrow column of 16 bytes each, as texts.

    >>> import pyarrow as pa
    >>> format_uuids(pa.array([bytes(15) + b"\\xff"])).to_pylist()
    ['00000000-0000-0000-0000-0000000000ff']
    """
    packed = to_byte_column(array).to_packed()
    digits = format_hex_digits(np.asarray(packed.data).reshape(-1, 16), 32)
    texts = np.full((len(digits), 36), ord("-"), np.uint8)
    for number, (start, stop) in enumerate(DIGITS):
        texts[:, start:stop] = digits[:, start - number : stop - number]
    return build_arrow_column(texts, pa.string())


def parse_uuids(array: pa.Array) -> SlicedByteColumn | None:
    """Return the 16 bytes of each UUID of an Arrow column; None if not all are texts of its form.

    >>> import pyarrow as pa
    >>> parse_uuids(pa.array(["00000000-0000-0000-0000-0000000000FF"])).tolist() == [
    ...     bytes(15) + b"\\xff"
    ... ]
    True
    """
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return None
    packed = to_byte_column(array).to_packed()
    if not np.all(packed.inner_lengths == 36):
        return None
    texts = np.asarray(packed.data).reshape(-1, 36)
    if np.any(texts[:, HYPHENS] != ord("-")):
        return None
    try:
        groups = [texts[:, start:stop] for start, stop in DIGITS]
        data = unhexlify(np.concatenate(groups, axis=1).tobytes())
    except BinasciiError:
        return None
    rows = np.frombuffer(data, np.uint8)
    count = len(texts)
    starts = np.arange(count, dtype=np.int64) * 16
    return SlicedByteColumn(rows, starts, np.full(count, 16, np.int64))
