"""The layout's estimate of an event's bytes equals KeyValues that are encoded here."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.schema import FieldFacts
from rowkey.workload import EventBatch, SampleSummary

TEXTS = st.text(st.sampled_from("abé"), max_size=10)
ROWS = st.lists(
    st.tuples(TEXTS, st.one_of(st.none(), TEXTS), st.integers(0, 2**32 - 1), st.integers(0, 10**9)),
    min_size=1,
    max_size=12,
)
NAMES = ("host", "note", "n", "ts")
TYPES: dict[str, dict[str, Any]] = {
    "host": {"type": "text"},
    "note": {"type": "text", "nullable": True},
    "n": {"type": "u32"},
    "ts": {"type": "timestamp_s"},
}


def encode_key_value(row: bytes, family: str, qualifier: bytes, value: bytes) -> bytes:
    """Encode a cell as HBase's KeyValue, with a time and type that do not matter here."""
    name = family.encode()
    key = struct.pack(">H", len(row)) + row + struct.pack(">B", len(name)) + name + qualifier
    key += struct.pack(">qb", 0, 4)
    return struct.pack(">ii", len(key), len(value)) + key + value


def encode_value(name: str, value: Any) -> bytes:
    """Encode a value by itself: text as UTF-8, numbers as wide as their type."""
    if isinstance(value, str):
        return value.encode()
    return int(value).to_bytes(4 if name == "n" else 8)


def encode_msgpack_map(values: dict[int, Any]) -> bytes:
    """Encode a msgpack map from small numbers to short texts."""
    out = bytes([0x80 | len(values)])
    for number, text in values.items():
        data = text.encode()
        out += bytes([number, 0xA0 | len(data)]) + data
    return out


def collect_facts(design: Design, rows: list[tuple[Any, ...]]) -> Mapping[str, FieldFacts]:
    """Return what a sample summary of the rows knows."""
    kinds = [pa.string(), pa.string(), pa.uint32(), pa.timestamp("s", "UTC")]
    columns = [pa.array(c, k) for c, k in zip(zip(*rows, strict=True), kinds, strict=True)]
    profile = SampleSummary(design.fields)
    profile.add(EventBatch(pa.RecordBatch.from_arrays(columns, names=list(NAMES)), None))
    return profile.measured_facts


def count_marker_bytes(
    design: Design, rows: list[tuple[Any, ...]], qualifier: bytes, note: Any
) -> float:
    """Return the bytes of rows with a marker cell, and a cell of the note where it is not null."""
    expected = 0
    for host, text, n, ts in rows:
        key = design.key.encode({"host": host, "n": n, "ts": ts})
        expected += len(encode_key_value(key, "d", b"", b""))
        if text is not None:
            expected += len(encode_key_value(key, "d", qualifier, note(text)))
    return expected


def estimate_bytes(design: Design, rows: list[tuple[Any, ...]]) -> float:
    """Return the layout's estimate for all rows."""
    keys = [len(design.key.encode(dict(zip(NAMES, row, strict=True)))) for row in rows]
    each = design.layout.estimate_event_bytes(sum(keys) / len(keys), collect_facts(design, rows))
    return each * len(rows)


@given(rows=ROWS)
def test_each_cell_of_an_event_has_the_whole_key_and_a_null_has_no_cell(
    rows: list[tuple[Any, ...]],
) -> None:
    """Every cell repeats the key, and a null has no cell."""
    fields = {**TYPES, "note": {**TYPES["note"], "family": "long", "qualifier": "x"}}
    design = Design("t", "[host][ts]", fields=fields, families={"d": {}, "long": {}})
    # Where each row has a key of one length, the sum of products is the product of the means.
    rows = [("h", *row[1:]) for row in rows]
    expected = 0
    for host, note, n, ts in rows:
        key = design.key.encode({"host": host, "ts": ts})
        expected += len(encode_key_value(key, "d", b"n", encode_value("n", n)))
        if note is not None:
            expected += len(encode_key_value(key, "long", b"x", encode_value("note", note)))
    assert pytest.approx(expected) == estimate_bytes(design, rows)


@given(rows=ROWS)
def test_a_marker_cell_is_written_if_all_columns_are_nullable(rows: list[tuple[Any, ...]]) -> None:
    """Where all columns are nullable, the marker cell is written next to the others."""
    design = Design("t", "[n][host:fixed(10)][ts]", fields=TYPES)
    rows = [("h" * 10, *row[1:]) for row in rows]
    expected = count_marker_bytes(design, rows, b"note", lambda note: encode_value("note", note))
    assert pytest.approx(expected) == estimate_bytes(design, rows)


@given(rows=ROWS)
def test_a_packed_cell_costs_the_key_once(rows: list[tuple[Any, ...]]) -> None:
    """Texts packed into one cell cost a msgpack map from small numbers, byte for byte."""
    fields = {
        "host": {"type": "text", "pack": "p"},
        "note": {**TYPES["note"], "pack": "p"},
        "n": "u32",
        "ts": "timestamp_s",
    }
    design = Design("t", "[n][ts]", fields=fields)
    expected = 0
    for host, note, n, ts in rows:
        key = design.key.encode({"n": n, "ts": ts})
        held = {0: host} if note is None else {0: host, 1: note}
        expected += len(encode_key_value(key, "d", b"p", encode_msgpack_map(held)))
    assert pytest.approx(expected) == estimate_bytes(design, rows)


