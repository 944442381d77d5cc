"""The encoder gives the bytes of a second one that was written from the documentation alone."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings

import reference_encoder
from random_designs import Case, cases
from reference_values import UNIT_NS_BY_TIMESTAMP, normalize_value
from rowkey import bind_key
from rowkey.errors import DesignRefused, RowError
from rowkey.schema import find_field_refs, parse_key

if TYPE_CHECKING:
    from rowkey.keys import Key

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
MORE_EXAMPLES = settings(max_examples=(4 if IS_LONG else 2) * settings().max_examples)
"""24 designs in the default profile."""


@dataclass
class ReferenceRows:
    """The rows of a case that the reference encoder accepts, with keys, and those it refuses."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    salts: list[int] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    refused: list[tuple[dict[str, Any], int]] = field(default_factory=list)


def encode_with_reference(case: Case) -> ReferenceRows:
    """Encode the rows of a case with the reference encoder; codes are assigned by accepted rows."""
    reference = ReferenceRows()
    codes: reference_encoder.AssignedCodes = {}
    for row, salt in zip(case.rows, case.salts, strict=True):
        try:
            reference_encoder.encode_row(case.notation, case.fields, row, salt)
        except reference_encoder.InvalidByReference:
            reference.refused.append((row, salt))
            continue
        reference.keys.append(
            reference_encoder.encode_row(case.notation, case.fields, row, salt, codes)
        )
        reference.rows.append(row)
        reference.salts.append(salt)
    some = "some" if reference.refused else "no"
    event(f"{some} rows are refused" if reference.rows else "all rows are refused")
    return reference


class ChangedByArrow(Exception):
    """Arrow changed a value, such as 1.5 to 1."""


def bind_case(case: Case) -> Key:
    """Bind the key of a case, without the codes that an earlier key assigned."""
    return bind_key(case.notation, case.fields)


@MORE_EXAMPLES
@given(cases())
def test_a_row_has_the_bytes_of_the_reference_encoder(case: Case) -> None:
    """Each row has the bytes of the reference encoder, or is refused by both encoders."""
    reference, key = encode_with_reference(case), bind_case(case)
    rows_with_salts = zip(reference.rows, reference.salts, strict=True)
    assert reference.keys == [key.encode(row, salt=salt) for row, salt in rows_with_salts]
    for row, salt in reference.refused:
        with pytest.raises(RowError):
            bind_case(case).encode(row, salt=salt)
    check_decoding(case, reference, key)


def check_decoding(case: Case, reference: ReferenceRows, key: Key) -> None:
    """Check that a key decodes to the recoverable fields, and is refused where ends are missing."""
    recoverable = {name for name in key.fields if key.part_sequence.residue(name).is_empty}
    for row, piece in zip(reference.rows, reference.keys, strict=True):
        if not key.is_decodable:
            event("no end in the middle")
            with pytest.raises(DesignRefused):
                key.decode(piece)
            continue
        decoded = key.decode(piece)
        assert recoverable == set(decoded)
        assert normalize_row(case, {name: row[name] for name in recoverable}) == normalize_row(
            case, decoded
        )


@MORE_EXAMPLES
@given(cases(), st.data())
def test_a_batch_has_the_bytes_of_the_reference_encoder(case: Case, data: st.DataObject) -> None:
    """A batch has the reference encoder's bytes, whatever Arrow types its columns have."""
    reference, key = encode_with_reference(case), bind_case(case)
    shapes = {name: data.draw(st.integers(0, 3)) for name in case.fields}
    times = data.draw(st.sampled_from([1, 1, 1, 1, 1, 1, 700]))
    # The row before the first puts the columns at an offset into their buffers.
    batch = build_batch(case, [*reference.rows[-1:], *reference.rows * times], shapes)
    assert batch is not None
    salts = np.array(reference.salts * times, np.int64)
    assert reference.keys * times == key.encode_batch(batch.slice(1), salts=salts).to_pylist()
    for row, salt in reference.refused:
        if (alone := build_batch(case, [row], shapes)) is not None:
            event("a refused row that Arrow can hold")
            with pytest.raises(RowError):
                bind_case(case).encode_batch(alone, salts=np.array([salt]))


