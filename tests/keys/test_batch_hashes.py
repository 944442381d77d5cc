"""Many rows are hashed to the same numbers as one, also where some values are long."""

from __future__ import annotations

from time import process_time

import pyarrow as pa
import pytest

from rowkey.keys import bind_key, compute_fingerprints
from rowkey.keys.batches.byte_columns import SlicedByteColumn

LONG_TEXTS = [letter * length for length in (1, 255, 257, 1_021, 1_500, 5_000) for letter in "ax"]
MAX_FINGERPRINT_S = 5.0
"""Seconds for 80 MB: a vector step for each byte takes minutes."""


@pytest.mark.parametrize("name", ["murmur3", "crc32", "md5"])
@pytest.mark.parametrize("part", ["digest(x, 4, hash={})", "bucket(x, 7, hash={})"])
@pytest.mark.parametrize("texts", [LONG_TEXTS, ["a" * 300, "b" * 300], LONG_TEXTS[-4:]])
def test_a_long_text_has_the_same_hash_alone_and_in_a_batch(
    part: str, name: str, texts: list[str]
) -> None:
    """A digest and a bucket of a long text are the same for one row and for many."""
    key = bind_key(f"[{part.format(name)}][n]", {"x": "text", "n": "u32"})
    rows = [{"x": text, "n": number} for number, text in enumerate(texts)]
    batch = pa.RecordBatch.from_pylist(rows)
    assert [*map(key.encode, rows)] == key.encode_batch(batch).to_pylist()


def test_long_values_have_cheap_fingerprints_that_differ() -> None:
    """Equal long values have equal fingerprints, which take seconds for many megabytes."""
    value = b"a" * 20_000_000
    pieces = SlicedByteColumn.from_list([value, value[:-1] + b"b", value, value[1:], b"a"])
    start = process_time()
    first, *others = compute_fingerprints(pieces).tolist()
    assert process_time() - start < MAX_FINGERPRINT_S
    assert [False, True, False, False] == [first == other for other in others]


def test_fingerprints_of_similar_strings_differ() -> None:
    """Also of strings that differ in zeros, in their length, or in the same byte of two words."""
    strings = [bytes(n) for n in range(256)] + [b"x" * n for n in range(1, 256)]
    strings += [bytes([a, b]) for a in range(256) for b in range(1, 256)]
    strings += [bytes(7) + bytes([a]) + bytes(7) + bytes([b]) for a in range(256) for b in range(9)]
    strings = list(dict.fromkeys(strings))
    found = compute_fingerprints(SlicedByteColumn.from_list(strings)).tolist()
    assert len(strings) == len({*found})
    some = strings[::997]
    assert found[::997] == [
        *(int(compute_fingerprints(SlicedByteColumn.from_list([one]))[0]) for one in some)
    ]
