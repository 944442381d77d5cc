"""What a call of ZooKeeper returns and raises; kazoo is not needed for it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rowkey.errors import RestorableError


class ZooKeeperUnreachable(RestorableError):
    """ZooKeeper did not answer a request in time.

    Args:
        reason: the reason, as far as it is known.
        is_sent: whether the request was handed over, so that its outcome is unknown.
    """

    def __init__(self, reason: str, *, is_sent: bool) -> None:
        super().__init__(reason)
        self.reason, self.is_sent = reason, is_sent


class NotZooKeeper(ZooKeeperUnreachable):
    """A server answered with bytes that are not ZooKeeper's protocol."""


class ZooKeeperDenied(RestorableError):
    """ZooKeeper refused a request, for example because an access list forbids it."""


class Znode(NamedTuple):
    """The data and versions of a znode as it was read.

    Args:
        data: its bytes.
        version: how often its data was replaced; a znode that is created again begins with 0.
        creation_id: id of the transaction that created it; no other znode has the same.
    """

    data: bytes
    version: int
    creation_id: int


class ZnodeChange(NamedTuple):
    """One step of a ZooKeeper transaction: check, set, create or delete a znode.

    Args:
        operation: what to do.
        data: its new bytes, for `set` and `create`.
        version: the version that it must have; -1 for any.
    """

    operation: Literal["check", "set", "create", "delete"]
    path: str
    data: bytes = b""
    version: int = -1
