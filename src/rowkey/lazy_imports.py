"""Lazy imports: a package imports a file when one of the file's names is first used.

Most packages import all their files, as most of them are needed together. A package with a file for
every command imports them one by one, so that no command waits for the files of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from rowkey.open_file_limit import explain_shortage


def build_lazy_getattr(package: str, names_by_file: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package, which imports the file of a name at its first use.

    Args:
        package: the package, `__name__` in its `__init__`.
        names_by_file: by file, its names separated by blanks; `name=exported` where the package
            exports it by another name.

    >>> load = build_lazy_getattr("rowkey.workload", {"distributions": "DISTRIBUTIONS"})
    >>> load("DISTRIBUTIONS")["zipf"].__name__
    'ZipfDistribution'
    """
    locations = {}
    for file, names in names_by_file.items():
        for name in names.split():
            attribute, _, exported_name = name.partition("=")
            locations[exported_name or attribute] = (f"{package}.{file}", attribute)

    @explain_shortage
    def import_attribute(name: str) -> Any:
        if name not in locations:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        file, attribute = locations[name]
        value = getattr(import_module(file), attribute)
        setattr(sys.modules[package], name, value)
        return value

    return import_attribute
