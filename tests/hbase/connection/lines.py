"""Connections to a fake server, as the tests of connections open and ask them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.hbase.connection import Connection
from rowkey.hbase.settings import Deadline, Settings

if TYPE_CHECKING:
    from hbase.fakes import FakeServer

GENEROUS_S = 10.0
"""Seconds in which everything here ends that does not hang."""


def soon() -> Deadline:
    """A deadline that no test comes near."""
    return Deadline.after(30)


def opened(server: FakeServer, **settings: object) -> Connection:
    """A connection to a fake server."""
    limits = Settings(**settings)  # type: ignore[arg-type]
    return Connection.open(server.address, "ClientService", limits, soon())


def asked(line: Connection, method: str = "Get", param: bytes = b"") -> bytes:
    """The body of the answer to one request."""
    return line.send(method, param, deadline=soon()).result(soon()).message
