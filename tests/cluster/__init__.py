"""A real HBase for the tests: a cluster of processes, and the official Java client to query it.

A test takes one of the session's fixtures: `hbase_cluster` to kill, pause, move and split;
`hbase_judge` to ask as HBase is asked; `hbase_engine` to ask as rowkey asks its engines, and
`judged_engine` to ask so through the official client.
"""

from cluster.judge import Described, Judge, JudgeError, Region, Status
from cluster.judged import JudgedEngine, JudgedReader, JudgedStore
from cluster.servers import QUICK, Cluster, StartFailed, programs

__all__ = [
    "QUICK",
    "Cluster",
    "Described",
    "Judge",
    "JudgeError",
    "JudgedEngine",
    "JudgedReader",
    "JudgedStore",
    "Region",
    "StartFailed",
    "Status",
    "programs",
]
