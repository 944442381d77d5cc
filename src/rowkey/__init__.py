"""HBase table design, turned into software: one design file is judged, run and moved.

>>> import rowkey
>>> design = rowkey.Design("logs", "[bucket(host, 16)][host][ts]",
...     fields={"host": "text", "ts": "timestamp_ms"}, splits="per_bucket")
>>> rowkey.simulate.run(design).verdict.level
'even'
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# A package is reached as an attribute too: rowkey.simulate.run(design).
_PACKAGES = (
    "advise", "cells", "design", "hotspots", "keys", "lint", "observe", "plan", "regions",
    "simulate", "table", "workload",
)  # fmt: skip

if TYPE_CHECKING:
    from rowkey import (
        advise as advise,
    )
    from rowkey import (
        cells as cells,
    )
    from rowkey import (
        design as design,
    )
    from rowkey import (
        hotspots as hotspots,
    )
    from rowkey import (
        keys as keys,
    )
    from rowkey import (
        lint as lint,
    )
    from rowkey import (
        observe as observe,
    )
    from rowkey import (
        plan as plan,
    )
    from rowkey import (
        regions as regions,
    )
    from rowkey import (
        simulate as simulate,
    )
    from rowkey import (
        table as table,
    )
    from rowkey import (
        workload as workload,
    )
    from rowkey.design import Design, build_json_schema, derive_properties
    from rowkey.errors import (
        BatchError,
        CatalogMismatch,
        Closed,
        Conflict,
        DesignRefused,
        IncomparableDesigns,
        InvalidArgument,
        InvalidDesign,
        Mistake,
        NotSupported,
        ReadError,
        RowError,
        RowkeyError,
        SampleError,
        Unavailable,
    )
    from rowkey.findings import Finding
    from rowkey.keys import Key, bind_key
    from rowkey.progress import Progress
    from rowkey.render import show
    from rowkey.simulate import Simulation
    from rowkey.table import Table
    from rowkey.table import open_table as open  # noqa: A004 - as gzip.open and shelve.open

_EXPORTS = {
    "BatchError": "errors",
    "Closed": "errors",
    "Conflict": "errors",
    "InvalidDesign": "errors",
    "Design": "design",
    "DesignRefused": "errors",
    "CatalogMismatch": "errors",
    "Finding": "findings",
    "IncomparableDesigns": "errors",
    "InvalidArgument": "errors",
    "NotSupported": "errors",
    "Progress": "progress",
    "Key": "keys",
    "Mistake": "errors",
    "ReadError": "errors",
    "RowError": "errors",
    "RowkeyError": "errors",
    "SampleError": "errors",
    "Simulation": "simulate",
    "Table": "table",
    "Unavailable": "errors",
    "bind_key": "keys",
    "build_json_schema": "design",
    "derive_properties": "design",
    "show": "render",
}
_RENAMED_EXPORTS = {"open": ("table", "open_table")}
"""Names that would hide a builtin in their own package: package and name there."""
_RICH_DISPLAY_CLASSES = (
    ("rowkey.advise.comparison", "Comparison"),
    ("rowkey.design.design", "Design"),
    ("rowkey.lint.checker", "LintResult"),
    ("rowkey.simulate.simulation", "Simulation"),
)
"""What IPython shows as `show` does, each by its module, for none of them is loaded yet."""

__all__ = [
    "BatchError",
    "CatalogMismatch",
    "Closed",
    "Conflict",
    "Design",
    "DesignRefused",
    "Finding",
    "IncomparableDesigns",
    "InvalidArgument",
    "InvalidDesign",
    "Key",
    "Mistake",
    "NotSupported",
    "Progress",
    "ReadError",
    "RowError",
    "RowkeyError",
    "SampleError",
    "Simulation",
    "Table",
    "Unavailable",
    "bind_key",
    "build_json_schema",
    "derive_properties",
    "open",
    "show",
]


if not TYPE_CHECKING:  # else a type checker would take a misspelt name for anything

    def __getattr__(name: str) -> Any:
        """Return a public name or package of rowkey, imported at its first use."""
        if name in _PACKAGES:
            return _import_module(f"rowkey.{name}")
        package, attribute = _RENAMED_EXPORTS.get(name) or (_EXPORTS.get(name), name)
        if package is None:
            raise AttributeError(f"module 'rowkey' has no attribute {name!r}")
        return getattr(_import_module(f"rowkey.{package}"), attribute)


def _import_module(module: str) -> Any:
    """Return an imported module; raise `Unavailable` if the process has too many open files."""
    try:
        return import_module(module)
    except (OSError, ImportError) as problem:
        from rowkey.open_file_limit import raise_shortage

        raise_shortage(problem)
        raise


def __dir__() -> list[str]:
    return __all__


def load_ipython_extension(shell: Any) -> None:
    """Make IPython display the results of rowkey as `show` does.

    Args:
        shell: the running shell, as `%load_ext rowkey` gives it.
    """
    formatters = shell.display_formatter.formatters
    for module, name in _RICH_DISPLAY_CLASSES:
        formatters["text/html"].for_type_by_name(module, name, _format_html)
        formatters["text/plain"].for_type_by_name(module, name, _print_text)


def _format_html(result: Any) -> str:
    """Return a result as HTML for IPython."""
    return str(import_module("rowkey.render").show(result)._repr_html_())


def _print_text(result: Any, printer: Any, _cycle: bool) -> None:
    printer.text(repr(import_module("rowkey.render").show(result)))


_running_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
if _running_shell is not None:
    load_ipython_extension(_running_shell)
