"""The ZooKeeper client of this code base: kazoo, with a deadline on every call.

kazoo is imported when the first connection is made.
"""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr
from rowkey.zookeeper.contract import (
    NotZooKeeper,
    Znode,
    ZnodeChange,
    ZooKeeperDenied,
    ZooKeeperUnreachable,
)

if TYPE_CHECKING:
    from rowkey.zookeeper.connection import ZooKeeperConnection
    from rowkey.zookeeper.session import ZooKeeperSession
else:
    __getattr__ = build_lazy_getattr(
        __name__, {"connection": "ZooKeeperConnection", "session": "ZooKeeperSession"}
    )

__all__ = [
    "NotZooKeeper",
    "Znode",
    "ZnodeChange",
    "ZooKeeperConnection",
    "ZooKeeperDenied",
    "ZooKeeperSession",
    "ZooKeeperUnreachable",
]
