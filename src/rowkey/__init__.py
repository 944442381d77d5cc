"""HBase table design, turned into software: one design file is judged, run and moved.

>>> import rowkey
>>> design = rowkey.Design("logs", "[bucket(host, 16)][host][ts]",
...     fields={"host": "text", "ts": "timestamp_ms"}, splits="per_bucket")
>>> rowkey.simulate.run(design).verdict.word
'even'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# A room is reached as an attribute too: rowkey.simulate.run(design).
_DOORS = (
    "advise", "cells", "design", "heat", "keys", "lint", "plan", "regions", "simulate", "table",
    "workload",
)  # fmt: skip

if TYPE_CHECKING:
    from rowkey.design import Design, json_schema, properties_of
    from rowkey.errors import (
        BatchError,
        Conflict,
        DeclarationError,
        DesignRefused,
        DriftError,
        Mistake,
        ReadError,
        RowError,
        RowkeyError,
        SampleError,
        Unsupported,
    )
    from rowkey.keys import Key, bind_key
    from rowkey.simulate import Simulation
    from rowkey.table import Table
    from rowkey.table import open_table as open  # noqa: A004 - as gzip.open and shelve.open

_ROOMS = {
    "BatchError": "errors",
    "Conflict": "errors",
    "DeclarationError": "errors",
    "Design": "design",
    "DesignRefused": "errors",
    "DriftError": "errors",
    "Key": "keys",
    "Mistake": "errors",
    "ReadError": "errors",
    "RowError": "errors",
    "RowkeyError": "errors",
    "SampleError": "errors",
    "Simulation": "simulate",
    "Table": "table",
    "Unsupported": "errors",
    "bind_key": "keys",
    "json_schema": "design",
    "properties_of": "design",
}
_NAMED = {"open": ("table", "open_table")}
"""What has another name in its room; there it would hide Python's own."""

__all__ = [
    "BatchError",
    "Conflict",
    "DeclarationError",
    "Design",
    "DesignRefused",
    "DriftError",
    "Key",
    "Mistake",
    "ReadError",
    "RowError",
    "RowkeyError",
    "SampleError",
    "Simulation",
    "Table",
    "Unsupported",
    "bind_key",
    "json_schema",
    "open",
    "properties_of",
]


def __getattr__(name: str) -> Any:
    """What the package offers, its room loaded when it is first asked for."""
    if name in _DOORS:
        return import_module(f"rowkey.{name}")
    room, named = _NAMED.get(name) or (_ROOMS.get(name), name)
    if room is None:
        raise AttributeError(f"module 'rowkey' has no attribute {name!r}")
    return getattr(import_module(f"rowkey.{room}"), named)


def __dir__() -> list[str]:
    return __all__
