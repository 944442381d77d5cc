"""The bytes of cells and qualifiers are those of the reference encoder."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import random_designs
import random_row_values
import reference_values
from rowkey.cells import CellType
from rowkey.errors import Mistakes, RowError
from rowkey.keys import bind_fields, bind_key
from rowkey.rows import build_layout
from rowkey.schema import FieldDeclaration, FieldRef


def encode_expected_cell(words: dict[str, Any], value: Any) -> tuple[bytes, bytes | None]:
    """Return the expected qualifier prefix and cell value of a value."""
    marker = bool(words.get("nullable"))
    if value is None:
        reference_values.require(marker, "null")
        return b"\0", None
    normal = reference_values.normalize_value(words, value)
    encoded = reference_values.encode_value(words, FieldRef("x"), normal)
    return b"\1" * marker + encoded, reference_values.encode_for_digest(words, normal)


@given(data=st.data(), words=random_designs.declarations())
def test_columns_and_qualifiers_hold_the_documented_bytes(
    data: st.DataObject, words: dict[str, Any]
) -> None:
    """A column has the field's value, a qualifier its encoding, and both refuse the same values."""
    placed = {**words, "at": "qualifier"}
    fields = {"id": {"type": "u8"}, "x": words, "q": placed, "sure": {"type": "u8"}}
    bound = bind_fields({n: FieldDeclaration(**w) for n, w in fields.items()}, Mistakes())
    layout = build_layout(bind_key("[id]", {"id": "u8"}), bound)
    row = data.draw(random_row_values.rows({"x": words, "q": placed}))
    try:
        (_, value), (before, _) = (
            encode_expected_cell(words, row["x"]),
            encode_expected_cell(words, row["q"]),
        )
    except reference_values.InvalidByReference:
        with pytest.raises(RowError):
            layout.encode_event({"id": 1, "sure": 2, **row})
        return
    key, cells = layout.encode_event({"id": 1, "sure": 2, **row})
    found = {cell.qualifier: cell for cell in cells}
    assert {before + b"sure", before + b"x"} == set(found)
    cell = found[before + b"x"]
    assert (value or b"", value is None) == (cell.value, cell.cell_type is CellType.DELETE_COLUMN)
    (event,) = layout.decode_events(key, [cell for cell in cells if cell.cell_type is CellType.PUT])
    for name in ("x", "q"):
        again = event[name]
        normal = None if again is None else reference_values.normalize_value(words, again)
        assert normal == (
            None if row[name] is None else reference_values.normalize_value(words, row[name])
        )
