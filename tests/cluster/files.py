"""The exact size of a table's files on the cluster's disk; counters have whole megabytes only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cluster.servers import Cluster


def measure_files(cluster: Cluster, table: str) -> list[int]:
    """Return the size of the newest file of each region and family that has one.

    After a major compaction that is the only one that counts; those it replaced stay for a while.

    Args:
        cluster: the cluster.
        table: a table in the default namespace.
    """
    data = cluster.directory / "data" / "data" / "default" / table
    stores = [path for path in data.glob("*/*") if path.is_dir() and path.name[0] not in "._r"]
    files = [[one for one in store.iterdir() if one.is_file()] for store in stores]
    newest = [max(some, key=lambda one: one.stat().st_mtime) for some in files if some]
    return [one.stat().st_size for one in newest]
