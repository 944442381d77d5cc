"""How the URL of a place where tables live becomes an open engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.engines.backends import KINDS
from rowkey.engines.requests import now_ms
from rowkey.errors import Refused, did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.engines.contract import Engine


def open_engine(
    url: str,
    *,
    create: bool = True,
    sync: bool = False,
    clock: Callable[[], int] = now_ms,
) -> Engine:
    """Open the engine that a URL names.

    Args:
        url: a scheme, a colon and what the engine takes: `memory:`, `memory:NAME`, `rocks:PATH`,
            `hbase://zk1,zk2:2181/hbase`, `hbase+master://m1:16000,m2:16000`.
        create: whether a place that is not there is made.
        sync: whether every write is on disk before the call returns.
        clock: milliseconds since 1970, for timestamps and times to live.

    Raises:
        Refused: the scheme is unknown; or the place is not there and not to be made.
        Unsupported: the engine cannot be reached, or another process has it.

    >>> with open_engine("memory:") as engine:
    ...     engine.tables()
    []
    >>> open_engine("memori:")
    Traceback (most recent call last):
    rowkey.errors.Refused: url: no engine is called 'memori'; expected hbase:... or ...
    """
    scheme, colon, where = url.partition(":")
    kinds = {kind.scheme: kind for kind in KINDS.values()}
    if not colon or scheme not in kinds:
        what = f"no engine is called {shown(scheme)}" if colon else f"{shown(url)} has no scheme"
        remedy = did_you_mean(scheme, kinds) or "Write memory: to try, rocks:PATH to keep."
        raise Refused("url", what, " or ".join(f"{name}:..." for name in kinds), remedy)
    kind = kinds[scheme]
    if not create and not kind.is_there(where):
        what, remedy = "there is no such place, and no table", "Create one first: rowkey create."
        raise Refused(url, what, remedy=remedy)
    return kind.open(where, sync=sync, clock=clock)
