"""Where a cluster's master and its table of regions are: by ZooKeeper or by master addresses."""

from rowkey.hbase.registry.contract import NobodyKnows, NobodyThere, NoCluster, Registry
from rowkey.hbase.registry.nodes import Said
from rowkey.hbase.registry.url import KINDS, Place, WrongUrl, parse_url

__all__ = [
    "KINDS",
    "NoCluster",
    "NobodyKnows",
    "NobodyThere",
    "Place",
    "Registry",
    "Said",
    "WrongUrl",
    "parse_url",
]
