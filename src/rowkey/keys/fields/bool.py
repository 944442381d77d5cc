"""The type `bool`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.codecs.numbers import BigEndian
from rowkey.keys.contract import Vector
from rowkey.keys.types.domains import Choices
from rowkey.keys.types.field_type import Encoding, FieldType
from rowkey.keys.types.strings import of_another_sort
from rowkey.keys.types.values import list_values

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value

_WORDS = {"true": True, "false": False, "1": True, "0": False}


class Bool(FieldType):
    """True or false; false comes first."""

    name = "bool"
    encodings: ClassVar = {"": Encoding("00 for false, 01 for true")}
    vectors: ClassVar = (
        Vector("[b]", {"b": "bool"}, {"b": False}, "00"),
        Vector("[b]", {"b": "bool"}, {"b": True}, "01"),
        Vector("[desc(b)]", {"b": "bool"}, {"b": True}, "fe"),
    )
    listed_values = (False, True)

    @property
    def domain(self) -> Choices:
        return Choices((False, True))

    def hold(self, value: Value) -> int:
        if value is not True and value is not False:
            raise of_another_sort(value, "true or false")
        return int(value)

    def release(self, held: Any) -> bool:
        return bool(held)

    def parse(self, text: str) -> bool:
        value = _WORDS.get(text.strip().lower())
        if value is None:
            raise Refused("", f"{text[:40]!r} is not a bool", "true, false, 1 or 0")
        return value

    def show(self, value: Value) -> str:
        return "true" if value else "false"

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        return BigEndian(1, 0, 1)

    def own(self) -> Codec:
        return BigEndian(1, 0, 1)

    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.bool_()

    def physical(self, array: pa.Array) -> Any:
        import numpy as np
        import pyarrow as pa

        values = list_values(array)
        if pa.types.is_string(array.type):
            values = list(map(self.parse, values))
        return np.array([self.hold(value) for value in values], np.int64)
