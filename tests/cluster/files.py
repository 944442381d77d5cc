"""The exact size of a table's files on the cluster's disk; counters have whole megabytes only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
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
    newest = (max(_list_files(store), default=None) for store in stores)
    return [found[1] for found in newest if found is not None]


def _list_files(store: Path) -> Iterator[tuple[float, int]]:
    """Yield when each file of a store was written and its bytes, without those just replaced."""
    for path in store.iterdir():
        with suppress(FileNotFoundError):  # HBase removes what it has compacted at any time
            status = path.stat()
            if S_ISREG(status.st_mode):
                yield status.st_mtime, status.st_size
