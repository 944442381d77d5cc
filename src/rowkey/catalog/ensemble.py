"""The URL of a catalog in ZooKeeper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import parse_qsl

from rowkey.errors import InvalidArgument
from rowkey.messages import format_value, suggest_name

URL_FORMAT = "zookeeper://HOST[:PORT],…[/NODE][?timeout=5s]"
DEFAULT_ROOT = "/rowkey"
DEFAULT_TIMEOUT_S = 5.0
MIN_TIMEOUT_S, MAX_TIMEOUT_S = 0.01, 600.0
_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m|)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "": 1.0}


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The servers of ZooKeeper, the znode that holds the catalog, and the timeout of a call.

    Args:
        hosts: `host:port` of each server, with commas between them.
        root: the path of the znode.
        timeout_s: the longest time that a call takes, in seconds.
    """

    hosts: str
    root: str = DEFAULT_ROOT
    timeout_s: float = DEFAULT_TIMEOUT_S

    def __str__(self) -> str:
        return f"zookeeper://{self.hosts}{self.root}"


def parse_ensemble(location: str) -> Ensemble:
    """Parse the URL of a catalog in ZooKeeper.

    The default port is 2181, the default znode `/rowkey`, the default timeout 5 s.

    Args:
        location: the URL after `zookeeper:`.

    Raises:
        InvalidArgument: the URL is malformed.

    >>> parse_ensemble("//zk1,zk2:2182?timeout=500ms")
    Ensemble(hosts='zk1:2181,zk2:2182', root='/rowkey', timeout_s=0.5)
    """
    from rowkey.hbase import parse_url  # the other catalogs do not need it

    place, mark, query = location.partition("?")
    if not place.startswith("//"):
        _raise_invalid_url("the URL names no servers")
    hosts, _, path = place[2:].partition("/")
    # Hosts and path have the syntax of a cluster URL, which names servers of ZooKeeper too.
    cluster_url = f"hbase://{hosts}/{path if path.strip('/') else DEFAULT_ROOT[1:]}"
    try:
        address = str(parse_url(cluster_url)).removeprefix("hbase://")
    except InvalidArgument as error:
        mistake = error.mistake
        path = mistake.path.replace("url", "catalog", 1)
        raise InvalidArgument(path, mistake.problem, mistake.expected, mistake.remedy) from error
    nodes, slash, root = address.partition("/")
    return Ensemble(nodes, slash + root, _parse_timeout(query) if mark else DEFAULT_TIMEOUT_S)


def _parse_timeout(query: str) -> float:
    """Return the timeout in seconds from the query of a URL, whose only option is `timeout`."""
    options = parse_qsl(query, keep_blank_values=True)
    for name, _ in options:
        if name != "timeout":
            _raise_invalid_url(
                f"{format_value(name)} is not an option of the URL",
                "timeout",
                suggest_name(name, ("timeout",)),
            )
    if len(options) != 1:
        _raise_invalid_url(f"the query ?{query} gives no timeout, or several", "?timeout=5s")
    match = _DURATION.fullmatch(options[0][1])
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not MIN_TIMEOUT_S <= seconds <= MAX_TIMEOUT_S:
        what = f"the timeout {format_value(options[0][1])} is not valid"
        _raise_invalid_url(what, "a time from 10ms to 10m, such as 5s")
    return seconds


def _raise_invalid_url(problem: str, expected: str = URL_FORMAT, remedy: str = "") -> NoReturn:
    raise InvalidArgument("catalog", problem, expected, remedy)
