"""The registries of a cluster: they find its master and hbase:meta by ZooKeeper or by masters."""

from rowkey.hbase.registry.contract import (
    ClusterNotFound,
    NodeFailure,
    Registry,
    RegistryUnavailable,
    RegistryUnreachable,
)
from rowkey.hbase.registry.url import REGISTRIES, ClusterAddress, InvalidClusterUrl, parse_url

__all__ = [
    "REGISTRIES",
    "ClusterAddress",
    "ClusterNotFound",
    "InvalidClusterUrl",
    "NodeFailure",
    "Registry",
    "RegistryUnavailable",
    "RegistryUnreachable",
    "parse_url",
]
