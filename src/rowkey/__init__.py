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
_DOORS = ("cells", "design", "heat", "keys", "plan", "regions", "simulate", "workload")

if TYPE_CHECKING:
    from rowkey.design import Design, json_schema, properties_of
    from rowkey.errors import (
        DeclarationError,
        DesignRefused,
        Mistake,
        ReadError,
        RowError,
        RowkeyError,
        SampleError,
        Unsupported,
    )
    from rowkey.keys import Key, bind_key
    from rowkey.simulate import Simulation

_ROOMS = {
    "DeclarationError": "errors",
    "Design": "design",
    "DesignRefused": "errors",
    "Key": "keys",
    "Mistake": "errors",
    "ReadError": "errors",
    "RowError": "errors",
    "RowkeyError": "errors",
    "SampleError": "errors",
    "Simulation": "simulate",
    "Unsupported": "errors",
    "bind_key": "keys",
    "json_schema": "design",
    "properties_of": "design",
}

__all__ = [
    "DeclarationError",
    "Design",
    "DesignRefused",
    "Key",
    "Mistake",
    "ReadError",
    "RowError",
    "RowkeyError",
    "SampleError",
    "Simulation",
    "Unsupported",
    "bind_key",
    "json_schema",
    "properties_of",
]


def __getattr__(name: str) -> Any:
    """What the package offers, its room loaded when it is first asked for."""
    if name in _DOORS:
        return import_module(f"rowkey.{name}")
    if name not in _ROOMS:
        raise AttributeError(f"module 'rowkey' has no attribute {name!r}")
    return getattr(import_module(f"rowkey.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return __all__
