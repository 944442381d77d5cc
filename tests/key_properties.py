"""Properties of keys: each check fails if a part of a key has a trait that its bytes contradict.

They are plain functions, so that the tests with planted mistakes can call the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rowkey.errors import InvalidArgument, RowError
from rowkey.keys import (
    Compatibility,
    Determinant,
    FieldPart,
    Key,
    NullablePart,
    NumberPart,
    Part,
    Transform,
    walk_parts,
)
from rowkey.keys.parts.complement import build_descending_part
from rowkey.schema import Equal, OneOf, Range, StartsWith, is_within_bound

if TYPE_CHECKING:
    from rowkey.keys import Field, Row
    from rowkey.schema import Bound

SALT = "\0salt"


def try_encode_row(key: Key, row: Row, salt: int = 0) -> bytes | None:
    """Encode the key of a row; None if the key does not accept one of its values."""
    try:
        return key.encode(row, salt=salt)
    except RowError:
        return None


def try_encode_part(part: Part, row: Row) -> bytes | None:
    """Encode a part of a key for a row; None if it does not accept one of the values."""
    try:
        return part.encode({SALT: 0, **row})
    except RowError:
        return None


def list_parts(key: Key) -> list[Part]:
    """Return all parts of a key, including those inside other parts."""
    return [part for top in key.parts for part in walk_parts(top)]


def decode_encoded_key(key: Key, data: bytes) -> dict[str, Any]:
    """Decode a key that was encoded, and fail the test if it is refused."""
    try:
        return key.decode(data)
    except (RowError, InvalidArgument) as problem:
        raise AssertionError(f"{key} refuses a key that it encoded: {problem}") from problem


def check_recovered_fields(key: Key, row: Row) -> None:
    """Check that decoding a key returns every field of which it loses nothing."""
    data = try_encode_row(key, row)
    if data is None or not key.is_decodable:
        return
    decoded = decode_encoded_key(key, data)
    recovered = {name for name in key.fields if key.part_sequence.residue(name).is_empty}
    assert recovered == set(decoded)
    assert {name: row[name] for name in recovered} == decoded


def check_distinct_keys(key: Key, one: Row, other: Row) -> None:
    """Check that different rows have different keys, unless the key is ambiguous or lossy."""
    first, second = try_encode_row(key, one), try_encode_row(key, other)
    is_lossless = all(key.part_sequence.residue(name).is_empty for name in key.fields)
    if first is None or second is None or not is_lossless or not key.is_decodable:
        return
    assert (first == second) == (dict(one) == dict(other))


def check_order(part: Part, field: Field, values: Sequence[Any]) -> None:
    """Check that the bytes of a part sort as its trait `order` says."""
    pieces = [(try_encode_part(part, {field.name: v}), field.type.to_internal(v)) for v in values]
    for first, low in pieces:
        for second, high in pieces:
            if first is None or second is None or low == high:
                continue
            if not low < high:
                continue
            if part.order.is_ascending:
                assert first <= second
            if part.order.is_descending:
                assert first >= second
            if part.order.is_strict:
                assert first != second


def check_framing(part: Part, row: Row, following_bytes: bytes) -> None:
    """Check that the length of a part is as declared, and that its end is found."""
    piece = try_encode_part(part, row)
    if piece is None:
        return
    framing = part.framing
    assert framing.min_bytes <= len(piece)
    assert framing.max_bytes is None or len(piece) <= framing.max_bytes
    if framing.is_self_delimiting:
        assert part.find_end(piece + following_bytes, 0) == len(piece)
        assert part.find_end(b"x" + piece + following_bytes, 1) == 1 + len(piece)


def check_alphabet(part: Part, row: Row) -> None:
    """Check that a part has only bytes of its alphabet."""
    piece = try_encode_part(part, row)
    if piece is not None:
        assert set(piece) <= set(part.alphabet.values)
        assert not piece or piece[0] in part.first_byte_alphabet.values


def check_cardinality(part: Part, rows: Sequence[Row]) -> None:
    """Check that a part has no more different encodings than its cardinality."""
    pieces = {try_encode_part(part, row) for row in rows} - {None}
    assert part.cardinality is None or len(pieces) <= part.cardinality


def check_part_decoding(part: Part, row: Row) -> None:
    """Check that a part decodes to the fields of which it loses nothing, and to no others."""
    piece = try_encode_part(part, row)
    if piece is None:
        return
    decoded = part.decode(piece)
    part.check(piece)
    for name in part.fields:
        if part.residue(name).is_empty:
            assert name in decoded
            assert decoded[name] == row[name]
    assert all(row[name] == value for name, value in decoded.items())


def check_images(
    part: Part, fields: Mapping[str, Field], bounds: Mapping[str, Bound], row: Row, other: Row
) -> None:
    """Check that images contain the bytes of a row in the bounds and, if exact, of no other row.

    `row` is within the bounds; `other` is any row.
    """
    images = part.images(bounds)
    piece = try_encode_part(part, row)
    if piece is None:
        return
    assert images.contains(piece)
    other_piece = try_encode_part(part, other)
    if images.exact and other_piece is not None and images.contains(other_piece):
        assert all(
            is_value_within_bound(fields[n], other[n], bounds[n])
            for n in part.fields
            if n in bounds
        )


def is_value_within_bound(field: Field, value: Any, bound: Bound) -> bool:
    """Return whether a value satisfies a bound, by the order of the field's type."""
    if value is None:
        return isinstance(bound, Equal | OneOf) and is_within_bound(None, bound)
    to_internal = field.type.to_internal
    internal_bound: Bound
    match bound:
        case Equal(value_wanted):
            internal_bound = Equal(None if value_wanted is None else to_internal(value_wanted))
        case OneOf(listed):
            internal_bound = OneOf(tuple(to_internal(one) for one in listed if one is not None))
        case Range(low, high, with_low, with_high):
            internal_bound = Range(
                None if low is None else to_internal(low),
                None if high is None else to_internal(high),
                with_low,
                with_high,
            )
        case StartsWith():
            internal_bound = bound
    return is_within_bound(to_internal(value), internal_bound)


