"""Options that several commands share, and how they print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from rowkey import workload
from rowkey.cli.group import is_quiet
from rowkey.cli.screen import ProgressBar
from rowkey.cli.streams import has_standard_input, resolve_input_file
from rowkey.errors import InvalidArgument
from rowkey.messages import escape_json, escape_text, shorten_text

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from rowkey.advise import Grade


class _FilePath(click.types.StringParamType):
    """The path of a file as text, which shells complete with the names of files."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


FILE_PATH = _FilePath()
DESIGN_ARGUMENT = click.argument("design", type=FILE_PATH)
DESIGNS_ARGUMENT = click.argument("designs", nargs=-1, required=True, type=FILE_PATH)


SAMPLE_OPTION = click.option(
    "--sample",
    metavar="FILE",
    type=FILE_PATH,
    callback=resolve_input_file,
    help="A file of recorded events; - is standard input, of a format that --sample-format names.",
)


def _build_format_options(
    _: click.Context, __: click.Parameter, text: str | None
) -> dict[str, Any] | None:
    """Return the value of --sample-format as the options that sample readers expect.

    Args:
        text: the name of a format, or an inline table of TOML as in the design's [sample].

    Raises:
        BadParameter: the text is not an inline table of TOML, or has no `kind`.
    """
    if text is None or not text.lstrip().startswith("{"):
        return None if text is None else {"kind": text}
    import tomllib  # a command that reads no sample does without

    try:
        options = tomllib.loads(f"format = {text}")["format"]
    except tomllib.TOMLDecodeError as problem:
        what = f"{text!r} is not an inline table of TOML: {problem}"
        raise click.BadParameter(f"{what}; expected {_FORMAT_EXAMPLE}.") from None
    if not isinstance(options.get("kind"), str):
        raise click.BadParameter(f"{text!r} names no kind; expected {_FORMAT_EXAMPLE}.")
    return dict(options)


_FORMAT_EXAMPLE = """such as '{ kind = "csv", delimiter = ";" }'"""


SAMPLE_FORMAT_OPTION = click.option(
    "--sample-format",
    "format_options",
    metavar="FORMAT",
    callback=_build_format_options,
    help="Format of the input file: its name, such as csv, or an inline table with its options, "
    'such as \'{ kind = "csv", delimiter = ";" }\'. If not given: what the design declares, unless '
    "the file's name ends as another format does.",
)


def _allow_cache(context: click.Context, _: click.Parameter, is_forbidden: bool) -> None:
    """Let the command keep parsed samples beside them, unless --no-cache is given.

    Nothing is kept beside the copy of standard input, which is removed when the command ends.
    """
    is_allowed = not is_forbidden and not has_standard_input(context)
    context.with_resource(workload.allow_sample_cache(is_allowed=is_allowed))


NO_CACHE_OPTION = click.option(
    "--no-cache",
    is_flag=True,
    expose_value=False,
    callback=_allow_cache,
    help="Read the sample again, and keep no parsed copy of it for the next command in the folder "
    ".rowkey-cache beside it.",
)

OUTPUT_FORMAT_OPTION = click.option(
    "-f",
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)

FORCE_OPTION = click.option("--force", is_flag=True, help="Overwrite the file of -o if it exists.")


class _RowLimit(click.IntRange):
    """A number of rows."""

    name = "whole number"


UNDECLARED_OPTION = click.option(
    "--undeclared",
    is_flag=True,
    help="Show under `undeclared` the cells in columns that the design does not declare, and rows "
    "that have no other cells.",
)

SKIP_UNDECODABLE_OPTION = click.option(
    "--skip-undecodable",
    is_flag=True,
    help="Leave out rows whose key or values rowkey cannot decode; count and name them on stderr.",
)

LIMIT_OPTION = click.option(
    "--limit", type=_RowLimit(0, 2**63 - 1), metavar="N", help="Take only the first N rows."
)

ORDER_OPTION = click.option(
    "--order",
    default="",
    metavar="FIELDS",
    help='Order of the rows, such as "ts desc"; nulls come first.',
)

NEVER_FAIL = "never"
"""The level of --fail-on with which no finding makes a command exit with 1."""


def add_fail_on_option(levels: Sequence[str], default: str, help_text: str) -> Callable[[Any], Any]:
    """Return the click option --fail-on, which says from which level on a command exits with 1.

    Args:
        levels: what may be given besides `never`, the gravest first.
        default: the level if the option is not given.
        help_text: a sentence that says what has these levels.
    """
    return click.option(
        "--fail-on",
        type=click.Choice([*levels, NEVER_FAIL]),
        default=default,
        show_default=True,
        help=help_text,
    )


