"""The pages of the command, its JSON documents, and the Python API."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import click
from tools.reference.markdown import (
    build_page,
    build_table,
    format_code,
    format_docstring,
    read_first_line,
)

import rowkey
from rowkey import cli as cli_package
from rowkey import render

WIDTH = 88
"""Characters per line of help, on any terminal."""


def build_cli_page() -> str:
    """The help of every command, the exit codes, defaults of options, and shell completion.

    Data goes to stdout, everything else to stderr. `-f json` prints documents whose fields are
    listed under [JSON](json.md).
    """
    group = cli_package.get_command()
    context = _build_context(group, "rowkey", None)
    names = group.list_commands(context)
    blocks = [
        f"```text\n{group.get_help(context)}\n```",
        "## Exit codes",
        build_table(["code", "means"], EXIT_CODES),
        "## Defaults of options",
        DEFAULTS,
        "## Shell completion",
        COMPLETION,
    ]
    for name in names:
        command = group.get_command(context, name)
        assert command is not None
        text = command.get_help(_build_context(command, name, context))
        blocks += [f"## {name}", f"```text\n{text}\n```"]
    return build_page("The command", build_cli_page, *blocks)


def format_command_help() -> str:
    """Return the text of `rowkey --help` on a terminal of 80 columns."""
    group = cli_package.get_command()
    context = click.Context(
        group, info_name="rowkey", max_content_width=80, terminal_width=80,
        help_option_names=["-h", "--help"],
    )  # fmt: skip
    return f"{group.get_help(context)}\n"


def _build_context(
    command: click.Command, name: str, parent: click.Context | None
) -> click.Context:
    """Return a click context with a fixed width, for the help of a command."""
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )


def _parse_exit_codes() -> list[list[str]]:
    """Return the exit codes in the docstring of the command's module."""
    module = inspect.getmodule(cli_package.get_command().callback)
    text = (module.__doc__ or "").partition("Exit codes:")[2].partition("\n\n")[0]
    return [
        [format_code(number), meaning.strip()]
        for number, _, meaning in (one.strip(" .\n").partition(" ") for one in text.split(","))
    ]


EXIT_CODES = _parse_exit_codes()

DEFAULTS = """\
An option on the command line goes before the environment, and the environment before a file.

* The environment: `ROWKEY_ON` is the `--on` of every command.
* A file: `rowkey.toml`, or the table `[tool.rowkey]` of `pyproject.toml`, in the current directory
  or the nearest directory above it that has one. At its top, or in `[tool.rowkey]`, it may set
  `on`, `progress`, `quiet`, `sample` and `seed` for all commands; in the table of a command, such
  as `[check]` or `[tool.rowkey.check]`, also `fail-on` and `format`. Keys are named like the
  options. Paths are relative to the file. An unknown key or a wrong value is an error that names
  its line.

```toml
on = "rocks:./data"

[check]
fail-on = "error"
format  = "github"
```"""

COMPLETION = """\
`Tab` completes commands, options, their values and names of files. Put one line into the file that
the shell reads at its start:

* bash, `~/.bashrc`: `eval "$(_ROWKEY_COMPLETE=bash_source rowkey)"`
* zsh, `~/.zshrc`: `eval "$(_ROWKEY_COMPLETE=zsh_source rowkey)"`
* fish, `~/.config/fish/completions/rowkey.fish`: `_ROWKEY_COMPLETE=fish_source rowkey | source`"""

DOCUMENTS = {
    "simulate": render.SIMULATION_FIELDS,
    "advise": render.ADVICE_FIELDS,
    "compare": render.COMPARISON_FIELDS,
    "check": render.CHECK_FIELDS,
    "rules": render.RULES_FIELDS,
    "splits": render.SPLITS_FIELDS,
    "vectors": render.VECTORS_FIELDS,
    "explain": render.EXPLANATIONS_FIELDS,
    "count": render.COUNT_FIELDS,
    "count --regions": render.REGIONS_FIELDS,
    "repair": render.REPAIR_FIELDS,
    "verify": render.VERIFY_FIELDS,
    "buckets show": render.BUCKETS_FIELDS,
    "buckets set": render.BUCKET_CHANGE_FIELDS,
    "buckets retire": render.BUCKET_RETIREMENT_FIELDS,
    "buckets history": render.HISTORY_FIELDS,
    "move plan": render.MOVE_PLAN_FIELDS,
    "move status": render.MOVE_STATUS_FIELDS,
    "move run": render.MOVE_VERIFICATION_FIELDS,
    "move cutover": render.MOVE_SWITCH_FIELDS,
    "live": render.LIVE_FIELDS,
    "prove": render.PROOF_FIELDS,
}


