"""A column is encoded the same in every Arrow type that a program may use for it."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey import bind_key
from rowkey.errors import RowError
from rowkey.keys import FirstSeenDictionary
from rowkey.keys.batches.columns import build_field_column

HOSTS = ["a", "web-1", "web-2", "z"]
FIELDS = {"host": {"type": "text", "nullable": True}, "n": "u8"}
KEY = bind_key("[bucket(host, 4)][host][n]", FIELDS)
CODE_LISTS = st.lists(st.none() | st.integers(0, len(HOSTS) - 1), min_size=1, max_size=9)
INDEX_TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(),
           pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]  # fmt: skip


@pytest.mark.parametrize("index_type", INDEX_TYPES, ids=str)
@given(codes=CODE_LISTS)
def test_a_dictionary_column_may_have_any_index_type(
    index_type: pa.DataType, codes: list[int | None]
) -> None:
    """A dictionary column with nulls has the keys of its values, whatever its index type."""
    hosts = [None if code is None else HOSTS[code] for code in codes]
    coded = pa.DictionaryArray.from_arrays(pa.array(codes, index_type), pa.array(HOSTS))
    batch = pa.record_batch([coded, pa.array([7] * len(codes), pa.uint8())], names=["host", "n"])
    expected = [KEY.encode({"host": host, "n": 7}) for host in hosts]
    assert expected == KEY.encode_batch(batch).to_pylist()


@pytest.mark.parametrize("index_type", INDEX_TYPES, ids=str)
def test_a_null_of_a_required_field_is_refused_with_its_row(index_type: pa.DataType) -> None:
    """The error names the field and the row of the null, whatever the index type."""
    key = bind_key("[host][n]", {"host": "text", "n": "u8"})
    coded = pa.DictionaryArray.from_arrays(pa.array([1, None], index_type), pa.array(HOSTS))
    batch = pa.record_batch([coded, pa.array([1, 2], pa.uint8())], names=["host", "n"])
    with pytest.raises(RowError, match=r"row 1 \(counted from 0\), field host: the value"):
        key.encode_batch(batch)


VALID_ROW = {"host": "a", "n": 7, "share": 0.5}
INVALID_VALUES = [("host", None), ("host", "x" * 9), ("n", 256), ("n", -1), ("share", math.nan)]
ROW_FIELDS = {"host": {"type": "text", "max_bytes": 5}, "n": "u8", "share": "float64"}


@given(
    n_valid_rows=st.integers(0, 40),
    invalid_values=st.lists(st.sampled_from(INVALID_VALUES), min_size=1, max_size=3),
)
def test_a_refused_batch_names_its_first_invalid_row(
    n_valid_rows: int, invalid_values: list[tuple[str, Any]]
) -> None:
    """The error of a batch is that of its first invalid row with its number; no ids are given."""
    dictionary = FirstSeenDictionary()
    key = bind_key("[code(host)][n][share]", ROW_FIELDS, dictionary=dictionary)
    invalid_rows = [{**VALID_ROW, name: value} for name, value in invalid_values]
    rows = [VALID_ROW] * n_valid_rows + invalid_rows
    schema = pa.schema({"host": pa.string(), "n": pa.int64(), "share": pa.float64()})
    with pytest.raises(RowError) as batch_error:
        key.encode_batch(pa.RecordBatch.from_pylist(rows, schema))
    with pytest.raises(RowError) as row_error:
        key.encode(rows[n_valid_rows])
    found, expected = batch_error.value.mistake, row_error.value.mistake
    assert f"row {n_valid_rows} (counted from 0), {expected.path}" == found.path
    assert (expected.problem, expected.remedy) == (found.problem, found.remedy)
    assert 0 == dictionary.count_ids("host")


@pytest.mark.parametrize(
    ("n_rows", "invalid_row", "row"), [(256, None, 255), (400, 100, 100), (400, 390, 255)]
)
def test_a_batch_names_the_first_row_for_which_no_id_is_left(
    n_rows: int, invalid_row: int | None, row: int
) -> None:
    """The row for which no id is left is named, unless an invalid row comes before it."""
    key = bind_key("[code(host, width=1)][n]", {"host": "text", "n": "u8"})
    numbers = [999 if number == invalid_row else 1 for number in range(n_rows)]
    batch = pa.record_batch({"host": [f"h{n}" for n in range(n_rows)], "n": numbers})
    problem = "field n: 999 is out of range" if row == invalid_row else "field host: code"
    with pytest.raises(RowError, match=rf"^row {row} \(counted from 0\), {problem}"):
        key.encode_batch(batch)


def test_a_batch_without_a_column_names_the_column_and_no_row() -> None:
    """The error of a batch that lacks a column names the column and no row."""
    with pytest.raises(RowError, match=r"^column n: the batch has no such column; it has host"):
        KEY.encode_batch(pa.record_batch({"host": ["a", "b"]}))


def test_numbers_in_a_text_column_are_encoded_as_numbers() -> None:
    """Negative numbers and the largest ones may be written as text."""
    texts_by_type = {"i8": ["-5", "-128"], "i64": [str(-(2**63))], "u64": [str(2**64 - 1)]}
    for type_name, texts in texts_by_type.items():
        key = bind_key("[n]", {"n": type_name})
        found = key.encode_batch(pa.record_batch({"n": pa.array(texts)}))
        assert [key.encode({"n": int(text)}) for text in texts] == found.to_pylist()


@pytest.mark.parametrize("size", [30, 31, 32, 63, 127])
def test_a_bucket_hashes_the_terminator_of_the_last_text_of_a_column(size: int) -> None:
    """A bucket hashes the terminator 00 of the last text, which is not in the Arrow buffer."""
    batch = pa.record_batch({"host": ["web", "x" * size], "n": pa.array([1, 2], pa.uint8())})
    expected = [KEY.encode(row) for row in batch.to_pylist()]
    assert expected == KEY.encode_batch(batch).to_pylist()
    plain = bind_key("[bucket(host, 16)][host]", {"host": "text"})
    assert [plain.encode({"host": "x" * size})] == plain.encode_batch(
        pa.record_batch({"host": ["x" * size]})
    ).to_pylist()


@given(st.lists(st.integers(0, 199), max_size=4))
def test_few_rows_read_only_the_dictionary_values_they_use(rows: list[int]) -> None:
    """Rows that use a small part of a dictionary have their keys, and read no other value."""
    hosts = [f"h{number:03}" for number in range(199)] + ["é" * 200]
    texts = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), pa.array(hosts))
    key = bind_key("[host]", {"host": {"type": "text", "max_bytes": 400}})
    batch = pa.RecordBatch.from_arrays([texts], names=["host"])
    assert [key.encode({"host": hosts[n]}) for n in rows] == key.encode_batch(batch).to_pylist()
    column = build_field_column(key.fields["host"], texts)
    assert len(column.values) == len(set(rows))
