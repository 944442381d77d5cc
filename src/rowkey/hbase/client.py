"""A client of one cluster: what its tables, its admin and its scanners share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from rowkey.errors import Refused, shown
from rowkey.hbase.admin import Admin
from rowkey.hbase.calling import Caller
from rowkey.hbase.connection import Servers
from rowkey.hbase.locations import Locations
from rowkey.hbase.registry import parse_url
from rowkey.hbase.scanning import Keeper
from rowkey.hbase.settings import Settings
from rowkey.hbase.table import Table

if TYPE_CHECKING:
    from types import TracebackType

    from rowkey.hbase.registry import Place


def connect(url: str, settings: Settings | None = None, **limits: Any) -> Client:
    """A client of the cluster at a URL; nothing is asked of the cluster before it is used.

    Args:
        url: `hbase://zk1,zk2:2181/hbase` by ZooKeeper, `hbase+master://m1:16000,m2:16000` by the
            addresses of masters (or of any servers).
        settings: every limit; the defaults if None.
        limits: single ones by name, over those of `settings`: `call_s=2.0`.

    Raises:
        Refused: the URL or a limit is none.

    >>> with connect("hbase://localhost:2181", call_s=2.0) as client:
    ...     client.settings.call_s
    2.0
    """
    unknown = sorted(limits.keys() - set(Settings.__slots__))
    if unknown:
        raise Refused(unknown[0], "is no setting of a client", ", ".join(Settings.__slots__))
    if settings is not None and not isinstance(settings, Settings):
        raise Refused("settings", f"{shown(settings)} are none", "a Settings")
    return Client(parse_url(url), replace(settings or Settings(), **limits))


class Client:
    """Speaks to one cluster; any number of threads may share it.

    It has no thread of its own but one that keeps the leases of idle scanners, while there are
    any. `connect` gives it.

    Args:
        place: where the cluster is.
        settings: every limit.
    """

    def __init__(self, place: Place, settings: Settings) -> None:
        self.place, self.settings = place, settings
        self._servers = Servers(settings)
        self._registry = place.open(self._servers, settings)
        self._locations = Locations(self._registry, self._servers, settings)
        self._caller = Caller(self._registry, self._servers, self._locations, settings)
        self._keeper = Keeper.of(self._caller)
        self.admin = Admin(self._caller)

    def table(self, name: str) -> Table:
        """A table, to be written and read; whether there is one is asked when it is used.

        Args:
            name: `qualifier` or `namespace:qualifier`.

        Raises:
            Refused: no table can have that name.
        """
        return Table(self._caller, name)

    def dump(self) -> dict[str, Any]:
        """What it knows and does, as JSON can keep it: for those who look for a fault.

        Servers with their connections and calls in flight, the locations of each table, what the
        registry found, and the scanners that are open.
        """
        return {
            "place": str(self.place),
            "servers": self._servers.dump(),
            "registry": self._registry.dump(),
            "locations": self._locations.dump(),
            "scanners": self._keeper.dump(),
        }

    def close(self) -> None:
        """Close everything: who waits for an answer gets an error; closing twice is harmless."""
        self._caller.close()
        self._locations.close()
        self._keeper.close()
        self._servers.close()
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
