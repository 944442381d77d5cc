"""Where a catalog in ZooKeeper is, and in which words it is asked; kazoo is not needed for that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, NoReturn
from urllib.parse import parse_qsl

from rowkey.errors import Refused, Unsupported, did_you_mean, shown

FORM = "zookeeper://HOST[:PORT],…[/NODE][?timeout=5s]"
ROOT = "/rowkey"
TIMEOUT_S = 5.0
LEAST_S, MOST_S = 0.01, 600.0
_SECONDS = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m|)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "": 1.0}


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The servers of ZooKeeper, the node below which all is kept, and how long a call may take.

    Args:
        hosts: `host:port` of each server, with commas between them.
        root: the path of the node.
        timeout_s: seconds.
    """

    hosts: str
    root: str = ROOT
    timeout_s: float = TIMEOUT_S

    def __str__(self) -> str:
        return f"zookeeper://{self.hosts}{self.root}"


def parse_ensemble(where: str) -> Ensemble:
    """The place that a URL names.

    A host without a port has 2181. The node is `/rowkey` by default, the time-out 5 s.

    Args:
        where: what stands behind `zookeeper:`.

    Raises:
        Unsupported: it names none.

    >>> parse_ensemble("//zk1,zk2:2182?timeout=500ms")
    Ensemble(hosts='zk1:2181,zk2:2182', root='/rowkey', timeout_s=0.5)
    """
    from rowkey.hbase import parse_url  # who keeps catalogs elsewhere need not load it

    place, mark, query = where.partition("?")
    if not place.startswith("//"):
        _refuse("it names no servers")
    hosts, _, path = place[2:].partition("/")
    # Its servers and nodes are written as in a cluster's URL, which leads to ZooKeeper too.
    written = f"hbase://{hosts}/{path if path.strip('/') else ROOT[1:]}"
    try:
        found = str(parse_url(written)).removeprefix("hbase://")
    except Refused as refusal:
        told = refusal.mistake
        raise Unsupported(
            told.path.replace("url", "catalog", 1), told.what, told.allowed, told.remedy
        ) from refusal
    nodes, slash, root = found.partition("/")
    return Ensemble(nodes, slash + root, _timeout(query) if mark else TIMEOUT_S)


def _timeout(query: str) -> float:
    """The seconds that a query gives, in the only word that it may have."""
    words = parse_qsl(query, keep_blank_values=True)
    for word, _ in words:
        if word != "timeout":
            _refuse(f"{shown(word)} is no word of it", "timeout", did_you_mean(word, ("timeout",)))
    if len(words) != 1:
        _refuse(f"?{query} gives no time-out", "timeout=5s")
    match = _SECONDS.fullmatch(words[0][1])
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not LEAST_S <= seconds <= MOST_S:
        _refuse(f"the time-out {shown(words[0][1])} is none", "10ms..10m, such as 5s or 500ms")
    return seconds


def _refuse(what: str, allowed: str = FORM, remedy: str = "") -> NoReturn:
    raise Unsupported("catalog", what, allowed, remedy)


class Away(Exception):
    """No answer came in time.

    Args:
        why: what is known of the reason.
        sent: whether it was handed over, so that nobody knows what became of it.
    """

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.why, self.sent = why, sent


class Denied(Exception):
    """ZooKeeper has answered, and does not do what it was asked for."""


class Node(NamedTuple):
    """A node as it was found.

    Args:
        data: what it holds.
        version: how often its data was replaced; a node that is made anew begins again with 0.
        born: the change that made it; no other node has the same.
    """

    data: bytes
    version: int
    born: int


class Change(NamedTuple):
    """One step of a change; all steps are done, or none.

    Args:
        what: `check`, `set`, `create` or `delete`.
        path: of the node.
        data: what it is to hold, for `set` and `create`.
        version: the version it must have; -1 for any.
    """

    what: str
    path: str
    data: bytes = b""
    version: int = -1
