"""The command `repair`."""

from __future__ import annotations

import sys
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

import click

import rowkey
from rowkey import render
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    FILE_PATH,
    OUTPUT_FORMAT_OPTION,
    PROGRESS_OPTION,
    print_errors,
    print_json,
    print_lines,
    print_notes,
    show_progress,
)
from rowkey.cli.tables import TABLE_URL_OPTION
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.engines import RepairResult, SalvageResult
    from rowkey.table import CatalogRepair, CompanionRepair, VerifiedTable


@define_command("Operate", "Repair damaged tables, a catalog, or companions of a table.")
@click.argument("design", required=False, type=FILE_PATH)
@TABLE_URL_OPTION
@click.option("--yes", is_flag=True, help="Repair without a prompt.")
@click.option("--into", metavar="NEW_URL", help="Save all readable rows to a new location.")
@click.option(
    "--keep-incomplete",
    is_flag=True,
    help="With --into: also save rows that lack cells or may hold older values.",
)
@OUTPUT_FORMAT_OPTION
@PROGRESS_OPTION
def command(
    design: str | None,
    url: str,
    output: str,
    into: str | None,
    progress: str,
    *,
    yes: bool,
    keep_incomplete: bool,
) -> int:
    """Read every block of all tables at a URL, report damage, and repair or save the tables.

    After your confirmation a damaged log is truncated at the damage: the changes before it stay,
    the rest of the log moves to the table's folder `cut` and is lost to the table. A lost
    descriptor is written again. Damage elsewhere cannot be repaired: with --into, all complete
    rows that can be read are saved into tables of the same names at a new URL, and the lost rows
    are listed. Without --yes, and without a terminal for the prompt, nothing is changed.

    With a DESIGN the command repairs its catalog instead: entries that the catalog has lost, or
    that are older than the attributes stored with the table, are restored from these attributes;
    an entry without a table is removed. This works on every engine. Then it compares the companions
    of the design with its table, row by row: rows that a crash has left different get the values of
    the table, and rows that the table lacks are deleted. On a cluster a row that was changed in the
    last 10 minutes is left as it is, because its write may go on. A companion that is missing, or
    that the design declares since the table was created, is created and filled while clients write;
    clients that opened the table before must open it again. Cells in columns that the design does
    not declare are neither compared nor changed, and are counted.

    Exits with 1 if something was damaged, repaired or not, and with 4 if a table remains that
    cannot be opened, read and written.

    \b
    rowkey repair --on rocks:./data
    rowkey repair --on rocks:./data --yes -f json
    rowkey repair --on rocks:./data --into rocks:./saved
    rowkey repair logs.toml --on rocks:./data --yes
    """
    if design is not None:
        return _repair_design(url, design, output, progress, yes=yes)
    examinations = []
    with show_progress(progress) as reported:
        for one in rowkey.table.verify_tables(url, (), reported):
            examinations.append(one)
            if output == "text":
                print_lines(render.format_examination(one))
    if output == "text" and not examinations:
        print_lines([f"there is no table at {url}"])
    repairs: list[RepairResult] = []
    saved: list[SalvageResult] = []
    if into is not None:
        saved = _save_tables(url, into, examinations, progress, keep_incomplete=keep_incomplete)
    else:
        repairs = _repair_tables(url, examinations, yes=yes)
    if output == "json":
        print_json(render.build_repair_document(url, examinations, repairs, saved, into))
    else:
        print_lines(map(render.format_repair, repairs))
        print_lines(line for one in saved for line in render.format_saved_table(one, into or ""))
    done = {one.table for one in repairs} | {one.table for one in saved}
    left = [one for one in examinations if not one.is_sound and one.table not in done]
    _print_advice(url, left)
    if any(one.needs_saving for one in left) or _print_remaining_problems(url, repairs):
        return 4
    return 0 if all(one.is_sound for one in examinations) else 1


def _repair_tables(url: str, examinations: list[VerifiedTable], *, yes: bool) -> list[RepairResult]:
    """Repair damaged tables in place, where that is possible and the user confirms it."""
    names = [
        examination.table
        for examination in examinations
        if examination.problems and not examination.needs_saving
    ]
    if not names or not (yes or _is_confirmed("Repair the damaged tables?")):
        return []
    return list(rowkey.table.repair_tables(url, names))


def _print_remaining_problems(url: str, repairs: list[RepairResult]) -> bool:
    """Verify the repaired tables again, and print what is still wrong; return whether it is."""
    names = [one.table for one in repairs]
    verified = rowkey.table.verify_tables(url, names) if names else ()
    remaining = [one for one in verified if not one.is_sound]
    print_errors(f"rowkey: {problem}" for one in remaining for problem in one.problems)
    return bool(remaining)


