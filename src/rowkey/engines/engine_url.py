"""Opens the engine that a URL names."""

from __future__ import annotations

import os
from collections.abc import Callable

from rowkey.engines.backends import ENGINES
from rowkey.engines.contract import Engine
from rowkey.engines.ordering.row_clock import get_time_ms
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value, suggest_name


def open_engine(
    url: str,
    *,
    create: bool = True,
    sync: bool = False,
    clock: Callable[[], int] = get_time_ms,
    timeout_s: float | None = None,
) -> Engine:
    """Open the storage engine that a URL names, such as `memory:` or `rocks:PATH`.

    Args:
        url: a scheme, a colon and a location: `memory:`, `memory:NAME`, `rocks:PATH`,
            `hbase://zk1,zk2:2181/hbase`, `hbase+master://m1:16000,m2:16000`.
        create: whether to create the location if it does not exist.
        sync: whether every write is on disk before the call returns.
        clock: milliseconds since 1970, for timestamps and times to live.
        timeout_s: seconds after which a call to a server fails; None is as the engine has it.

    Raises:
        InvalidArgument: the scheme is unknown, or the location does not exist and `create` is
            False.
        Unavailable: the engine cannot be reached, or another process has it open.

    >>> with open_engine("memory:") as engine:
    ...     engine.list_tables()
    []
    >>> open_engine("memori:")
    Traceback (most recent call last):
    rowkey.errors.InvalidArgument: argument url: no storage engine is called 'memori'; expe...
    """
    scheme, colon, location = url.partition(":")
    engines = {engine_class.scheme: engine_class for engine_class in ENGINES.values()}
    if not colon or scheme not in engines:
        problem = (
            f"no storage engine is called {format_value(scheme)}"
            if colon
            else f"{format_value(url)} has no scheme"
        )
        remedy = (
            suggest_name(f"{scheme}:", [f"{name}:" for name in engines])
            or "Write memory: to try rowkey, or rocks:PATH to store tables."
        )
        raise InvalidArgument(
            "url", problem, " or ".join(f"{name}:..." for name in engines), remedy
        )
    engine_class = engines[scheme]
    if not create and not engine_class.is_initialized(location):
        remedy = f"Check the URL, or create a table: rowkey create DESIGN --on {url}."
        raise InvalidArgument(url, "no table is stored at this URL", remedy=remedy)
    return engine_class.open(location, sync=sync, clock=clock, timeout_s=timeout_s)


def anchor_url(url: str, directory: str) -> str:
    """Return a URL whose path on this machine is relative to a directory.

    Args:
        url: as `open_engine` takes it; one that names no path is returned as it is.
        directory: the directory, or an empty string for the current one.

    >>> anchor_url("rocks:data", "/srv"), anchor_url("hbase://zk1", "/srv")
    ('rocks:/srv/data', 'hbase://zk1')
    """
    scheme, _, location = url.partition(":")
    has_path = any(
        engine_class.is_persistent and not engine_class.is_shared
        for engine_class in ENGINES.values()
        if engine_class.scheme == scheme
    )
    return f"{scheme}:{os.path.join(directory, location)}" if has_path else url  # noqa: PTH118 - pathlib drops what the engine refuses
