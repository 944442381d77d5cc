"""Tables on an HBase cluster that is found without ZooKeeper."""

from __future__ import annotations

from rowkey.engines.backends.hbase import HBaseEngine


class HBaseMasterEngine(HBaseEngine):
    """An HBase cluster found by its masters: `hbase+master://m1:16000,m2:16000`."""

    name = "hbase_master"
    scheme = "hbase+master"
