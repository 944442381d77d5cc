"""Fingerprints that tell rows apart, computed without their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rowkey.keys.batches.batch_hashes import (
    HashArray,
    combine_fingerprints,
    compute_fingerprints,
    compute_weak_fingerprints,
)
from rowkey.keys.batches.byte_columns import ByteColumn
from rowkey.keys.batches.columns import ColumnBatch
from rowkey.keys.part_interface import Part

if TYPE_CHECKING:
    from rowkey.keys.key import Key


def compute_row_fingerprints(key: Key, columns: ColumnBatch) -> HashArray:
    """Return a hash of each row's identity; events of the same row have equal hashes.

    Parts without a separator are fingerprinted together, because their joined bytes may be
    equal where the parts differ.

    Args:
        key: the row key; its random salts are no part of the identity.

    Raises:
        RowError: a row has no key.

    Cost: next to nothing for a part that is computed from a field with few values.
    """
    if not key.is_decodable:
        return compute_fingerprints(key.encode_parts(columns, key.identity_parts))
    first, *others = key.identity_parts
    total = _fingerprint_part(compute_fingerprints, first, columns)
    for part in others:
        total = combine_fingerprints(
            total, _fingerprint_part(compute_weak_fingerprints, part, columns)
        )
    return total


def _fingerprint_part(
    fingerprint: Callable[[ByteColumn], HashArray], part: Part, columns: ColumnBatch
) -> HashArray:
    """Return the hash of a key part for each row."""
    field = find_only_field((part,))
    codes = columns.columns[field].codes if field is not None else None
    if field is None or codes is None:
        return fingerprint(part.encode_distinct(columns))
    key = (fingerprint, id(part))
    table = columns.compute_per_value(
        field, key, lambda distinct: fingerprint(part.encode_batch(distinct))
    )
    found: HashArray = table.take(codes)
    return found


def find_only_field(parts: Sequence[Part]) -> str | None:
    """Return the one field from which all of some key parts are computed; None if several."""
    names = {part.fields[0] if part.is_single_field else None for part in parts}
    return names.pop() if len(names) == 1 else None
