"""Finds the row of a batch that cannot be encoded, so that its error names it."""

from __future__ import annotations

from collections.abc import Callable

from rowkey.errors import RowError


def add_row_number(row: int, error: RowError) -> RowError:
    """Return the error of a row with the row's number in its path.

    >>> print(add_row_number(7, RowError("field host", "the value is missing")))
    row 7 (counted from 0), field host: the value is missing.
    """
    return error.prefix_path(f"row {row} (counted from 0)")


def locate_refused_row(
    error: RowError, row_count: int, encode_rows: Callable[[int], object]
) -> RowError:
    """Return the error of the first row of a batch that cannot be encoded, with its number.

    An error of the columns, which occurs without any row as well, gets no number.

    Args:
        error: the error that the whole batch raises.
        row_count: rows of the batch.
        encode_rows: encodes as many of the first rows. A row may fail only because of those before
            it, as when a dictionary has no id left, so that all of them are encoded each time.

    Cost: the logarithm of the number of rows, in encodings of the batch.
    """
    if _find_error(encode_rows, 0) is not None:
        return error
    valid_count, refused_count = 0, row_count
    while refused_count - valid_count > 1:
        middle = (valid_count + refused_count) // 2
        if _find_error(encode_rows, middle) is None:
            valid_count = middle
        else:
            refused_count = middle
    return add_row_number(valid_count, _find_error(encode_rows, refused_count) or error)


def _find_error(encode_rows: Callable[[int], object], row_count: int) -> RowError | None:
    """Return the error that the first rows of a batch raise; None if they can be encoded."""
    try:
        encode_rows(row_count)
    except RowError as error:
        return error
    return None
