"""Arrow columns that are damaged or hold invalid UTF-8 are refused before they are read."""

from __future__ import annotations

import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import rowkey
from rowkey.errors import RowError

NUMBERS = pa.array([1, 2, 3], pa.uint32())
DESIGN_WITH_HOST_IN_KEY = rowkey.Design("t", "[host][n]", fields={"host": "text", "n": "u32"})
DESIGN_WITH_HOST_IN_CELL = rowkey.Design(
    "t", "[n]", fields={"host": {"type": "text", "nullable": True}, "n": "u32"}
)
REMEDY = "Build the column again, or read it again from its source."


def build_text_column(*offsets: int) -> pa.Array:
    """Build a column of three texts in three bytes from their offsets."""
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abc")]
    return pa.Array.from_buffers(pa.string(), 3, buffers)


def build_dictionary_column(*codes: int) -> pa.Array:
    """Build a column of three texts from their codes in a dictionary of two."""
    values = pa.array(["a", "b"])
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), values, safe=False)


def build_view_column(buffer: int, offset: int) -> pa.Array:
    """Build a column of three long texts that point to a buffer and an offset."""
    view = struct.pack("<i4sii", 1 << 20, b"abcd", buffer, offset)
    return pa.Array.from_buffers(
        pa.string_view(), 3, [None, pa.py_buffer(view * 3), pa.py_buffer(b"abc")]
    )


DAMAGED_COLUMNS = {
    "offset": lambda: build_text_column(0, -5_000_000, 2, 3),
    "code": lambda: build_dictionary_column(0, 1, 1 << 28),
    "negative code": lambda: build_dictionary_column(0, 1, -(1 << 28)),
    "buffer": lambda: build_view_column(7, 0),
    "view": lambda: build_view_column(0, 1 << 28),
}
NOT_UTF8 = pa.array([b"a", b"caf\xe9", b"c"]).view(pa.string())


def find_refusal(column: pa.Array, operation: str) -> str:
    """Return the message with which an operation refuses a column."""
    batch = pa.RecordBatch.from_arrays([column, NUMBERS], names=["host", "n"])

    def use_column() -> None:
        if operation == "encoded":
            DESIGN_WITH_HOST_IN_KEY.key.encode_batch(batch)
        elif operation == "decoded":
            DESIGN_WITH_HOST_IN_KEY.key.decode_batch(column)
        else:
            with rowkey.open(
                DESIGN_WITH_HOST_IN_CELL if operation == "stored" else DESIGN_WITH_HOST_IN_KEY,
                "memory:",
            ) as table:
                table.load(pa.Table.from_batches([batch]))

    with pytest.raises(RowError) as error:
        use_column()
    return str(error.value)


def test_every_operation_refuses_a_damaged_column() -> None:
    """Every operation refuses a damaged column, in a process that it would crash otherwise."""
    code = """if True:
        from keys.test_damaged_columns import DAMAGED_COLUMNS, find_refusal
        for name in DAMAGED_COLUMNS:
            for way in ("encoded", "keyed", "stored", "decoded"):
                print(name, way, end=" ", flush=True)
                print(find_refusal(DAMAGED_COLUMNS[name](), way), flush=True)
    """
    tests_folder = __file__.removesuffix("/keys/test_damaged_columns.py")
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=tests_folder, capture_output=True, text=True, check=False)
    assert 0 == result.returncode, (result.stdout[-80:], result.stderr[-400:])
    lines = result.stdout.splitlines()
    assert 4 * len(DAMAGED_COLUMNS) == len(lines)
    for line in lines:
        location = "keys" if " decoded " in line else "host"
        assert f" {location}: the Arrow column is damaged: " in line
        assert line.endswith(f". {REMEDY}")


@pytest.mark.parametrize("operation", ["encoded", "keyed", "stored"])
@pytest.mark.parametrize(
    "arrow_type", [pa.string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_text_that_is_not_utf8_is_refused(arrow_type: Any, operation: str) -> None:
    """The error names the row and the invalid byte."""
    column = NOT_UTF8
    if pa.types.is_dictionary(arrow_type):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int32()), column)
    elif arrow_type != column.type:
        column = column.cast(arrow_type)
    problem = "column host: row 1 holds the byte e9, which is not UTF-8."
    remedy = "Decode the text with the encoding in which it was written, such as latin-1."
    assert f"{problem} {remedy}" == find_refusal(column, operation)


def test_the_row_number_of_an_error_counts_over_all_chunks() -> None:
    """The error names the row of the table, not that of the chunk."""
    chunks = pa.chunked_array([pa.array(["a", "b"]), NOT_UTF8.slice(1, 1)])
    table = pa.table({"host": chunks, "n": NUMBERS})
    with pytest.raises(RowError, match="column host: row 2 holds the byte e9"):
        DESIGN_WITH_HOST_IN_KEY.key.encode_batch(table)


@pytest.mark.parametrize("has_dictionary", [False, True])
def test_string_views_with_nulls_are_encoded(has_dictionary: bool) -> None:
    """String views, which Polars writes, are loaded with their nulls."""
    texts = pa.array(["a", None, "b" * 20], pa.string_view())
    if has_dictionary:
        texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), texts)
    with rowkey.open(DESIGN_WITH_HOST_IN_CELL, "memory:") as table:
        table.load(pa.table({"host": texts, "n": NUMBERS}))
        assert ["a", None, "b" * 20] == [row["host"] for row in table.scan()]


@pytest.mark.parametrize(
    ("arrow_type", "number"),
    [(pa.timestamp("s"), (1 << 63) - 1), (pa.date32(), 1 << 30), (pa.timestamp("us"), -(1 << 62))],
    ids=str,
)
def test_dates_beyond_the_calendar_are_refused(arrow_type: pa.DataType, number: int) -> None:
    """Dates beyond the calendar are refused, and neither wrapped around nor written."""
    design = rowkey.Design("t", "[d]", fields={"d": "date", "x": {"type": "u8", "nullable": True}})
    days = pa.array([number], f"int{arrow_type.bit_width}").view(arrow_type)
    with pytest.raises(RowError, match=r"d: -?[0-9]+ days after 1970-01-01 is not a date"):
        design.key.encode_batch(pa.table({"d": days}))
