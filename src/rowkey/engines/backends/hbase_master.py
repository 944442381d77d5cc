"""Tables on a real cluster that is found without ZooKeeper."""

from __future__ import annotations

from rowkey.engines.backends.hbase import HBase


class HBaseMaster(HBase):
    """The same tables, found by the addresses of masters: `hbase+master://m1:16000,m2:16000`."""

    name = "hbase_master"
    scheme = "hbase+master"
