"""A click command that belongs to a group of the help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

COMMAND_GROUPS = ("Design", "Judge", "Run", "Operate")
"""The headings of `rowkey --help`, in its order."""


class GroupedCommand(click.Command):
    """A command with the heading under which `rowkey --help` lists it.

    Args:
        group: one of `COMMAND_GROUPS`.
        *arguments: those of `click.Command`.
        **options: those of `click.Command`.
    """

    def __init__(self, *arguments: Any, group: str, **options: Any) -> None:
        assert group in COMMAND_GROUPS, group
        super().__init__(*arguments, **options)
        self.group = group


def define_command(group: str, short_help: str) -> Callable[[Any], GroupedCommand]:
    """Return a decorator that makes a function a command of a group.

    Args:
        group: one of `COMMAND_GROUPS`.
        short_help: the command's line in `rowkey --help`.
    """
    return click.command(cls=GroupedCommand, group=group, short_help=short_help)
