"""Arrow columns that are damaged, or hold what is no text, are refused before they are read."""

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
KEYED = rowkey.Design("t", "[host][n]", fields={"host": "text", "n": "u32"})
STORED = rowkey.Design("t", "[n]", fields={"host": {"type": "text", "nullable": True}, "n": "u32"})
REPAIR = "Build the column again, or read it again from its source."


def text_of_offsets(*offsets: int) -> pa.Array:
    """Three texts in three bytes, by their offsets."""
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abc")]
    return pa.Array.from_buffers(pa.string(), 3, buffers)


def coded_by(*codes: int) -> pa.Array:
    """Three texts by their numbers in a dictionary of two."""
    values = pa.array(["a", "b"])
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), values, safe=False)


def viewed_at(buffer: int, offset: int) -> pa.Array:
    """Three long texts that lie in another buffer than there is, or behind its end."""
    view = struct.pack("<i4sii", 1 << 20, b"abcd", buffer, offset)
    return pa.Array.from_buffers(
        pa.string_view(), 3, [None, pa.py_buffer(view * 3), pa.py_buffer(b"abc")]
    )


DAMAGED = {
    "offset": lambda: text_of_offsets(0, -5_000_000, 2, 3),
    "code": lambda: coded_by(0, 1, 1 << 28),
    "negative code": lambda: coded_by(0, 1, -(1 << 28)),
    "buffer": lambda: viewed_at(7, 0),
    "view": lambda: viewed_at(0, 1 << 28),
}
NOT_UTF8 = pa.array([b"a", b"caf\xe9", b"c"]).view(pa.string())


def refusal(column: pa.Array, way: str) -> str:
    """The error of a batch with a column, encoded or loaded."""
    batch = pa.RecordBatch.from_arrays([column, NUMBERS], names=["host", "n"])

    def read() -> None:
        if way == "encoded":
            KEYED.key.encode_batch(batch)
        elif way == "decoded":
            KEYED.key.decode_batch(column)
        else:
            with rowkey.open(STORED if way == "stored" else KEYED, "memory:") as table:
                table.load(pa.Table.from_batches([batch]))

    with pytest.raises(RowError) as refused:
        read()
    return str(refused.value)


def test_damaged_columns_are_refused() -> None:
    """In a process of their own, which reading them would end."""
    code = """if True:
        from keys.test_validation import DAMAGED, refusal
        for name in DAMAGED:
            for way in ("encoded", "keyed", "stored", "decoded"):
                print(name, way, end=" ", flush=True)
                print(refusal(DAMAGED[name](), way), flush=True)
    """
    here = __file__.removesuffix("/keys/test_validation.py")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, (done.stdout[-80:], done.stderr[-400:])
    lines = done.stdout.splitlines()
    assert 4 * len(DAMAGED) == len(lines)
    for line in lines:
        place = "keys" if " decoded " in line else "host"
        assert f" {place}: the Arrow column is damaged: " in line
        assert line.endswith(f". {REPAIR}")


@pytest.mark.parametrize("way", ["encoded", "keyed", "stored"])
@pytest.mark.parametrize(
    "kind", [pa.string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_text_that_is_not_utf8_is_refused(kind: Any, way: str) -> None:
    """It was written as it is, and could not be read again."""
    column = NOT_UTF8
    if pa.types.is_dictionary(kind):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int32()), column)
    elif kind != column.type:
        column = column.cast(kind)
    what = "host: row 1 holds the byte e9, which is not UTF-8."
    assert (
        f"{what} Decode the text with the encoding in which it was written, such as latin-1."
        == refusal(column, way)
    )


def test_the_row_is_counted_over_all_chunks() -> None:
    """A table may hold its columns in several."""
    chunks = pa.chunked_array([pa.array(["a", "b"]), NOT_UTF8.slice(1, 1)])
    table = pa.table({"host": chunks, "n": NUMBERS})
    with pytest.raises(RowError, match="host: row 2 holds the byte e9"):
        KEYED.key.encode_batch(table)


@pytest.mark.parametrize("is_coded", [False, True])
def test_views_with_nulls_are_read(is_coded: bool) -> None:
    """Polars gives its texts so."""
    texts = pa.array(["a", None, "b" * 20], pa.string_view())
    if is_coded:
        texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), texts)
    with rowkey.open(STORED, "memory:") as table:
        table.load(pa.table({"host": texts, "n": NUMBERS}))
        assert ["a", None, "b" * 20] == [row["host"] for row in table.scan()]


@pytest.mark.parametrize(
    ("kind", "number"),
    [(pa.timestamp("s"), (1 << 63) - 1), (pa.date32(), 1 << 30), (pa.timestamp("us"), -(1 << 62))],
    ids=str,
)
def test_days_outside_of_the_calendar_are_refused(kind: pa.DataType, number: int) -> None:
    """They wrapped around to another day, or were written and could not be read again."""
    design = rowkey.Design("t", "[d]", fields={"d": "date", "x": {"type": "u8", "nullable": True}})
    days = pa.array([number], f"int{kind.bit_width}").view(kind)
    with pytest.raises(RowError, match=r"d: -?[0-9]+ days after 1970-01-01 is not a date"):
        design.key.encode_batch(pa.table({"d": days}))
