"""The command itself: finds its verbs, prints errors as sentences, and exits as promised.

Exit codes: 0 clean, 1 findings, 2 wrong usage or file, 130 interrupted.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import iter_modules

import click

from rowkey.errors import RowkeyError

_VERBS = Path(__file__).parent / "verbs"


class _Verbs(click.Group):
    """Verbs are the files of the folder `verbs`; each is imported when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(module.name for module in iter_modules([str(_VERBS)]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = cmd_name.replace("-", "_")
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"rowkey.cli.verbs.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb; an unknown one is told the nearest known."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as problem:
            from rowkey.errors import did_you_mean

            remedy = did_you_mean(args[0], self.list_commands(ctx))
            if remedy:
                raise click.UsageError(f"{problem.message} {remedy}", ctx) from None
            raise


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("rowkey"), prog_name="rowkey")
@click.option("--debug", is_flag=True, help="Show where in rowkey an error arose.")
@click.pass_context
def group(ctx: click.Context, *, debug: bool) -> None:
    """Judge HBase row keys and table designs before any data exists.

    \b
    rowkey check design.toml
    rowkey simulate design.toml --sample events.csv
    """
    ctx.obj = {"debug": debug}


def main() -> None:
    """Run the command and leave with its exit code."""
    debug = "--debug" in sys.argv[1:]
    try:
        code = group.main(standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except BrokenPipeError:
        _leave_quietly()
    except RowkeyError as problem:
        if debug:
            raise
        click.echo(f"rowkey: {problem}", err=True)
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)


def _leave_quietly() -> None:
    """Whoever read our output has had enough."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
