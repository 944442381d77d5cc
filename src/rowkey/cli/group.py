"""The command itself: finds its verbs, prints errors as sentences, and exits as promised.

Exit codes: 0 clean, 1 findings, 2 wrong usage or file, 3 a verification found differences,
4 something outside rowkey is missing or broken such as the place where tables live, 70 rowkey
itself is wrong, 130 interrupted, 141 whoever reads the output closed it before its end: nothing is
said of findings, 143 ended by SIGTERM.

`rowkey --help` stays quick: it loads no room, and of the standard library what click does.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from rowkey.cli.streams import standard_streams

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERBS = os.path.join(os.path.dirname(__file__), "verbs")  # noqa: PTH118, PTH120 - pathlib is slow
_LISTED = 2
"""Mistakes of a design file that a verb prints before it says how to see all."""
_MOST = 12
"""Lines of any other error: what a batch refuses has as many."""
USAGE, UNREACHED, OURS, INTERRUPTED, UNREAD, ENDED = 2, 4, 70, 130, 141, 143
"""As a shell tells of a signal, 128 and its number: SIGINT is 2, SIGPIPE 13, SIGTERM 15."""


class _Enough(Exception):
    """Whoever reads our output has closed it."""


class _Ended(KeyboardInterrupt):
    """SIGTERM came: the work ends as it does with Ctrl-C, and cleans up behind itself."""


class _Verbs(click.Group):
    """Verbs are the files of the folder `verbs`; each is imported when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        with os.scandir(_VERBS) as files:
            names = [file.name.removesuffix(".py") for file in files if file.name.endswith(".py")]
        return sorted(name for name in names if not name.startswith("_"))

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
        verbs = self.list_commands(ctx)
        if args[0].startswith("-") or args[0].replace("-", "_") in verbs:
            return super().resolve_command(ctx, args)
        from rowkey.errors import did_you_mean, printable

        remedy = did_you_mean(args[0], verbs) or f"Verbs are {', '.join(verbs)}."
        raise click.UsageError(f"there is no verb {printable(args[0])!r}. {remedy}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; click would leave with 1 where the reader has gone."""
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise _Enough from None
        return found


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rowkey", prog_name="rowkey")
@click.option("--debug", is_flag=True, help="Show where in rowkey an error arose.")
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
    """Run the command and leave with its exit code."""
    # A start makes many objects that stay: looking for garbage among them took a twentieth of it.
    gc.set_threshold(100_000)
    with standard_streams(), _ended_by_sigterm() as was_ended:
        code = _run()
    sys.exit(ENDED if was_ended else code)


@contextmanager
def _ended_by_sigterm() -> Iterator[list[int]]:
    """Let SIGTERM raise in the `with` block, unless whoever runs us has said what it does.

    The list that it gives is empty until then: what is raised while an object is being freed goes
    no further, and the exit code is told all the same.
    """
    import signal
    import threading

    came: list[int] = []

    def ended(number: int, _: object) -> None:
        came.append(number)
        raise _Ended

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield came
        return
    signal.signal(signal.SIGTERM, ended)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _run() -> int:
    """Run the verb, say what is wrong, and give the exit code."""
    try:
        code = program.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt) as problem:
        is_ended = isinstance(problem, _Ended) or isinstance(problem.__cause__, _Ended)
        click.echo("ended by SIGTERM" if is_ended else "interrupted", err=True)
        return ENDED if is_ended else INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as problem:
        problem.show()
        return USAGE
    except click.ClickException as problem:
        _show_usage(problem)
        return USAGE
    except _Enough:
        return UNREAD
    except Exception as problem:
        if "--debug" in sys.argv[1:]:
            raise
        return _show(problem)
    return code if isinstance(code, int) else 0


def _show_usage(problem: click.ClickException) -> None:
    """What was wrong with the command line, in two lines, however long it was."""
    from rowkey.errors import printable

    context = getattr(problem, "ctx", None)
    verb = context.command_path if context else "rowkey"
    click.echo(f"{verb}: {printable(problem.format_message())}", err=True)
    click.echo(f"Try '{verb} --help'.", err=True)


def _show(problem: Exception) -> int:
    """Print an error and give its exit code; what is told of many things is cut."""
    from rowkey.errors import (
        CorruptionError,
        DeclarationError,
        RowkeyError,
        Unsupported,
        escaped,
    )
    from rowkey.open_file_limit import raise_shortage

    try:
        raise_shortage(problem)
    except Unsupported as shortage:
        problem = shortage
    lines = str(problem).splitlines() or ["no word of what is wrong"]
    if isinstance(problem, DeclarationError) and len(lines) > _LISTED + 1:
        more, source = len(lines) - _LISTED, problem.source or "DESIGN"
        lines = [*lines[:_LISTED], f"and {more:,} mistakes more; rowkey check {source} tells all"]
    elif len(lines) > _MOST:
        lines = [*lines[:_MOST], f"and {len(lines) - _MOST:,} lines more"]
    if isinstance(problem, RowkeyError):
        code = UNREACHED if isinstance(problem, Unsupported | CorruptionError) else USAGE
    elif isinstance(problem, OSError):
        code, lines = USAGE, [_of_system(problem)]
    else:
        code = OURS
        where = f"{type(problem).__name__}: {lines[0][:200]}"
        lines = [where, "This is a mistake in rowkey; rowkey --debug … shows where it arose."]
    for line in lines:
        click.echo(f"rowkey: {escaped(line)}", err=True)
    return code


def _of_system(problem: OSError) -> str:
    """What the system says, behind the name of the file that it says it of."""
    from rowkey.errors import printable

    name = "" if problem.filename is None else f"{printable(str(problem.filename))}: "
    return f"{name}{problem.strerror or problem}"
