"""A row that cannot be written says all that is wrong with it."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rowkey
from rowkey.errors import BatchError, RowError

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 4},
    "ts": "timestamp_ms",
    "unit": {"type": "u8", "pack": "p"},
    "size": {"type": "u16", "pack": "p", "nullable": True},
    "level": {"type": "choice", "of": ["I", "W"], "nullable": True},
}
VALID_ROW = {"host": "ab", "ts": 1, "unit": 2, "size": 3, "level": "I"}
WRONG_VALUES: dict[str, Any] = {
    "host": "abcdef", "ts": "noon", "unit": 256, "size": -1, "level": "X",
}  # fmt: skip
KEYS = ["[host][ts]", "[bucket(host, 4)][host][ts]", "[salt(2)][host][ts]", "[digest(host, 4)][ts]"]


def catch_row_error(design: rowkey.Design, row: dict[str, Any]) -> RowError:
    """Return the error with which a table refuses a row."""
    with rowkey.open(design, "memory:") as table, pytest.raises(RowError) as caught:
        table.put(row)
    return caught.value


@pytest.mark.parametrize("key", KEYS)
@given(wrong=st.sets(st.sampled_from(sorted(FIELDS)), min_size=1))
def test_the_error_of_a_row_names_every_wrong_value_once(key: str, wrong: set[str]) -> None:
    """The error of a row has one mistake for each value that its field does not allow."""
    row = {**VALID_ROW, **{name: WRONG_VALUES[name] for name in wrong}}
    error = catch_row_error(rowkey.Design("t", key, fields=FIELDS), row)
    assert sorted(f"field {name}" for name in wrong) == sorted(one.path for one in error.mistakes)
    assert str(error) == "\n".join(map(str, error.mistakes))
    assert pickle.loads(pickle.dumps(error)).mistakes == error.mistakes


def test_a_missing_key_field_and_a_wrong_value_are_both_reported() -> None:
    """A row without a field of the key and with a wrong value has both mistakes."""
    design = rowkey.Design("t", "[host][ts]", fields=FIELDS)
    error = catch_row_error(design, {"host": "ab", "unit": 256})
    assert ["field ts", "field unit"] == [one.path for one in error.mistakes]


def test_the_error_of_a_batch_has_a_row_number_for_each_mistake() -> None:
    """In the error of a batch each line begins with the number of its row."""
    design = rowkey.Design("t", "[host][ts]", fields=FIELDS)
    with rowkey.open(design, "memory:") as table, pytest.raises(BatchError) as caught:  # noqa: PT012, SIM117
        with table.batch() as batch:
            batch.put(VALID_ROW)
            batch.put({**VALID_ROW, "host": "abcdef", "unit": 256})
    lines = str(caught.value).splitlines()[1:]
    assert ["row 1, field host:", "row 1, field unit:"] == [line[:18] for line in lines]
