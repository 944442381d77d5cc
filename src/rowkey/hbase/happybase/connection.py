"""happybase's connection: where a cluster is, what its tables are called, and their making."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from rowkey.errors import Refused, shown
from rowkey.hbase.happybase.arguments import as_bytes, as_text, one_of, wrong_type
from rowkey.hbase.happybase.clients import SharedClient
from rowkey.hbase.happybase.descriptors import as_family
from rowkey.hbase.happybase.table import Table
from rowkey.hbase.registry import parse_url
from rowkey.hbase.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.hbase.client import Client
    from rowkey.hbase.happybase.arguments import Text

DEFAULT_HOST, DEFAULT_PORT = "localhost", 2181
"""Where a ZooKeeper is by itself; happybase's port is that of Thrift's gateway."""

THRIFT_PORT = 9090
"""Source: HBase book, hbase.regionserver.thrift.port."""

COMPAT_MODES = ("0.90", "0.92", "0.94", "0.96", "0.98")
TRANSPORTS, PROTOCOLS = ("buffered", "framed"), ("binary", "compact")
"""Words that happybase 1.x takes."""


class Connection:
    """A connection as happybase has it, to a cluster by its ZooKeeper.

    Unlike happybase's it may be shared by threads, and goes on by itself when a server dies.

    Args:
        host: a host of ZooKeeper, or several with commas between them, each with or without a port;
            None for localhost.
        port: of hosts that name none; None for 2181.
        timeout: milliseconds that an operation may take with all its retries; None or 0 for what
            `Settings` says.
        autoconnect: whether the cluster is asked for at once; else `open` must be called.
        table_prefix: what stands before the name of each table, or None.
        table_prefix_separator: what stands between that and the name.
        compat: one of happybase's words; without effect.
        transport: one of happybase's words; without effect.
        protocol: one of happybase's words; without effect.
        url: of the cluster, instead of host and port: `hbase+master://m1:16000`.
        settings: every limit of the client; `timeout` goes before them.

    Raises:
        WrongType: an argument is of another type; it is a TypeError as well.
        Refused: an argument cannot be taken; it is a ValueError as well.
        HBaseError: the cluster is not there.
    """

    def __init__(
        self,
        host: str | None = DEFAULT_HOST,
        port: int | None = DEFAULT_PORT,
        timeout: float | None = None,
        autoconnect: bool = True,
        table_prefix: Text | None = None,
        table_prefix_separator: Text = b"_",
        compat: str = "0.98",
        transport: str = "buffered",
        protocol: str = "binary",
        *,
        url: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._native: Client | None = None
        one_of("compat", compat, COMPAT_MODES)
        one_of("transport", transport, TRANSPORTS)
        one_of("protocol", protocol, PROTOCOLS)
        if table_prefix is not None:
            table_prefix = as_bytes("table_prefix", table_prefix)
        self.table_prefix = table_prefix
        self.table_prefix_separator = as_bytes("table_prefix_separator", table_prefix_separator)
        self.host, self.port = host or DEFAULT_HOST, port or DEFAULT_PORT
        self.timeout, self.compat = timeout, compat
        if url is not None and (self.host, self.port) != (DEFAULT_HOST, DEFAULT_PORT):
            raise Refused("url", "it stands beside a host or a port", "one of them")
        place = parse_url(_url(self.host, self.port) if url is None else url)
        self._shared = SharedClient(place, _settings(timeout, settings))
        if autoconnect:
            self.open()

    @property
    def client(self) -> Client:
        """The native client behind it, for what happybase has no words for.

        Raises:
            Refused: the connection is not open.
        """
        if self._native is None:
            raise Refused("connection", "it is not open", "an open one", "Call open() first.")
        return self._native

    def open(self) -> None:
        """Have the cluster asked for; nothing happens if it is open already.

        Raises:
            HBaseError: the cluster is not there.
        """
        if self._native is None:
            self._native = self._shared.take()

    def close(self) -> None:
        """Close it; closing twice is harmless, and it may be opened again."""
        native, self._native = self._native, None
        if native is not None:
            self._shared.give_back()

    def twin(self) -> Self:
        """A closed connection like this one, which shares its client with it."""
        other = copy(self)
        other._native = None  # noqa: SLF001 - of this class
        return other

    def __del__(self) -> None:
        if getattr(self, "_native", None) is not None:
            self.close()

    def _full(self, name: Text) -> bytes:
        """A table's name with the prefix before it."""
        own = as_bytes("name", name)
        if self.table_prefix is None:
            return own
        return self.table_prefix + self.table_prefix_separator + own

    def _name(self, name: Text) -> str:
        return as_text("name", self._full(name))

    def table(self, name: Text, use_prefix: bool = True) -> Table:
        """A table; whether there is one is asked when it is used.

        Args:
            name: the table.
            use_prefix: whether the prefix stands before the name.

        Raises:
            Refused: no table can have that name.
        """
        return Table(self._full(name) if use_prefix else as_bytes("name", name), self)

    def tables(self) -> list[bytes]:
        """The names of all tables; with a prefix, of those that have it, and without it."""
        names = [name.encode() for name in self.client.admin.tables()]
        prefix = b"" if self.table_prefix is None else self._full(b"")
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def create_table(self, name: Text, families: Mapping[str, Mapping[str, Any] | None]) -> None:
        """Makes a table; returns when it can be used.

        Args:
            name: the table.
            families: the options of each family, which are happybase's and have its defaults:
                max_versions 3, compression NONE, in_memory False, bloom_filter_type NONE,
                block_cache_enabled False, time_to_live -1 for ever. bloom_filter_vector_size and
                bloom_filter_nb_hashes have no effect, as in HBase itself.

        Raises:
            WrongType: families are no dictionary, or an option is unknown.
            Refused: there is no family.
            DeclarationError: an option has a value that HBase does not take.
            TableExists: there is such a table.
        """
        full = self._name(name)
        if not isinstance(families, dict):
            raise wrong_type("families", families, "a dictionary")
        if not families:
            raise Refused("families", f"{shown(full)} has none", "1 or more")
        declared = [as_family(family, options or {}) for family, options in families.items()]
        self.client.admin.create(full, declared)

    def delete_table(self, name: Text, disable: bool = False) -> None:
        """Removes a table and all that it holds.

        Args:
            name: the table.
            disable: whether it is disabled before, if it is enabled.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled.
        """
        self.client.admin.delete(self._name(name), disable=disable)

    def enable_table(self, name: Text) -> None:
        """Opens a disabled table; raises TableNotDisabled if it is open."""
        self.client.admin.enable(self._name(name))

    def disable_table(self, name: Text) -> None:
        """Closes a table; raises TableNotEnabled if it is closed."""
        self.client.admin.disable(self._name(name))

    def is_table_enabled(self, name: Text) -> bool:
        """Whether a table is enabled; raises TableNotFound if there is none."""
        return self.client.admin.is_enabled(self._name(name))

    def compact_table(self, name: Text, major: bool = False) -> None:
        """Has the files of a table merged; returns when that is planned.

        Args:
            name: the table.
            major: whether all files are merged, which drops what is deleted.
        """
        self.client.admin.compact(self._name(name), major=major, wait=False)


