"""The URL of a cluster: the registry, its nodes, and the root znode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import unquote

from rowkey.errors import InvalidArgument, Mistake
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.connection.handshake import format_address
from rowkey.hbase.registry.contract import Address, Registry
from rowkey.hbase.registry.master_registry import MasterRegistry
from rowkey.hbase.registry.zookeeper_registry import ZooKeeperRegistry
from rowkey.hbase.settings import SECURITY_SETTINGS, Settings
from rowkey.messages import format_value, suggest_name

REGISTRIES: dict[str, type[Registry]] = {
    registry.scheme: registry for registry in (ZooKeeperRegistry, MasterRegistry)
}
"""The registries by the scheme of their URLs."""

URL_FORMS = "hbase://HOST[:PORT],…[/ZNODE] or hbase+master://HOST[:PORT],…"

_HOST_PATTERN = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
"""Source: RFC 1123, 2.1; the underscore is not allowed there, but many containers have it."""

_MAX_HOST_CHARS = 253
"""Characters of a host's name. Source: RFC 1035, 2.3.4, without the length bytes of labels."""


class InvalidClusterUrl(InvalidArgument):
    """A URL of a cluster is malformed.

    Args:
        mistakes: all that is wrong with it, in the order of the URL; one or more.
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        first = mistakes[0]
        super().__init__(first.path, first.problem, first.expected, first.remedy)
        self.mistakes = tuple(mistakes)
        self.args = ("\n".join(map(str, self.mistakes)),)


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """The parsed URL of a cluster.

    Args:
        scheme: the scheme of the registry.
        nodes: host and port of each node, in the order of the URL.
        root: the cluster's znode; empty for a registry of masters.
        options: the names and texts of the settings in the query of the URL, in their order.
    """

    scheme: str
    nodes: tuple[Address, ...]
    root: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def open_registry(self, connections: ServerConnections, settings: Settings) -> Registry:
        """Return the registry of the cluster; it connects when it is first used."""
        return REGISTRIES[self.scheme].open(self.nodes, self.root, connections, settings)

    def __str__(self) -> str:
        return f"{self.scheme}://{','.join(map(format_address, self.nodes))}{self.root}"


def parse_url(url: str) -> ClusterAddress:
    """Parse the URL of a cluster.

    A port belongs to the host before it, as in ZooKeeper's own connect strings; hosts without one
    get the default, 2181 for ZooKeeper and 16000 for masters. The znode is `/hbase` by default.
    A query holds settings of secured clusters: `?auth=kerberos&keytab=/etc/etl.keytab`.

    Raises:
        InvalidClusterUrl: everything that is wrong with it; a password in it is not repeated.

    Source: ZooKeeper, ConnectStringParser; HBase book, hbase.master.port.

    >>> print(parse_url("hbase://zk1,zk2:2182"))
    hbase://zk1:2181,zk2:2182/hbase
    """
    if not isinstance(url, str):
        raise InvalidClusterUrl([Mistake("url", f"{format_value(url)} is not a text", URL_FORMS)])
    scheme, colon, location = url.partition("://")
    registry_type = REGISTRIES.get(scheme)
    if not colon or registry_type is None:
        raise InvalidClusterUrl([_build_scheme_mistake(url, scheme if colon else "")])
    mistakes: list[Mistake] = []
    location = _strip_extras(location, mistakes)
    location, _, query = location.partition("?")
    options = tuple(_parse_options(query, mistakes))
    hosts, slash, path = location.partition("/")
    nodes = tuple(_parse_nodes(hosts, registry_type, mistakes))
    root = _parse_root(slash + path, registry_type, mistakes)
    if mistakes:
        raise InvalidClusterUrl(mistakes)
    return ClusterAddress(scheme, nodes, root, options)


def _build_scheme_mistake(url: str, scheme: str) -> Mistake:
    """Return the mistake of a URL with an unknown scheme, or without one."""
    what = f"the scheme {scheme!r} is unknown" if scheme else f"{_mask_login(url)!r} has no scheme"
    return Mistake("url", what, URL_FORMS, suggest_name(scheme, REGISTRIES))


def _mask_login(text: str) -> str:
    """Replace everything before the last @ by …, since it may be a password."""
    _, at, rest = text.rpartition("@")
    return f"…@{rest}" if at else rest


def _strip_extras(location: str, mistakes: list[Mistake]) -> str:
    """Remove login and fragment from a URL without its scheme, and note each as a mistake.

    The login is removed first, up to the last @: everything before it may be a password.
    """
    _, at, location = location.rpartition("@")
    if at:
        remedy = "Remove the text before the @."
        mistakes.append(Mistake("url", "the URL has a login", "hosts without a login", remedy))
    location, separator, extra = location.partition("#")
    if separator:
        remedy = "Remove it."
        what = f"the URL has a fragment, #{extra}"
        mistakes.append(Mistake("url", what, "hosts, a path and settings only", remedy))
    return location


def _parse_options(query: str, mistakes: list[Mistake]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each setting in the query of a URL; collect the mistakes."""
    names: set[str] = set()
    for text in filter(None, query.split("&")):
        name, equals, value = text.partition("=")
        if name not in SECURITY_SETTINGS:
            allowed = f"one of {', '.join(SECURITY_SETTINGS)}"
            remedy = suggest_name(name, SECURITY_SETTINGS)
            remedy = remedy or "Pass other settings of the client as arguments of connect."
            what = f"the URL has no setting {name!r}"
            mistakes.append(Mistake("url.query", what, allowed, remedy))
        elif not equals or name in names:
            what = f"{name} has no value" if not equals else f"{name} occurs twice"
            mistakes.append(Mistake("url.query", what, f"{name}=VALUE once"))
        names.add(name)
        yield name, unquote(value)


