"""The pages of the client of a real cluster: what it offers, its limits, its errors."""

from __future__ import annotations

import inspect
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tools.reference.markdown import code, codes, docstring, first_line, page, paragraphs, table
from tools.reference.surface import signature

from rowkey import hbase as room
from rowkey.errors import Refused
from rowkey.hbase import HBaseError, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

errors, filters, happybase = (
    import_module(f"rowkey.hbase.{name}") for name in ("errors", "filters", "happybase")
)

TITLES = {
    "AskedWrongly": "Change what is asked",
    "ElsewhereError": "The region is elsewhere",
    "BusyError": "The server is busy",
    "ServerGone": "The server is gone",
    "ScannerLost": "The scanner is lost",
    "AtOnceError": "The rest is asked at once",
}
"""The headings of the sorts; every other error stands by itself, under its own name."""


def client() -> str:
    """What `rowkey.hbase` offers: the native client of a cluster.

    [A guide](../guides/the-hbase-client.md) shows it in use; its errors have
    [a page of their own](hbase-errors.md). Filters are found in `rowkey.hbase.filters`, errors in
    `rowkey.hbase.errors`, the facade for code written for happybase in `rowkey.hbase.happybase`.
    """
    blocks = ["## Limits", _limits()]
    for name in room.__all__:
        blocks += _offered(name, getattr(room, name))
    blocks += ["## Filters", docstring(filters), _kinds(filters.Filter, "filter")]
    blocks += ["## Comparators", _kinds(filters.Comparator, "comparator")]
    blocks += ["## happybase", docstring(happybase)]
    for name in happybase.__all__:
        thing = getattr(happybase, name)
        if callable(thing):
            blocks += _offered(name, thing, mark="###")
    return page("The client of a cluster", client, *blocks)


def _limits() -> str:
    """The table of settings."""
    meanings = dict(_arguments(Settings))
    rows = []
    for one in fields(Settings):
        allowed = _allowed(one.name)
        rows.append([code(one.name), _default(one.default), allowed, meanings[one.name]])
    return table(["setting", "default", "allowed", "meaning"], rows)


def _allowed(name: str) -> str:
    """What a setting may be, as it is told to who gives something else."""
    given: dict[str, Any] = {name: -1}
    try:
        Settings(**given)
    except Refused as refusal:
        return refusal.mistake.allowed
    raise AssertionError(name)


def _default(value: object) -> str:
    return "none" if value == "" else code(str(value).lower() if value is False else value)


def _arguments(thing: Any) -> Iterator[tuple[str, str]]:
    """Each argument that a docstring tells of, with its meaning."""
    told = docstring(thing).partition("*Args*\n\n")[2].partition("\n\n")[0]
    for line in told.splitlines():
        name, _, meaning = line.removeprefix("* ").partition(": ")
        yield name.strip("`"), meaning


def _offered(name: str, thing: Any, mark: str = "##") -> list[str]:
    """A public name, with all that can be called of it, inherited or not."""
    blocks = [f"{mark} {name}", code(f"{name}{signature(thing)}"), docstring(thing)]
    if not inspect.isclass(thing) or issubclass(thing, (Exception, filters.Filter)):
        return blocks
    rows = [
        [code(label if is_plain else f"{label}{signature(called)}"), first_line(called)]
        for label, called, is_plain in _members(thing)
    ]
    return [*blocks, table(["method", "gives"], rows)]


def _members(kind: type) -> Iterator[tuple[str, Any, bool]]:
    """The public methods and properties of a class, as they stand, its own first."""
    seen = set()
    for one in kind.__mro__:
        for label, member in vars(one).items():
            called = getattr(member, "__func__", getattr(member, "fget", member))
            is_told = not label.startswith("_") and inspect.isfunction(called)
            if is_told and one.__module__.startswith("rowkey.") and label not in seen:
                seen.add(label)
                yield label, called, isinstance(member, property)


def _kinds(contract: type, what: str) -> str:
    """A table of the kinds of a contract."""
    made = [getattr(filters, name) for name in filters.__all__]
    rows = (
        [code(f"{kind.__name__}{signature(kind)}"), first_line(kind)]
        for kind in made
        if issubclass(kind, contract) and kind is not contract
    )
    return table([what, "gives"], rows)


def client_errors() -> str:
    """What a cluster answers instead of a result, sorted by what to do about it.

    All are found in `rowkey.hbase.errors` and derive from `HBaseError`. Those of `AskedWrongly` are
    a `rowkey.Refused` too, all others a `rowkey.Unsupported`, so the command leaves with 2 and 4.
    The client does by itself what can be done. What it tries again reaches a caller as the last
    error of `OutOfTime` or within `SomeFailed`; what may never help is raised after a few attempts.
    """
    tree = "```\n" + docstring(errors).partition("```\n")[2]
    blocks = [tree, "## HBaseError", docstring(HBaseError)]
    for kind in sorted(_below(HBaseError), key=_place):
        title = TITLES.get(kind.__name__)
        if title is None:
            blocks += _error(kind)
        else:
            blocks += [f"## {title}", code(kind.__name__), docstring(kind), _sorted(kind)]
    return page("Errors of a cluster", client_errors, *blocks)


def _place(kind: type[HBaseError]) -> tuple[int, str]:
    """Sorts in their order, then the others by name."""
    names = list(TITLES)
    is_sort = kind.__name__ in TITLES
    return (names.index(kind.__name__) if is_sort else len(names), kind.__name__)


def _error(kind: type[HBaseError]) -> list[str]:
    return [f"## {kind.__name__}", docstring(kind), kind.advice, _sorted(kind)]


def _sorted(kind: type[HBaseError]) -> str:
    """The errors below one, at any depth."""
    rows = []
    for one in sorted({*_all(kind)}, key=lambda one: one.__name__):
        java = codes(dict.fromkeys(name.rpartition(".")[2] for name in one.names))
        says = " ".join([*paragraphs(one)[:1], one.advice if one.advice != kind.advice else ""])
        rows.append([code(one.__name__), says.strip(), java])
    return table(["error", "means", "classes of HBase"], rows)


def _below(kind: type[HBaseError]) -> list[type[HBaseError]]:
    """The public errors right below one, by name."""
    below = {one for one in _all(HBaseError) if _above(one) is kind}
    return sorted(below, key=lambda one: one.__name__)


def _above(kind: type[HBaseError]) -> type:
    """The public class that an error derives from first of all."""
    return next(one for one in kind.__mro__[1:] if not one.__name__.startswith("_"))


def _all(kind: type[HBaseError]) -> Iterator[type[HBaseError]]:
    """All public errors of the package below one."""
    for child in kind.__subclasses__():
        if child.__module__.startswith("rowkey.") and not child.__name__.startswith("_"):
            yield child
        yield from _all(child)
