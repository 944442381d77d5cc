"""Columns mean the same in whatever Arrow type a program hands them over."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey import bind_key
from rowkey.errors import RowError

HOSTS = ["a", "web-1", "web-2", "z"]
FIELDS = {"host": {"type": "text", "nullable": True}, "n": "u8"}
KEY = bind_key("[bucket(host, 4)][host][n]", FIELDS)
CODES = st.lists(st.none() | st.integers(0, len(HOSTS) - 1), min_size=1, max_size=9)
INDEXES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(),
           pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]  # fmt: skip


@pytest.mark.parametrize("kind", INDEXES, ids=str)
@given(codes=CODES)
def test_a_dictionary_may_have_any_type_of_index(
    kind: pa.DataType, codes: list[int | None]
) -> None:
    """Pandas has small indexes, Polars unsigned ones; nulls stand among them."""
    hosts = [None if code is None else HOSTS[code] for code in codes]
    coded = pa.DictionaryArray.from_arrays(pa.array(codes, kind), pa.array(HOSTS))
    batch = pa.record_batch([coded, pa.array([7] * len(codes), pa.uint8())], names=["host", "n"])
    expected = [KEY.encode({"host": host, "n": 7}) for host in hosts]
    assert expected == KEY.encode_batch(batch).to_pylist()


@pytest.mark.parametrize("kind", INDEXES, ids=str)
def test_a_null_of_a_field_that_must_have_a_value_is_refused(kind: pa.DataType) -> None:
    """It is told with its row, whatever the type of the index."""
    key = bind_key("[host][n]", {"host": "text", "n": "u8"})
    coded = pa.DictionaryArray.from_arrays(pa.array([1, None], kind), pa.array(HOSTS))
    batch = pa.record_batch([coded, pa.array([1, 2], pa.uint8())], names=["host", "n"])
    with pytest.raises(RowError, match="host: row 1 has no value"):
        key.encode_batch(batch)


def test_a_column_of_negative_numbers_written_as_text() -> None:
    """Text of numbers below 0 alone, and of the greatest, are numbers as any other."""
    given_ = {"i8": ["-5", "-128"], "i64": [str(-(2**63))], "u64": [str(2**64 - 1)]}
    for kind, texts in given_.items():
        key = bind_key("[n]", {"n": kind})
        found = key.encode_batch(pa.record_batch({"n": pa.array(texts)}))
        assert [key.encode({"n": int(text)}) for text in texts] == found.to_pylist()


@pytest.mark.parametrize("size", [30, 31, 32, 63, 127])
def test_the_last_text_of_a_batch_may_end_where_its_bytes_do(size: int) -> None:
    """A bucket hashes texts to their end, 00, which no bytes of the batch hold."""
    batch = pa.record_batch({"host": ["web", "x" * size], "n": pa.array([1, 2], pa.uint8())})
    expected = [KEY.encode(row) for row in batch.to_pylist()]
    assert expected == KEY.encode_batch(batch).to_pylist()
    plain = bind_key("[bucket(host, 16)][host]", {"host": "text"})
    assert [plain.encode({"host": "x" * size})] == plain.encode_batch(
        pa.record_batch({"host": ["x" * size]})
    ).to_pylist()
