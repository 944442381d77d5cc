"""Functions that open connections to a fake server and send requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.hbase.connection import ServerConnection
from rowkey.hbase.settings import Deadline, Settings

if TYPE_CHECKING:
    from hbase.fakes import FakeServer

GENEROUS_S = 10.0
"""Seconds in which every test ends that does not hang."""


def build_deadline() -> Deadline:
    """Return a deadline that no working test reaches."""
    return Deadline.from_now(30)


def open_connection(server: FakeServer, **settings: object) -> ServerConnection:
    """Return a connection to a fake server."""
    limits = Settings(**settings)  # type: ignore[arg-type]
    return ServerConnection.open(server.address, "ClientService", limits, build_deadline())


def fetch_body(line: ServerConnection, method: str = "Get", param: bytes = b"") -> bytes:
    """Return the body of the answer to one request."""
    return line.send(method, param, deadline=build_deadline()).result(build_deadline()).message