def _save_tables(
    url: str,
    target_url: str,
    examinations: list[VerifiedTable],
    progress: str,
    *,
    keep_incomplete: bool,
) -> list[SalvageResult]:
    """Copy the readable rows of all tables to a new URL, if at least one table is damaged."""
    names = [examination.table for examination in examinations if examination.is_readable]
    if all(examination.is_sound for examination in examinations):
        print_notes(["nothing was saved, because no table is damaged"])
        return []
    if not names:
        return []
    with show_progress(progress) as reported:
        return list(
            rowkey.table.save_tables(
                url, target_url, names, keep_incomplete=keep_incomplete, progress=reported
            )
        )


def _print_advice(url: str, unrepaired: list[VerifiedTable]) -> None:
    """Print what the user can do about tables that are still damaged."""
    if any(not examination.needs_saving for examination in unrepaired):
        print_notes(
            ["nothing was changed; --yes repairs the tables and cuts damaged logs at the damage"]
        )
    for examination in filter(attrgetter("is_damaged"), unrepaired):
        if examination.needs_saving and examination.is_readable:
            step = f"rowkey repair --on {url} --into NEW_URL saves what can be read"
            print_errors([f"rowkey: {examination.table} cannot be repaired in place; {step}"])
        elif examination.needs_saving:
            print_errors(
                [f"rowkey: no row of {examination.table} can be read; restore it from a backup"]
            )


def _repair_design(url: str, file: str, output: str, progress: str, *, yes: bool) -> int:
    """Repair the catalog entries of a design's tables, then its companions, each if confirmed."""
    design = rowkey.Design.read(file)
    main_mismatch, code = _repair_catalog(url, design, output, yes=yes)
    mismatches = {}
    for name, companion in design.companions.items():
        # A companion without table and entry is created with its rows below.
        with suppress(InvalidArgument):
            mismatches[name], one_code = _repair_catalog(url, companion, output, yes=yes)
            code = max(code, one_code)
    repairs = []
    has_table = main_mismatch is None or main_mismatch.correct_entry is not None
    # A catalog entry that is wrong hides the table.
    if design.companions and has_table and (code == 0 or (code == 1 and yes)):
        repairs = _repair_companions(url, design, output, progress, yes=yes)
        code = max(code, int(any(one.has_differences for one in repairs)))
    if output == "json":
        print_json(render.build_design_repair_document(url, main_mismatch, mismatches, repairs))
    return code


def _repair_catalog(
    url: str, design: Design, output: str, *, yes: bool
) -> tuple[CatalogRepair | None, int]:
    """Compare a design's catalog entry with its table, and repair the entry if confirmed.

    Returns:
        What is wrong with the entry, None if nothing is; and the exit code.
    """
    mismatch = rowkey.table.repair_catalog(design, url)
    outcome = "the catalog entry agrees with the table" if mismatch is None else str(mismatch)
    if output == "text":
        print_lines([f"{design.table}: {outcome}"])
    result = None
    if (
        mismatch is not None
        and not mismatch.obstacle
        and (yes or _is_confirmed("Repair the catalog?"))
    ):
        result = rowkey.table.repair_catalog(design, url, apply=True)
    if output == "text" and result is not None:
        print_lines([f"{design.table}: {result}"])
    if mismatch is not None and not mismatch.obstacle and result is None:
        print_notes(["nothing was changed; --yes repairs the catalog"])
    code = 0 if mismatch is None else 4 if mismatch.obstacle else 1
    return result or mismatch, code


def _repair_companions(
    url: str, design: Design, output: str, progress: str, *, yes: bool
) -> list[CompanionRepair]:
    """Compare companions with their main table, and repair them if confirmed."""

    def run(*, apply: bool) -> list[CompanionRepair]:
        with show_progress(progress) as reported:
            repairs = rowkey.table.repair_companions(design, url, apply=apply, progress=reported)
        if output == "text":
            print_lines(render.format_companion_repairs(design.table, repairs))
        return repairs

    if yes:
        return run(apply=True)
    repairs = run(apply=False)
    if any(one.has_differences for one in repairs):
        if _is_confirmed("Repair the companions?"):
            return run(apply=True)
        print_notes(["nothing was changed; --yes repairs the companions"])
    return repairs


def _is_confirmed(question: str) -> bool:
    """Return whether a user at a terminal answers yes to a question."""
    return sys.stdin.isatty() and click.confirm(question, err=True)
