"""Rows of reads with a limit are those that a real HBase counts."""

from __future__ import annotations

from secrets import token_hex

import pyarrow as pa
import pytest

import rowkey
from rowkey.design import Design
from rowkey.simulate import ReadSimulator, encode_keys
from rowkey.table import drop_table

ROWS_OF_A_HOST = 400
TOLERANCE = 0.05
"""Share by which the mean of a prediction over a hundred trials and of eight answers differ."""


@pytest.mark.xdist_group("hbase_cluster")
@pytest.mark.parametrize("limit", [1, 10, 50, 200])
@pytest.mark.parametrize("buckets", [1, 4, 16])
@pytest.mark.parametrize("fields", ["[host][n]", "[n][host]"])
def test_a_cluster_counts_the_rows_of_a_limited_read(
    fields: str, buckets: int, limit: int, hbase_url: str
) -> None:
    """A merge asks several rows of each range at once, whether it needs them or not."""
    design = Design(
        f"limited.{token_hex(4)}",
        f"[bucket(n, {buckets})]{fields}",
        fields={"host": {"type": "text", "max_bytes": 4}, "n": "u32", "v": "u8"},
        splits=["\\x01"] if buckets > 1 else [],
        reads=[{"name": "first", "where": "host = ?", "order": "n", "limit": limit}],
    )
    rows = [
        {"host": f"h{host}", "n": 7919 * n + host, "v": 1}
        for host in range(8)
        for n in range(ROWS_OF_A_HOST)
    ]
    batch = pa.RecordBatch.from_pylist(
        rows, pa.schema([("host", pa.string()), ("n", pa.uint32()), ("v", pa.uint8())])
    )
    with rowkey.open(design, hbase_url) as table:
        try:
            table.load(batch)
            boundaries = design.splits.compute_boundaries(design.key)
            simulator = ReadSimulator(
                design, boundaries, batch, encode_keys(design, batch), len(rows), 1.0
            )
            predicted = simulator.measure_read(design.reads[0]).read_rows
            before = sum(one.reads for one in table.store.list_open_regions())
            for host in range(8):
                found = list(table.scan("host = ?", f"h{host}", order="n", limit=limit))
                assert limit == len(found)
            counted = sum(one.reads for one in table.store.list_open_regions()) - before
            assert predicted == pytest.approx(counted / 8, rel=TOLERANCE, abs=buckets > 1)
        finally:
            drop_table(design.table, hbase_url)
