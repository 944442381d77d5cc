"""Lists and numbers of JSON lines as marked texts, so that Arrow reads columns of mixed values.

A column of Arrow has one type, and its floats forget how they were written. What a column of texts
can hold is all that JSON can: a list or number is put into quotes, after a mark that tells it from
a text of the file.
"""

from __future__ import annotations

import json
from itertools import chain
from math import isfinite
from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.workload.columnar.json_arrays import find_escaped

MARK = "\ufdd0"
"""Stands before each value that was put into quotes: no character, so texts rarely have it."""
MAX_QUOTED_BYTES = 1 << 24
"""Bytes of the lines that are handled together, each of which takes a few times its own memory."""
MAX_SPACES = 8
"""Spaces beside a number."""
_SEPARATOR = json.dumps([0, MARK, 0])[2:-2]
_IS_STRUCTURE = [byte in b'"[]{},:' for byte in range(256)]
_NO_SCALAR = list(b'"[{n')
"""First bytes of texts, lists, objects and null."""


def quote_values(text: bytes, *, has_scalars: bool) -> bytes | None:
    r"""Return lines of JSON objects with their lists as marked texts; None if that is uncertain.

    Args:
        text: valid objects, one on each line.
        has_scalars: whether numbers, true and false become marked texts too.

    >>> quote_values(b'{"a": ["x", 1], "b": 2}', has_scalars=False).decode().replace(MARK, "^")
    '{"a": "^[\\"x\\", 1]", "b": 2}'
    >>> quote_values(b'{"a": [], "b": 2}', has_scalars=True).decode().replace(MARK, "^")
    '{"a": "^[]", "b": "^2"}'
    """
    mark = MARK.encode()
    if mark in text or len(text) > MAX_QUOTED_BYTES:
        return None
    characters = np.frombuffer(text, np.uint8).copy()
    places = np.flatnonzero(np.array(_IS_STRUCTURE)[characters])
    kinds = characters[places]
    is_quote = kinds == ord('"')
    is_quote[is_quote] = ~find_escaped(characters, places[is_quote])
    is_outside = (np.cumsum(is_quote) % 2 == 0) & ~is_quote
    places, kinds = places[is_outside], kinds[is_outside]
    depths = np.cumsum((kinds == ord("[")).astype(np.int8) - (kinds == ord("]")), dtype=np.int64)
    starts = places[(kinds == ord("[")) & (depths == 1)]
    stops = places[(kinds == ord("]")) & (depths == 0)] + 1
    if len(starts) != len(stops):
        return None
    changes = np.zeros(len(text) + 1, np.int8)
    changes[starts], changes[stops] = 1, -1  # lists never touch each other
    is_in_list = np.cumsum(changes[:-1], dtype=np.int8).astype(np.bool_)
    is_escaped = is_in_list & ((characters == ord('"')) | (characters == ord("\\")))
    characters[is_in_list & (characters < ord(" "))] = ord(" ")
    if has_scalars:
        found = _find_scalars(characters, places, kinds, depths)
        if found is None:
            return None
        starts, stops = np.append(starts, found[0]), np.append(stops, found[1])
    opening = np.frombuffer(b'"' + mark, np.uint8)
    escaped = np.flatnonzero(is_escaped)
    inserted = np.concatenate([
        np.tile(opening, len(starts)),
        np.full(len(stops), ord('"'), np.uint8),
        np.full(len(escaped), ord("\\"), np.uint8),
    ])  # fmt: skip
    at = np.concatenate([np.repeat(starts, len(opening)), stops, escaped])
    return bytes(np.insert(characters, at, inserted))


def _find_scalars(
    characters: np.ndarray[Any, Any],
    places: np.ndarray[Any, Any],
    kinds: np.ndarray[Any, Any],
    depths: np.ndarray[Any, Any],
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None:
    """Return where numbers, true and false of objects begin and end.

    None if one has many spaces beside it.

    Args:
        characters: the bytes of all objects.
        places: where they have brackets, commas and colons outside of texts.
        kinds: which of them.
        depths: in how many lists each is.
    """
    colons = np.flatnonzero((kinds == ord(":")) & (depths == 0))
    starts, stops = places[colons] + 1, places[colons + 1]
    for _ in range(MAX_SPACES):
        is_space = np.isin(characters[starts], list(b" \t\r"))
        if not is_space.any():
            break
        starts = starts + is_space
    else:
        return None
    is_scalar = ~np.isin(characters[starts], _NO_SCALAR)
    starts, stops = starts[is_scalar], stops[is_scalar]
    for _ in range(MAX_SPACES):
        is_space = np.isin(characters[stops - 1], list(b" \t\r"))
        if not is_space.any():
            return starts, stops
        stops = stops - is_space
    return None


def format_quoted(values: pa.Array, decoder: json.JSONDecoder) -> pa.Array | None:
    """Return a column of texts with its marked values as `format_json_value` formats them.

    Returns:
        The column; None if the decoder refuses a value.
    """
    is_marked = pc.starts_with(values, MARK).fill_null(False)
    texts = pc.utf8_slice_codeunits(values.filter(is_marked), 1).to_pylist()
    if not texts:
        return values
    try:
        parsed = decoder.decode(f"[{','.join(texts)}]")
    except (ValueError, RecursionError):
        return None
    lists = [value for value in parsed if type(value) is list]
    # One call for all lists: each call of the encoder costs as much as a short list.
    joined = json.dumps([*chain.from_iterable((value, MARK) for value in lists)][:-1])[1:-1]
    list_texts = joined.split(_SEPARATOR) if lists else []
    if len(list_texts) != len(lists):
        return None
    formatted_lists = iter(list_texts)
    formatted = [
        next(formatted_lists) if type(value) is list else format_json_value(value)
        for value in parsed
    ]
    return pc.replace_with_mask(values, is_marked, pa.array(formatted, pa.string()))


def format_json_value(value: Any) -> str | None:
    """Return a value as text, as it is written in JSON unless it is text itself."""
    if value is None or type(value) is str:
        return value
    is_number = type(value) is int or (type(value) is float and isfinite(value))
    return repr(value) if is_number else json.dumps(value)
