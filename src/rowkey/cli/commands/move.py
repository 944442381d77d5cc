"""The command `move`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

import rowkey
from rowkey import render
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    FILE_PATH,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    parse_limit,
    print_errors,
    print_json,
    print_lines,
    print_notes,
    show_progress,
)
from rowkey.cli.tables import (
    CATALOG_OPTION,
    TABLE_URL_OPTION,
    YES_ALONE,
    add_confirmation_option,
    confirm_drop,
    find_table_name,
    get_catalog_url,
    open_existing_table,
    read_design_or_name,
)
from rowkey.errors import CatalogMismatch, InvalidArgument, Unavailable

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.move import Move, MoveStatus, StayingCells

PHASE_LABELS = {
    "collisions": "looking for collisions",
    "wait": "waiting for clients",
    "copy": "copying",
    "verify": "verifying",
    "repair": "repairing",
    "prepare": "waiting for clients",
    "catch up": "copying changes",
    "switch": "switching",
}
OPTION_STEPS = {
    "--to": ("run",),
    "--rows": ("run", "throttle"),
    "--max-p99": ("run", "throttle"),
    "--share": ("verify", "shadow"),
    "--repair": ("verify",),
    "--force": ("cutover",),
    "--stop-writers": ("cutover", "rollback"),
    "--drop-old": ("finish",),
    "--drop-new": ("finish",),
    "--yes": ("finish",),
    "--consent": ("verify", "finish"),
}
"""The steps that each option belongs to."""
LOCKING_STEPS = ("run", "verify", "cutover", "rollback", "finish")
"""The steps that only one process at a time can work on."""
STDERR = 2
"""The file descriptor of standard error."""


@define_command("Operate", "Move a table in use to another key or design.")
@click.argument(
    "step",
    type=click.Choice(
        ["plan", "run", "status", "throttle", "pause", "resume", "verify", "shadow", "cutover",
         "rollback", "finish"]
    ),
    metavar="STEP",
)  # fmt: skip
@click.argument("table", type=FILE_PATH)
@click.argument("new", required=False, type=FILE_PATH)
@TABLE_URL_OPTION
@CATALOG_OPTION
@click.option(
    "--to", metavar="URL", help="run: copy the rows to a table of this engine, which stays apart."
)
@click.option("--rows", metavar="RATE", help="run, throttle: most rows a second, or none.")
@click.option(
    "--max-p99",
    metavar="TIME",
    help="run, throttle: slow down where 1 of 100 writes takes longer than this, or none.",
)
@click.option(
    "--share",
    metavar="SHARE",
    help="verify: compare only this share of the rows; shadow: of the reads, such as 1%.",
)
@click.option("--repair", is_flag=True, help="verify: make rows that differ equal.")
@click.option("--force", is_flag=True, help="cutover: also without a passed verification.")
@click.option(
    "--stop-writers",
    metavar="COMMAND",
    help="cutover, rollback: run this before, by the shell, to stop what writes without rowkey.",
)
@click.option("--drop-old", is_flag=True, help="finish: drop the old table, after a cutover.")
@click.option("--drop-new", is_flag=True, help="finish: drop the new table and stay with the old.")
@add_confirmation_option(
    "finish: confirm without a prompt; needs the dropped table's NAME if TABLE is another."
)
@click.option(
    "--consent",
    metavar="SENTENCE",
    multiple=True,
    help="finish, verify --repair: cells that may be lost, as 'drop 80 cells of column d:x'.",
)
@PROGRESS_OPTION
@OUTPUT_FORMAT_OPTION
def command(
    step: str,
    table: str,
    new: str | None,
    url: str,
    progress: str,
    output: str,
    **options: Any,
) -> int:
    """Move the rows of a table to another design, while clients read and write it.

    TABLE is the table's name or a design file, NEW the file of the new design: with the same
    fields and fields of identity, another key, splits, families or packing. The steps:

    \b
    plan      say what the move will do and what blocks it; changes nothing
    run       create the new table, copy all rows to it, and compare both
    cutover   let clients read the new table; both are written
    rollback  let clients read the old table again; it has all changes
    finish    drop the table that is not read
    status    show how far the move is, and its history
    verify    compare both tables again
    shadow    let clients repeat a share of their reads on the table that is not read, and compare
    throttle, pause, resume   limit a copy that runs

    With --to URL the new table is on another engine. Then run copies and compares, and once more
    what has changed since; clients do not follow.

    Cells that other programs wrote to columns of no design are moved along. Those that cannot be
    are named, and finish drops them only with --consent.

    Clients of rowkey follow by themselves and lose no change. Each step may be interrupted: the
    same command goes on. Exits with 1 if something blocks a plan, with 3 if rows differ.

    \b
    rowkey move plan logs.toml by_host.toml --on rocks:./data
    rowkey move run logs.toml by_host.toml --on rocks:./data --rows 20000/s
    rowkey move throttle logs --rows none --on rocks:./data
    rowkey move status logs --on rocks:./data
    rowkey move verify logs --share 1% --on rocks:./data
    rowkey move shadow logs --share 1% --on rocks:./data
    rowkey move cutover logs --on rocks:./data
    rowkey move finish logs --drop-old --yes logs --on rocks:./data
    rowkey move run logs by_host.toml --on rocks:./data --to rocks:./other
    """
    _check_usage(step, table, new, options)
    if (to_url := options["to"]) is not None:
        return _transfer(table, new or table, (url, to_url), progress, output)
    with _open_move(step, table, url) as move:
        runner = _StepRunner(move, url, output, progress, options)
        try:
            return runner.run(step, None if new is None else _read_new_design(new), table, new)
        except KeyboardInterrupt:
            if step in LOCKING_STEPS:
                again = f"The same command goes on: rowkey move {step} {move.source_name} …"
                print_errors([f"{move.source_name}: no row is lost. {again}"])
            raise


def _check_usage(step: str, table: str, new: str | None, options: Mapping[str, Any]) -> None:
    """Raise if an argument or option is missing, or given to a step that it does not belong to.

    Raises:
        UsageError: with how to write it.
    """
    for option, steps in OPTION_STEPS.items():
        if options[option[2:].replace("-", "_")] and step not in steps:
            raise click.UsageError(f"{option} belongs to move {' and move '.join(steps)}.")
    if step == "plan" and new is None:
        raise click.UsageError(f"the new design is missing. Write rowkey move plan {table} NEW.")
    if step not in ("plan", "run") and new is not None:
        raise click.UsageError(f"move {step} takes one table: remove {new}.")
    if step == "throttle" and options["rows"] is None and options["max_p99"] is None:
        raise click.UsageError("the limit is missing. Give --rows 20000/s, or --rows none.")
    if step == "shadow" and options["share"] is None:
        raise click.UsageError("the share of the reads is missing. Give --share 1%, or --share 0%.")
    if step == "finish" and options["drop_old"] == options["drop_new"]:
        problem = (
            "two tables to drop are given"
            if options["drop_old"]
            else "the table to drop is not given"
        )
        raise click.UsageError(
            f"{problem}. Give --drop-old after a cutover, or --drop-new to give the move up."
        )


def _transfer(table: str, new: str, urls: tuple[str, str], mode: str, output: str) -> int:
    """Copy a table to another engine and compare both; return the exit code.

    Raises:
        InvalidArgument: the other engine is that of the table, or is lost with the command.
    """
    from rowkey.move import transfer_table

    url, to_url = urls
    if to_url == url or to_url.partition(":")[0].lower() == "memory":
        what = "the table is on this engine" if to_url == url else "tables in memory are lost"
        remedy = "Leave --to out to move the table where it is."
        raise InvalidArgument("--to", what, "the URL of another engine that keeps tables", remedy)
    with (
        open_existing_table(table, url) as source,
        rowkey.table.open_table(_read_new_design(new), to_url) as target,
        show_progress(mode, PHASE_LABELS) as progress,
    ):
        found = transfer_table(source, target, progress=progress)
        tables = f"{source.design.table} on {url}", f"{target.design.table} on {to_url}"
    left_out = found.left_out_rows
    if output == "json":
        print_json(render.build_move_verification_document(found.verification, *tables, left_out))
    else:
        print_lines(render.format_move_verification(found.verification, *tables, left_out))
        _print_advice(["Next: run it again to copy what changes until your programs use --to."])
    return 0 if found.has_passed else 3


@contextmanager
def _open_move(step: str, table: str, url: str) -> Iterator[Move]:
    """Open the move of a table, given by its design file or its name.

    Raises:
        CatalogMismatch: a move is to begin, and the table has another design than the file.
    """
    from rowkey.move import Move

    design = read_design_or_name(table)
    catalog = get_catalog_url()
    if not isinstance(design, str):
        catalog = catalog or design.declaration.catalog
    with Move(find_table_name(table), url, catalog=catalog) as move:
        if step in ("plan", "run") and not isinstance(design, str):
            _require_design_of_table(move, design)
        yield move


def _require_design_of_table(move: Move, design: Design) -> None:
    """Raise unless a table that is not moving has the design of the file that was given for it.

    Raises:
        CatalogMismatch: it has another one, as if both files were given in the wrong order.
    """
    from rowkey.catalog import evolve_entry

    name = move.source_name
    entry = move.record.catalog.read(name)
    if entry is None or entry.move is not None:
        return
    try:
        evolve_entry(entry, rowkey.table.rename_design(design, name))
    except CatalogMismatch as problem:
        remedy = (
            f"Write rowkey move plan {name} NEW: the table comes first, then the new design; are "
            "both files in the wrong order?"
        )
        raise CatalogMismatch(name, problem.differences, remedy) from None


def _read_new_design(path: str) -> rowkey.Design:
    return rowkey.Design.read(path)


class _StepRunner:
    """Runs one step of a move, and prints its result with the command that comes next.

    Args:
        url: the URL of the engine.
        output: `text` or `json`.
        mode: the value of --progress.
        options: the options of the command line, by name.
    """

    def __init__(
        self, move: Move, url: str, output: str, mode: str, options: Mapping[str, Any]
    ) -> None:
        self.move, self.url, self.is_json, self.mode = move, url, output == "json", mode
        self.options = options

    def run(self, step: str, design: Design | None, table: str, new: str | None) -> int:
        """Run a step; return the exit code."""
        if step in LOCKING_STEPS and self.move.status.has_mover:
            what = "another process works on the move, or it has died: this step knows in 18 s"
            print_notes([f"{self.move.source_name}: {what}"])
        match step:
            case "plan":
                assert design is not None
                return self._plan(design, table, new or "")
            case "run" | "verify":
                return self._copy_or_verify(step, design)
            case "cutover" | "rollback":
                self._switch(step)
            case "finish":
                self._finish(table)
            case _:
                self._change_settings(step)
        return 0

    def _plan(self, design: Design, table: str, new: str) -> int:
        """Print what a move will do, and what blocks it."""
        with show_progress(self.mode, PHASE_LABELS) as progress:
            plan = self.move.plan(design, progress=progress)
        if self.is_json:
            print_json(render.build_move_plan_document(plan))
            return int(not plan.is_possible)
        print_lines(render.format_move_plan(plan))
        if plan.is_possible:
            words = ["rowkey", "move", "run", table, new, "--on", self.url]
            _print_advice([f"Next: {shlex.join(words)}"])
        elif (status := self.move.status).step not in ("none", "finished"):
            self._print_next(status)
        else:
            _print_advice(["The move is not possible. Next: correct what is blocking."])
        return int(not plan.is_possible)

    def _copy_or_verify(self, step: str, design: Design | None) -> int:
        """Copy and compare, or compare alone; print what differs."""
        limits = self._parse_limits()
        share = _parse_share(self.options["share"])
        self._tell_of_pause()
        with show_progress(self.mode, PHASE_LABELS) as progress:
            if step == "run":
                if design is not None:
                    self.move.start(design, progress=progress)
                if limits:
                    self._throttle(limits)
                result = self.move.run(progress=progress)
            else:
                result = self.move.verify(
                    sample_share=share,
                    repair=self.options["repair"],
                    consents=self.options["consent"],
                    ask=_ask_for_consent if sys.stdin.isatty() else None,
                    progress=progress,
                )
        status = self.move.status
        tables = (status.source, status.target)
        left_out = status.left_out_rows
        if self.is_json:
            commands = render.list_next_commands(status, self.url)
            print_json(render.build_move_verification_document(result, *tables, left_out, commands))
        else:
            print_lines(render.format_move_verification(result, *tables, left_out))
            self._print_next(status)
        return 0 if result.has_passed else 3

    def _switch(self, step: str) -> None:
        """Cut over or roll back; print how long clients waited."""
        command_line = self.options["stop_writers"]
        stop = None if command_line is None else lambda: _stop_writers(command_line)
        before = self.move.status
        with show_progress(self.mode, PHASE_LABELS) as progress:
            if step == "cutover":
                force = self.options["force"]
                result = self.move.cut_over(force=force, stop_writers=stop, progress=progress)
            else:
                result = self.move.roll_back(stop_writers=stop, progress=progress)
        status = self.move.status
        if self.is_json:
            print_json(render.build_move_switch_document(result, status, self.url))
        else:
            if before.shadow_counts.repeated_count:
                print_lines([f"{before.source}: {render.format_shadow_reads(before)}"])
            print_lines(render.format_move_switch(result, status))
            self._print_next(status)

    def _finish(self, table: str) -> None:
        """Drop the table that is not read, once its name was typed.

        Args:
            table: the moved table, as the command line names it.

        Raises:
            UsageError: the option names the table that clients read.
        """
        status = self.move.status
        is_new_read = status.target == status.primary
        typed: str | None = self.options["yes"]
        name = None if typed == YES_ALONE else typed
        if status.step not in ("none", "finished"):
            if self.options["drop_old"] != is_new_read:
                dropped, fitting = ("new", "--drop-old") if is_new_read else ("old", "--drop-new")
                raise click.UsageError(
                    f"the {dropped} table, {status.primary}, is the one that clients read. Give "
                    f"{fitting}, or make the other one the table that is read: rowkey move "
                    f"{'rollback' if is_new_read else 'cutover'} {status.source}."
                )
            name = status.source if is_new_read else status.target
            confirm_drop(name, self.url, table, typed)
        with show_progress(self.mode, PHASE_LABELS) as progress:
            dropped = self.move.finish(
                drop=name,
                consents=self.options["consent"],
                ask=_ask_for_consent if sys.stdin.isatty() else None,
                progress=progress,
            )
        status = self.move.status
        if self.is_json:
            self._print_status(status)
            return
        print_lines([f"{dropped}: dropped"])
        if status.step == "finished":
            _print_advice(
                [f"{dropped} is now a name of {status.primary}. Next: keep the new design file."]
            )

    def _change_settings(self, step: str) -> None:
        """Show the status, after a change of the limits of the copy."""
        if step == "throttle":
            self._throttle(self._parse_limits())
        elif step == "pause":
            self.move.pause_copy()
        elif step == "resume":
            self.move.resume_copy()
        elif step == "shadow":
            self.move.repeat_reads(_parse_share(self.options["share"], may_be_zero=True))
        status = self.move.status
        if self.is_json or step == "status":
            self._print_status(status)
            return
        if step == "shadow":
            print_lines([f"{status.source}: {render.format_shadow_reads(status)}"])
            return
        print_lines([f"{status.source}: limits of the copy: {render.format_move_limits(status)}"])
        self._print_next(status)

    def _throttle(self, limits: Mapping[str, float | None]) -> None:
        """Change the limits that were given; the others stay."""
        settings = self.move.status.settings
        now = {"rows_per_s": settings.rows_per_s, "max_p99_ms": settings.max_p99_ms}
        self.move.throttle(**{**now, **limits})

    def _parse_limits(self) -> dict[str, float | None]:
        """Return the limits of --rows and --max-p99 that were given."""
        from rowkey.schema import parse_duration, parse_rate

        limits = {}
        if (text := self.options["rows"]) is not None:
            limits["rows_per_s"] = parse_limit("--rows", text, "20000/s", parse_rate)
        if (text := self.options["max_p99"]) is not None:
            limits["max_p99_ms"] = parse_limit(
                "--max-p99", text, "50ms", lambda one: parse_duration(one).nanoseconds / 1e6
            )
        return limits

    def _print_status(self, status: MoveStatus) -> None:
        if self.is_json:
            print_json(render.build_move_status_document(status, self.url))
        else:
            print_lines(render.format_move_status(status))
            self._print_next(status)

    def _print_next(self, status: MoveStatus) -> None:
        """Print the commands that go on with the move, on standard error, after the result."""
        _print_advice(render.format_next_commands(status, self.url))

    def _tell_of_pause(self) -> None:
        """Print that a copy waits because it was paused, with the command that resumes it."""
        status = self.move.status
        if status.settings.is_paused:
            words = ["rowkey", "move", "resume", status.source, "--on", self.url]
            _print_advice(["The copy is paused.", f"Next: {shlex.join(words)}"])


def _ask_for_consent(consent: str, cells: Sequence[StayingCells]) -> str:
    """Have a consent to drop cells typed on a terminal; return what was typed."""
    print_errors([f"Only the table that clients do not read has {one}." for one in cells])
    typed: str = click.prompt(f"Type {consent!r} to drop them", default="", err=True)
    return typed.strip()


def _print_advice(lines: Iterable[str]) -> None:
    """Print notes on standard error, below the result."""
    sys.stdout.flush()
    print_notes(lines)


def _parse_share(text: str | None, *, may_be_zero: bool = False) -> float:
    """Return the share of the rows or the reads that --share names, 0..1.

    Raises:
        InvalidArgument: the text is no share.

    >>> _parse_share("1%"), _parse_share("0.25"), _parse_share(None)
    (0.01, 0.25, 1.0)
    """
    if text is None:
        return 1.0
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1 or not (share or may_be_zero):
        what, low = f"{text[:64]!r} is not a share", "from 0%" if may_be_zero else "above 0% and"
        raise InvalidArgument("--share", what, f"a percentage {low} up to 100%, such as 1%")
    return share


def _stop_writers(command_line: str) -> None:
    """Run the command that stops other writers.

    Raises:
        Unavailable: it failed.
    """
    import subprocess

    # The user's own command line; its output goes to standard error, as it is no result of ours.
    done = subprocess.run(command_line, shell=True, stdout=STDERR, check=False)  # noqa: S602
    if done.returncode:
        what = f"the command exited with {done.returncode}, so the writers may go on"
        remedy = "Nothing was switched. Correct the command, and run this step again."
        raise Unavailable("--stop-writers", what, remedy=remedy)
