"""The encoder against a second one that was written from the page of bytes alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings

import book
from book_designs import Case, cases
from book_values import TIMES, normal
from rowkey import bind_key
from rowkey.errors import DesignRefused, RowError
from rowkey.schema import find_field_refs, parse_key

if TYPE_CHECKING:
    from rowkey.keys import Key

DESIGNS = settings(max_examples=12 * settings().max_examples)
"""360 designs in the default profile."""


@dataclass
class Answers:
    """What the page says of the rows of a case: the keys of some, no to the others."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    salts: list[int] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    refused: list[tuple[dict[str, Any], int]] = field(default_factory=list)


def answers(case: Case) -> Answers:
    """The answers of the page; ids of codes go by the rows that it accepts."""
    told = Answers()
    codes: book.Codes = {}
    for row, salt in zip(case.rows, case.salts, strict=True):
        try:
            book.encode(case.notation, case.fields, row, salt)
        except book.Refused:
            told.refused.append((row, salt))
            continue
        told.keys.append(book.encode(case.notation, case.fields, row, salt, codes))
        told.rows.append(row)
        told.salts.append(salt)
    some = "some" if told.refused else "no"
    event(f"{some} rows are refused" if told.rows else "all rows are refused")
    return told


class Unlike(Exception):
    """Arrow made another value of one, such as 1 of 1.5."""


def bound(case: Case) -> Key:
    """The key, bound anew: a key that has codes remembers the values it has seen."""
    return bind_key(case.notation, case.fields)


@DESIGNS
@given(cases())
def test_rows(case: Case) -> None:
    """Each row has the bytes of the page, and is refused where the page refuses it."""
    told, key = answers(case), bound(case)
    salted = zip(told.rows, told.salts, strict=True)
    assert told.keys == [key.encode(row, salt=salt) for row, salt in salted]
    for row, salt in told.refused:
        with pytest.raises(RowError):
            bound(case).encode(row, salt=salt)
    decodes(case, told, key)


def decodes(case: Case, told: Answers, key: Key) -> None:
    """What a key claims to recover it gives back as normal values; without ends it refuses."""
    claimed = {name for name in key.fields if key.part_sequence.residue(name).is_empty}
    for row, piece in zip(told.rows, told.keys, strict=True):
        if not key.is_decodable:
            event("no end in the middle")
            with pytest.raises(DesignRefused):
                key.decode(piece)
            continue
        decoded = key.decode(piece)
        assert claimed == set(decoded)
        assert normals(case, {name: row[name] for name in claimed}) == normals(case, decoded)


@DESIGNS
@given(cases(), st.data())
def test_batches(case: Case, data: st.DataObject) -> None:
    """A batch of rows has the same bytes, whatever Arrow holds its columns in."""
    told, key = answers(case), bound(case)
    shapes = {name: data.draw(st.integers(0, 3)) for name in case.fields}
    times = data.draw(st.sampled_from([1, 1, 1, 1, 1, 1, 700]))
    # The row before the first puts the columns at an offset into their buffers.
    batch = batch_of(case, [*told.rows[-1:], *told.rows * times], shapes)
    assert batch is not None
    salts = np.array(told.salts * times, np.int64)
    assert told.keys * times == key.encode_batch(batch.slice(1), salts=salts).to_pylist()
    for row, salt in told.refused:
        if (alone := batch_of(case, [row], shapes)) is not None:
            event("a refused row that Arrow can hold")
            with pytest.raises(RowError):
                bound(case).encode_batch(alone, salts=np.array([salt]))


@pytest.mark.parametrize(("length", "is_refused"), [(32_766, False), (32_767, True)])
def test_longest(length: int, is_refused: bool) -> None:
    """A row key has 32,767 bytes at most, one after the other and in batches."""
    fields, row = {"host": "text"}, {"host": "w" * length}
    batch, key = pa.RecordBatch.from_pydict({"host": [row["host"]]}), bind_key("[host]", fields)
    if not is_refused:
        expected = book.encode("[host]", fields, row)
        assert [expected, expected] == [key.encode(row), key.encode_batch(batch)[0].as_py()]
        return
    with pytest.raises(book.Refused):
        book.encode("[host]", fields, row)
    with pytest.raises(RowError):
        key.encode(row)
    with pytest.raises(RowError):
        key.encode_batch(batch)


def normals(case: Case, row: dict[str, Any]) -> dict[str, Any]:
    """The values of a row as their types hold them."""
    return {
        name: None if value is None else normal(case.fields[name], value)
        for name, value in row.items()
    }


def batch_of(case: Case, rows: list[dict[str, Any]], shapes: dict[str, int]) -> Any:
    """The rows as Arrow columns of drawn types; None if a bad value fits into no column."""
    used = {ref.name for term in parse_key(case.notation) for ref in find_field_refs(term)}
    try:
        columns = {
            name: column(words, [row[name] for row in rows], shapes[name])
            for name, words in case.fields.items()
            if name in used
        }
    except (Unlike, pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return None
    return pa.RecordBatch.from_pydict({"not in the key": pa.nulls(len(rows)), **columns})


def column(words: dict[str, Any], values: list[Any], shape: int) -> pa.Array:
    """One column; `shape` picks among the Arrow types that hold such values."""
    type_ = words["type"]
    if type_ == "digits":
        values = [str(v).zfill(words["width"]) if isinstance(v, int) else v for v in values]
    kinds = arrow_types(words)
    array = pa.array(values, kinds[shape % len(kinds)])
    if [(type(v), v) for v in array.to_pylist()] != [(type(v), v) for v in values]:
        raise Unlike
    if shape == 3 and (pa.types.is_string(array.type) or pa.types.is_binary(array.type)):
        return coded(array)
    if shape == 2 and type_ in TIMES:
        return array.cast(pa.timestamp(type_.removeprefix("timestamp_"), "UTC"))
    return array


UNUSED = {pa.string(): "no row has this: it is too long", pa.binary(): b"nor this"}
"""What a column's list may hold besides the values of its rows."""


def coded(array: pa.Array) -> pa.Array:
    """The same values by their places in a list that has others, and an order of its own."""
    used = {value for value in array.to_pylist() if value is not None}
    listed = [UNUSED[array.type], *sorted(used - {UNUSED[array.type]}), None]
    indices = [listed.index(value) for value in array.to_pylist()]
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array(listed, array.type)
    )


def arrow_types(words: dict[str, Any]) -> list[pa.DataType]:
    """The Arrow types that a field's values may come in."""
    type_ = words["type"]
    if type_ in {"text", "choice", "digits", "hex", "uuid", "ipv4", "ipv6"}:
        return [pa.string(), pa.string(), pa.large_string(), pa.string()]
    if type_ in TIMES:
        return [pa.int64(), pa.uint64(), pa.int64()]
    if type_ == "decimal":
        return [pa.decimal128(words["precision"], words["scale"])]
    if type_[0] in "ui" and type_[1:].isdigit():
        wide = pa.uint64() if type_[0] == "u" else pa.int64()
        return [getattr(pa, f"{'u' if type_[0] == 'u' else ''}int{type_[1:]}")(), wide]
    return {
        "bytes": [pa.binary(), pa.binary(), pa.large_binary(), pa.binary()],
        "date": [pa.date32()],
        "float32": [pa.float32(), pa.float64()],
        "float64": [pa.float64()],
        "bool": [pa.bool_()],
    }[type_]
