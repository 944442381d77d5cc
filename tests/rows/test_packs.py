"""Packed cells have the documented bytes of both formats, and need the optional package."""

from __future__ import annotations

import sys
from datetime import date
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from rowkey.design import Design
from rowkey.errors import InvalidArgument, InvalidDesign, Unavailable
from rowkey.rows import PACK_FORMATS, Layout, parse_pack_label
from rowkey.schema import FieldDeclaration

SORTS: tuple[tuple[Any, Any, str, str], ...] = (
    ("text", "é", "a2c3a9", "0a02c3a9"),
    ("bytes", b"\0", "c40100", "0a0100"),
    ("u8", 200, "ccc8", "08c801"),
    ("u64", 2**64 - 1, "cfffffffffffffffff", "08ffffffffffffffffff01"),
    ("i32", -3, "fd", "0805"),
    ("bool", True, "01", "0801"),
    ("float32", 1.5, "ca3fc00000", "0d0000c03f"),
    ("float64", 1.5, "cb3ff8000000000000", "09000000000000f83f"),
    ("date", date(1969, 12, 31), "ff", "0801"),
    ("timestamp_ms", 300, "cd012c", "08ac02"),
    ("ipv4", "10.0.0.1", "c4040a000001", "0a040a000001"),
    ({"type": "choice", "of": ["a", "b"]}, "b", "01", "0801"),
    ({"type": "digits", "width": 2}, "07", "a23037", "0a023037"),
    ({"type": "decimal", "precision": 4, "scale": 1}, Decimal("-0.1"), "ff", "0801"),
    ({"type": "decimal", "precision": 38}, Decimal(10**30),
     "c410" + (10**30).to_bytes(16).hex(), "0a10" + (10**30).to_bytes(16).hex()),
)  # fmt: skip
"""A type, a value, and its bytes in MessagePack and, as field 1, in Protocol Buffers.

Written out from the specification of MessagePack and the encoding guide of Protocol Buffers.
"""


def build_layout(label: str, *types: Any) -> Layout:
    """Build a layout whose fields share one packed cell."""
    packed = {
        f"f{n}": ({"type": t} if isinstance(t, str) else t) | {"pack": label, "nullable": True}
        for n, t in enumerate(types)
    }
    return Design("t", "[id]", fields={"id": "u8", **packed}).layout


def encode_packed_cell(layout: Layout, *values: Any) -> str:
    """Return the packed cell of some values, in hexadecimal digits."""
    row = {"id": 1} | {f"f{n}": value for n, value in enumerate(values)}
    key, cells = layout.encode_event(row)
    assert [row] == layout.decode_events(key, cells)
    return next(cell.value.hex() for cell in cells if cell.qualifier == b"p")


@pytest.mark.parametrize(("kind", "value", "expected", "message"), SORTS)
def test_each_type_of_value_is_packed_to_the_documented_bytes(
    kind: Any, value: Any, expected: str, message: str
) -> None:
    """Each type of value has its bytes in msgpack and in protocol buffers."""
    assert f"8100{expected}" == encode_packed_cell(build_layout("p", kind), value)
    assert f"8100{expected}" == encode_packed_cell(build_layout("p:msgpack", kind), value)
    assert message == encode_packed_cell(build_layout("p:protobuf", kind), value)


def test_a_null_in_a_packed_cell_does_not_change_the_numbers_of_other_fields() -> None:
    """A null takes no byte, and does not change the numbers of other fields."""
    for label, expected in (("p", "820005020a"), ("p:protobuf", "0805180a")):
        assert expected == encode_packed_cell(build_layout(label, "u8", "text", "u8"), 5, None, 10)


def test_a_packed_cell_with_doubles_stores_no_singles() -> None:
    """A cell with singles and doubles has doubles only; singles alone stay short."""
    assert encode_packed_cell(build_layout("p", "float32", "float64"), 1.5, 0.1).startswith(
        "8200cb"
    )


@pytest.mark.parametrize("word", sorted(filter(None, PACK_FORMATS)))
@given(values=st.tuples(st.integers(0, 2**64 - 1), st.text("ab", max_size=40), st.booleans()))
def test_a_packed_cell_is_read_back_in_each_format(word: str, values: tuple[Any, ...]) -> None:
    assert encode_packed_cell(build_layout(f"p:{word}", "u64", "text", "bool"), *values)


def test_an_unknown_pack_format_gets_the_nearest_as_suggestion() -> None:
    """The error of an unknown format lists the formats and suggests the nearest."""
    with pytest.raises(InvalidDesign, match=r"fields.f0.pack: 'protobug'.*Did you mean protob"):
        build_layout("p:protobug", "u8")


def test_fields_of_one_packed_cell_must_have_one_format() -> None:
    fields: dict[str, Any] = {"id": "u8", "a": {"type": "u8", "pack": "p"}}
    fields["b"] = {"type": "u8", "pack": "p:protobuf"}
    with pytest.raises(InvalidDesign, match="d:p is already the cell of a"):
        Design("t", "[id]", fields=fields)


def test_a_missing_pack_package_is_reported_at_the_first_encoding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error of a missing package names the package at the first encoding."""
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    layout = build_layout("p:protobuf", "u8")
    assert {b"p", b""} == {cell.qualifier for cell in layout.estimate_cells()}
    with pytest.raises(Unavailable, match=r"pip install rowkey\[protobuf\]"):
        layout.encode_event({"id": 1, "f0": 1})


def test_the_pack_option_of_each_format_is_documented() -> None:
    """The reference and the JSON schema say how `pack` selects each format."""
    told = FieldDeclaration.model_fields["pack"].description or ""
    default = PACK_FORMATS[""]
    asked = [f"p:{word}" for word, kind in PACK_FORMATS.items() if kind is not default]
    assert asked
    assert [] == [word for word in asked if word not in told]


def test_an_unknown_format_of_packed_cells_is_refused() -> None:
    """What follows the colon of `pack` is no part of the qualifier, so a typo there is refused."""
    refusal = "'protobu' is not a format of packed cells; .*Did you mean protobuf"
    with pytest.raises(InvalidArgument, match=refusal):
        parse_pack_label("p:protobu")
    with pytest.raises(InvalidDesign, match=f"fields.a.pack: {refusal}"):
        Design("t", "[id]", fields={"id": "u8", "a": {"type": "u8", "pack": "p:protobu"}})
