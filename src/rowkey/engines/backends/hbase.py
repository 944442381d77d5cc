"""Tables on a real cluster, over its own protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from rowkey.engines.contract import Engine, Store
from rowkey.engines.requests import TableSpec, now_ms
from rowkey.engines.specs import check_cluster_spec
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rowkey.hbase import Client


class HBase(Engine):
    """Tables on a cluster, found by its ZooKeeper: `hbase://zk1,zk2:2181/hbase`.

    What has returned is in the logs of the region servers; with `sync` it is on their disks too.
    Everyone who reaches the cluster shares its tables. Regions split as the cluster decides.
    """

    name = scheme = "hbase"
    persistent = True
    shared = True
    refuses: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self, client: Client, url: str, clock: Callable[[], int] = now_ms, *, sync: bool
    ) -> None:
        self.client, self._url, self._clock, self._sync = client, url, clock, sync
        self._closed = False

    @classmethod
    def open(cls, where: str, *, sync: bool = False, clock: Callable[[], int] = now_ms) -> Self:
        """Open a cluster; nothing is asked of it yet.

        Args:
            where: its servers, as `//zk1,zk2:2181/hbase`.
            sync: whether every write is on disk before the call returns.
            clock: gives the time of day in ms to those who write; servers have their own.

        Raises:
            Refused: no servers are named, or not as servers are.
        """
        from rowkey.hbase import connect  # who keeps tables elsewhere need not load it

        url = f"{cls.scheme}:{where}"
        return cls(connect(url), url, clock, sync=sync)

    @classmethod
    def is_there(cls, where: str) -> bool:
        from rowkey.hbase import parse_url

        parse_url(f"{cls.scheme}:{where}")
        return True

    @property
    def catalog_url(self) -> str:
        return f"table:{self._url}"

    def tables(self) -> list[str]:
        self._require_open()
        return sorted(self.client.admin.tables())

    def servers(self, wait_s: float | None = None) -> list[str]:
        self._require_open()
        return sorted(map(str, self.client.admin.status(wait_s=wait_s).servers))

    def has(self, name: str) -> bool:
        self._require_open()
        return self.client.admin.exists(name)

    def create(self, spec: TableSpec, progress: Callable[[int, int], None] | None = None) -> Store:
        self._require_open()
        check_cluster_spec(spec, self.refuses)
        self.client.admin.create(
            spec.name, spec.families, spec.splits, spec.attributes, progress=progress
        )
        return self.table(spec.name)

    def table(self, name: str) -> Store:
        from rowkey.engines.hbase import SHARED_CLOCKS, HBaseStore

        self._require_open()
        clock = SHARED_CLOCKS.find(self._url, name, self._clock)
        return HBaseStore(self.client, name, clock, sync=self._sync)

    def drop(self, name: str) -> None:
        self._require_open()
        self.client.admin.delete(name, disable=True)

    def _require_open(self) -> None:
        if self._closed:
            raise Refused("engine", "it is closed", "an open engine")

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.client.close()
