"""The pages of the HBase client: its API, its limits, its errors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from typing import Any

from tools.reference.interfaces import format_signature
from tools.reference.markdown import (
    build_page,
    build_table,
    format_code,
    format_codes,
    format_docstring,
    read_first_line,
    split_paragraphs,
)

from rowkey import hbase as package
from rowkey.errors import InvalidArgument
from rowkey.hbase import HBaseError, Settings

errors, filters, happybase = (
    import_module(f"rowkey.{name}") for name in ("hbase.errors", "hbase.filters", "happybase")
)

TITLES = {
    "InvalidRequest": "Correct the call",
    "StaleLocationError": "The region is elsewhere",
    "BusyError": "The server is busy",
    "ServerGone": "The server is gone",
    "ScannerLost": "The scanner is lost",
    "RetryNowError": "The rest is retried at once",
}
"""The headings of groups of errors; every other error has a section under its own name."""


def build_hbase_page() -> str:
    """The API of `rowkey.hbase`, the native client of HBase.

    [A guide](../guides/the-hbase-client.md) shows how to use it; its errors have
    [their own page](hbase-errors.md). Filters are in `rowkey.hbase.filters`, errors in
    `rowkey.hbase.errors`, and an API compatible with happybase in `rowkey.happybase`.
    """
    blocks = ["## Limits", _format_limits()]
    for name in package.__all__:
        blocks += _format_name(name, getattr(package, name))
    blocks += [
        "## Filters",
        format_docstring(filters),
        _format_subclasses(filters.Filter, "filter"),
    ]
    blocks += ["## Comparators", _format_subclasses(filters.Comparator, "comparator")]
    blocks += ["## happybase", format_docstring(happybase)]
    for name in happybase.__all__:
        value = getattr(happybase, name)
        if callable(value):
            blocks += _format_name(name, value, mark="###")
    return build_page("The HBase client", build_hbase_page, *blocks)


def _format_limits() -> str:
    """Return the table of settings."""
    meanings = dict(_parse_arguments(Settings))
    rows = []
    for one in fields(Settings):
        allowed = _find_allowed_values(one.name)
        rows.append(
            [format_code(one.name), _format_default(one.default), allowed, meanings[one.name]]
        )
    return build_table(["setting", "default", "allowed", "meaning"], rows)


def _find_allowed_values(name: str) -> str:
    """Return the allowed values of a setting, from the error for a wrong value."""
    arguments: dict[str, Any] = {name: -1}
    try:
        Settings(**arguments)
    except InvalidArgument as refusal:
        return refusal.mistake.expected
    raise AssertionError(name)


def _format_default(value: object) -> str:
    """Return the default of a setting as text."""
    return "none" if value == "" else format_code(str(value).lower() if value is False else value)


def _parse_arguments(value: Any) -> Iterator[tuple[str, str]]:
    """Yield each argument of a docstring with its meaning."""
    text = format_docstring(value).partition("*Args*\n\n")[2].partition("\n\n")[0]
    for line in text.splitlines():
        name, _, meaning = line.removeprefix("* ").partition(": ")
        yield name.strip("`"), meaning


def _format_name(name: str, value: Any, mark: str = "##") -> list[str]:
    """Return the section of a public name, with its own and inherited methods."""
    blocks = [
        f"{mark} {name}",
        format_code(f"{name}{format_signature(value)}"),
        format_docstring(value),
    ]
    if not inspect.isclass(value) or issubclass(value, (Exception, filters.Filter)):
        return blocks
    rows = [
        [
            format_code(label if is_plain else f"{label}{format_signature(function)}"),
            read_first_line(function),
        ]
        for label, function, is_plain in _iter_members(value)
    ]
    return [*blocks, build_table(["method", "description"], rows)]


def _iter_members(cls: type) -> Iterator[tuple[str, Any, bool]]:
    """Yield the public methods and properties of a class, its own before inherited ones."""
    seen = set()
    for one in cls.__mro__:
        for label, member in vars(one).items():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            is_public_method = not label.startswith("_") and inspect.isfunction(function)
            if is_public_method and one.__module__.startswith("rowkey.") and label not in seen:
                seen.add(label)
                yield label, function, isinstance(member, property)


def _format_subclasses(contract: type, column: str) -> str:
    """Return a table of the subclasses of a base class."""
    classes = [getattr(filters, name) for name in filters.__all__]
    rows = (
        [format_code(f"{cls.__name__}{format_signature(cls)}"), read_first_line(cls)]
        for cls in classes
        if issubclass(cls, contract) and cls is not contract
    )
    return build_table([column, "description"], rows)


def build_hbase_errors_page() -> str:
    """The errors of an HBase cluster, sorted by what to do about them.

    All are in `rowkey.hbase.errors` and derive from `HBaseError`. Those of `InvalidRequest` are a
    `rowkey.errors.InvalidArgument` too, all others a `rowkey.Unavailable`, so the command exits
    with 2 and 4. The client retries by itself where that can help. Callers see a retried error as
    the last error of `OperationTimedOut` or in `PartialBatchFailure`. If a retry may never help,
    the error is raised after a few attempts.
    """
    tree = "```\n" + format_docstring(errors).partition("```\n")[2]
    blocks = [tree, "## HBaseError", format_docstring(HBaseError)]
    for cls in sorted(_list_children(HBaseError), key=_sort_position):
        title = TITLES.get(cls.__name__)
        if title is None:
            blocks += _format_error(cls)
        else:
            blocks += [
                f"## {title}",
                format_code(cls.__name__),
                format_docstring(cls),
                _format_errors(cls),
            ]
    return build_page("Errors of the HBase client", build_hbase_errors_page, *blocks)


def _sort_position(cls: type[HBaseError]) -> tuple[int, str]:
    """Return the sort key of an error: groups in their order, then the others by name."""
    names = list(TITLES)
    is_sort = cls.__name__ in TITLES
    return (names.index(cls.__name__) if is_sort else len(names), cls.__name__)


def _format_error(cls: type[HBaseError]) -> list[str]:
    """Return the section of an error class with its subclasses."""
    return [f"## {cls.__name__}", format_docstring(cls), cls.advice, _format_errors(cls)]


def _format_errors(cls: type[HBaseError]) -> str:
    """Return a table of all subclasses of an error."""
    rows = []
    for one in sorted({*_iter_subclasses(cls)}, key=lambda one: one.__name__):
        java = format_codes(dict.fromkeys(name.rpartition(".")[2] for name in one.java_names))
        meaning = " ".join(
            [*split_paragraphs(one)[:1], one.advice if one.advice != cls.advice else ""]
        )
        rows.append([format_code(one.__name__), meaning.strip(), java])
    return build_table(["error", "means", "classes of HBase"], rows)


def _list_children(cls: type[HBaseError]) -> list[type[HBaseError]]:
    """Return the direct public subclasses of an error, by name."""
    children = {one for one in _iter_subclasses(HBaseError) if _find_parent(one) is cls}
    return sorted(children, key=lambda one: one.__name__)


def _find_parent(cls: type[HBaseError]) -> type:
    """Return the nearest public base class of an error."""
    return next(one for one in cls.__mro__[1:] if not one.__name__.startswith("_"))


def _iter_subclasses(cls: type[HBaseError]) -> Iterator[type[HBaseError]]:
    """Yield all public subclasses of an error in the package."""
    for child in cls.__subclasses__():
        if child.__module__.startswith("rowkey.") and not child.__name__.startswith("_"):
            yield child
        yield from _iter_subclasses(child)
