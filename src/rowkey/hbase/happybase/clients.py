"""One native client for all connections that go to the same cluster: it is made to be shared."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from rowkey.hbase.client import Client
from rowkey.hbase.connection import Servers
from rowkey.hbase.settings import Deadline

if TYPE_CHECKING:
    from rowkey.hbase.registry import Place
    from rowkey.hbase.settings import Settings


class SharedClient:
    """A client that is opened with its first user and closed with its last.

    Args:
        place: where the cluster is.
        settings: every limit.
    """

    def __init__(self, place: Place, settings: Settings) -> None:
        self._place, self._settings = place, settings
        self._client: Client | None = None
        self._users = 0
        self._lock = Lock()

    def take(self) -> Client:
        """The client, for one more user.

        Raises:
            HBaseError: nobody tells of a cluster there.
        """
        with self._lock:
            if self._client is None:
                self._find()
                self._client = Client(self._place, self._settings)
            self._users += 1
            return self._client

    def give_back(self) -> None:
        """One user has no need of it any more."""
        with self._lock:
            self._users -= 1
            if self._users or self._client is None:
                return
            client, self._client = self._client, None
        client.close()

    def _find(self) -> None:
        """Have the registry tell the cluster's id: who named a wrong host learns it at once."""
        servers = Servers(self._settings)
        registry = self._place.open(servers, self._settings)
        try:
            registry.cluster_id(Deadline.after(self._settings.connect_s))
        finally:
            registry.close()
            servers.close()
