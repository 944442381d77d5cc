"""The administration of a cluster in one class."""

from __future__ import annotations

from rowkey.hbase.admin.cluster import ClusterAdmin
from rowkey.hbase.admin.counters import CounterAdmin
from rowkey.hbase.admin.regions import RegionAdmin
from rowkey.hbase.admin.snapshots import SnapshotAdmin
from rowkey.hbase.admin.table_creation import TableCreator


class Admin(TableCreator, SnapshotAdmin, RegionAdmin, CounterAdmin, ClusterAdmin):
    """Administer a cluster: tables, regions, snapshots, namespaces, switches and counters.

    Every method waits until its work is done or its timeout has passed. Threads may share one
    object. All wrong arguments of a call are reported before anything is sent: a single mistake as
    `InvalidArgument`, several as `InvalidDesign`, and mistakes in the declaration of a table, a
    family or its attributes always as `InvalidDesign`.

    Args:
        caller: sends requests to the master and the region servers.
    """
