"""Timestamps of several clocks and processes never hide a later write."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rowkey
from rowkey.table import Table

FIELDS = {
    "id": "u32",
    "v": {"type": "u32", "nullable": True},
    "n": {"type": "i64", "nullable": True},
}
ROW = {"id": 1}
WRITES = 5_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 2_000


def open_table(place: Path, key: str = "[id]") -> Table:
    """Open the table with the machine's own clock."""
    return rowkey.open(rowkey.Design("t", key, fields=FIELDS), f"rocks:{place}")


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    """An empty table."""
    with open_table(tmp_path) as found:
        yield found


def test_a_client_that_opens_after_many_changes_writes_later_timestamps(tmp_path: Path) -> None:
    """A close waits for the clock, so that the next client's timestamps are later."""
    with open_table(tmp_path) as table:
        for number in range(200):
            table.replace({**ROW, "v": number})
        table.delete(ROW)
    with open_table(tmp_path) as table:
        table.put({**ROW, "v": 5})
        assert {**ROW, "v": 5, "n": None} == table.get(ROW)


def test_the_last_of_salted_puts_within_a_millisecond_is_read(tmp_path: Path) -> None:
    with open_table(tmp_path, "[salt(4)][id]") as table:
        with table.batch() as batch:
            for number in range(WRITES):
                batch.put({**ROW, "v": number})
        assert WRITES - 1 == table.get(ROW)["v"]
    with open_table(tmp_path, "[salt(4)][id]") as table:
        for number in range(20):
            table.put({**ROW, "v": number})
            assert number == table.get(ROW)["v"]


def test_the_last_of_salted_rows_with_one_key_in_a_load_is_read(tmp_path: Path) -> None:
    """Of salted rows with one key in one load the last one is read, as without a salt."""
    import pyarrow as pa

    ids = [number // 2 for number in range(200)]
    rows = pa.table({"id": pa.array(ids, pa.uint32()), "v": pa.array([1, 2] * 100, pa.uint32())})
    with open_table(tmp_path, "[salt(16)][id]") as table:
        table.load(rows)
        assert {2} == {row["v"] for row in table.scan()}
        assert 100 == table.count()


def test_an_increment_after_deletes_and_loads_is_visible(table: Table) -> None:
    import pyarrow as pa

    other = pa.table({"id": pa.array([2], pa.uint32()), "v": pa.array([0], pa.uint32())})
    for _ in range(30):
        table.increment(ROW, n=1)
        table.delete(ROW)
        table.load(other)
        assert {"n": 3} == table.increment(ROW, n=3)
        assert 3 == table.get(ROW)["n"]


def test_a_put_after_many_increments_is_visible(table: Table) -> None:
    """A put is visible although increments are ahead of the clock."""
    for _ in range(200):
        table.increment(ROW, n=1)
    table.put({**ROW, "n": -7})
    assert -7 == table.get(ROW)["n"]
    assert {"n": -6} == table.increment(ROW, n=1)


NOTES: dict[str, Any] = {"host": "text", "v": "u32", "note": {"type": "text", "nullable": True}}


@pytest.mark.parametrize(
    ("url", "is_still"),
    [
        ("rocks:", True),
        ("memory:", False),
        pytest.param("rocks:", False, marks=pytest.mark.long),
        pytest.param("memory:", True, marks=pytest.mark.long),
    ],
)
def test_the_last_of_salted_puts_of_values_and_none_is_read(
    url: str, is_still: bool, tmp_path: Path
) -> None:
    place = url if url == "memory:" else f"rocks:{tmp_path}"
    clock = (lambda: 1_700_000_000_000) if is_still else None
    design = rowkey.Design("t", "[salt(4)][host]", fields=NOTES)
    with rowkey.open(design, place, clock=clock) as table:
        for number in range(30):
            host = {"host": f"h{number}"}
            for v, note in enumerate(["x", None, "y", None, None, "z"]):
                table.put({**host, "v": v, "note": note})
                assert {**host, "v": v, "note": note} == table.get(host)
        assert {(5, "z")} == {(row["v"], row["note"]) for row in table.scan()}


@pytest.mark.parametrize("key", ["[host]", "[salt(4)][host]"])
def test_with_a_coarse_clock_the_next_client_is_not_behind(key: str) -> None:
    """With a coarse clock, timestamps before a close are in the past at the next open."""
    design = rowkey.Design("t", key, fields=NOTES)
    place = f"memory:ticks-{key}"

    def ticks() -> int:
        return time.time_ns() // 5_000_000 * 5

    for number in range(12):
        row = {"host": f"h{number}", "v": 1, "note": "x"}
        with rowkey.open(design, place, clock=ticks) as table:
            table.put({**row, "note": None})
            table.put(row)
            table.delete(row)
            table.put({**row, "v": 2, "note": None})
        with rowkey.open(design, place, clock=ticks) as table:
            table.put({**row, "v": 3})
            assert {**row, "v": 3} == table.get(row)