def _url(host: object, port: object) -> str:
    """The URL of hosts of ZooKeeper."""
    if not isinstance(host, str):
        raise wrong_type("host", host, "a name or an address of ZooKeeper")
    if not isinstance(port, int) or isinstance(port, bool):
        raise wrong_type("port", port, "1..65535")
    if port == THRIFT_PORT:
        remedy = f"Leave the port out, or give ZooKeeper's, which is {DEFAULT_PORT} mostly."
        raise Refused("port", f"{THRIFT_PORT} is that of Thrift's gateway", "ZooKeeper's", remedy)
    return "hbase://" + ",".join(_node(one.strip(), port) for one in host.split(","))


def _node(host: str, port: int) -> str:
    if host.count(":") > 1 and "[" not in host:
        return f"[{host}]:{port}"
    return host if ":" in host.rpartition("]")[2] else f"{host}:{port}"


def _settings(timeout: object, settings: Settings | None) -> Settings:
    """The limits of a client none of whose operations takes longer than that."""
    if settings is not None and not isinstance(settings, Settings):
        raise wrong_type("settings", settings, "a Settings")
    given = settings or Settings()
    if timeout is None:
        return given
    if not isinstance(timeout, int | float) or isinstance(timeout, bool):
        raise wrong_type("timeout", timeout, "milliseconds, or None")
    if not timeout:
        return given
    most_s = timeout / 1000
    if not 0.001 <= most_s <= _DAY_S:
        raise Refused("timeout", f"{shown(timeout)} ms is out of range", f"1..{_DAY_S * 1000:.0f}")
    return replace(
        given,
        operation_s=most_s,
        call_s=min(given.call_s, most_s),
        connect_s=min(given.connect_s, most_s),
    )


_DAY_S = 86_400.0
"""Most seconds of any limit. Source: Settings."""
