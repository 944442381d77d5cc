"""The type `bool`."""

from __future__ import annotations

from typing import Any, ClassVar

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_values import list_values
from rowkey.keys.base_types.domains import ChoiceDomain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.base_types.strings import build_type_error, unwrap_numpy_scalar
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.numbers import BigEndianCodec
from rowkey.keys.golden_vector import GoldenVector
from rowkey.schema import Value

_BOOL_TEXTS = {"true": True, "false": False, "1": True, "0": False}


class BoolField(FieldType):
    """True or false; false comes first."""

    name = "bool"
    encodings: ClassVar = {"": Encoding("00 for false, 01 for true")}
    vectors: ClassVar = (
        GoldenVector("[b]", {"b": "bool"}, {"b": False}, "00"),
        GoldenVector("[b]", {"b": "bool"}, {"b": True}, "01"),
        GoldenVector("[desc(b)]", {"b": "bool"}, {"b": True}, "fe"),
    )
    possible_values = (False, True)

    @property
    def domain(self) -> ChoiceDomain:
        return ChoiceDomain((False, True))

    def to_internal(self, value: Value) -> int:
        """Return the internal form of a boolean: 0 or 1."""
        if value is not True and value is not False:
            value = unwrap_numpy_scalar(value)
        if not isinstance(value, bool):
            raise build_type_error(value, "true or false")
        return int(value)

    def from_internal(self, internal: Any) -> bool:
        return bool(internal)

    def parse(self, text: str) -> bool:
        value = _BOOL_TEXTS.get(text.strip().lower())
        if value is None:
            raise InvalidArgument("", f"{text[:40]!r} is not a boolean", "true, false, 1 or 0")
        return value

    def format_value(self, value: Value) -> str:
        return "true" if value else "false"

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return BigEndianCodec(1, 0, 1)

    def build_plain_codec(self) -> Codec:
        return BigEndianCodec(1, 0, 1)

    def build_arrow_type(self) -> pa.DataType:
        return pa.bool_()

    def to_internal_batch(self, array: pa.Array) -> Any:
        if pa.types.is_boolean(array.type):
            return array.to_numpy(zero_copy_only=False).astype(np.int64)
        values = list_values(array)
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            values = list(map(self.parse, values))
        return np.array([self.to_internal(value) for value in values], np.int64)
