"""A click command that belongs to a group of the help."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import click

from rowkey.cli.settings_file import read_defaults

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
        self.params.append(
            click.Option(
                ["-q", "--quiet"],
                is_flag=True,
                expose_value=False,
                callback=_store_quiet,
                help="Print only results and errors: no notes, no progress.",
            )
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; options that it lacks come from the settings file."""
        is_run = ctx.parent is not None and not ctx.resilient_parsing
        if is_run and not set(args) & set(ctx.help_option_names):
            ctx.default_map = read_defaults(self, ctx)
        self._check_values(ctx, args)
        return super().parse_args(ctx, args)

    def _check_values(self, ctx: click.Context, args: list[str]) -> None:
        """Raise unless every option that needs a value is followed by one, not by an option.

        click takes the option itself as the value, and then misses what belongs to it.
        """
        options = {
            name: option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            for name in (*option.opts, *option.secondary_opts)
        }
        words = args[: args.index("--")] if "--" in args else args
        for name, value in pairwise(words):
            option, next_name = options.get(name), value.partition("=")[0]
            needs_value = option and not option.is_flag and not isinstance(option.flag_value, str)
            if option and needs_value and next_name in options:
                raise click.BadOptionUsage(
                    name,
                    f"{name} needs a value, but the option {next_name} follows. Write "
                    f"{name} {option.make_metavar(ctx)}.",
                    ctx,
                )


_QUIET_META_KEY = "rowkey.quiet"


def _store_quiet(ctx: click.Context, _: click.Parameter, quiet: bool) -> None:
    """Keep the value of --quiet in the click context."""
    ctx.meta[_QUIET_META_KEY] = quiet


def is_quiet() -> bool:
    """Return whether the current command was given --quiet."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and ctx.meta.get(_QUIET_META_KEY, False)


def define_command(group: str, short_help: str) -> Callable[[Any], GroupedCommand]:
    """Return a decorator that makes a function a command of a group.

    Args:
        group: one of `COMMAND_GROUPS`.
        short_help: the command's line in `rowkey --help`.
    """
    return click.command(cls=GroupedCommand, group=group, short_help=short_help)
