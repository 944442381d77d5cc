"""Share one native client between all connections of a pool."""

from __future__ import annotations

from threading import Lock

from rowkey.hbase.client import Client
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.registry import ClusterAddress
from rowkey.hbase.settings import Deadline, Settings


class SharedClient:
    """A native client shared by connections: opened for the first, closed after the last.

    Args:
        address: the address of the cluster.
        settings: timeouts and limits of the client.
    """

    def __init__(self, address: ClusterAddress, settings: Settings) -> None:
        self._address, self._settings = address, settings
        self._client: Client | None = None
        self._user_count = 0
        self._lock = Lock()

    def acquire_client(self) -> Client:
        """Return the shared client for one more connection, opened for the first one.

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
        """Stop using the shared client; the last connection closes it."""
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
