"""The properties of keys: each takes what was made at random and fails if a part lied about itself.

They are plain functions, so that the mutants can be judged by the very same ones.
"""

from __future__ import annotations

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
from rowkey.schema import Equal, OneOf, Range, StartsWith, is_within_bound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.keys import Field, Row
    from rowkey.schema import Bound

SALT = "\0salt"


def encoded(key: Key, row: Row, salt: int = 0) -> bytes | None:
    """A row's key, or None if a value has no place in it."""
    try:
        return key.encode(row, salt=salt)
    except RowError:
        return None


def piece_of(part: Part, row: Row) -> bytes | None:
    """A part's bytes for a row, or None if a value has no place in it."""
    try:
        return part.encode({SALT: 0, **row})
    except RowError:
        return None


def every_part(key: Key) -> list[Part]:
    """All parts of a key, those inside others included."""
    return [part for top in key.parts for part in walk_parts(top)]


def decoded(key: Key, data: bytes) -> dict[str, Any]:
    """The fields of a key that was encoded; that it is refused is a broken property."""
    try:
        return key.decode(data)
    except (RowError, InvalidArgument) as problem:
        raise AssertionError(f"{key} refuses what it encoded: {problem}") from problem


def check_recovers(key: Key, row: Row) -> None:
    """Decoding a key gives back every field that it claims to hold whole."""
    data = encoded(key, row)
    if data is None or not key.is_decodable:
        return
    found = decoded(key, data)
    whole = {name for name in key.fields if key.part_sequence.residue(name).is_empty}
    assert whole == set(found)
    assert {name: row[name] for name in whole} == found


def check_distinct(key: Key, one: Row, other: Row) -> None:
    """Rows that differ have different keys, unless the key says that it is ambiguous or lossy."""
    first, second = encoded(key, one), encoded(key, other)
    whole = all(key.part_sequence.residue(name).is_empty for name in key.fields)
    if first is None or second is None or not whole or not key.is_decodable:
        return
    assert (first == second) == (dict(one) == dict(other))


def check_order(part: Part, field: Field, values: Sequence[Any]) -> None:
    """Bytes sort as the part's order says its field's values do."""
    pieces = [(piece_of(part, {field.name: v}), field.type.to_internal(v)) for v in values]
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


def check_framing(part: Part, row: Row, behind: bytes) -> None:
    """A part's bytes are as long as it says, and closed ones tell where they end."""
    piece = piece_of(part, row)
    if piece is None:
        return
    framing = part.framing
    assert framing.min_bytes <= len(piece)
    assert framing.max_bytes is None or len(piece) <= framing.max_bytes
    if framing.is_self_delimiting:
        assert part.find_end(piece + behind, 0) == len(piece)
        assert part.find_end(b"x" + piece + behind, 1) == 1 + len(piece)


def check_alphabet(part: Part, row: Row) -> None:
    """A part's bytes are of its alphabet."""
    piece = piece_of(part, row)
    if piece is not None:
        assert set(piece) <= set(part.alphabet.values)
        assert not piece or piece[0] in part.first_byte_alphabet.values


def check_cardinality(part: Part, rows: Sequence[Row]) -> None:
    """There are no more encodings than the part says."""
    pieces = {piece_of(part, row) for row in rows} - {None}
    assert part.cardinality is None or len(pieces) <= part.cardinality


def check_reads(part: Part, row: Row) -> None:
    """What a part holds whole is read back from its bytes alone; what it lost is not made up."""
    piece = piece_of(part, row)
    if piece is None:
        return
    found = part.decode(piece)
    part.check(piece)
    for name in part.fields:
        if part.residue(name).is_empty:
            assert name in found
            assert found[name] == row[name]
    assert all(row[name] == value for name, value in found.items())


