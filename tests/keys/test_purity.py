"""A key holds no random state: salts come from the caller, and keys can be pickled."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import strategies
from rowkey.errors import InvalidArgument
from rowkey.keys import TRANSFORMS, TYPES, bind_key, combine_keys

if TYPE_CHECKING:
    from rowkey.keys import Key

SALTED_KEY = bind_key("[salt(16)][n]", {"n": "u8"})
BATCH = pa.record_batch({"n": pa.array(range(100), pa.uint8())})


@pytest.mark.parametrize("plugin_name", [*sorted(TYPES), *sorted(TRANSFORMS)])
@settings(max_examples=max(settings().max_examples // 8, 1))
@given(data=st.data())
def test_a_pickled_key_encodes_the_same_bytes(plugin_name: str, data: st.DataObject) -> None:
    """A pickled key encodes and decodes like the key it was copied from."""
    key = data.draw(strategies.keys(plugin_name))
    rows = [data.draw(strategies.rows(key)) for _ in range(3)]
    encode_rows(key, rows)
    copy: Key = pickle.loads(pickle.dumps(key))
    assert (repr(key), encode_rows(key, rows)) == (repr(copy), encode_rows(copy, rows))


def encode_rows(key: Key, rows: list[dict[str, object]]) -> list[object]:
    """Encode rows; for a refused row return the message of its error."""
    results: list[object] = []
    for row in rows:
        try:
            results.append(key.encode(row, salt=0 if key.is_salted else None))
        except ValueError as error:
            results.append(str(error))
    return results


def test_a_pickled_key_of_several_bucket_counts_decodes_rows_of_each() -> None:
    """A key that reads rows of 32 and of 16 buckets reads both after it was pickled."""
    fields = {"id": "u64"}
    key = combine_keys([bind_key(f"[bucket(id, {n})][id]", fields) for n in (32, 16)])
    copy = pickle.loads(pickle.dumps(key))
    assert repr(key) == repr(copy)
    for bucket in ("0a", "1a"):
        assert {"id": 5} == copy.decode(bytes.fromhex(f"{bucket}0000000000000005"))


def test_codes_assigned_to_values_are_pickled_with_the_key() -> None:
    """A pickled key encodes values with the codes that they had before."""
    key = bind_key("[code(host)]", {"host": "text"})
    ids = [key.encode({"host": host}) for host in ("b", "a")]
    copy = pickle.loads(pickle.dumps(key))
    assert ids == [copy.encode({"host": host}) for host in ("b", "a")]


@given(
    seed=st.integers(0, 2**63),
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    count=st.integers(1, 65_536),
)
def test_salts_depend_only_on_the_seed(seed: int, sizes: list[int], count: int) -> None:
    """Salts depend on the seed alone, not on the sizes of the batches."""
    key = bind_key(f"[salt({count}, width=2)][n]", {"n": "u8"})
    salts_at_once = key.draw_salts(sum(sizes), np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    drawn = [key.draw_salts(size, rng) for size in sizes]
    assert salts_at_once is not None
    assert salts_at_once.tolist() == [
        salt for salts in drawn if salts is not None for salt in salts
    ]


def test_a_key_without_salt_draws_no_salts() -> None:
    """Drawing salts for a key without a salt returns None."""
    key = bind_key("[n]", {"n": "u8"})
    assert key.draw_salts(3, np.random.default_rng(0)) is None


def test_a_salted_key_requires_a_salt_per_row() -> None:
    """A salted key refuses to encode a row without a salt."""
    with pytest.raises(InvalidArgument, match=r"random salt, but no salts were passed; expected"):
        SALTED_KEY.encode({"n": 1})
    with pytest.raises(InvalidArgument, match=r"from 0 to 15 for each row\. Pass salts=key\.draw"):
        SALTED_KEY.encode_batch(BATCH)
    with pytest.raises(InvalidArgument, match=r"salts: 7 salts were passed for 100 rows"):
        SALTED_KEY.encode_batch(BATCH, salts=np.zeros(7, np.int64))
