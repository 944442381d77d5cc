"""Properties of decoding: only bytes that a row encodes to can be decoded, alone and in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from key_properties import list_parts, normalize_column, try_encode_part, try_encode_row
from rowkey.errors import DesignRefused, InvalidArgument, RowError
from rowkey.keys import Key, NumberPart, walk_parts

MAX_SALTS_TO_TRY = 300
"""Keys with more salts are not encoded again with each salt."""


def check_only_keys_decode(key: Key, data: bytes) -> None:
    """Check that decoded bytes are encoded again the same, or are possible for each part."""
    try:
        decoded = key.decode(data)
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
    if set(decoded) == set(key.fields):
        salts = _list_salts(key)
        assert salts is None or data in {try_encode_row(key, decoded, salt) for salt in salts}


def _check_number_piece(part: NumberPart, piece: bytes) -> None:
    """Check that the number of a part is encoded to its bytes again, if a row can have it."""
    try:
        value = part.to_field_value(part.unpack(piece))
    except InvalidArgument:
        return
    encoded = try_encode_part(part, {part.fields[0]: value})
    assert encoded is None or encoded == piece


def _list_salts(key: Key) -> range | None:
    """Return the salts that a row may have; None if they are too many to try."""
    counts = [part.cardinality or 0 for part in list_parts(key) if part.name == "salt"]
    count = max(counts, default=1)
    return range(count) if count <= MAX_SALTS_TO_TRY else None


def check_batch_decodes_as_single_keys(key: Key, keys: Sequence[bytes]) -> None:
    """Check that a batch decodes as each key does alone, or is refused with the same message."""
    alone = [_decode_or_describe_error(partial(key.decode, data)) for data in keys]
    messages = [one for one in alone if isinstance(one, str)]
    together = _decode_or_describe_error(lambda: key.decode_batch(pa.array(keys, pa.binary())))
    if messages or isinstance(together, str):
        assert messages[:1] == [together]
        return
    assert together.num_rows == len(keys) or not together.schema.names
    for name in together.schema.names:
        assert [row[name] for row in alone] == normalize_column(
            key.fields[name], together.column(name)
        )
    assert all(set(row) == set(together.schema.names) for row in alone)


def _decode_or_describe_error(decode: Callable[[], Any]) -> Any:
    """Return what decoding returns, or the message of its error."""
    try:
        return decode()
    except (RowError, DesignRefused) as problem:
        return str(problem)
    except InvalidArgument as problem:
        return f"an error that names no key: {problem}"
