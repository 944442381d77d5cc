"""Tables on an HBase cluster, over HBase's own protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Self

from rowkey.engines.contract import Engine, Store
from rowkey.engines.embedded_store import build_closed_error
from rowkey.engines.ordering.row_clock import get_time_ms
from rowkey.engines.requests import TableSpec, check_cluster_spec
from rowkey.progress import ReportProgress

if TYPE_CHECKING:
    from rowkey.hbase import Client


class HBaseEngine(Engine):
    """The tables of an HBase cluster, found by its ZooKeeper: `hbase://zk1,zk2:2181/hbase`.

    An acknowledged write is in the logs of the region servers; with `sync` it is on their disks
    too. All clients of the cluster share its tables. Regions split as the cluster decides.
    """

    name = scheme = "hbase"
    is_persistent = True
    is_shared = True
    unsupported_features: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self, client: Client, url: str, clock: Callable[[], int] = get_time_ms, *, sync: bool
    ) -> None:
        self.client, self._url, self._clock, self._sync = client, url, clock, sync
        self._closed = False

    @classmethod
    def open(
        cls,
        location: str,
        *,
        sync: bool = False,
        clock: Callable[[], int] = get_time_ms,
        timeout_s: float | None = None,
    ) -> Self:
        """Open the engine of a cluster, without connecting to the cluster yet.

        Args:
            location: its servers, as `//zk1,zk2:2181/hbase`.
            sync: whether every write is on disk before the call returns.
            clock: milliseconds since 1970, for writes of this process; servers have their own.
            timeout_s: seconds that each operation may take with all its attempts.

        Raises:
            InvalidArgument: the location names no server, or is malformed.
        """
        from rowkey.hbase import Settings, connect  # other engines do not need the HBase client

        url = f"{cls.scheme}:{location}"
        settings = Settings() if timeout_s is None else Settings().limit_times(timeout_s)
        return cls(connect(url, settings), url, clock, sync=sync)

    @classmethod
    def is_initialized(cls, location: str) -> bool:
        """Check the URL, and return True: a cluster exists before rowkey opens it."""
        from rowkey.hbase import parse_url

        parse_url(f"{cls.scheme}:{location}")
        return True

    @property
    def catalog_url(self) -> str:
        """Return the URL of the catalog, a table of the same cluster."""
        return f"table:{self._url}"

    def list_tables(self) -> list[str]:
        self._check_open()
        return sorted(self.client.admin.list_tables())

    def list_servers(self, wait_s: float | None = None) -> list[str]:
        self._check_open()
        return sorted(map(str, self.client.admin.get_cluster_status(wait_s=wait_s).servers))

    def check_reachable(self, wait_s: float | None = None) -> None:
        """Raise unless ZooKeeper or a master says where hbase:meta is."""
        self._check_open()
        self.client.check_registry(wait_s=wait_s)

    def has_table(self, name: str) -> bool:
        self._check_open()
        return self.client.admin.has_table(name)

    def create_table(self, spec: TableSpec, progress: ReportProgress | None = None) -> Store:
        self._check_open()
        check_cluster_spec(spec, self.unsupported_features)
        self.client.admin.create_table(
            spec.name, spec.families, spec.splits, spec.attributes, progress=progress
        )
        return self.open_table(spec.name)

    def open_table(self, name: str) -> Store:
        """Open a table of the cluster, with the clock that this process shares for it."""
        from rowkey.engines.hbase import SHARED_CLOCKS, HBaseStore

        self._check_open()
        clock = SHARED_CLOCKS.find_clock(self._url, name, self._clock)
        return HBaseStore(self.client, name, clock, sync=self._sync)

    def drop_table(self, name: str) -> None:
        """Disable a table on the cluster and delete it."""
        self._check_open()
        self.client.admin.delete_table(name, disable=True)

    def _check_open(self) -> None:
        if self._closed:
            raise build_closed_error("engine", self._url)

    def close(self) -> None:
        """Close the engine and its connections; closing twice is harmless."""
        if not self._closed:
            self._closed = True
            self.client.close()


class HBaseMasterEngine(HBaseEngine):
    """An HBase cluster found by its masters: `hbase+master://m1:16000,m2:16000`."""

    name = "hbase_master"
    scheme = "hbase+master"
