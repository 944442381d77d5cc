"""Converts columns of a sample to the values that their fields declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument, RowError
from rowkey.workload.sample_streams import INVALID_BYTE_MARK, MARK_INVALID_BYTES

if TYPE_CHECKING:
    from rowkey.keys import Field

FIRST_NON_ASCII_BYTE = 0x80


def convert_column(field: Field, array: pa.Array) -> pa.Array:
    """Return a column of values that the field can hold; null where it cannot.

    Text is parsed as the field's type does, once per different value; empty text is no value,
    except for text and bytes, which may be empty.

    Args:
        array: what the file had.

    Cost: about 20 ns a value where Arrow can cast it, 1 µs for each different value otherwise.
    """
    if isinstance(array.type, pa.DictionaryType):
        array = array.cast(array.type.value_type)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), field.type.build_arrow_type())
    if not is_text_column(array):
        return _convert_typed_column(field, array)
    array = _drop_marked_texts(array)
    quick = field.type.cast_text_column(array)
    return _parse_column(field, array) if quick is None else quick


def _drop_marked_texts(array: pa.Array) -> pa.Array:
    """Return texts with null for those that have bytes which are not UTF-8."""
    texts = _view_bytes(array)
    is_ascii = int(texts.max(initial=0)) < FIRST_NON_ASCII_BYTE
    if is_ascii or INVALID_BYTE_MARK.encode() not in texts.tobytes():
        return array
    strange = pc.match_substring(array, INVALID_BYTE_MARK)
    return pc.if_else(strange, pa.scalar(None, array.type), array)


def _view_bytes(array: pa.Array) -> np.ndarray[Any, Any]:
    """Return the bytes of all texts of a column, as they follow each other in memory."""
    _, offsets, data = array.buffers()
    if not len(array) or data is None:
        return np.empty(0, np.uint8)
    ends = np.frombuffer(offsets, np.int64 if pa.types.is_large_string(array.type) else np.int32)
    start, stop = ends[[array.offset, array.offset + len(array)]].tolist()
    return np.frombuffer(data, np.uint8)[start:stop]


def is_text_column(array: pa.Array) -> bool:
    """Return whether an array holds text."""
    return bool(pa.types.is_string(array.type) or pa.types.is_large_string(array.type))


def _convert_typed_column(field: Field, array: pa.Array) -> pa.Array:
    """Return typed values converted to the field's type, directly or through their text."""
    if pa.types.is_floating(array.type) and field.type.is_plain_integer:
        array = _to_whole_numbers(array)
        if is_text_column(array):
            return _restore_type(field, _parse_column(field, array), pa.int64())
    try:
        field.type.to_internal_batch(array.drop_null().slice(0, 1))
        field.type.to_internal_batch(array.drop_null())
    except (InvalidArgument, pa.ArrowInvalid, TypeError, ValueError):
        return _restore_type(
            field, _parse_column(field, _drop_marked_texts(_to_texts(array))), array.type
        )
    return array


def _to_whole_numbers(array: pa.Array) -> pa.Array:
    """Return floating-point numbers as integers, as they are written for integers with nulls.

    If some are not whole, all are returned as text, the whole ones as digits.
    """
    try:
        return array.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        texts = [
            None if one is None else str(int(one)) if one.is_integer() else repr(one)
            for one in array.to_pylist()
        ]
        return pa.array(texts, pa.string())


def _restore_type(field: Field, parsed: pa.Array, arrow_type: pa.DataType) -> pa.Array:
    """Return parsed values in the type of their column, as other batches have them, if it fits."""
    try:
        typed = parsed.cast(arrow_type)
        field.type.to_internal_batch(typed.drop_null())
    except (InvalidArgument, pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError, ValueError):
        return parsed
    return typed


def _to_texts(array: pa.Array) -> pa.Array:
    """Return typed values as text; bytes that are not UTF-8 are marked, as in text files."""
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        texts = [
            v if v is None else v.decode("utf-8", MARK_INVALID_BYTES) for v in array.to_pylist()
        ]
        return pa.array(texts, pa.string())
    try:
        return array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if pa.types.is_timestamp(array.type):  # in a zone that the system does not know
            return array.cast(pa.timestamp(array.type.unit, "UTC")).cast(pa.string())
        values = [None if value is None else str(value) for value in array.to_pylist()]
        return pa.array(values, pa.string())


def format_first_value(array: pa.Array) -> str | None:
    """Return the first value of an array as text; None if it is null."""
    plain = array
    if isinstance(array.type, pa.DictionaryType):
        plain = array.cast(array.type.value_type)
    text: str | None = (plain if is_text_column(plain) else _to_texts(plain))[0].as_py()
    return text


def mark_blanks(array: pa.Array) -> np.ndarray[Any, Any]:
    """Return a mask of values that are null or consist of spaces."""
    if isinstance(array.type, pa.DictionaryType):
        array = array.cast(array.type.value_type)
    blank = array.is_null()
    if is_text_column(array):
        blank = pc.or_(blank, pc.equal(pc.fill_null(pc.utf8_trim_whitespace(array), ""), ""))
    return np.array(blank.to_numpy(zero_copy_only=False), np.bool_)


def _parse_column(field: Field, array: pa.Array) -> pa.Array:
    """Return texts parsed to values; each different text is parsed once."""
    coded = array.dictionary_encode()
    values = [_parse_value(field, text) for text in coded.dictionary.to_pylist()]
    kind = field.type.build_arrow_type()
    if pa.types.is_timestamp(kind):
        parsed = pa.array(values, pa.int64()).cast(kind)
    else:
        parsed = pa.array(values, kind)
    return parsed.take(coded.indices)


def _parse_value(field: Field, text: str | None) -> object:
    """Return the value of a text; None if the field cannot hold it."""
    if text is None:
        return None
    try:
        return field.parse(text)
    except RowError:
        return None
