"""Types whose values are text or bytes: what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.keys.types.field_type import FieldType

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from rowkey.keys.batches.pieces import Spans
    from rowkey.schema import Value


class TextType(FieldType):
    """Values held as text."""

    is_sequence = True

    def cast(self, array: pa.Array) -> pa.Array | None:
        return array if self.is_held_plainly(array.drop_null()) else None

    def physical(self, array: pa.Array) -> Spans:
        from rowkey.keys.types.spans import spans_from, spans_of

        if self.is_held_plainly(array):
            return spans_of(array)
        return spans_from([self.hold(value) for value in array.to_pylist()])

    def is_held_plainly(self, array: pa.Array) -> bool:
        """Whether every value of an Arrow array is its own held form."""
        raise NotImplementedError

    def listed(self, physical: Any) -> list[Value]:
        return [self.release(piece.decode()) for piece in physical.tolist()]


class BytesType(FieldType):
    """Values held as bytes."""

    def physical(self, array: pa.Array) -> Spans:
        from rowkey.keys.types.spans import spans_from

        return spans_from([self.hold(value) for value in array.to_pylist()])

    def listed(self, physical: Any) -> list[Value]:
        return [self.release(piece) for piece in physical.tolist()]


def must_be(value: Value, kind: type, name: str) -> None:
    """Refuse a value of another Python type.

    Raises:
        Refused: it is one.
    """
    if not isinstance(value, kind):
        what = (
            f"{value!r} is a {type(value).__name__}" if value is not None else "there is no value"
        )
        raise Refused("", what, f"{kind.__name__} for {name}")


def from_standard(make: Callable[[Any], Any], value: Value, name: str) -> Any:
    """The object that a class of the standard library makes of a value.

    Raises:
        Refused: it makes none.
    """
    try:
        return make(value)
    except (ValueError, TypeError, AttributeError):
        raise Refused("", f"{str(value)[:60]!r} is not a {name}") from None
