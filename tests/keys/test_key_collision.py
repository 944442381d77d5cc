"""Rows with the same key are those that a search with every class of values finds."""

from __future__ import annotations

from typing import Any

import pytest

from rowkey.keys import bind_key, find_colliding_rows, key_collision

DIGITS = {"type": "choice", "of": ["23", "3"]}
CASES: list[tuple[str, Any, Any]] = [
    ("[a:raw][b]", "text", "text"),
    ("[a:raw][b]", "text", "u32"),
    ("[a:raw]['~'][b:raw]", "text", "bytes"),
    ("[a:raw][b:raw]", "bytes", "bytes"),
    ("[a:raw][b:tail]", "text", "bytes"),
    ("[a:raw][b:text]", "text", DIGITS),
]


@pytest.mark.parametrize(("notation", "first", "second"), CASES)
def test_rows_with_colliding_keys_are_found_whatever_the_field_types(
    notation: str, first: Any, second: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows found are those found if texts, numbers and bytes are tried for every field."""
    key = bind_key(notation, {"a": first, "b": second})
    found = find_colliding_rows(key, 0)
    monkeypatch.setattr(
        key_collision, "_choose_conversions", lambda field: key_collision._VALUE_CONVERSIONS
    )
    assert find_colliding_rows(key, 0) == found
    if found is not None:
        (a, b), (c, d) = found
        assert key.encode({"a": a, "b": b}) == key.encode({"a": c, "b": d})
