"""The limits of the length of a row key."""

from __future__ import annotations

from rowkey.errors import RowError

MAX_KEY_BYTES = 32_767
"""Bytes of the longest row key. Source: HConstants.MAX_ROW_LENGTH is Short.MAX_VALUE."""


def build_length_error(key_bytes: int) -> RowError:
    """Return the error for a key that is empty or too long."""
    if not key_bytes:
        what = "all fields of the key are null, so the key is empty"
        return RowError("key", what, "1 byte or more", "Give a value to one of these fields.")
    remedy = "Shorten a value, or put digest(…) of a long field into the key."
    what = f"the key has {key_bytes:,} bytes"
    return RowError("key", what, f"at most {MAX_KEY_BYTES:,} bytes", remedy)
