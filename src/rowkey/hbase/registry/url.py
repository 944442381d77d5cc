"""A cluster's URL: which registry to ask, at which nodes, below which znode."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from rowkey.errors import Mistake, Refused, did_you_mean
from rowkey.errors import shown as repeated
from rowkey.hbase.registry.masters import Masters
from rowkey.hbase.registry.nodes import shown
from rowkey.hbase.registry.zookeeper import ZooKeeper

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.hbase.connection import Servers
    from rowkey.hbase.registry.contract import Registry
    from rowkey.hbase.registry.nodes import Address
    from rowkey.hbase.settings import Settings

KINDS: dict[str, type[Registry]] = {kind.scheme: kind for kind in (ZooKeeper, Masters)}
"""The registries by the scheme of their URLs."""

FORMS = "hbase://HOST[:PORT],…[/ZNODE] or hbase+master://HOST[:PORT],…"

_HOST = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
"""Source: RFC 1123, 2.1; the underscore is no host's by right, but many containers' in fact."""

_HOST_MOST = 253
"""Characters of a host's name. Source: RFC 1035, 2.3.4, less the bytes that frame the labels."""


class WrongUrl(Refused):
    """A URL that names no cluster.

    Args:
        mistakes: all that is wrong with it, in the order of the text; one or more.
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        first = mistakes[0]
        super().__init__(first.path, first.what, first.allowed, first.remedy)
        self.mistakes = tuple(mistakes)
        self.args = ("\n".join(map(str, self.mistakes)),)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cluster is found.

    Args:
        scheme: of the registry's kind.
        nodes: host and port of each node, in the order of the URL.
        root: the cluster's znode; empty for kinds that have none.
    """

    scheme: str
    nodes: tuple[Address, ...]
    root: str = ""

    def open(self, servers: Servers, settings: Settings) -> Registry:
        """The registry of that place; nobody is asked yet."""
        return KINDS[self.scheme].open(self.nodes, self.root, servers, settings)

    def __str__(self) -> str:
        return f"{self.scheme}://{','.join(map(shown, self.nodes))}{self.root}"


def parse_url(url: str) -> Place:
    """The place that a URL names.

    A port belongs to the host before it, as in ZooKeeper's own connect strings; hosts without one
    get the default, 2181 for ZooKeeper and 16000 for masters. The znode is `/hbase` by default.

    Raises:
        WrongUrl: with everything that is wrong with it; a password in it is not repeated.

    Source: ZooKeeper, ConnectStringParser; HBase book, hbase.master.port.

    >>> print(parse_url("hbase://zk1,zk2:2182"))
    hbase://zk1:2181,zk2:2182/hbase
    """
    if not isinstance(url, str):
        raise WrongUrl([Mistake("url", f"{repeated(url)} is not a text", FORMS)])
    scheme, colon, rest = url.partition("://")
    kind = KINDS.get(scheme)
    if not colon or kind is None:
        raise WrongUrl([_wrong_scheme(url, scheme if colon else "")])
    mistakes: list[Mistake] = []
    rest = _without_extras(rest, mistakes)
    hosts, slash, path = rest.partition("/")
    nodes = tuple(_nodes(hosts, kind, mistakes))
    root = _root(slash + path, kind, mistakes)
    if mistakes:
        raise WrongUrl(mistakes)
    return Place(scheme, nodes, root)


def _wrong_scheme(url: str, scheme: str) -> Mistake:
    what = f"the scheme {scheme!r} is unknown" if scheme else f"{_masked(url)!r} has no scheme"
    return Mistake("url", what, FORMS, did_you_mean(scheme, KINDS))


def _masked(text: str) -> str:
    """A text without what may be a password."""
    _, at, rest = text.rpartition("@")
    return f"…@{rest}" if at else rest


