"""The command `repair`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rowkey.cli.options import (
    PROGRESS,
    TEXT_OR_JSON,
    print_aside,
    print_json,
    print_lines,
    progress_to,
)

if TYPE_CHECKING:
    from rowkey.engines import Examination, Repair, Saved


@click.command(short_help="Mend damaged tables, save what is left of them, or mend a catalog.")
@click.argument("url")
@click.argument("design", required=False)
@click.option("--yes", is_flag=True, help="Mend without asking.")
@click.option("--into", metavar="NEW_URL", help="Save what can be read into a new place.")
@click.option(
    "--keep-incomplete",
    is_flag=True,
    help="With --into: save also what is left of rows that lack cells, or may be older than they "
    "were.",
)
@TEXT_OR_JSON
@PROGRESS
def command(
    url: str,
    design: str | None,
    output: str,
    into: str | None,
    progress: str,
    *,
    yes: bool,
    keep_incomplete: bool,
) -> int:
    """Read every block of all tables of a place, say what is damaged, and mend or save it.

    A damaged log is cut where it lies, if that is confirmed: what precedes the damage is kept,
    what follows it is moved to the folder `cut` of the table, and lost to it. A lost descriptor is
    written again. Damage elsewhere cannot be mended: with --into, all rows that can be read whole
    are saved into tables of the same names in a new place, and the rows that are gone are listed.
    Without --yes, and without a terminal to ask on, nothing is changed.

    With a DESIGN its catalog is looked at instead: what that has lost of the table, or has older
    than the table's own words, is put back from those; an entry whose table is not there is
    forgotten. This works on every engine.

    Leaves with 1 if something was damaged, mended or not, and with 4 if a table is left that cannot
    be read.

    \b
    rowkey repair rocks:./data
    rowkey repair rocks:./data --yes -f json
    rowkey repair rocks:./data --into rocks:./saved
    rowkey repair rocks:./data logs.toml --yes
    """
    from rowkey.render import examination_lines, repair_document, repair_line, saved_lines
    from rowkey.table import verify_tables

    if design is not None:
        return _repair_catalog(url, design, output, yes=yes)
    found = []
    with progress_to(progress, "reading", "cells") as reported:
        for one in verify_tables(url, (), reported):
            found.append(one)
            if output == "text":
                print_lines(examination_lines(one))
    if output == "text" and not found:
        print_lines([f"{url} holds no table"])
    repairs: list[Repair] = []
    saved: list[Saved] = []
    if into is not None:
        saved = _save(url, into, found, progress, keep_incomplete=keep_incomplete)
    else:
        repairs = _repair(url, found, yes=yes)
    if output == "json":
        print_json(repair_document(url, found, repairs, saved, into))
    else:
        print_lines(map(repair_line, repairs))
        print_lines(line for one in saved for line in saved_lines(one, into or ""))
    done = {one.table for one in repairs} | {one.table for one in saved}
    left = [one for one in found if not one.is_sound and one.table not in done]
    _advise(url, left)
    if any(one.needs_saving for one in left):
        return 4
    return 0 if all(one.is_sound for one in found) else 1


def _repair(url: str, found: list[Examination], *, yes: bool) -> list[Repair]:
    """Mend where they lie the tables that can be, if that is confirmed."""
    from rowkey.table import repair_tables

    names = [one.table for one in found if one.problems and not one.needs_saving]
    if not names or not (yes or _is_confirmed("Mend what is damaged?")):
        return []
    return list(repair_tables(url, names))


def _save(
    url: str, into: str, found: list[Examination], progress: str, *, keep_incomplete: bool
) -> list[Saved]:
    """Save what can be read of all tables, if one is damaged: the new place lacks none."""
    from rowkey.table import save_tables

    names = [one.table for one in found if one.is_readable]
    if all(one.is_sound for one in found):
        print_aside(["nothing was saved: all tables are sound"])
        return []
    if not names:
        return []
    with progress_to(progress, "saving", "cells") as reported:
        return list(
            save_tables(url, into, names, keep_incomplete=keep_incomplete, progress=reported)
        )


def _advise(url: str, left: list[Examination]) -> None:
    """Say what would mend the tables that are still damaged."""
    if any(not one.needs_saving for one in left):
        print_aside(["nothing was changed; --yes cuts what is damaged"])
    for one in left:
        if one.needs_saving and one.is_readable:
            step = f"rowkey repair {url} --into NEW_URL saves what can be read"
            print_aside([f"rowkey: {one.table} cannot be mended where it lies; {step}"])
        elif one.needs_saving:
            print_aside([f"rowkey: nothing of {one.table} can be read; restore it from a copy"])


def _repair_catalog(url: str, file: str, output: str, *, yes: bool) -> int:
    """Look at what the catalog of a design knows of its table, and mend that if it is confirmed."""
    from rowkey.design import Design
    from rowkey.render import lapse_document
    from rowkey.table import repair_catalog

    design = Design.read(file)
    found = repair_catalog(design, url)
    told = "nothing is lost" if found is None else str(found)
    if output == "text":
        print_lines([f"{design.table}: {told}"])
    done = None
    if found is not None and not found.broken and (yes or _is_confirmed("Mend the catalog?")):
        done = repair_catalog(design, url, mend=True)
    if output == "json":
        print_json(lapse_document(url, done or found))
    elif done is not None:
        print_lines([f"{design.table}: {done}"])
    if found is not None and not found.broken and done is None:
        print_aside(["nothing was changed; --yes mends it"])
    return 0 if found is None else 4 if found.broken else 1


def _is_confirmed(question: str) -> bool:
    """Return whether somebody at a terminal says so."""
    return sys.stdin.isatty() and click.confirm(question, err=True)
