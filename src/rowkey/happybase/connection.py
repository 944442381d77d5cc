"""happybase's connection: opens a cluster, and creates, lists and deletes its tables."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from threading import Lock
from typing import Any, Self

from rowkey.errors import Closed, InvalidArgument
from rowkey.happybase.arguments import (
    BytesOrText,
    build_type_error,
    check_choice,
    to_bytes,
    to_text,
)
from rowkey.happybase.descriptors import parse_family
from rowkey.happybase.table import Table
from rowkey.hbase import Client, Settings, connect, parse_url
from rowkey.messages import format_value

DEFAULT_HOST, DEFAULT_PORT = "localhost", 2181
"""ZooKeeper's default address; happybase's default port is that of the Thrift gateway."""

THRIFT_PORT = 9090
"""Source: HBase book, hbase.regionserver.thrift.port."""

COMPAT_MODES = ("0.90", "0.92", "0.94", "0.96", "0.98")
TRANSPORTS, PROTOCOLS = ("buffered", "framed"), ("binary", "compact")
"""Values that happybase 1.x accepts."""


class _SharedClient:
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


class Connection:
    """A happybase connection that reaches the cluster through its ZooKeeper.

    Unlike happybase's, threads may share it, and it recovers by itself when a server dies.

    Args:
        host: a ZooKeeper host, or several separated by commas, each with or without a port; None
            for localhost.
        port: the port of hosts without one; None for 2181.
        timeout: milliseconds for an operation with all its retries; None or 0 for the value in
            `Settings`.
        autoconnect: whether the connection is opened at once; otherwise call `open`.
        table_prefix: prefix of all table names, or None.
        table_prefix_separator: separator between the prefix and a table's name.
        compat: checked as in happybase, without effect.
        transport: checked as in happybase, without effect.
        protocol: checked as in happybase, without effect.
        url: URL of the cluster instead of host and port: `hbase+master://m1:16000`.
        settings: limits of the client; `timeout` overrides them.

    Raises:
        WrongArgumentType: an argument has the wrong type; also a TypeError.
        InvalidArgument: an argument is not valid; also a ValueError.
        HBaseError: the cluster cannot be reached.
    """

    def __init__(
        self,
        host: str | None = DEFAULT_HOST,
        port: int | None = DEFAULT_PORT,
        timeout: float | None = None,
        autoconnect: bool = True,
        table_prefix: BytesOrText | None = None,
        table_prefix_separator: BytesOrText = b"_",
        compat: str = "0.98",
        transport: str = "buffered",
        protocol: str = "binary",
        *,
        url: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._native_client: Client | None = None
        check_choice("compat", compat, COMPAT_MODES)
        check_choice("transport", transport, TRANSPORTS)
        check_choice("protocol", protocol, PROTOCOLS)
        if table_prefix is not None:
            table_prefix = to_bytes("table_prefix", table_prefix)
        self.table_prefix = table_prefix
        self.table_prefix_separator = to_bytes("table_prefix_separator", table_prefix_separator)
        self.host, self.port = host or DEFAULT_HOST, port or DEFAULT_PORT
        self.timeout, self.compat = timeout, compat
        if url is not None and (self.host, self.port) != (DEFAULT_HOST, DEFAULT_PORT):
            what = "a URL cannot be combined with host or port"
            raise InvalidArgument("url", what, remedy="Remove the host and the port.")
        self._shared_client = _SharedClient(
            _build_url(self.host, self.port) if url is None else url,
            _build_settings(timeout, settings),
        )
        if autoconnect:
            self.open()

    @property
    def client(self) -> Client:
        """Return the native client, for functions that happybase does not have.

        Raises:
            Closed: the connection is not open.
        """
        if self._native_client is None:
            raise Closed("connection", "the connection is not open", remedy="Call open() first.")
        return self._native_client

    def open(self) -> None:
        """Open the connection; do nothing if it is open already.

        Raises:
            HBaseError: the cluster cannot be reached.
        """
        if self._native_client is None:
            self._native_client = self._shared_client.acquire_client()

    def close(self) -> None:
        """Close the connection; closing twice is harmless, and it can be opened again."""
        native, self._native_client = self._native_client, None
        if native is not None:
            self._shared_client.release_client()

    def clone_closed(self) -> Self:
        """Return a closed copy of the connection, which shares the native client."""
        closed_copy = copy(self)
        closed_copy._native_client = None  # noqa: SLF001 - of this class
        return closed_copy

    def __del__(self) -> None:
        if getattr(self, "_native_client", None) is not None:
            self.close()

    def _add_prefix(self, name: BytesOrText) -> bytes:
        """Return a table's name with the connection's table prefix, as bytes."""
        suffix = to_bytes("name", name)
        if self.table_prefix is None:
            return suffix
        return self.table_prefix + self.table_prefix_separator + suffix

    def _build_table_name(self, name: BytesOrText) -> str:
        """Return a table's name with the connection's table prefix, as text."""
        return to_text("name", self._add_prefix(name))

    def table(self, name: BytesOrText, use_prefix: bool = True) -> Table:
        """Return an object for a table, without checking that the table exists.

        Args:
            use_prefix: whether the prefix is added to the name.

        Raises:
            InvalidArgument: the name is not valid for a table.
        """
        return Table(self._add_prefix(name) if use_prefix else to_bytes("name", name), self)

    def tables(self) -> list[bytes]:
        """Return the names of all tables; with a table prefix, only of those that have it.

        The names are returned without the prefix.
        """
        names = [name.encode() for name in self.client.admin.list_tables()]
        prefix = b"" if self.table_prefix is None else self._add_prefix(b"")
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def create_table(
        self, name: BytesOrText, families: Mapping[str, Mapping[str, Any] | None]
    ) -> None:
        """Create a table, and return when it can be used.

        Args:
            families: happybase's options of each family, with its defaults: max_versions 3,
                compression NONE, in_memory False, bloom_filter_type NONE, block_cache_enabled
                False, time_to_live -1 (forever). bloom_filter_vector_size and
                bloom_filter_nb_hashes have no effect, as in HBase itself.

        Raises:
            WrongArgumentType: families are not a dictionary, or an option is unknown.
            InvalidArgument: there is no family.
            InvalidDesign: HBase does not accept the value of an option.
            TableExists: the table exists already.
        """
        full = self._build_table_name(name)
        if not isinstance(families, dict):
            raise build_type_error("families", families, "a dictionary")
        if not families:
            what = f"the table {format_value(full)} has no column family"
            raise InvalidArgument("families", what, "1 family or more")
        declared = [parse_family(family, options or {}) for family, options in families.items()]
        self.client.admin.create_table(full, declared)

    def delete_table(self, name: BytesOrText, disable: bool = False) -> None:
        """Delete a table and all its rows.

        Args:
            disable: whether an enabled table is disabled first.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled.
        """
        self.client.admin.delete_table(self._build_table_name(name), disable=disable)

    def enable_table(self, name: BytesOrText) -> None:
        """Enable a disabled table; raise TableNotDisabled if it is enabled."""
        self.client.admin.enable_table(self._build_table_name(name))

    def disable_table(self, name: BytesOrText) -> None:
        """Disable a table; raise TableNotEnabled if it is disabled."""
        self.client.admin.disable_table(self._build_table_name(name))

    def is_table_enabled(self, name: BytesOrText) -> bool:
        """Return whether a table is enabled; raise TableNotFound if it does not exist."""
        return self.client.admin.is_table_enabled(self._build_table_name(name))

    def compact_table(self, name: BytesOrText, major: bool = False) -> None:
        """Schedule a compaction of a table, and return before it is done.

        Args:
            major: whether all files are merged, which removes deleted cells.
        """
        self.client.admin.compact_table(self._build_table_name(name), major=major, wait=False)


def _build_url(host: object, port: object) -> str:
    if not isinstance(host, str):
        raise build_type_error("host", host, "a host name or address of ZooKeeper")
    if not isinstance(port, int) or isinstance(port, bool):
        raise build_type_error("port", port, "a port number from 1 to 65535")
    if port == THRIFT_PORT:
        remedy = f"Remove the port, or write that of ZooKeeper, usually {DEFAULT_PORT}."
        raise InvalidArgument(
            "port",
            f"{THRIFT_PORT} is the port of a Thrift gateway",
            "the port of ZooKeeper",
            remedy,
        )
    return "hbase://" + ",".join(_format_node(node.strip(), port) for node in host.split(","))


def _format_node(host: str, port: int) -> str:
    """Return a ZooKeeper host with its port, and with brackets if it is an IPv6 address."""
    if host.count(":") > 1 and "[" not in host:
        return f"[{host}]:{port}"
    return host if ":" in host.rpartition("]")[2] else f"{host}:{port}"


def _build_settings(timeout: object, settings: Settings | None) -> Settings:
    """Return client settings whose timeouts do not exceed happybase's `timeout`.

    Raises:
        InvalidArgument: `settings` or `timeout` has the wrong type, or `timeout` is out of range.
    """
    if settings is not None and not isinstance(settings, Settings):
        raise build_type_error("settings", settings, "an object of the class Settings")
    base = settings or Settings()
    if timeout is None:
        return base
    if not isinstance(timeout, int | float) or isinstance(timeout, bool):
        raise build_type_error("timeout", timeout, "a number of milliseconds, or None")
    if not timeout:
        return base
    timeout_s = timeout / 1000
    if not 0.001 <= timeout_s <= _MAX_TIMEOUT_S:
        raise InvalidArgument(
            "timeout",
            f"{format_value(timeout)} ms is out of range",
            f"1 to {_MAX_TIMEOUT_S * 1000:.0f} ms",
        )
    return replace(
        base,
        operation_timeout_s=timeout_s,
        call_timeout_s=min(base.call_timeout_s, timeout_s),
        connect_timeout_s=min(base.connect_timeout_s, timeout_s),
    )


_MAX_TIMEOUT_S = 86_400.0
"""Maximum of any timeout, in seconds. Source: Settings."""
