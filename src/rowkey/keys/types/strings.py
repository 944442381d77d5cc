"""Types whose values are text or bytes: what they share."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, shown
from rowkey.keys.types.field_type import FieldType
from rowkey.keys.types.values import list_values

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
        return spans_from([self.hold(value) for value in list_values(array)])

    def column(self, physical: Any) -> pa.Array:
        import pyarrow as pa

        from rowkey.keys.types.spans import array_of

        return array_of(physical).cast(pa.string())

    def is_held_plainly(self, array: pa.Array) -> bool:
        """Whether every value of an Arrow array is its own held form."""
        raise NotImplementedError

    def listed(self, physical: Any) -> list[Value]:
        return [self.release(piece.decode()) for piece in physical.tolist()]


class BytesType(FieldType):
    """Values held as bytes."""

    def physical(self, array: pa.Array) -> Spans:
        from rowkey.keys.types.spans import spans_from

        return spans_from([self.hold(value) for value in list_values(array)])

    def listed(self, physical: Any) -> list[Value]:
        return [self.release(piece) for piece in physical.tolist()]


def must_be(value: Value, kind: type, name: str) -> None:
    """Refuse a value of another Python type than the one that `name` names.

    Raises:
        Refused: it is one.
    """
    if not isinstance(value, kind):
        raise of_another_sort(value, name)


def of_another_sort(value: object, allowed: str) -> Refused:
    """The refusal of a value of another Python type, in the words of who works with data.

    >>> print(of_another_sort(5, "text"))
    5 is a whole number; expected text.
    """
    if value is None:
        return Refused("", "there is no value", allowed)
    return Refused("", f"{shown(value)} is {_sort(value)}", allowed)


_SORTS: dict[type, str] = {
    bool: "a truth value",
    int: "a whole number",
    float: "a floating-point number",
    Decimal: "a decimal number",
    str: "text",
    bytes: "bytes",
    bytearray: "bytes",
    datetime: "an instant",
    date: "a date",
    list: "a list",
    tuple: "a list",
    dict: "a table",
}


def _sort(value: object) -> str:
    """What a value is, in a word; of a class that no file knows, the name of the class."""
    known = (_SORTS[kind] for kind in type(value).__mro__ if kind in _SORTS)
    return next(known, f"of the class {type(value).__name__}")


def from_standard(make: Callable[[Any], Any], value: Value, name: str) -> Any:
    """The object that a class of the standard library makes of a value.

    Args:
        make: the class, or a function of it.
        value: what it is given.
        name: what it makes, with its article.

    Raises:
        Refused: it makes none.
    """
    try:
        return make(value)
    except (ValueError, TypeError, AttributeError):
        raise Refused("", f"{shortened(value)} is not {name}") from None


def shortened(value: object) -> str:
    """A value as a message names it, cut after 60 characters.

    >>> shortened("a" * 70) == repr("a" * 60)
    True
    """
    return shown(value[:60] if isinstance(value, str) else value)
