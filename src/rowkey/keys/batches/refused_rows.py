"""Finds the row of a batch that cannot be encoded, so that its error names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import RowError

if TYPE_CHECKING:
    from collections.abc import Callable


def add_row_number(row: int, error: RowError) -> RowError:
    """Return the error of a row with the row's number in its path.

    >>> print(add_row_number(7, RowError("host", "the value is missing")))
    row 7: host: the value is missing.
    """
    mistake = error.mistake
    path = f"row {row}: {mistake.path}" if mistake.path else f"row {row}"
    return RowError(path, mistake.problem, mistake.expected, mistake.remedy)


def locate_refused_row(
    error: RowError, row_count: int, encode_rows: Callable[[int, int], object]
) -> RowError:
    """Return the error of the first row of a batch that cannot be encoded, with its number.

    An error of the columns, which occurs without any row as well, gets no number.

    Args:
        error: the error that the whole batch raises.
        row_count: rows of the batch.
        encode_rows: encodes the rows from `start` up to `stop`.

    Cost: at most two encodings of the batch.
    """
    if _find_error(encode_rows, 0, 0) is not None:
        return error
    start, stop = 0, row_count
    while stop - start > 1:
        middle = (start + stop) // 2
        if _find_error(encode_rows, start, middle) is None:
            start = middle
        else:
            stop = middle
    row_error = _find_error(encode_rows, start, stop)
    return error if row_error is None else add_row_number(start, row_error)


def _find_error(
    encode_rows: Callable[[int, int], object], start: int, stop: int
) -> RowError | None:
    """Return the error that some rows of a batch raise; None if they can be encoded."""
    try:
        encode_rows(start, stop)
    except RowError as error:
        return error
    return None
