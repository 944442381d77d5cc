"""Tables on an HBase cluster that is found without ZooKeeper."""

from __future__ import annotations

from rowkey.engines.backends.hbase import HBaseEngine


class HBaseMasterEngine(HBaseEngine):
    """The same tables, found by the addresses of masters: `hbase+master://m1:16000,m2:16000`."""

    name = "hbase_master"
    scheme = "hbase+master"
