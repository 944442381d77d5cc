"""Tables that OpenTSDB wrote on a real cluster are described and created again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest

import rowkey
from observe.test_on_hbase import recreate_table
from oracles.build import OracleUnavailable, Source, build_command
from oracles.plugin import give_up

if TYPE_CHECKING:
    from cluster import Cluster, Judge
    from rowkey.engines.backends.hbase import HBaseEngine

POINTS = Source(Path(__file__).parent / "opentsdb", "Points")
PATIENCE_S = 120
METRICS, HOSTS, HOURS = 3, 12, 5
WORDS = {"COMPRESSION": "GZ", "BLOOMFILTER": "ROW", "DATA_BLOCK_ENCODING": "DIFF"}
FAMILIES: dict[str, dict[str, dict[str, str]]] = {
    "tsdb": {"t": {"VERSIONS": "1", **WORDS, "TTL": "31536000"}},
    "tsdb-uid": {"id": WORDS, "name": WORDS},
    "tsdb-tree": {"t": {"VERSIONS": "1", **WORDS}},
    "tsdb-meta": {"name": WORDS},
}
"""The families of its tables, with a compression that the cluster has and data kept for a year.

Source: opentsdb 2.4.1, src/create_table.sh, a script for HBase's shell; its library makes none.
"""
KEYS = {
    "tsdb": "[bytes:fixed(3)][time:u32][bytes2:fixed(6)]",
    "tsdb-meta": "[bytes:fixed(9)]",
    "tsdb-tree": "[row:tail]",
    "tsdb-uid": "[bytes:tail]",
}
"""What their rows show. A row of data is a metric, an hour in seconds and a pair of a tag; of
metadata the same without the hour. Names and numbers of names are rows of one table.

Source: opentsdb 2.4.1, IncomingDataPoints.rowKeyTemplate, UniqueId.
"""


@pytest.fixture(scope="module")
def prefix(hbase_cluster: Cluster, hbase_judge: Judge) -> Iterator[str]:
    """The common prefix of the names of four tables that OpenTSDB has written."""
    try:
        start = build_command(POINTS)
    except OracleUnavailable as absent:
        give_up(str(absent))
    prefix = f"{token_hex(4)}-"
    for name, families in FAMILIES.items():
        splits = [bytes([0, 0, metric]) for metric in (2, 3)] if name == "tsdb" else []
        hbase_judge.create(f"{prefix}{name}", families, splits)
    many = [str(one) for one in (METRICS, HOSTS, HOURS)]
    order = [*start, hbase_cluster.zookeeper, prefix, *many]
    done = subprocess.run(order, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr  # its client may print warnings
    yield prefix
    for name in FAMILIES:
        hbase_judge.drop(f"{prefix}{name}")


@pytest.mark.parametrize("name", FAMILIES)
def test_descriptions_of_opentsdb_tables_create_the_same_tables(
    name: str, prefix: str, hbase_engine: HBaseEngine, hbase_url: str
) -> None:
    """Each description creates the same table, and its key is that of OpenTSDB."""
    text = recreate_table(hbase_engine, f"{prefix}{name}", hbase_url)
    assert KEYS[name] == str(rowkey.Design.loads(text).key)