def check_images(
    part: Part, fields: Mapping[str, Field], bounds: Mapping[str, Bound], row: Row, other: Row
) -> None:
    """A row within the bounds has its bytes among the images; where they are exact, no other has.

    `row` is within the bounds; `other` is any row.
    """
    images = part.images(bounds)
    piece = piece_of(part, row)
    if piece is None:
        return
    assert images.contains(piece)
    foreign = piece_of(part, other)
    if images.exact and foreign is not None and images.contains(foreign):
        assert all(within(fields[n], other[n], bounds[n]) for n in part.fields if n in bounds)


def within(field: Field, value: Any, bound: Bound) -> bool:
    """Whether a value satisfies a bound, by the order of the field's type."""
    if value is None:
        return isinstance(bound, Equal | OneOf) and is_within_bound(None, bound)
    hold = field.type.to_internal
    held: Bound
    match bound:
        case Equal(wanted):
            held = Equal(None if wanted is None else hold(wanted))
        case OneOf(listed):
            held = OneOf(tuple(hold(one) for one in listed if one is not None))
        case Range(low, high, with_low, with_high):
            held = Range(
                None if low is None else hold(low),
                None if high is None else hold(high),
                with_low,
                with_high,
            )
        case StartsWith():
            held = bound
    return is_within_bound(hold(value), held)


def check_resolution(part: Part, row: Row, away: int) -> None:
    """A part that only time decides stays the same within the stretch it names."""
    number = _clock_of(part)
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
    near = min(start + away % units, number.high)
    here, there = piece_of(part, row), piece_of(part, {**row, name: _value(number, near)})
    if here is not None and there is not None and start >= number.low:
        assert here == there


def _clock_of(part: Part) -> NumberPart | None:
    """The time field that a part is computed from, if it is the only one."""
    found = [
        one
        for one in walk_parts(part)
        if isinstance(one, NumberPart) and isinstance(one, FieldPart) and one.unit_ns is not None
    ]
    return found[0] if found and len(part.fields) == 1 else None


def _value(part: NumberPart, number: int) -> Any:
    return part.to_field_value(number)


def check_descending(part: Part, field: Field, values: Sequence[Any]) -> None:
    """The descending form of a part sorts the other way; descending twice gives the part back."""
    flipped = part.to_descending()
    if part.order.is_ascending and part.framing.is_self_delimiting:
        assert flipped.order == part.order.reverse()
    check_order(flipped, field, values)
    for value in values:
        row = {field.name: value}
        assert piece_of(flipped.to_descending(), row) == _again(part, row)


def _again(part: Part, row: Row) -> bytes | None:
    """The part's bytes once an end that `desc` gives back is there."""
    flipped = piece_of(part.to_descending(), row)
    closed = part.to_descending().to_descending()
    return piece_of(closed, row) if flipped is not None else piece_of(part, row)


def check_nulls_first(part: Part, row: Row) -> None:
    """A null sorts before every value, ascending and descending."""
    name = part.fields[0]
    for way in (part, part.to_descending()):
        present, absent = piece_of(way, row), piece_of(way, {**row, name: None})
        if present is not None and row[name] is not None:
            assert absent is not None
            assert absent < present


def check_derived(part: Part, row: Row) -> None:
    """Bytes derived from those of the inputs are the part's bytes."""
    derive = part.compile_input_encoder()
    if derive is None or not isinstance(part, Transform):
        return
    pieces = [piece_of(one, row) for one in part.inputs]
    if None not in pieces:
        assert derive(b"".join(p for p in pieces if p is not None)) == piece_of(part, row)


def check_normal(field: Field, value: Any) -> None:
    """The normal form of a value is itself normal, equal to the value, and shown and read back."""
    normal = field.normalize(value)
    assert field.normalize(normal) == normal
    assert field.type.to_internal(normal) == field.type.to_internal(value)
    assert field.parse(field.type.format_value(normal)) == normal


def check_reach(part: Part, rows: Sequence[Row], step: int) -> None:
    """Values a step apart reach no more encodings than the part says."""
    reach = part.count_reachable(step)
    pieces = {piece_of(part, row) for row in rows} - {None}
    assert reach is None or len(pieces) <= reach