@given(rows=ROWS)
def test_a_packed_cell_of_only_nulls_is_not_written(rows: list[tuple[Any, ...]]) -> None:
    """A packed cell is counted as often as one of its fields is present, a marker always."""
    fields = {**TYPES, "note": {**TYPES["note"], "pack": "p"}}
    design = Design("t", "[n][host:fixed(10)][ts]", fields=fields)
    rows = [("h" * 10, *row[1:]) for row in rows]
    expected = count_marker_bytes(design, rows, b"p", lambda note: encode_msgpack_map({0: note}))
    assert pytest.approx(expected) == estimate_bytes(design, rows)


@given(rows=ROWS)
def test_every_cell_of_a_time_slice_has_the_offset_in_its_qualifier(
    rows: list[tuple[Any, ...]],
) -> None:
    """Each qualifier has the offset in the slice, then a field, then the column's name."""
    fields = {**TYPES, "n": {"type": "u32", "at": "qualifier"}}
    design = Design("t", "[host:fixed(10)][time_slice(ts, 1h)]", fields=fields)
    rows = [("h" * 10, *row[1:]) for row in rows]
    expected = 0
    for host, note, n, ts in rows:
        key = design.key.encode({"host": host, "ts": ts})
        before = (ts % 3_600).to_bytes(2) + encode_value("n", n)
        expected += len(encode_key_value(key, "d", before, b""))
        if note is not None:
            expected += len(
                encode_key_value(key, "d", before + b"note", encode_value("note", note))
            )
    assert pytest.approx(expected) == estimate_bytes(design, rows)


def test_a_field_that_the_key_holds_as_a_digest_costs_a_cell() -> None:
    """The host that the key holds as a digest costs a cell."""
    whole = Design("t", "[host][ts]", fields={"host": "text", "ts": "timestamp_s"}).layout
    lost = Design("t", "[digest(host, 8)][ts]", fields={"host": "text", "ts": "timestamp_s"}).layout
    facts = {"host": FieldFacts(mean_bytes=5.0)}
    assert (("host",), ()) == (lost.lossy_key_fields, whole.lossy_key_fields)
    assert len(encode_key_value(b"k" * 16, "d", b"", b"")) == whole.estimate_event_bytes(16, facts)
    assert len(encode_key_value(b"k" * 16, "d", b"host", b"web-1")) == lost.estimate_event_bytes(
        16, facts
    )


def test_a_time_stored_as_the_cell_timestamp_adds_no_bytes() -> None:
    fields = {"host": "text", "n": "u32", "ts": {"type": "timestamp_ms", "at": "timestamp"}}
    layout = Design("t", "[host]", fields=fields).layout
    assert len(encode_key_value(b"web-1\0", "d", b"n", bytes(4))) == layout.estimate_event_bytes(6)


@pytest.mark.parametrize(
    ("options", "bytes_"),
    [({"type": "u16"}, 2), ({"type": "uuid"}, 16), ({"type": "text", "mean_bytes": 31.5}, 31.5),
     ({"type": "text"}, 16), ({"type": "bool"}, 1)],
)  # fmt: skip
def test_a_field_width_is_measured_else_declared_else_that_of_the_type(
    options: dict[str, Any], bytes_: float
) -> None:
    """A width is measured, else declared, else that of the type, else 16 bytes of text."""
    layout = Design("t", "[id]", fields={"id": "u32", "x": options}).layout
    (cell,) = layout.estimate_cells()
    assert bytes_ == cell.mean_value_bytes
    (cell,) = layout.estimate_cells({"x": FieldFacts(mean_bytes=9.0)})
    assert 9.0 == cell.mean_value_bytes


@pytest.mark.parametrize("form", ["p", "p:msgpack", "p:protobuf"])
@pytest.mark.parametrize("count", [1, 5, 14, 40])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_estimate_of_a_packed_cell_equals_the_written_bytes(
    form: str, count: int, share: float
) -> None:
    """The estimate of packed texts and fractions, some null, equals the written cells."""
    pytest.importorskip("google.protobuf")
    nullable = {"nullable": True} if share else {}
    fields: dict[str, Any] = {"id": "u32", "first": {"type": "float64", "pack": form}}
    fields |= {f"t{n}": {"type": "text", "pack": form, **nullable} for n in range(count)}
    layout = Design("t", "[id]", fields=fields).layout
    facts = {f"t{n}": FieldFacts(mean_bytes=5.0, null_share=share) for n in range(count)}
    rows = [
        {
            "id": 7,
            "first": 0.5,
            **{f"t{n}": "abcde" if n % 2 or whole else None for n in range(count)},
        }
        for whole in ([True] if not share else [True, False])
    ]
    if share:
        facts = {
            name: FieldFacts(mean_bytes=5.0, null_share=0.0 if n % 2 else 0.5)
            for n, name in enumerate(facts)
        }
    cells = [cell for row in rows for cell in layout.encode_event(row)[1]]
    written = [
        len(encode_key_value(bytes(4), cell.family, cell.qualifier, cell.value)) for cell in cells
    ]
    assert pytest.approx(sum(written) / len(rows)) == layout.estimate_event_bytes(4, facts)
