"""Share one native client between all connections of a pool."""

from __future__ import annotations

from threading import Lock

from rowkey.hbase import Client, Settings, connect, parse_url


class SharedClient:
    """A native client shared by connections: opened for the first, closed after the last.

    Args:
        url: the address of the cluster.
        settings: timeouts and limits of the client.

    Raises:
        InvalidArgument: the URL is not valid.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        parse_url(url)
        self._url, self._settings = url, settings
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
                self._client = self._open_client()
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

    def _open_client(self) -> Client:
        """Return a new client after the cluster has answered, so that a wrong host raises."""
        client = connect(self._url, self._settings)
        try:
            client.read_cluster_id(wait_s=self._settings.connect_timeout_s)
        except BaseException:
            client.close()
            raise
        return client
