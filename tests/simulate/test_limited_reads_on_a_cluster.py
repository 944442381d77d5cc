"""Rows of reads with a limit are those that a real HBase counts."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import rowkey
from rowkey.design import Design
from rowkey.simulate import ReadSimulator, encode_keys
from rowkey.table import drop_table

if TYPE_CHECKING:
    from rowkey.table import Table

ROWS_OF_A_HOST = 400
LIMITS = (1, 10, 50, 200)
TOLERANCE = 0.05
"""Share by which the mean of a prediction over a hundred trials and of eight answers differ."""


KEYS = [
    ("[host][n]", 1),
    ("[host][n]", 4),
    ("[n][host]", 16),
    *(
        pytest.param(*one, marks=pytest.mark.long)
        for one in (("[host][n]", 16), ("[n][host]", 1), ("[n][host]", 4))
    ),
]


@pytest.mark.xdist_group("hbase_cluster")
@pytest.mark.parametrize(("fields", "buckets"), KEYS)
def test_hbase_counts_the_predicted_rows_of_limited_reads(
    fields: str, buckets: int, hbase_url: str
) -> None:
    """A merge asks several rows of each range at once, whether it needs them or not."""
    read = {"where": "host = ?", "order": "n"}
    design = Design(
        f"limited.{token_hex(4)}",
        f"[bucket(n, {buckets})]{fields}",
        fields={"host": {"type": "text", "max_bytes": 4}, "n": "u32", "v": "u8"},
        splits=["\\x01"] if buckets > 1 else [],
        reads=[{"name": f"first {limit}", "limit": limit, **read} for limit in LIMITS],
    )
    rows = [
        {"host": f"h{host}", "n": 7919 * n + host, "v": 1}
        for host in range(8)
        for n in range(ROWS_OF_A_HOST)
    ]
    batch = pa.RecordBatch.from_pylist(
        rows, pa.schema([("host", pa.string()), ("n", pa.uint32()), ("v", pa.uint8())])
    )
    boundaries = design.splits.compute_boundaries(design.key)
    simulator = ReadSimulator(design, boundaries, batch, encode_keys(design, batch), len(rows), 1.0)
    predicted = [simulator.measure_read(one).read_rows for one in design.reads]
    with rowkey.open(design, hbase_url) as table:
        try:
            table.load(batch)
            counted = [_count_read_rows(table, limit) for limit in LIMITS]
        finally:
            drop_table(design.table, hbase_url)
    for limit, prediction, count in zip(LIMITS, predicted, counted, strict=True):
        assert prediction == pytest.approx(count, rel=TOLERANCE, abs=buckets > 1), limit


def _count_read_rows(table: Table, limit: int) -> float:
    """Return how many rows the servers read for the first rows of a host, on average of eight."""
    before = sum(one.reads for one in table.store.list_open_regions())
    for host in range(8):
        found = list(table.scan("host = ?", f"h{host}", order="n", limit=limit))
        assert limit == len(found)
    return (sum(one.reads for one in table.store.list_open_regions()) - before) / 8
