"""Columns of a sample as the values their fields declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, RowError
from rowkey.workload.files import MARK, MARKED

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from rowkey.keys import Field


def as_declared(field: Field, array: pa.Array) -> pa.Array:
    """A column whose values the field can hold; null where it cannot.

    Text is parsed as the field's type does, once per different value; empty text is no value,
    except for text and bytes, which may be empty.

    Args:
        field: the declared field.
        array: what the file had.

    Cost: about 20 ns a value where Arrow can cast it, 1 µs for each different value otherwise.
    """
    import pyarrow as pa

    if isinstance(array.type, pa.DictionaryType):
        array = array.cast(array.type.value_type)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), field.type.arrow())
    if not _is_text(array):
        return _as_they_are(field, array)
    array = _sound(array)
    quick = field.type.cast(array)
    return _parsed(field, array) if quick is None else quick


def _sound(array: pa.Array) -> pa.Array:
    """Texts, those null that have bytes which are not UTF-8."""
    import pyarrow as pa
    import pyarrow.compute as pc

    strange = pc.match_substring(array, MARK)
    if not pc.any(strange).as_py():
        return array
    return pc.if_else(strange, pa.scalar(None, array.type), array)


def _is_text(array: pa.Array) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(array.type) or pa.types.is_large_string(array.type))


def _as_they_are(field: Field, array: pa.Array) -> pa.Array:
    """Values that are typed already, if the field takes their type; otherwise by their text."""
    import pyarrow as pa

    try:
        field.type.physical(array.drop_null().slice(0, 1))
        field.type.physical(array.drop_null())
    except (Refused, pa.ArrowInvalid, TypeError, ValueError):
        return _in_their_type(field, _parsed(field, _sound(_texts(array))), array.type)
    return array


def _in_their_type(field: Field, parsed: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return parsed values in the type of their column, as other batches have them, if it fits."""
    import pyarrow as pa

    try:
        typed = parsed.cast(kind)
        field.type.physical(typed.drop_null())
    except (Refused, pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError, ValueError):
        return parsed
    return typed


def _texts(array: pa.Array) -> pa.Array:
    """Typed values as text; bytes that are not UTF-8 are marked, as in files of text."""
    import pyarrow as pa

    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        shown = [v if v is None else v.decode("utf-8", MARKED) for v in array.to_pylist()]
        return pa.array(shown, pa.string())
    try:
        return array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if pa.types.is_timestamp(array.type):  # in a zone that the system does not know
            return array.cast(pa.timestamp(array.type.unit, "UTC")).cast(pa.string())
        values = [None if value is None else str(value) for value in array.to_pylist()]
        return pa.array(values, pa.string())


def text_of(found: pa.Array) -> str | None:
    """The first value of an array as text, None if it is null."""
    import pyarrow as pa

    plain = found
    if isinstance(found.type, pa.DictionaryType):
        plain = found.cast(found.type.value_type)
    text: str | None = (plain if _is_text(plain) else _texts(plain))[0].as_py()
    return text


def is_blank(array: pa.Array) -> np.ndarray[Any, Any]:
    """Which values are null, or texts of nothing but spaces."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array.type, pa.DictionaryType):
        array = array.cast(array.type.value_type)
    blank = array.is_null()
    if _is_text(array):
        blank = pc.or_(blank, pc.equal(pc.fill_null(pc.utf8_trim_whitespace(array), ""), ""))
    return np.array(blank.to_numpy(zero_copy_only=False), np.bool_)


def _parsed(field: Field, array: pa.Array) -> pa.Array:
    """Each different text parsed once."""
    import pyarrow as pa

    coded = array.dictionary_encode()
    values = [_value(field, text) for text in coded.dictionary.to_pylist()]
    kind = field.type.arrow()
    if pa.types.is_timestamp(kind):
        parsed = pa.array(values, pa.int64()).cast(kind)
    else:
        parsed = pa.array(values, kind)
    return parsed.take(coded.indices)


def _value(field: Field, text: str | None) -> object:
    """The value of a text, or None if the field has none such."""
    if text is None:
        return None
    try:
        return field.parse(text)
    except RowError:
        return None
