"""The properties of bytes that may be no key: what decodes is one, alone and among many."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from key_properties import encoded, every_part, listed, piece_of
from rowkey.errors import DesignRefused, InvalidArgument, RowError
from rowkey.keys import Key, NumberPart, walk_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


MOST_SALTS = 300
"""Numbers of salts of which each is tried."""


def check_decodes_only_keys(key: Key, data: bytes) -> None:
    """Whatever decodes has these bytes again; where fields are lost, each part could have them."""
    try:
        found = key.decode(data)
    except RowError:
        return
    except DesignRefused:
        assert not key.is_decodable
        return
    assert 0 < len(data) <= 32_767
    for part, piece in zip(key.parts, key.split_pieces(data), strict=True):
        images = part.images({})
        assert not images.exact or not piece or images.contains(piece)
        if isinstance(part, NumberPart) and len(list(walk_parts(part))) <= 2:
            _check_number_piece(part, piece)
    if set(found) == set(key.fields):
        salts = _salts_of(key)
        assert salts is None or data in {encoded(key, found, salt) for salt in salts}


def _check_number_piece(part: NumberPart, piece: bytes) -> None:
    """The value that the bytes stand for has these bytes, if a row can have it."""
    try:
        value = part.to_field_value(part.unpack(piece))
    except InvalidArgument:
        return
    again = piece_of(part, {part.fields[0]: value})
    assert again is None or again == piece


def _salts_of(key: Key) -> range | None:
    """The numbers that chance may draw; None if they are too many to be tried."""
    counts = [part.cardinality or 0 for part in every_part(key) if part.name == "salt"]
    count = max(counts, default=1)
    return range(count) if count <= MOST_SALTS else None


def check_batches_decode_alike(key: Key, keys: Sequence[bytes]) -> None:
    """Many byte strings at once decode as each does alone, or are refused with the same words."""
    alone = [_outcome(partial(key.decode, data)) for data in keys]
    refused = [one for one in alone if isinstance(one, str)]
    found = _outcome(lambda: key.decode_batch(pa.array(keys, pa.binary())))
    if refused or isinstance(found, str):
        assert refused[:1] == [found]
        return
    assert found.num_rows == len(keys) or not found.schema.names
    for name in found.schema.names:
        assert [row[name] for row in alone] == listed(key.fields[name], found.column(name))
    assert all(set(row) == set(found.schema.names) for row in alone)


def _outcome(decode: Callable[[], Any]) -> Any:
    """What decoding gives, or the words with which it is refused."""
    try:
        return decode()
    except (RowError, DesignRefused) as problem:
        return str(problem)
    except InvalidArgument as problem:
        return f"a refusal that names no key: {problem}"
