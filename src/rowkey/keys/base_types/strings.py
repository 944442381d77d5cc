"""The base classes of field types with text or bytes as internal form."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_strings import build_byte_column, to_arrow_binary, to_byte_column
from rowkey.keys.base_types.arrow_values import list_values
from rowkey.keys.base_types.field_type import FieldType
from rowkey.keys.batches.byte_columns import SlicedByteColumn
from rowkey.messages import format_value
from rowkey.schema import Value


class TextBasedField(FieldType):
    """A field type with text as internal form."""

    is_sequence = True

    def cast_text_column(self, array: pa.Array) -> pa.Array | None:
        return array if self.is_internal_form(array.drop_null()) else None

    def to_internal_batch(self, array: pa.Array) -> SlicedByteColumn:
        if self.is_internal_form(array):
            return to_byte_column(array)
        return build_byte_column([self.to_internal(value) for value in list_values(array)])

    def build_column(self, internal: Any) -> pa.Array:
        return to_arrow_binary(internal).cast(pa.string())

    def is_internal_form(self, array: pa.Array) -> bool:
        """Return whether every value of an Arrow array is its own internal form."""
        raise NotImplementedError

    def from_internal_batch(self, internal: Any) -> list[Value]:
        return [self.from_internal(piece.decode()) for piece in internal.tolist()]


class BytesBasedField(FieldType):
    """A field type with bytes as internal form."""

    def to_internal_batch(self, array: pa.Array) -> SlicedByteColumn:
        return build_byte_column([self.to_internal(value) for value in list_values(array)])

    def from_internal_batch(self, internal: Any) -> list[Value]:
        return [self.from_internal(piece) for piece in internal.tolist()]


NULLABLE_REMEDY = "Give a value, or declare the field nullable."


def check_type(value: Value, python_type: type, name: str) -> None:
    """Raise an error unless a value has a Python type.

    Args:
        name: what the message calls the type.

    Raises:
        InvalidArgument: the value has another type.
    """
    if not isinstance(value, python_type):
        raise build_type_error(value, name)


def build_type_error(value: object, allowed: str) -> InvalidArgument:
    """Return the error for a value of a wrong Python type, in terms of data rather than Python.

    >>> print(build_type_error(5, "text"))
    5 is a whole number; expected text.
    """
    if value is None:
        return InvalidArgument("", "the value is missing", allowed, NULLABLE_REMEDY)
    return InvalidArgument("", f"{format_value(value)} is {_describe_type(value)}", allowed)


def unwrap_numpy_scalar(value: Any) -> Any:
    """Return the Python value of a NumPy scalar; any other value as it is.

    NumPy is not imported: its scalars exist only where it was imported before.
    """
    numpy = sys.modules.get("numpy")
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


_TYPE_DESCRIPTIONS: dict[type, str] = {
    bool: "a boolean",
    int: "a whole number",
    float: "a floating-point number",
    Decimal: "a decimal number",
    str: "text",
    bytes: "bytes",
    bytearray: "bytes",
    datetime: "a datetime",
    date: "a date",
    list: "a list",
    tuple: "a list",
    dict: "a mapping",
}


def _describe_type(value: object) -> str:
    """Return what a value is, in plain words; the class name for other classes."""
    descriptions = (
        _TYPE_DESCRIPTIONS[class_] for class_ in type(value).__mro__ if class_ in _TYPE_DESCRIPTIONS
    )
    return next(descriptions, f"an object of the class {type(value).__name__}")


def convert_value(make: Callable[[Any], Any], value: Value, name: str) -> Any:
    """Return a value converted by a class of the standard library.

    Args:
        name: what the message calls the result, with its article.

    Raises:
        InvalidArgument: the value cannot be converted.
    """
    try:
        return make(value)
    except (ValueError, TypeError, AttributeError):
        raise InvalidArgument("", f"{format_short_value(value)} is not {name}") from None


def format_short_value(value: object) -> str:
    """Return a value as a message shows it; a text is cut after 60 characters.

    >>> format_short_value("a" * 70) == repr("a" * 60)
    True
    """
    return format_value(value[:60] if isinstance(value, str) else value)
