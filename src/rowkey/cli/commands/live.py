"""The command `live`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

import rowkey
from rowkey import observe, render
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    FILE_PATH,
    NEVER_FAIL,
    add_fail_on_option,
    print_json,
    print_lines,
    to_json,
)
from rowkey.cli.screen import build_console
from rowkey.cli.tables import TABLE_URL_OPTION
from rowkey.errors import InvalidArgument, InvalidDesign, Mistakes

if TYPE_CHECKING:
    from rowkey.observe import LiveLoad

DURATION_EXAMPLES = {"--every": "2s", "--for": "60s"}
"""Examples for the message about a wrong duration, by option."""
MAX_WATCH_S = 86_400 * 366
"""Upper limit of both durations, exclusive; the same as in `rowkey.observe.watch_table`."""


@define_command("Operate", "Show how hot a running table is, where and why.")
@click.argument("table")
@TABLE_URL_OPTION
@click.option(
    "--design",
    metavar="FILE",
    type=FILE_PATH,
    help="The table's design, if it is stored neither in a catalog nor with the table.",
)
@click.option("--every", default="2s", show_default=True, help="Time between measurements.")
@click.option("--for", "lasting", default="60s", show_default=True, help="How long to watch.")
@click.option(
    "-f",
    "--format",
    "output",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    show_default=True,
    help="Format of the output. A terminal shows the text again after each measurement; elsewhere "
    "text and json are printed once, at the end or when interrupted. jsonl prints a line for each "
    "measurement.",
)
@add_fail_on_option(["hot"], "hot", "State of the table that makes the command exit with 1.")
def command(
    table: str,
    url: str,
    design: str | None,
    every: str,
    lasting: str,
    output: str,
    fail_on: str,
) -> int:
    """Watch the counters of a table's regions: rates, load by region and server, hot spots.

    A region that is moved, split or restored starts its counters again, so its rate is unknown for
    one measurement. No verdict is given from that measurement unless the region had almost no load
    before. Where the load is uneven, a few thousand recently written rows are read to find the
    cause. Exits with 1 if the table runs hot, unless --fail-on
    is never.

    \b
    rowkey live logs --on rocks:./data --every 500ms --for 1s
    rowkey live logs --on rocks:./data --design logs.toml --every 500ms --for 1s -f jsonl

    \b
    On a cluster: --on hbase://zk1,zk2,zk3 --for 10m
    """
    last: LiveLoad | None = None
    measurements = _watch_table(table, url, design, {"--every": every, "--for": lasting})
    try:
        for last in measurements:
            _show_measurement(last, output)
    except KeyboardInterrupt:
        if last is not None:
            _show_result(last, output)
        raise
    if last is None:
        return 0
    _show_result(last, output)
    return int(last.is_hot and fail_on != NEVER_FAIL)


def _watch_table(
    table: str, url: str, design: str | None, durations: dict[str, str]
) -> Iterator[LiveLoad]:
    """Yield the measurements of a table; report all mistakes of the options in one error."""
    mistakes = Mistakes()
    every_s, for_s = (_parse_duration(text, option, mistakes) for option, text in durations.items())
    declared_design = _read_design(design, mistakes)
    mistakes.raise_any()
    try:
        return observe.watch_table(table, url, design=declared_design, every_s=every_s, for_s=for_s)
    except InvalidArgument as refusal:
        wrong = refusal.mistake
        if (option := f"--{wrong.path}") not in durations:
            raise
        raise InvalidArgument(option, wrong.problem, wrong.expected, wrong.remedy) from None


def _parse_duration(text: str, option: str, mistakes: Mistakes) -> float:
    """Return the seconds of --every or --for; note a mistake if the text is no valid duration."""
    from rowkey.schema import NANOSECONDS, parse_duration

    try:
        length_s = parse_duration(text).nanoseconds / NANOSECONDS["s"]
        what = f"{text} is out of range"
    except InvalidArgument as refusal:
        length_s, what = 0.0, refusal.mistake.problem
    if not 0 < length_s < MAX_WATCH_S:
        allowed = "a whole number followed by ms, s, m, h or d, above 0 and at most 365d"
        mistakes.add(
            option, what, allowed, f"Write, for example, {option} {DURATION_EXAMPLES[option]}."
        )
    return length_s


def _read_design(path: str | None, mistakes: Mistakes) -> rowkey.Design | None:
    """Return the design of a file, or None without a path; note the file's mistakes with others."""
    try:
        return None if path is None else rowkey.Design.read(path)
    except InvalidDesign as problem:
        if not mistakes.mistakes:
            raise
        for sentence in str(problem).splitlines():
            mistakes.add("", sentence)
        return None


def _show_measurement(live: LiveLoad, output: str) -> None:
    """Print one measurement as a JSON line, or redraw it on a terminal."""
    if output == "jsonl":
        print_lines([to_json(render.build_live_document(live))])
        sys.stdout.flush()
    elif output == "text":
        screen = build_console()
        if screen.is_terminal:
            screen.clear()
            render.print_live(live, screen)


def _show_result(live: LiveLoad, output: str) -> None:
    """Print the last measurement where measurements are not printed one by one."""
    if output == "json":
        print_json(render.build_live_document(live))
    elif output == "text":
        screen = build_console()
        if not screen.is_terminal:
            render.print_live(live, screen)