def build_json_page() -> str:
    """Every field of the JSON documents with its meaning.

    A dot separates objects, `[]` stands for the items of a list, `*` for any name. Row keys are
    hexadecimal. From the first release on, a field may be added at any time, and none is renamed or
    given another meaning without another `format`. A broken design file has a document of its own:
    `rowkey check -f json` then prints `ok` as false and, for each mistake, `line`, `path`,
    `message`, `expected` and `remedy`.
    """
    blocks = []
    for command, fields in DOCUMENTS.items():
        rows = ([format_code(path), meaning] for path, meaning in fields.items())
        blocks += [f"## rowkey {command} -f json", build_table(["field", "meaning"], rows)]
    return build_page("JSON", build_json_page, *blocks)


PACKAGES = ("zookeeper", "schema", "cells", "regions", "hbase", "happybase", "engines", "keys",
            "rows", "plan", "workload", "design", "proposals", "explanations", "hotspots", "lint",
            "simulate", "advise", "catalog", "table", "move", "observe", "render",
            "portal")  # fmt: skip


def build_python_page() -> str:
    """The Python API: the names of `import rowkey`, then those of each package.

    All names on this page are public. Import a name from its package, not from a module in it:
    `from rowkey.regions import Boundaries`.
    """
    blocks = [
        "## rowkey",
        format_docstring(rowkey),
    ]
    for name in rowkey.__all__:
        blocks += _format_name(name, getattr(rowkey, name))
    for package in PACKAGES:
        module = import_module(f"rowkey.{package}")
        rows = ([format_code(name), _find_meaning(module, name)] for name in module.__all__)
        blocks += [
            f"## rowkey.{package}",
            format_docstring(module),
            build_table(["name", "description"], rows),
        ]
    return build_page("Python", build_python_page, *blocks)


def _format_name(name: str, value: Any) -> list[str]:
    """Return the section of a public name, with its public methods."""
    title = f"{name}{format_signature(value)}"
    blocks = [f"### {name}", format_code(title), format_docstring(value)]
    rows = []
    for label, member in vars(value).items() if inspect.isclass(value) else ():
        plain = getattr(member, "__func__", getattr(member, "fget", member))
        if not label.startswith("_") and inspect.isfunction(plain):
            shown = label if isinstance(member, property) else f"{label}{format_signature(plain)}"
            rows.append([format_code(shown), read_first_line(plain)])
    return [*blocks, build_table(["method", "description"], rows)]


def format_signature(value: Any) -> str:
    """Return the parameters of a callable without types, or an empty string for other values."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [
        p.replace(annotation=p.empty)
        for p in signature.parameters.values()
        if p.name not in {"self", "cls"}
    ]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def _find_meaning(module: Any, name: str) -> str:
    """Return the first sentence of the docstring of a public name, or of the string under it."""
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isfunction(value) or hasattr(value, "cache_info"):
        return read_first_line(value)
    return find_constant_meanings(module).get(name) or _format_constant(value)


def _format_constant(value: Any) -> str:
    """Return the value of a constant as text."""
    if isinstance(value, int | str | float):
        return format_code(f"{value:,}" if isinstance(value, int) else value)
    return "entries, by name" if isinstance(value, Mapping) else format_code(value)


@cache
def find_constant_meanings(package: Any) -> dict[str, str]:
    """Return the strings under the constants of a package, by the constants' names."""
    from tools.reference.sources import iter_documented_constants

    return dict(iter_documented_constants(package.__name__.rpartition(".")[2]))
