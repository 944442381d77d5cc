"""Arrow values as Python objects."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument


def list_values(array: pa.Array) -> list[Any]:
    """Return the values of an Arrow array as Python objects.

    Raises:
        InvalidArgument: Python has no object for a value, such as a date after the year 9999, or a
            time in a zone that the system does not know.
    """
    try:
        values: list[Any] = array.to_pylist()
    except (OverflowError, ValueError) as problem:
        reason = str(problem).partition(". ")[0]
        what = f"a value of type {array.type} cannot be converted to Python: {reason}"
        raise InvalidArgument(
            "", what, "dates in the years 1 to 9999, in a known time zone"
        ) from None
    return values
