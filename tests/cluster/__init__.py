"""A real HBase for the tests: a cluster of processes, and the official Java client to query it.

A test takes one of the session's fixtures: `hbase_cluster` to kill, pause, move and split;
`hbase_judge` to ask as HBase is asked; `hbase_engine` to ask as rowkey asks its engines, and
`judged_engine` to ask so through the official client.
"""

from cluster.judge import Judge, JudgeError, Region, SchemaAnswer, Status
from cluster.judged import JudgedEngine, JudgedReader, JudgedStore
from cluster.servers import QUICK, SESSION_S, START_S, Cluster, StartFailed, find_programs

__all__ = [
    "QUICK",
    "SESSION_S",
    "START_S",
    "Cluster",
    "Judge",
    "JudgeError",
    "JudgedEngine",
    "JudgedReader",
    "JudgedStore",
    "Region",
    "SchemaAnswer",
    "StartFailed",
    "Status",
    "find_programs",
]