def _without_extras(rest: str, mistakes: list[Mistake]) -> str:
    """The hosts and the path; what else a URL may have, these have not.

    The login goes first, and up to the last @: whatever stands before may be a password.
    """
    _, at, rest = rest.rpartition("@")
    if at:
        remedy = "Leave out what stands before the @."
        mistakes.append(Mistake("url", "it names a user", "hosts without a login", remedy))
    for mark, name in (("#", "a fragment"), ("?", "a query")):
        rest, found, extra = rest.partition(mark)
        if found:
            remedy = "Give settings of the client beside the URL."
            what = f"{mark}{extra} is {name}"
            mistakes.append(Mistake("url", what, "hosts and a path only", remedy))
    return rest


def _nodes(hosts: str, kind: type[Registry], mistakes: list[Mistake]) -> Iterator[Address]:
    seen: set[Address] = set()
    for index, text in enumerate(hosts.split(",")):
        node = _Node(f"url.hosts[{index}]", text.strip(), kind, mistakes).address()
        if node is None:
            continue
        if node in seen:
            what = f"{shown(node)} is named twice"
            mistakes.append(Mistake(f"url.hosts[{index}]", what, "each node once"))
        seen.add(node)
        yield node


@dataclass(slots=True)
class _Node:
    """One node of a URL, as it is written."""

    path: str
    text: str
    kind: type[Registry]
    mistakes: list[Mistake]

    def address(self) -> Address | None:
        """Its host and port; None if something is wrong with it."""
        before = len(self.mistakes)
        if self.text.startswith("["):
            host, _, rest = self.text[1:].partition("]")
            self._check_bracketed(host)
        elif self.text.count(":") > 1 and _is_six(self.text):
            host, rest = self.text, ""
            self._wrong(f"{host!r} is a bare IPv6 address", "brackets", f"Write [{host}].")
        else:
            host = self.text.partition(":")[0]
            rest = self.text[len(host) :]
            self._check_name(host)
        port = self._port(rest)
        return (host.lower(), port) if len(self.mistakes) == before else None

    def _check_bracketed(self, host: str) -> None:
        if "]" not in self.text or not _is_six(host):
            self._wrong(f"{self.text!r} has no IPv6 address in brackets", "[::1]")

    def _check_name(self, name: str) -> None:
        if not name:
            self._wrong("the host is empty", "a host name or an address")
        elif len(name) > _HOST_MOST or not _HOST.fullmatch(name):
            self._wrong(f"the host {name!r} is none", "letters, digits, - . and _")

    def _port(self, written: str) -> int:
        """The port of what stands behind the host; 0 if something is wrong with it."""
        if not written:
            return self.kind.port
        digits = written.removeprefix(":")
        legal = digits.isascii() and digits.isdigit() and len(digits) <= 5
        if legal and digits != written and 0 < int(digits) < 1 << 16:
            return int(digits)
        remedy = f"Leave it out for {self.kind.port}."
        if self.kind.root and not digits.isdigit():
            remedy += " A znode begins with /."
        self._wrong(f"the port {digits!r} is none", "1..65535", remedy)
        return 0

    def _wrong(self, what: str, allowed: str, remedy: str = "") -> None:
        self.mistakes.append(Mistake(self.path, what, allowed, remedy))


def _is_six(host: str) -> bool:
    try:
        return ip_address(host).version == 6
    except ValueError:
        return False


def _root(path: str, kind: type[Registry], mistakes: list[Mistake]) -> str:
    """The znode of a path; the default for an empty one."""
    bare = path.removesuffix("/")
    if not bare:
        return kind.root
    if not kind.root:
        what = f"the path {path!r} stands behind masters, which have no znodes"
        mistakes.append(Mistake("url.path", what, "hosts only", "Leave it out."))
    elif not _is_znode(bare):
        allowed = "/NAME[/NAME…] of printable characters, no name empty, . or .."
        mistakes.append(Mistake("url.path", f"{path!r} is no znode", allowed))
    return bare


def _is_znode(path: str) -> bool:
    """Source: ZooKeeper, PathUtils.validatePath."""
    names = path.split("/")[1:]
    return path.isprintable() and not {"", ".", ".."}.intersection(names)