def check_resolution(part: Part, row: Row, distance: int) -> None:
    """Check that a part computed from a time alone stays the same within its resolution."""
    number = _find_time_part(part)
    assert part.resolution_ns is None or number is not None
    if part.resolution_ns is None or number is None or part.determined_by is not Determinant.FIELDS:
        return
    name = part.fields[0]
    try:
        value = number.compute_number(row)
    except (RowError, TypeError):
        return
    tick = number.unit_ns or 1
    units = max(part.resolution_ns // tick, 1)
    start = value - value % units
    near = min(start + distance % units, number.high)
    piece, near_piece = (
        try_encode_part(part, row),
        try_encode_part(part, {**row, name: number.to_field_value(near)}),
    )
    if piece is not None and near_piece is not None and start >= number.low:
        assert piece == near_piece


def _find_time_part(part: Part) -> NumberPart | None:
    """Return the only time field that a part is computed from, or None."""
    time_parts = [
        one
        for one in walk_parts(part)
        if isinstance(one, NumberPart) and isinstance(one, FieldPart) and one.unit_ns is not None
    ]
    return time_parts[0] if time_parts and len(part.fields) == 1 else None


def check_descending(part: Part, field: Field, values: Sequence[Any]) -> None:
    """Check that the descending form of a part sorts the other way, and can be undone."""
    descending = build_descending_part(part)
    if part.order.is_ascending and part.framing.is_self_delimiting:
        assert descending.order == part.order.reverse()
    check_order(descending, field, values)
    for value in values:
        row = {field.name: value}
        assert try_encode_part(build_descending_part(descending), row) == _encode_with_end(
            part, row
        )


def _encode_with_end(part: Part, row: Row) -> bytes | None:
    """Encode a part with the end that `desc` adds to it."""
    descending = build_descending_part(part)
    descending_piece = try_encode_part(descending, row)
    ascending = build_descending_part(descending)
    return (
        try_encode_part(ascending, row)
        if descending_piece is not None
        else try_encode_part(part, row)
    )


def check_nulls_first(part: Part, row: Row) -> None:
    """Check that a null sorts before every value, ascending and descending."""
    name = part.fields[0]
    for direction in (part, build_descending_part(part)):
        present, absent = (
            try_encode_part(direction, row),
            try_encode_part(direction, {**row, name: None}),
        )
        if present is not None and row[name] is not None:
            assert absent is not None
            assert absent < present


def check_input_encoder(part: Part, row: Row) -> None:
    """Check that a transform of the bytes of its inputs gives the part's bytes."""
    encode_inputs = part.compile_input_encoder()
    if encode_inputs is None or not isinstance(part, Transform):
        return
    pieces = [try_encode_part(one, row) for one in part.inputs]
    if None not in pieces:
        assert encode_inputs(b"".join(p for p in pieces if p is not None)) == try_encode_part(
            part, row
        )


def check_normal_form(field: Field, value: Any) -> None:
    """Check that a normal form is stable, equal to its value, and unchanged as text."""
    normal = field.normalize(value)
    assert field.normalize(normal) == normal
    assert field.type.to_internal(normal) == field.type.to_internal(value)
    assert field.parse(field.type.format_value(normal)) == normal


def check_reachable_count(part: Part, rows: Sequence[Row], step: int) -> None:
    """Check that values a step apart have no more encodings than the part says."""
    reach = part.count_reachable(step)
    pieces = {try_encode_part(part, row) for row in rows} - {None}
    assert reach is None or len(pieces) <= reach


def check_compatible_bytes(old: Part, new: Part, row: Row) -> None:
    """Check that a compatible part writes and reads the same bytes for a stored row."""
    before = try_encode_part(old, row)
    if before is None or old.check_compatibility(new) is Compatibility.BREAKS:
        return
    assert before == try_encode_part(new, row)
    if old.framing.is_self_delimiting:
        assert new.framing.is_self_delimiting
        assert len(before) == new.find_end(before, 0)
    assert old.decode(before) == new.decode(before)


def check_widened_field(small: Key, large: Key, rows: Sequence[Row]) -> None:
    """Check that a field with more values in `large` is compatible only if no byte changes.

    The other way round, stored values may no longer be valid.
    """
    keys = [(try_encode_row(small, row), try_encode_row(large, row)) for row in rows]
    is_same = all(new == old for old, new in keys if old is not None)
    change = small.check_compatibility(large)
    assert change is not Compatibility.SAME
    assert is_same or change is Compatibility.BREAKS
    assert large.check_compatibility(small) is Compatibility.BREAKS
    assert (
        small.check_compatibility(small) is large.check_compatibility(large) is Compatibility.SAME
    )


def check_batch_encoding(key: Key, rows: Sequence[Row], salts: Sequence[int]) -> None:
    """Check that a batch, a slice and a dictionary-encoded batch have the bytes of single rows.

    Rows that cannot be encoded alone are left out, and refused together.
    """
    alone = [try_encode_row(key, row, salt) for row, salt in zip(rows, salts, strict=True)]
    valid_indexes = [index for index, data in enumerate(alone) if data is not None]
    batch = build_batch(key, [rows[index] for index in valid_indexes])
    numbers = np.array([salts[index] for index in valid_indexes], np.int64)
    expected = [alone[index] for index in valid_indexes]
    for form in (batch, _encode_dictionaries(batch)):
        found = key.encode_batch(form, salts=numbers).to_pylist()
        assert expected == found
        middle = len(valid_indexes) // 2
        tail = key.encode_batch(form.slice(middle), salts=numbers[middle:])
        assert expected[middle:] == tail.to_pylist()


def check_batch_refusal(key: Key, rows: Sequence[Row], salts: Sequence[int]) -> None:
    """Check that a batch with a row that cannot be encoded is refused."""
    alone = [try_encode_row(key, row, salt) for row, salt in zip(rows, salts, strict=True)]
    if None not in alone:
        return
    try:
        key.encode_batch(build_batch(key, rows), salts=np.array(salts, np.int64))
    except (RowError, InvalidArgument):
        return
    raise AssertionError(f"{key} accepted a batch with a row that it refuses alone")


def check_batch_decoding(key: Key, rows: Sequence[Row], salts: Sequence[int]) -> None:
    """Check that many keys decode together as each does alone."""
    if not key.is_decodable:
        return
    pairs = zip(rows, salts, strict=True)
    data = [one for row, salt in pairs if (one := try_encode_row(key, row, salt)) is not None]
    if not data:
        return
    decoded = key.decode_batch(pa.array(data, pa.binary()))
    for name in decoded.schema.names:
        alone = [decode_encoded_key(key, one)[name] for one in data]
        assert alone == normalize_column(key.fields[name], decoded.column(name))
    assert set(decode_encoded_key(key, data[0])) == set(decoded.schema.names)


def normalize_column(field: Field, column: pa.Array) -> list[Any]:
    """Return the normal values of an Arrow column."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return [None if value is None else field.normalize(value) for value in column.to_pylist()]


def build_batch(key: Key, rows: Sequence[Row]) -> pa.RecordBatch:
    """Build an Arrow batch of rows, with the Arrow types of their fields."""
    arrays, names = [], []
    for name, field in key.fields.items():
        kind = field.type.build_arrow_type()
        values = [row[name] for row in rows]
        if pa.types.is_timestamp(kind):
            arrays.append(pa.array(values, pa.int64()))
        else:
            arrays.append(pa.array(values, kind))
        names.append(name)
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _encode_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Dictionary-encode every column of a batch that Arrow can encode so."""
    arrays = []
    for column in batch.columns:
        try:
            arrays.append(column.dictionary_encode())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def has_single_field(part: Part) -> bool:
    """Return whether a part has one field and no bytes of its own for null."""
    return (
        len(part.fields) == 1 and not isinstance(part, NullablePart) and not part.has_null_encoding
    )
