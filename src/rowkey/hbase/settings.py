"""Every limit of a client in one place, with its default; and the deadline that each call keeps."""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import monotonic
from typing import Final, Self

from rowkey.errors import Refused, shown

_DAY_S: Final = 86_400.0
"""Most seconds of any limit: who waits longer has mistaken the unit."""

_RANGES: Final[dict[str, tuple[float, float]]] = {
    "operation_s": (0.001, _DAY_S),
    "call_s": (0.001, _DAY_S),
    "connect_s": (0.001, _DAY_S),
    "attempts": (1, 1_000_000),
    "pause_s": (0.0, _DAY_S),
    "pause_most_s": (0.0, _DAY_S),
    "in_flight": (1, 1_000_000),
    "scan_bytes": (1, 100 << 20),
    "scan_rows": (1, 2**31 - 1),
    "batch_bytes": (1, 200 << 20),
    "batch_actions": (1, 5_000),
}
"""Least and most of each limit.

Source: `hbase.server.scanner.max.result.size` is 100 MB, `hbase.ipc.max.request.size` 256 MB (a
batch needs room for its own bookkeeping), `hbase.rpc.rows.warning.threshold` 5,000 actions.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every limit of a client.

    Args:
        operation_s: seconds that one operation may take with all its retries; the default is the
            time until the regions of a dead server are open elsewhere.
        call_s: seconds that one attempt may take; then its connection is closed.
        connect_s: seconds that opening one connection may take.
        attempts: most attempts of one operation.
        pause_s: seconds of the first pause between attempts; doubled each time, with jitter.
        pause_most_s: seconds of the longest pause.
        in_flight: calls in flight on one connection; more wait for room.
        scan_bytes: bytes of one answer of a scan.
        scan_rows: rows asked of one answer of a scan.
        batch_bytes: bytes of one batch to one server.
        batch_actions: actions of one batch to one server.
        user: effective user; the login name if empty.
        compress: whether cell blocks are compressed with zlib, both ways.

    Raises:
        Refused: a limit is not a number, or out of its range.

    Source: session time-out of HBase 90 s and recovery 1–8 s, measured on 2.6.4.

    >>> Settings(call_s=0)
    Traceback (most recent call last):
    rowkey.errors.Refused: call_s: 0 is out of range; expected 0.001..86400.
    """

    operation_s: float = 120.0
    call_s: float = 10.0
    connect_s: float = 5.0
    attempts: int = 200
    pause_s: float = 0.05
    pause_most_s: float = 1.0
    in_flight: int = 256
    scan_bytes: int = 2 << 20
    scan_rows: int = 10_000
    batch_bytes: int = 2 << 20
    batch_actions: int = 4_000
    user: str = ""
    compress: bool = False

    def __post_init__(self) -> None:
        for one in fields(self):
            if one.name in _RANGES:
                _check(one.name, getattr(self, one.name), whole=one.type == "int")
        if not isinstance(self.user, str):
            raise Refused("user", f"{shown(self.user)} is not a text", "a user's name")
        if not isinstance(self.compress, bool):
            raise Refused("compress", f"{shown(self.compress)} is not a truth", "true or false")
        if self.pause_most_s < self.pause_s:
            what = f"{self.pause_most_s:g} is below the first pause, {self.pause_s:g}"
            raise Refused("pause_most_s", what, f"at least {self.pause_s:g}")


def _check(name: str, value: object, *, whole: bool) -> None:
    least, most = _RANGES[name]
    allowed = f"{least:g}..{most:.15g}"
    legal = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not legal:
        raise Refused(name, f"{shown(value)} is not a {'whole ' * whole}number", allowed)
    assert isinstance(value, int | float)
    if not least <= value <= most:
        raise Refused(name, f"{shown(value)} is out of range", allowed)


class Deadline:
    """A moment after which nobody waits any more.

    >>> Deadline.after(0).expired, Deadline.after(3600).sooner(10).left() <= 10
    (True, True)
    """

    __slots__ = ("at",)

    def __init__(self, at: float) -> None:
        self.at = at

    @classmethod
    def after(cls, seconds: float) -> Self:
        """The moment that many seconds from now, on the clock that never goes back."""
        return cls(monotonic() + seconds)

    def left(self) -> float:
        """Seconds until then, never below 0."""
        left = self.at - monotonic()
        return max(0.0, left)

    @property
    def expired(self) -> bool:
        """Whether the moment is over."""
        return monotonic() >= self.at

    def sooner(self, seconds: float) -> Deadline:
        """The moment that many seconds from now, or this one if it comes first."""
        at = monotonic() + seconds
        return Deadline(at) if at < self.at else self
