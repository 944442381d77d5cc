"""All that administrates a cluster, in one class."""

from __future__ import annotations

from rowkey.hbase.admin.cluster import WholeCluster
from rowkey.hbase.admin.counters import Counters
from rowkey.hbase.admin.creation import Creation
from rowkey.hbase.admin.regions import Regions
from rowkey.hbase.admin.snapshots import Snapshots


class Admin(Creation, Snapshots, Regions, Counters, WholeCluster):
    """Administrates a cluster: tables, regions, snapshots, namespaces, switches and counters.

    All of it waits until it is done, or until its deadline; threads may share one.
    Wrong arguments are told before anything is sent, all that a call has: one as `Refused`, more as
    `DeclarationError`; of what declares a table, a family or its words always as the latter.

    Args:
        caller: by whom the master and the region servers are asked.
    """
