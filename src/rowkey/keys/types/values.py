"""Arrow values as Python objects, where Python has objects for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused

if TYPE_CHECKING:
    import pyarrow as pa


def list_values(array: pa.Array) -> list[Any]:
    """Return the values of an Arrow array as Python objects.

    Raises:
        Refused: Python has no object for one, such as a date after the year 9999, or a time in a
            zone that the system does not know.
    """
    try:
        values: list[Any] = array.to_pylist()
    except (OverflowError, ValueError) as problem:
        what = f"a column of {array.type} holds a value that Python cannot: {problem}"
        raise Refused("", what, "dates in the years 1 to 9999, in a known time zone") from None
    return values
