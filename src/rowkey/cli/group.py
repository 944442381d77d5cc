"""The click group: finds the commands, prints errors as sentences, and sets the exit code.

Exit codes: 0 success, 1 what was judged is bad or rows were left out, 2 wrong usage or a file that
cannot be read, 3 a verification found differences, 4 something outside rowkey is missing or broken
such as a cluster or a disk, 70 a bug in rowkey, 130 interrupted, 141 the reader closed the output
before its end, 143 ended by SIGTERM.

`rowkey --help` stays quick: it imports no other package of rowkey.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from typing import Any

import click

from rowkey.cli.settings_file import read_defaults
from rowkey.cli.streams import wrap_standard_streams
from rowkey.errors import CorruptionError, InvalidDesign, RowkeyError, Unavailable
from rowkey.messages import escape_text, shorten_text, suggest_name
from rowkey.open_file_limit import raise_shortage
from rowkey.pandas_guard import skip_pandas

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


_COMMANDS_FOLDER = os.path.join(os.path.dirname(__file__), "commands")  # noqa: PTH118, PTH120 - pathlib is slow
_MAX_MISTAKES_PRINTED = 2
"""Mistakes of a design file that a command prints before it names `rowkey check`."""
_MAX_ERROR_LINES = 12
"""Lines of any other error that are printed."""
(
    EXIT_USAGE,
    EXIT_UNREACHABLE,
    EXIT_INTERNAL_ERROR,
    EXIT_INTERRUPTED,
    EXIT_OUTPUT_CLOSED,
    EXIT_TERMINATED,
) = 2, 4, 70, 130, 141, 143
"""After a signal a shell reports 128 plus its number: SIGINT is 2, SIGPIPE 13, SIGTERM 15."""


class _OutputClosed(Exception):
    """Raised when the reader of standard output has closed it."""


class _SigtermReceived(KeyboardInterrupt):
    """Raised when SIGTERM is received, so that the work ends and cleans up as with Ctrl-C."""


class _CommandGroup(click.Group):
    """Finds the commands as files of the folder `commands` and imports the one that is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, one for each file of the folder `commands`."""
        del ctx
        with os.scandir(_COMMANDS_FOLDER) as files:
            names = [file.name.removesuffix(".py") for file in files if file.name.endswith(".py")]
        return sorted(name for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the click command of a name, imported from its file; None if there is none."""
        name = cmd_name.replace("-", "_")
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"rowkey.cli.commands.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of each group under its heading, all in the same columns."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        width = max(map(len, commands))
        for group in COMMAND_GROUPS:
            rows = [
                (name.ljust(width), command.get_short_help_str(formatter.width))
                for name, command in commands.items()
                if isinstance(command, GroupedCommand) and command.group == group
            ]
            with formatter.section(group):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command; for an unknown name, raise an error that suggests one."""
        names = self.list_commands(ctx)
        if args[0].startswith("-") or args[0].replace("-", "_") in names:
            return super().resolve_command(ctx, args)
        remedy = _suggest_command(args[0], names) or f"Commands: {', '.join(names)}."
        raise click.UsageError(f"unknown command {shorten_text(args[0])!r}. {remedy}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and raise `_OutputClosed` when the reader has closed the output."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise _OutputClosed from None
        return result


_COMMAND_SYNONYMS = {
    "analyse": "simulate", "analyze": "simulate", "backup": "dump", "delete": "drop",
    "diff": "compare", "draft": "init", "export": "dump", "fix": "check", "html": "report",
    "import": "load", "insert": "put", "lint": "check", "new": "init", "query": "scan",
    "regions": "splits", "run": "simulate", "select": "scan", "top": "live", "validate": "check",
    "write": "put",
}  # fmt: skip
"""Commands by what other tools call the same thing."""


def _suggest_command(name: str, names: list[str]) -> str:
    """Return a sentence that suggests a command for an unknown name, or an empty string.

    >>> _suggest_command("sim", ["init", "simulate"]), _suggest_command("draft", ["init"])
    ('Did you mean simulate?', 'Did you mean init?')
    """
    longer = [candidate for candidate in names if candidate.startswith(name.lower())]
    if len(longer) == 1 or name.lower() in _COMMAND_SYNONYMS:
        return f"Did you mean {_COMMAND_SYNONYMS.get(name.lower()) or longer[0]}?"
    return suggest_name(name, names)


@click.command(cls=_CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="rowkey", prog_name="rowkey")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def program(ctx: click.Context, *, debug: bool) -> None:
    """Judge HBase row keys and table designs before any data exists; then run them.

    \b
    rowkey check design.toml
    rowkey simulate design.toml --sample events.csv
    rowkey create design.toml --on rocks:./data
    """
    ctx.obj = {"debug": debug}


def main() -> None:
    """Run the command line, and exit the process with its exit code."""
    # Starting creates many objects that stay; collecting garbage took a twentieth of the start.
    gc.set_threshold(100_000)
    with skip_pandas(), wrap_standard_streams(), _raise_on_sigterm() as was_ended:
        code = _run_command()
    sys.exit(EXIT_TERMINATED if was_ended else code)


@contextmanager
def _raise_on_sigterm() -> Iterator[list[int]]:
    """Make SIGTERM raise in the `with` block, unless the caller has installed a handler.

    The list holds the signal once it was received: an exception raised while an object is freed
    is lost, and the exit code must not depend on it.
    """
    received: list[int] = []

    def raise_signal(number: int, _: object) -> None:
        received.append(number)
        raise _SigtermReceived

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield received
        return
    signal.signal(signal.SIGTERM, raise_signal)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _run_command() -> int:
    """Run the command line, print its error if it has one, and return the exit code."""
    try:
        code = program.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt) as problem:
        is_ended = isinstance(problem, _SigtermReceived) or isinstance(
            problem.__cause__, _SigtermReceived
        )
        click.echo("ended by SIGTERM" if is_ended else "interrupted", err=True)
        return EXIT_TERMINATED if is_ended else EXIT_INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as problem:
        problem.show()
        return EXIT_USAGE
    except click.ClickException as problem:
        _print_usage_error(problem)
        return EXIT_USAGE
    except _OutputClosed:
        return EXIT_OUTPUT_CLOSED
    except Exception as problem:
        if "--debug" in sys.argv[1:]:
            raise
        return _print_error(problem)
    return code if isinstance(code, int) else 0


def _print_usage_error(problem: click.ClickException) -> None:
    """Print a mistake in the command line, and how to get help."""
    context = getattr(problem, "ctx", None)
    name = context.command_path if context else "rowkey"
    click.echo(f"{name}: {shorten_text(problem.format_message())}", err=True)
    click.echo(f"Try '{name} --help'.", err=True)


def _print_error(problem: Exception) -> int:
    """Print the first lines of an error, and return its exit code."""
    try:
        raise_shortage(problem)
    except Unavailable as shortage:
        problem = shortage
    lines = str(problem).splitlines() or ["the error has no message"]
    if isinstance(problem, InvalidDesign) and len(lines) > _MAX_MISTAKES_PRINTED + 1:
        hidden_count, source = len(lines) - _MAX_MISTAKES_PRINTED, problem.source or "DESIGN"
        lines = [
            *lines[:_MAX_MISTAKES_PRINTED],
            f"and {hidden_count:,} more mistakes; rowkey check {source} prints all",
        ]
    elif len(lines) > _MAX_ERROR_LINES:
        lines = [*lines[:_MAX_ERROR_LINES], f"and {len(lines) - _MAX_ERROR_LINES:,} more lines"]
    if isinstance(problem, RowkeyError):
        code = (
            EXIT_UNREACHABLE if isinstance(problem, Unavailable | CorruptionError) else EXIT_USAGE
        )
    elif isinstance(problem, OSError):
        code, lines = EXIT_USAGE, [_format_os_error(problem)]
    else:
        code = EXIT_INTERNAL_ERROR
        where = f"{type(problem).__name__}: {lines[0][:200]}"
        lines = [where, "This is a bug in rowkey. Run rowkey --debug … and report the traceback."]
    for line in lines:
        click.echo(f"rowkey: {escape_text(line)}", err=True)
    return code


def _format_os_error(problem: OSError) -> str:
    """Return the system's error message, with the file's name in front."""
    name = "" if problem.filename is None else f"{shorten_text(str(problem.filename))}: "
    return f"{name}{problem.strerror or problem}"
