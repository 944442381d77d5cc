"""HBase table design, turned into software: one design file is judged, run and moved.

>>> import rowkey
>>> design = rowkey.Design("logs", "[bucket(host, 16)][host][ts]",
...     fields={"host": "text", "ts": "timestamp_ms"}, splits="per_bucket")
>>> rowkey.simulate.run(design).verdict.word
'even'
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# A room is reached as an attribute too: rowkey.simulate.run(design).
_DOORS = (
    "advise", "cells", "design", "heat", "keys", "lint", "observe", "plan", "regions", "simulate",
    "table", "workload",
)  # fmt: skip

if TYPE_CHECKING:
    from rowkey.design import Design, json_schema, properties_of
    from rowkey.errors import (
        BatchError,
        Conflict,
        DeclarationError,
        DesignRefused,
        DriftError,
        Incomparable,
        Mistake,
        ReadError,
        RowError,
        RowkeyError,
        SampleError,
        Unsupported,
    )
    from rowkey.keys import Key, bind_key
    from rowkey.render import show
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
    "Incomparable": "errors",
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
    "show": "render",
}
_NAMED = {"open": ("table", "open_table")}
"""What has another name in its room; there it would hide Python's own."""
_SHOWN = (
    ("rowkey.advise.comparison", "Comparison"),
    ("rowkey.design.design", "Design"),
    ("rowkey.lint.run", "Findings"),
    ("rowkey.simulate.simulation", "Simulation"),
)
"""What IPython shows as `show` does, each by its module, for none of them is loaded yet."""

__all__ = [
    "BatchError",
    "Conflict",
    "DeclarationError",
    "Design",
    "DesignRefused",
    "DriftError",
    "Incomparable",
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
    "show",
]


def __getattr__(name: str) -> Any:
    """What the package offers, its room loaded when it is first asked for."""
    if name in _DOORS:
        return _import(f"rowkey.{name}")
    room, named = _NAMED.get(name) or (_ROOMS.get(name), name)
    if room is None:
        raise AttributeError(f"module 'rowkey' has no attribute {name!r}")
    return getattr(_import(f"rowkey.{room}"), named)


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except (OSError, ImportError) as problem:
        from rowkey.open_file_limit import raise_shortage

        raise_shortage(problem)
        raise


def __dir__() -> list[str]:
    return __all__


def load_ipython_extension(shell: Any) -> None:
    """Have IPython show what rowkey finds as `show` does; in a notebook, importing rowkey suffices.

    Args:
        shell: the running shell, as `%load_ext rowkey` gives it.
    """
    formatters = shell.display_formatter.formatters
    for module, name in _SHOWN:
        formatters["text/html"].for_type_by_name(module, name, _as_html)
        formatters["text/plain"].for_type_by_name(module, name, _as_text)


def _as_html(found: Any) -> str:
    return str(import_module("rowkey.render").show(found)._repr_html_())


def _as_text(found: Any, printer: Any, _cycle: bool) -> None:
    printer.text(repr(import_module("rowkey.render").show(found)))


_running = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
if _running is not None:
    load_ipython_extension(_running)
