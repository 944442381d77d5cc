"""The verb `repair`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import click

from rowkey.cli.options import TEXT_OR_JSON, print_aside, print_json, print_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command(short_help="Mend damaged tables, or a catalog, so that they open again.")
@click.argument("url")
@click.argument("design", required=False)
@click.option("--yes", is_flag=True, help="Mend without asking.")
@TEXT_OR_JSON
def command(url: str, design: str | None, output: str, *, yes: bool) -> int:
    """Look for damage in all tables of a place, and cut it out of their logs if that is confirmed.

    What precedes the damage is kept whole; what follows it is moved to the folder `cut` of the
    table, and lost to it. Without --yes, and without a terminal to ask on, nothing is changed.

    With a DESIGN its catalog is looked at instead: what that has lost of the table, or has older
    than the table's own words, is put back from those; an entry whose table is not there, as an
    interrupted create leaves it, is forgotten. This works on every engine.

    Leaves with 1 if something was damaged, mended or not, and with 4 if a table cannot be
    mended, once all others are.

    \b
    rowkey repair rocks:./data
    rowkey repair rocks:./data --yes -f json
    rowkey repair rocks:./data logs.toml --yes
    """
    from rowkey.render import repair_document

    if design is not None:
        return _repaired_catalog(url, design, output, yes=yes)
    kind, where = _repairable(url)
    found = kind.examine(where)
    damaged = [one for one in found if one.log]
    told = [one for one in found if not one.broken]
    if output == "text":
        print_lines(map(str, told) if found else [f"{url} holds no table"])
    tried: Sequence[Any] = []
    if damaged and (yes or _confirmed("Cut what is damaged?")):
        tried = [one for one in kind.repair(where) if one.log]
    done = [one for one in tried if not one.broken]
    if output == "json":
        print_json(repair_document(url, found, tried))
    else:
        print_lines(map(str, done))
    if damaged and not tried:
        print_aside(["nothing was changed; --yes cuts what is damaged"])
    broken = [one for one in (*found, *tried) if one.broken]
    print_aside(f"rowkey: {one}" for one in broken)
    return 4 if broken else 1 if damaged else 0


@runtime_checkable
class Repairable(Protocol):
    """An engine whose tables can be mended."""

    def examine(self, where: str) -> list[Any]:
        """What is damaged, before anything is done."""

    def repair(self, where: str) -> list[Any]:
        """Mend it, and tell what was done."""


def _repairable(url: str) -> tuple[Repairable, str]:
    """The engine of a URL and what it takes.

    Raises:
        UsageError: it is none, or none that can be mended.
    """
    from rowkey.engines import ENGINES
    from rowkey.errors import printable

    scheme, _, where = url.partition(":")
    kind = ENGINES.get(scheme)
    if isinstance(kind, Repairable):
        return kind, where
    able = " or ".join(f"{name}:PATH" for name, one in ENGINES.items() if hasattr(one, "repair"))
    raise click.UsageError(f"{printable(url)} is nothing that can be mended; expected {able}.")


def _repaired_catalog(url: str, file: str, output: str, *, yes: bool) -> int:
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
    if found is not None and not found.broken and (yes or _confirmed("Mend the catalog?")):
        done = repair_catalog(design, url, mend=True)
    if output == "json":
        print_json(lapse_document(url, done or found))
    elif done is not None:
        print_lines([f"{design.table}: {done}"])
    if found is not None and not found.broken and done is None:
        print_aside(["nothing was changed; --yes mends it"])
    return 0 if found is None else 4 if found.broken else 1


def _confirmed(question: str) -> bool:
    """Whether somebody at a terminal says so."""
    return sys.stdin.isatty() and click.confirm(question, err=True)
