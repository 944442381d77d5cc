"""Reads the defaults of options from `rowkey.toml`, or from `[tool.rowkey]` of `pyproject.toml`.

The nearest of these files counts, from the current directory up. An option of the command line
comes first, then the environment, then the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import rowkey
from rowkey.durable_files import read_regular_file
from rowkey.errors import InvalidDesign, Mistakes, RowkeyError
from rowkey.messages import suggest_name

if TYPE_CHECKING:
    from rowkey.design import SourceMap

SHARED_SETTINGS = ("on", "progress", "quiet", "sample", "seed")
"""Options that a file may set for all commands, as they mean the same in each."""
COMMAND_SETTINGS = ("fail-on", "format", *SHARED_SETTINGS)
"""Options that a file may set in the table of a command."""
_TOOL_PATTERN = re.compile(r"^\[tool\.rowkey[.\]]", re.MULTILINE)
"""A header in `pyproject.toml` that makes it a settings file."""


class InvalidSettings(RowkeyError, ValueError):
    """A file with settings that has mistakes, each with its file, line and column.

    Args:
        lines: the mistakes as sentences.
    """

    def __init__(self, lines: str) -> None:
        super().__init__(lines)


def read_defaults(command: click.Command, ctx: click.Context) -> dict[str, Any]:
    """Return the defaults of a command's options that the nearest settings file declares.

    Args:
        command: the command that runs.
        ctx: its click context, whose parent finds the other commands.

    Returns:
        The values by name of parameter, as `default_map` of click takes them.

    Raises:
        InvalidSettings: the file is not valid TOML, has an unknown key or a wrong value.
    """
    found = _find_file()
    return {} if found is None else _SettingsReader(*found, ctx).read_defaults(command)


_MAX_SETTINGS_BYTES = 1 << 24


def _find_file() -> tuple[str, str] | None:
    """Return the path and the text of the nearest file with settings; None if there is none."""
    try:
        folder = os.getcwd()  # noqa: PTH109 - pathlib is slow
    except FileNotFoundError:  # the directory was removed
        return None
    while True:
        for name in ("rowkey.toml", "pyproject.toml"):
            path = os.path.join(folder, name)  # noqa: PTH118 - as above
            # What is no file is refused under rowkey's own name; other tools read pyproject.toml.
            exists = os.path.lexists if name == "rowkey.toml" else os.path.isfile
            if exists(path):
                text = _read_text(path)
                if name == "rowkey.toml" or _TOOL_PATTERN.search(text):
                    return os.path.relpath(path), text
        parent = os.path.dirname(folder)  # noqa: PTH120 - as above
        if parent == folder:
            return None
        folder = parent


def _read_text(path: str) -> str:
    """Return the text of a settings file.

    Raises:
        InvalidSettings: it cannot be read, or is not UTF-8.
    """
    try:
        return read_regular_file(path, _MAX_SETTINGS_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is not UTF-8"
        remedy = "Correct or remove the file; it gives the defaults of options."
        raise InvalidSettings(
            f"{os.path.relpath(path)}: the file cannot be read: {why}. {remedy}"
        ) from None


class _SettingsReader:
    """Turns the settings of one file into the defaults of a command.

    Args:
        text: what stands in it.
        ctx: the context of the command that runs.
    """

    def __init__(self, path: str, text: str, ctx: click.Context) -> None:
        self.path = path
        self.ctx = ctx
        self.mistakes = Mistakes()
        try:
            self.tree, self.source_map = _parse_file(path, text)
        except InvalidDesign as problem:
            raise InvalidSettings(str(problem)) from None
        if {"key", "fields"} <= set(self.tree):
            raise InvalidSettings(
                f"{path}: this is a design, but a file of this name holds the defaults of options. "
                "Give the design another name."
            )

    def read_defaults(self, command: click.Command) -> dict[str, Any]:
        """Return the defaults for a command; those of its own table come first.

        Raises:
            InvalidSettings: with every mistake of the file.
        """
        group = self.ctx.parent
        assert group is not None
        assert isinstance(group.command, click.Group)
        names = group.command.list_commands(group)
        prefix = "" if self.path.endswith("rowkey.toml") else "tool.rowkey."
        shared: dict[str, Any] = {}
        defaults: dict[str, Any] = {}
        for key, value in self.tree.items():
            if isinstance(value, dict) and key in names:
                table = group.command.get_command(group, key)
                assert table is not None
                values = self._read_options(table, value, f"{prefix}{key}.", COMMAND_SETTINGS)
                defaults.update(values if key == self.ctx.info_name else {})
            else:
                shared[key] = value
        options = self._read_options(command, shared, prefix, SHARED_SETTINGS, is_shared=True)
        if self.mistakes.mistakes:
            located = self.source_map.locate_mistakes(self.mistakes.mistakes)
            raise InvalidSettings(str(InvalidDesign(located, self.path)))
        return {**options, **defaults}

    def _read_options(
        self,
        command: click.Command,
        table: dict[str, Any],
        prefix: str,
        allowed: Sequence[str],
        *,
        is_shared: bool = False,
    ) -> dict[str, Any]:
        """Return the options of a command that a table sets, by name of parameter.

        Args:
            table: keys with their values.
            prefix: what stands before a key in its path.
            allowed: the keys that may stand in the table.
            is_shared: whether the table is for all commands, so that this one may lack an option.
        """
        options = {
            name.removeprefix("--"): option
            for option in command.params
            if isinstance(option, click.Option)
            for name in option.opts
        }
        known = [name for name in allowed if is_shared or name in options]
        defaults = {}
        for key, value in table.items():
            option = options.get(key)
            if key not in known:
                allowed_keys = f"one of {', '.join(known)}"
                allowed_keys += ", or the table of a command" if is_shared else ""
                self.mistakes.add(
                    f"{prefix}{key}", "the key is unknown", allowed_keys, _advise_key(key, known)
                )
            elif option is not None and (problem := _find_problem(option, value, self.ctx)):
                self.mistakes.add(f"{prefix}{key}", problem)
            elif option is not None:
                defaults[option.name or ""] = _anchor_path(key, value, self.path)
        return defaults


def _advise_key(key: str, known: Sequence[str]) -> str:
    """Return what to do about an unknown key, or an empty string."""
    if key in COMMAND_SETTINGS:
        return f"Write {key} into the table of a command that has it, such as [check]."
    return suggest_name(key, known)


def _parse_file(path: str, text: str) -> tuple[dict[str, Any], SourceMap]:
    """Return the settings of a file, and the positions of its keys.

    Raises:
        InvalidDesign: it is not valid TOML.
    """
    tree, source_map = rowkey.design.parse_toml(text, path)
    if not path.endswith("rowkey.toml"):
        tree = tree.get("tool", {}).get("rowkey", {})
    return tree, source_map


def _anchor_path(key: str, value: Any, settings_path: str) -> Any:
    """Return the value of a setting; paths in it are relative to the folder of its file."""
    folder = os.path.dirname(settings_path)  # noqa: PTH120 - pathlib is slow
    if key == "sample" and value != "-":
        return os.path.join(folder, value)  # noqa: PTH118 - as above
    if key == "on":
        from rowkey.engines import anchor_url

        return anchor_url(value, folder)
    return value


def _find_problem(option: click.Option, value: Any, ctx: click.Context) -> str:
    """Return why a value is not one of an option, or an empty string."""
    if option.is_flag:
        return "" if isinstance(value, bool) else f"{value!r} is not true or false"
    is_number = isinstance(option.type, click.IntRange)
    if isinstance(value, bool) or not isinstance(value, int if is_number else str):
        return f"{value!r} is not {'a whole number' if is_number else 'text in quotes'}"
    try:
        option.type.convert(value, option, ctx)
    except click.BadParameter as problem:
        return problem.message.rstrip(".")
    return ""
