"""Chance comes from the caller: a key holds no random state and can be pickled."""

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

SALTED = bind_key("[salt(16)][n]", {"n": "u8"})
ROWS = pa.record_batch({"n": pa.array(range(100), pa.uint8())})


@pytest.mark.parametrize("kind", [*sorted(TYPES), *sorted(TRANSFORMS)])
@settings(max_examples=max(settings().max_examples // 8, 1))
@given(data=st.data())
def test_a_pickled_key_encodes_the_same_bytes(kind: str, data: st.DataObject) -> None:
    """A key that was pickled encodes and decodes as the key that it was made from."""
    key = data.draw(strategies.keys(kind))
    rows = [data.draw(strategies.rows(key)) for _ in range(3)]
    _encode_all(key, rows)
    copy: Key = pickle.loads(pickle.dumps(key))
    assert (repr(key), _encode_all(key, rows)) == (repr(copy), _encode_all(copy, rows))


def _encode_all(key: Key, rows: list[dict[str, object]]) -> list[object]:
    found: list[object] = []
    for row in rows:
        try:
            found.append(key.encode(row, salt=0 if key.is_salted else None))
        except ValueError as error:
            found.append(str(error))
    return found


def test_a_pickled_key_of_several_counts_decodes_rows_of_each() -> None:
    """A key that reads rows of 32 and of 16 buckets still reads both after it was pickled."""
    fields = {"id": "u64"}
    key = combine_keys([bind_key(f"[bucket(id, {n})][id]", fields) for n in (32, 16)])
    copy = pickle.loads(pickle.dumps(key))
    assert repr(key) == repr(copy)
    for bucket in ("0a", "1a"):
        assert {"id": 5} == copy.decode(bytes.fromhex(f"{bucket}0000000000000005"))


def test_ids_of_values_are_pickled_with_the_key() -> None:
    """A pickled key writes the ids that its values had."""
    key = bind_key("[code(host)]", {"host": "text"})
    ids = [key.encode({"host": host}) for host in ("b", "a")]
    copy = pickle.loads(pickle.dumps(key))
    assert ids == [copy.encode({"host": host}) for host in ("b", "a")]


@given(
    seed=st.integers(0, 2**63),
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    count=st.integers(1, 65_536),
)
def test_the_same_seed_draws_the_same_salts(seed: int, sizes: list[int], count: int) -> None:
    """Salts depend on the seed alone, not on what was drawn before or on the sizes of batches."""
    key = bind_key(f"[salt({count}, width=2)][n]", {"n": "u8"})
    whole = key.draw_salts(sum(sizes), np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    drawn = [key.draw_salts(size, rng) for size in sizes]
    assert whole is not None
    assert whole.tolist() == [salt for salts in drawn if salts is not None for salt in salts]


def test_a_key_without_salt_draws_none() -> None:
    """Callers may ask any key for salts; one without a salt has none."""
    key = bind_key("[n]", {"n": "u8"})
    assert key.draw_salts(3, np.random.default_rng(0)) is None


def test_a_salted_key_never_draws_by_itself() -> None:
    """Without a salt for each row, a salted key refuses to encode."""
    with pytest.raises(InvalidArgument, match=r"random salt, but no salts were passed; expected"):
        SALTED.encode({"n": 1})
    with pytest.raises(InvalidArgument, match=r"from 0 to 15 for each row\. Pass salts=key\.draw"):
        SALTED.encode_batch(ROWS)
    with pytest.raises(InvalidArgument, match=r"salts: 7 salts were passed for 100 rows"):
        SALTED.encode_batch(ROWS, salts=np.zeros(7, np.int64))