FAIL_ON_GRADE_OPTION = add_fail_on_option(
    ["poor", "fair"], "poor", "Best grade of a verdict that makes the command exit with 1."
)


def is_failing(grade: Grade, fail_on: str) -> bool:
    """Return whether a verdict makes a command exit with 1.

    Args:
        fail_on: the value of --fail-on.
    """
    return fail_on != NEVER_FAIL and grade in ("poor", fail_on)


SEED_OPTION = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, help="Seed of all random choices."
)


def check_overwrite(path: str | None, *, force: bool) -> None:
    """Raise if the output file exists and `--force` was not given.

    Args:
        path: the file of `-o`; None for standard output.
        force: whether `--force` was given.

    Raises:
        UsageError: the file exists.
    """
    if path is not None and not force and os.path.lexists(path):
        raise click.UsageError(
            f"{shorten_text(path)} already exists. Give another name, or --force to overwrite it."
        )


def print_json(document: Any) -> None:
    """Print a document as indented JSON on standard output."""
    print_lines([to_json(document, indent=2)])


def to_json(document: Any, indent: int | None = None) -> str:
    """Return a document as JSON text, with characters escaped that the terminal cannot show."""
    is_utf = (sys.stdout.encoding or "").lower().startswith("utf")
    return escape_json(json.dumps(document, indent=indent, ensure_ascii=not is_utf))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output, with terminal control characters escaped."""
    for line in lines:
        text = line if line.isprintable() else "\n".join(map(escape_text, line.split("\n")))
        sys.stdout.write(f"{text}\n")


def print_notes(lines: Iterable[str]) -> None:
    """Print lines on standard error as `print_errors` does, but not with --quiet."""
    if not is_quiet():
        print_errors(lines)


def print_errors(lines: Iterable[str]) -> None:
    """Print lines on standard error, with terminal control characters escaped."""
    for line in lines:
        click.echo(escape_text(line), err=True)


def format_row_count(count: int, outcome: str) -> str:
    """Return a number of rows with what happened to them.

    >>> format_row_count(1, "written"), format_row_count(2_000, "written")
    ('1 row written', '2,000 rows written')
    """
    return f"{count:,} {'row' if count == 1 else 'rows'} {outcome}"


REPLAY_WEIGHTS = {"reading": 3.0, "replaying": 1.0, "searching causes": 0.0}
"""The phases of judging a design, with the relative cost of an event.

Reading an event of a CSV file takes 3.5 to 4.5 times as long as replaying it, and less of a file in
columns; the search for causes takes a fraction of a second for any number of events.
"""


def show_progress(
    mode: str,
    labels: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> AbstractContextManager[ProgressBar | None]:
    """Return a context manager that shows progress on standard error; None if switched off.

    The option --quiet switches it off.

    Args:
        mode: `auto` for a line on a terminal and nothing elsewhere, `json` for a line of JSON a
            second, `none`.
        labels: as for `ProgressBar`.
        weights: as for `ProgressBar`.
    """
    if mode == "none" or is_quiet() or (mode == "auto" and not sys.stderr.isatty()):
        return nullcontext()

    return ProgressBar(labels, weights, as_json=mode == "json")


PROGRESS_OPTION = click.option(
    "--progress",
    type=click.Choice(["auto", "json", "none"]),
    default="auto",
    show_default=True,
    help="How progress is shown, on stderr.",
)


NO_LIMIT = "none"


def parse_limit(
    option: str, text: str, example: str, parse: Callable[[str], float]
) -> float | None:
    """Return the limit that an option gives to a copy of rows; None for `none`.

    Args:
        example: a limit, for the message.
        parse: parses a limit.

    Raises:
        InvalidArgument: it is neither, or not above 0.
    """
    if text == NO_LIMIT:
        return None
    try:
        limit = parse(text)
    except InvalidArgument as refusal:
        what, allowed = refusal.mistake.problem, refusal.mistake.expected
    else:
        if limit > 0:
            return limit
        what, allowed = f"{text} copies nothing", "a limit above 0"
    remedy = f"Write {option} {example}, or {option} {NO_LIMIT}."
    raise InvalidArgument(option, what, allowed, remedy)