def _parse_nodes(
    hosts: str, registry_type: type[Registry], mistakes: list[Mistake]
) -> Iterator[Address]:
    """Yield the host and port of each node of a URL; collect the mistakes."""
    addresses: set[Address] = set()
    for index, text in enumerate(hosts.split(",")):
        node = _NodeParser(
            f"url.hosts[{index}]", text.strip(), registry_type, mistakes
        ).parse_address()
        if node is None:
            continue
        if node in addresses:
            what = f"{format_address(node)} occurs twice"
            path = f"url.hosts[{index}]"
            mistakes.append(Mistake(path, what, "each host once", "Remove the second one."))
        addresses.add(node)
        yield node


@dataclass(slots=True)
class _NodeParser:
    """Parses one HOST[:PORT] of a URL."""

    path: str
    text: str
    registry_type: type[Registry]
    mistakes: list[Mistake]

    def parse_address(self) -> Address | None:
        """Return the host and port, or None after a mistake."""
        mistake_count = len(self.mistakes)
        if self.text.startswith("["):
            host, _, port_text = self.text[1:].partition("]")
            self._check_bracketed(host)
        elif self.text.count(":") > 1 and _is_ipv6(self.text):
            host, port_text = self.text, ""
            self._add_mistake(
                f"{host!r} has no brackets", "an IPv6 address in brackets", f"Write [{host}]."
            )
        else:
            host = self.text.partition(":")[0]
            port_text = self.text[len(host) :]
            self._check_name(host)
        port = self._parse_port(port_text)
        return (host.lower(), port) if len(self.mistakes) == mistake_count else None

    def _check_bracketed(self, host: str) -> None:
        """Add a mistake unless the host in brackets is an IPv6 address."""
        if "]" not in self.text or not _is_ipv6(host):
            self._add_mistake(
                f"{self.text!r} is not an IPv6 address in brackets", "an address such as [::1]"
            )

    def _check_name(self, name: str) -> None:
        if not name:
            self._add_mistake("the host is empty", "a host name or an address")
        elif len(name) > _MAX_HOST_CHARS or not _HOST_PATTERN.fullmatch(name):
            self._add_mistake(f"{name!r} is not a host name", "letters, digits, - . and _ only")

    def _parse_port(self, port_text: str) -> int:
        """Return the port of a text such as `:2181`; 0 after a mistake."""
        if not port_text:
            return self.registry_type.default_port
        digits = port_text.removeprefix(":")
        legal = digits.isascii() and digits.isdigit() and len(digits) <= 5
        if legal and digits != port_text and 0 < int(digits) < 1 << 16:
            return int(digits)
        remedy = f"Remove the port to use {self.registry_type.default_port}."
        if self.registry_type.default_root and not digits.isdigit():
            remedy += " If it is a znode, write a / before it."
        self._add_mistake(f"{digits!r} is not a port", "a number from 1 to 65535", remedy)
        return 0

    def _add_mistake(self, what: str, allowed: str, remedy: str = "") -> None:
        self.mistakes.append(Mistake(self.path, what, allowed, remedy))


def _is_ipv6(host: str) -> bool:
    try:
        return ip_address(host).version == 6
    except ValueError:
        return False


def _parse_root(path: str, registry_type: type[Registry], mistakes: list[Mistake]) -> str:
    """Return the root znode that the path of a URL names; the default for an empty path."""
    root = path.removesuffix("/")
    if not root:
        return registry_type.default_root
    if not registry_type.default_root:
        what = f"the URL of masters has the path {path!r}, but masters have no znodes"
        mistakes.append(Mistake("url.path", what, "hosts only", "Remove the path."))
    elif not _is_znode_path(root):
        allowed = "/NAME[/NAME…] with printable names, none of them empty, . or .."
        mistakes.append(Mistake("url.path", f"{path!r} is not a znode path", allowed))
    return root


def _is_znode_path(path: str) -> bool:
    """Return whether a path is valid for a znode. Source: ZooKeeper, PathUtils.validatePath."""
    names = path.split("/")[1:]
    return path.isprintable() and not {"", ".", ".."}.intersection(names)
