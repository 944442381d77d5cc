"""The client of one cluster, which its tables, its admin and its scanners share."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from rowkey.errors import InvalidArgument
from rowkey.hbase.admin import Admin
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.locations import RegionLocator
from rowkey.hbase.registry import ClusterAddress, parse_url
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.scanning import LeaseRenewer
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.site import parse_switch, read_site
from rowkey.hbase.table import HBaseTable
from rowkey.messages import format_value


def connect(url: str, settings: Settings | None = None, **limits: Any) -> Client:
    """Return a client of the cluster at a URL; it connects when it is first used.

    Args:
        url: `hbase://zk1,zk2:2181/hbase` by ZooKeeper, `hbase+master://m1:16000,m2:16000` by the
            addresses of masters (or of any servers). A query has settings of secured clusters:
            `hbase://zk1/hbase?site=/etc/hbase/conf`.
        settings: the limits; the defaults if None.
        limits: single limits by name, which replace those of `settings`: `call_timeout_s=2.0`;
            `site`, the folder of the cluster's hbase-site.xml, sets how it is secured.

    Raises:
        InvalidArgument: the URL or a limit is not valid.

    >>> with connect("hbase://localhost:2181", call_timeout_s=2.0) as client:
    ...     client.settings.call_timeout_s
    2.0
    """
    unknown = sorted(limits.keys() - {*Settings.__slots__, "site"})
    if unknown:
        raise InvalidArgument(
            unknown[0],
            "connect() has no setting of this name",
            f"one of {', '.join(Settings.__slots__)}",
        )
    if settings is not None and not isinstance(settings, Settings):
        what = f"{format_value(settings)} has the type {type(settings).__name__}"
        raise InvalidArgument("settings", what, "a Settings object")
    address = parse_url(url)
    options: dict[str, Any] = dict(address.options)
    if "tls" in options:
        options["tls"] = parse_switch("tls", options["tls"])
    site = limits.pop("site", options.pop("site", None))
    if site is not None:
        options = read_site(site) | options
    return Client(address, replace(settings or Settings(), **(options | limits)))


class Client:
    """The client of one cluster; any number of threads may share it.

    It has one thread of its own, which renews the leases of idle scanners while there are any.
    `connect` creates it.

    Args:
        address: the parsed URL of the cluster.
        settings: the limits.
    """

    def __init__(self, address: ClusterAddress, settings: Settings) -> None:
        self.address, self.settings = address, settings
        self._connections = ServerConnections(settings)
        self._registry = address.open_registry(self._connections, settings)
        self._locator = RegionLocator(self._registry, self._connections, settings)
        self._caller = RetryingCaller(self._registry, self._connections, self._locator, settings)
        self._lease_renewer = LeaseRenewer.get_for_caller(self._caller)
        self.admin = Admin(self._caller)

    def table(self, name: str) -> HBaseTable:
        """Return a table object to read and write rows; the table is not looked up yet.

        Args:
            name: `qualifier` or `namespace:qualifier`.

        Raises:
            InvalidArgument: no table can have that name.
        """
        return HBaseTable(self._caller, name)

    def check_registry(self, *, wait_s: float | None = None) -> None:
        """Raise unless ZooKeeper, or a master, says now where hbase:meta is.

        A client that knows the servers works without it for a while; one that comes now does not.

        Args:
            wait_s: seconds to wait for the answer.

        Raises:
            RegistryUnavailable: no node answered, or hbase:meta is not open.
        """
        limit_s = self.settings.operation_timeout_s if wait_s is None else wait_s
        self._registry.get_meta_server(Deadline.from_now(limit_s))

    def read_cluster_id(self, *, wait_s: float | None = None) -> str:
        """Return the id that the cluster got when it was made.

        Args:
            wait_s: seconds to wait for the answer.

        Raises:
            RegistryUnavailable: no node answered.
        """
        limit_s = self.settings.operation_timeout_s if wait_s is None else wait_s
        return self._registry.get_cluster_id(Deadline.from_now(limit_s))

    def dump_state(self) -> dict[str, Any]:
        """Return the state of the client as JSON values, to find the cause of a problem.

        It has the servers with their connections and calls in flight, the cached regions of each
        table, the nodes of the registry, and the open scanners.
        """
        return {
            "url": str(self.address),
            "servers": self._connections.dump_state(),
            "registry": self._registry.dump_state(),
            "locations": self._locator.dump_state(),
            "scanners": self._lease_renewer.dump_state(),
        }

    def close(self) -> None:
        """Close the client and its connections; waiting calls get an error."""
        self._caller.close()
        self._locator.close()
        self._lease_renewer.close()
        self._connections.close()
        self._registry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
