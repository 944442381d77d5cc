"""How many rows an answer has: counted by hand where a sample holds some of the rows only."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from rowkey.design import Design
from rowkey.keys import ColumnBatch
from rowkey.regions import Boundaries
from rowkey.simulate import run
from rowkey.simulate.read_costs import ReadSimulator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rowkey.simulate import ReadCost

FIELDS: dict[str, Any] = {"host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s"}


def asked(key: str, rows: Sequence[tuple[str, int]], total: int, **read: Any) -> ReadCost:
    """What one read costs, asked of some rows of a table of so many."""
    design = Design("t", key, fields=FIELDS, reads=[{"name": "it", **read}])
    batch = pa.record_batch(
        [pa.array([host for host, _ in rows]), pa.array([ts for _, ts in rows])],
        names=["host", "ts"],
    )
    columns = ColumnBatch.from_batch(batch, [design.fields["host"], design.fields["ts"]])
    keys = design.key.encode_batch(batch, salts=np.zeros(len(rows), np.int64)).to_pylist()
    return ReadSimulator(design, Boundaries(()), columns, keys, total).measure_read(design.reads[0])


FOUR = [("a", 1), ("a", 2), ("a", 3), ("b", 1)]
"""Rows that were seen of a table of 13: beside one that is asked for, three stand for twelve."""


def test_a_pinned_key_is_one_row() -> None:
    """However few of the table's rows were seen: the row asked for is there, and there once."""
    read = {"where": "host = ? and ts = ?"}
    found = asked("[host][ts]", FOUR, 13, **read)
    assert (1.0, 1.0, 1.0) == (found.returned_rows, found.read_rows, found.amplification)
    filtered = asked("[host]", FOUR, 13, **read)
    assert 1.0 == filtered.read_rows
    hashed = asked("[digest(host, ts, 4)]", FOUR, 13, **read)
    assert (1.0, 1.0) == (hashed.returned_rows, hashed.read_rows)


def test_a_pinned_key_with_a_limit_is_one_row() -> None:
    """A limit above it changes nothing."""
    found = asked("[host][ts]", FOUR, 13, where="host = ? and ts = ?", limit=5)
    assert (1.0, 1.0) == (found.returned_rows, found.read_rows)


def test_rows_written_again_are_one_row() -> None:
    """Five events of two rows: a table of two rows, whichever is asked for."""
    rows = [("a", 1), ("b", 1), ("a", 1), ("a", 1), ("b", 1)]
    found = asked("[host][ts]", rows, 2, where="host = ? and ts = ?")
    assert (1.0, 1.0) == (found.returned_rows, found.read_rows)
    every = asked("[host][ts]", rows, 2, where="")
    assert (2.0, 2.0) == (every.returned_rows, every.read_rows)


def test_a_row_that_is_asked_for_stands_for_itself() -> None:
    """Of host a, asked three times in four: itself and two that stand for four each; of b, one."""
    found = asked("[host][ts]", FOUR, 13, where="host = ?")
    assert pytest.approx((3 * (1 + 2 * 4) + 1) / 4) == found.returned_rows == found.read_rows


def test_what_is_filtered_is_told_in_the_same_way() -> None:
    """All 13 rows are read; of times alike there are 1 + 4, twice of four askings, else one."""
    found = asked("[host][ts]", FOUR, 13, where="ts = ?")
    assert (13.0, (1 + 4 + 1 + 1 + 1 + 4) / 4) == (found.read_rows, found.returned_rows)


def test_a_row_outside_of_its_own_answer_is_no_part_of_it() -> None:
    """Later than a row it is not: of 1, 2, 3, 1 there are 2, 1, 0, 2 later, four times each."""
    found = asked("[host][ts]", FOUR, 13, where="ts > ?")
    assert ((2 + 1 + 0 + 2) * 4 / 4, 13.0) == (found.returned_rows, found.read_rows)


def test_a_whole_table_is_all_its_rows() -> None:
    """Seen rows stand for all there are, no more and no fewer."""
    assert 13.0 == asked("[host][ts]", FOUR, 13, where="").returned_rows


def test_a_list_asks_for_different_values() -> None:
    """Three hosts for three question marks: three points of three hosts; two if there are two."""
    rows = [(host, 1) for host in "abcd"]
    read = {"where": "host in (?, ?, ?) and ts = ?"}
    found = asked("[host][ts]", rows, 40, **read)
    assert ((3.0, 3), 3.0, 3.0) == (found.fan_out, found.returned_rows, found.read_rows)
    few = asked("[host][ts]", rows[:2], 2, **read)
    assert ((2.0, 2), 2.0) == (few.fan_out, few.returned_rows)


def test_a_list_asks_for_values_that_come_together() -> None:
    """Times of the host that is asked for, not of another's; where it has too few, of others."""
    rows = [("a", 1), ("a", 2), ("b", 7), ("b", 8)]
    read = {"where": "host = ? and ts in (?, ?)"}
    assert (2.0, (2.0, 2)) == (
        asked("[host][ts]", rows, 4, **read).returned_rows,
        asked("[host][ts]", rows, 4, **read).fan_out,
    )
    lonely = [("a", 1), ("b", 7)]
    found = asked("[host][ts]", lonely, 2, **read)
    assert (1.0, (2.0, 2)) == (found.returned_rows, found.fan_out)


def test_a_limit_takes_its_part_of_what_is_read() -> None:
    """Of 9 rows of host a four times two are others; five of them are five of nine read."""
    found = asked("[host][ts]", FOUR[:3], 9, where="host = ?", limit=5, order="ts")
    assert (5.0, 5.0) == (found.returned_rows, found.read_rows)


def test_a_limit_is_reached_where_the_rows_of_the_sample_lie() -> None:
    """The first rows of b come behind all of a: reading two of b passes them, not an even share."""
    rows = [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 5), ("b", 6), ("b", 7), ("b", 8)]
    read = {"where": "host = ?", "limit": 2, "order": "ts"}
    found = asked("[ts][host]", rows, len(rows), **read)
    # Half of the askings are for a, whose two rows are the first two; the others pass four.
    assert (2.0, (2 + 6) / 2) == (found.returned_rows, found.read_rows)


def test_many_rows_are_told_by_those_that_were_kept(tmp_path: Path) -> None:
    """Of 300,000 rows 131,072 are kept: three a host, and one a host and time."""
    chance = random.Random(3)
    rows = [(f"h{number % 100_000}", number // 100_000) for number in range(300_000)]
    chance.shuffle(rows)
    path = tmp_path / "rows.csv"
    path.write_text("host,ts\n" + "".join(f"{host},{ts}\n" for host, ts in rows))
    reads = [
        {"name": "host", "where": "host = ?"},
        {"name": "row", "where": "host = ? and ts = ?"},
    ]
    design = Design("t", "[host][ts]", fields=FIELDS, reads=reads)
    host, row = run(design, path).reads
    assert pytest.approx(3.0, rel=0.15) == host.returned_rows
    assert (1.0, 1.0) == (row.returned_rows, row.read_rows)
