"""The pages of what is called: the command, its JSON documents, and the Python face."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from tools.reference.markdown import code, docstring, first_line, page, table

import rowkey
from rowkey import cli as cli_room
from rowkey import render

WIDTH = 88
"""Characters of a line of help, whatever terminal the page is written on."""


def cli() -> str:
    """The help of every verb, and the exit codes.

    Data goes to stdout, everything else to stderr. `-f json` prints documents whose fields are
    listed under [JSON](json.md).
    """
    group = cli_room.command()
    context = _context(group, "rowkey", None)
    verbs = group.list_commands(context)
    blocks = [
        f"```text\n{group.get_help(context)}\n```",
        "## Exit codes",
        table(["code", "means"], EXIT_CODES),
    ]
    for verb in verbs:
        command = group.get_command(context, verb)
        assert command is not None
        told = command.get_help(_context(command, verb, context))
        blocks += [f"## {verb}", f"```text\n{told}\n```"]
    return page("The command", cli, *blocks)


def command_help() -> str:
    """What `rowkey --help` prints, on a terminal of the usual width."""
    group = cli_room.command()
    context = click.Context(
        group, info_name="rowkey", max_content_width=80, terminal_width=80,
        help_option_names=["-h", "--help"],
    )  # fmt: skip
    return f"{group.get_help(context)}\n"


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )


def _exit_codes() -> list[list[str]]:
    """The codes that the command's own module promises."""
    own = inspect.getmodule(cli_room.command().callback)
    told = (own.__doc__ or "").partition("Exit codes:")[2].partition("\n\n")[0]
    return [
        [code(number), meaning.strip()]
        for number, _, meaning in (one.strip(" .\n").partition(" ") for one in told.split(","))
    ]


EXIT_CODES = _exit_codes()

DOCUMENTS = {
    "simulate": render.SIMULATE,
    "compare": render.COMPARE,
    "check": render.CHECK,
    "rules": render.RULES,
    "splits": render.SPLITS,
    "vectors": render.VECTORS,
    "explain": render.EXPLANATIONS,
    "count": render.COUNT,
    "count --regions": render.REGIONS,
    "repair": render.REPAIR,
    "verify": render.VERIFY,
    "buckets show": render.BUCKETS,
    "buckets set": render.CHANGED,
    "buckets history": render.HISTORY,
    "live": render.LIVE,
    "prove": render.PROVE,
}


def json() -> str:
    """Every field of the JSON documents with its meaning.

    A dot enters an object, `[]` goes through a list, `*` stands for any name. Row keys are
    hexadecimal. A field may be added at any time; none is renamed or given another meaning without
    another `format`. A broken design file has a document of its own: `rowkey check -f json` then
    prints `ok` as false and, for each mistake, `line`, `path`, `what`, `allowed` and `remedy`.
    """
    blocks = []
    for verb, fields in DOCUMENTS.items():
        rows = ([code(path), meaning] for path, meaning in fields.items())
        blocks += [f"## rowkey {verb} -f json", table(["field", "meaning"], rows)]
    return page("JSON", json, *blocks)


ROOMS = ("schema", "cells", "regions", "hbase", "engines", "keys", "rows", "plan", "workload",
         "design", "heat", "lint", "simulate", "advise", "catalog", "table", "observe",
         "render")  # fmt: skip


def python() -> str:
    """The Python face: what `import rowkey` offers, then each room's door.

    What is listed here is public. Each room is entered through its own name only:
    `from rowkey.regions import Boundaries`.
    """
    blocks = [
        "## rowkey",
        docstring(rowkey),
    ]
    for name in rowkey.__all__:
        blocks += _offered(name, getattr(rowkey, name))
    for room in ROOMS:
        module = import_module(f"rowkey.{room}")
        rows = ([code(name), _meaning(module, name)] for name in module.__all__)
        blocks += [f"## rowkey.{room}", docstring(module), table(["name", "gives"], rows)]
    return page("Python", python, *blocks)


def _offered(name: str, thing: Any) -> list[str]:
    """A name of the front door, with its public methods."""
    title = f"{name}{signature(thing)}"
    blocks = [f"### {name}", code(title), docstring(thing)]
    rows = []
    for label, member in vars(thing).items() if inspect.isclass(thing) else ():
        plain = getattr(member, "__func__", getattr(member, "fget", member))
        if not label.startswith("_") and inspect.isfunction(plain):
            shown = label if isinstance(member, property) else f"{label}{signature(plain)}"
            rows.append([code(shown), first_line(plain)])
    return [*blocks, table(["method", "gives"], rows)]


def signature(thing: Any) -> str:
    """What a thing is called with, without types; nothing if it cannot be called."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    kept = [
        p.replace(annotation=p.empty)
        for p in found.parameters.values()
        if p.name not in {"self", "cls"}
    ]
    return str(found.replace(parameters=kept, return_annotation=found.empty))


def _meaning(module: Any, name: str) -> str:
    """What a public name gives: its docstring, or that of the line under a constant."""
    thing = getattr(module, name)
    if inspect.isclass(thing) or inspect.isfunction(thing) or hasattr(thing, "cache_info"):
        return first_line(thing)
    return constant_meanings(module).get(name) or _as_value(thing)


def _as_value(thing: Any) -> str:
    if isinstance(thing, int | str | float):
        return code(f"{thing:,}" if isinstance(thing, int) else thing)
    return "entries, by name" if isinstance(thing, Mapping) else code(thing)


def constant_meanings(room: Any) -> dict[str, str]:
    """What the strings under the constants of a room say, by the constants' names."""
    from tools.reference.sources import documented_names

    return dict(documented_names(room.__name__.rpartition(".")[2]))