@pytest.mark.parametrize(("length", "is_refused"), [(32_766, False), (32_767, True)])
def test_a_row_key_has_at_most_32767_bytes(length: int, is_refused: bool) -> None:
    """A longer key is refused by both encoders, alone and in a batch."""
    fields, row = {"host": "text"}, {"host": "w" * length}
    batch, key = pa.RecordBatch.from_pydict({"host": [row["host"]]}), bind_key("[host]", fields)
    if not is_refused:
        expected = reference_encoder.encode_row("[host]", fields, row)
        assert [expected, expected] == [key.encode(row), key.encode_batch(batch)[0].as_py()]
        return
    with pytest.raises(reference_encoder.InvalidByReference):
        reference_encoder.encode_row("[host]", fields, row)
    with pytest.raises(RowError):
        key.encode(row)
    with pytest.raises(RowError):
        key.encode_batch(batch)


def normalize_row(case: Case, row: dict[str, Any]) -> dict[str, Any]:
    """Return the normal values of a row."""
    return {
        name: None if value is None else normalize_value(case.fields[name], value)
        for name, value in row.items()
    }


def build_batch(case: Case, rows: list[dict[str, Any]], shapes: dict[str, int]) -> Any:
    """Build an Arrow batch of rows; None if a column cannot hold one of the values."""
    used = {ref.name for term in parse_key(case.notation) for ref in find_field_refs(term)}
    try:
        columns = {
            name: build_column(declaration, [row[name] for row in rows], shapes[name])
            for name, declaration in case.fields.items()
            if name in used
        }
    except (ChangedByArrow, pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return None
    return pa.RecordBatch.from_pydict({"not in the key": pa.nulls(len(rows)), **columns})


def build_column(declaration: dict[str, Any], values: list[Any], type_number: int) -> pa.Array:
    """Build the Arrow column of a field, in the numbered one of its Arrow types."""
    type_ = declaration["type"]
    if type_ == "digits":
        values = [str(v).zfill(declaration["width"]) if isinstance(v, int) else v for v in values]
    types = list_arrow_types(declaration)
    array = pa.array(values, types[type_number % len(types)])
    if [(type(v), v) for v in array.to_pylist()] != [(type(v), v) for v in values]:
        raise ChangedByArrow
    if type_number == 3 and (pa.types.is_string(array.type) or pa.types.is_binary(array.type)):
        return encode_dictionary(array)
    if type_number == 2 and type_ in UNIT_NS_BY_TIMESTAMP:
        return array.cast(pa.timestamp(type_.removeprefix("timestamp_"), "UTC"))
    return array


UNUSED_VALUES = {pa.string(): "no row has this: it is too long", pa.binary(): b"nor this"}
"""A value in the dictionary of a column that no row has."""


def encode_dictionary(array: pa.Array) -> pa.Array:
    """Dictionary-encode a column, with an unsorted dictionary that has an unused value."""
    used = {value for value in array.to_pylist() if value is not None}
    listed = [UNUSED_VALUES[array.type], *sorted(used - {UNUSED_VALUES[array.type]}), None]
    indices = [listed.index(value) for value in array.to_pylist()]
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array(listed, array.type)
    )


def list_arrow_types(declaration: dict[str, Any]) -> list[pa.DataType]:
    """Return the Arrow types that the values of a field may have."""
    type_ = declaration["type"]
    if type_ in {"text", "choice", "digits", "hex", "uuid", "ipv4", "ipv6"}:
        return [pa.string(), pa.string(), pa.large_string(), pa.string()]
    if type_ in UNIT_NS_BY_TIMESTAMP:
        return [pa.int64(), pa.uint64(), pa.int64()]
    if type_ == "decimal":
        return [pa.decimal128(declaration["precision"], declaration["scale"])]
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
