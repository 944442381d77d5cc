"""Share one native client between all connections of a pool."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from rowkey.hbase.client import Client
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.settings import Deadline

if TYPE_CHECKING:
    from rowkey.hbase.registry import ClusterAddress
    from rowkey.hbase.settings import Settings


class SharedClient:
    """A client that is opened for its first user and closed after its last.

    Args:
        address: where the cluster is.
        settings: every limit.
    """

    def __init__(self, address: ClusterAddress, settings: Settings) -> None:
        self._address, self._settings = address, settings
        self._client: Client | None = None
        self._user_count = 0
        self._lock = Lock()

    def acquire_client(self) -> Client:
        """Return the client for one more user, opening it for the first.

        Raises:
            HBaseError: the cluster cannot be reached.
        """
        with self._lock:
            if self._client is None:
                self._check_cluster()
                self._client = Client(self._address, self._settings)
            self._user_count += 1
            return self._client

    def release_client(self) -> None:
        """Release the client for one user; the last release closes it."""
        with self._lock:
            self._user_count -= 1
            if self._user_count or self._client is None:
                return
            client, self._client = self._client, None
        client.close()

    def _check_cluster(self) -> None:
        """Read the cluster id from the registry, so that a wrong host raises at once."""
        servers = ServerConnections(self._settings)
        registry = self._address.open_registry(servers, self._settings)
        try:
            registry.get_cluster_id(Deadline.from_now(self._settings.connect_timeout_s))
        finally:
            registry.close()
            servers.close()