def check_evolves(old: Part, new: Part, row: Row) -> None:
    """Where nothing breaks, a stored row has the same bytes, and they are read as before."""
    before = piece_of(old, row)
    if before is None or old.check_compatibility(new) is Compatibility.BREAKS:
        return
    assert before == piece_of(new, row)
    if old.framing.is_self_delimiting:
        assert new.framing.is_self_delimiting
        assert len(before) == new.find_end(before, 0)
    assert old.decode(before) == new.decode(before)


def check_grows(small: Key, large: Key, rows: Sequence[Row]) -> None:
    """One field may have more values in `large`: nothing breaks if no byte changes, and only then.

    The other way round, values that may be stored are none of the field's any more.
    """
    keys = [(encoded(small, row), encoded(large, row)) for row in rows]
    is_same = all(new == old for old, new in keys if old is not None)
    change = small.check_compatibility(large)
    assert change is not Compatibility.SAME
    assert is_same or change is Compatibility.BREAKS
    assert large.check_compatibility(small) is Compatibility.BREAKS
    assert (
        small.check_compatibility(small) is large.check_compatibility(large) is Compatibility.SAME
    )


def check_batch(key: Key, rows: Sequence[Row], salts: Sequence[int]) -> None:
    """Many rows at once have the bytes that each has alone; so have slices and coded columns.

    Rows that cannot be encoded alone are left out, and refused together.
    """
    alone = [encoded(key, row, salt) for row, salt in zip(rows, salts, strict=True)]
    kept = [index for index, data in enumerate(alone) if data is not None]
    batch = batch_of(key, [rows[index] for index in kept])
    numbers = np.array([salts[index] for index in kept], np.int64)
    expected = [alone[index] for index in kept]
    for form in (batch, _coded(batch)):
        found = key.encode_batch(form, salts=numbers).to_pylist()
        assert expected == found
        middle = len(kept) // 2
        tail = key.encode_batch(form.slice(middle), salts=numbers[middle:])
        assert expected[middle:] == tail.to_pylist()


def check_batch_refuses(key: Key, rows: Sequence[Row], salts: Sequence[int]) -> None:
    """A batch with a row that cannot be encoded is refused, by the same sort of error."""
    alone = [encoded(key, row, salt) for row, salt in zip(rows, salts, strict=True)]
    if None not in alone:
        return
    try:
        key.encode_batch(batch_of(key, rows), salts=np.array(salts, np.int64))
    except (RowError, InvalidArgument):
        return
    raise AssertionError(f"{key} took a batch of which a row alone is refused")


def check_decode_batch(key: Key, rows: Sequence[Row], salts: Sequence[int]) -> None:
    """Many keys at once decode as each does alone."""
    if not key.is_decodable:
        return
    pairs = zip(rows, salts, strict=True)
    data = [one for row, salt in pairs if (one := encoded(key, row, salt)) is not None]
    if not data:
        return
    found = key.decode_batch(pa.array(data, pa.binary()))
    for name in found.schema.names:
        alone = [decoded(key, one)[name] for one in data]
        assert alone == listed(key.fields[name], found.column(name))
    assert set(decoded(key, data[0])) == set(found.schema.names)


def listed(field: Field, column: pa.Array) -> list[Any]:
    """A column as normal values."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return [None if value is None else field.normalize(value) for value in column.to_pylist()]


def batch_of(key: Key, rows: Sequence[Row]) -> pa.RecordBatch:
    """Rows as an Arrow batch in the types of their fields."""
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


def _coded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same batch with every column dictionary-encoded, where Arrow can."""
    arrays = []
    for column in batch.columns:
        try:
            arrays.append(column.dictionary_encode())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def is_single(part: Part) -> bool:
    """Whether a part is of one field that it cannot take the null of."""
    return (
        len(part.fields) == 1 and not isinstance(part, NullablePart) and not part.has_null_encoding
    )
