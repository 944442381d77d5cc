"""The verb `repair`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import click

from rowkey.cli.options import TEXT_OR_JSON, print_aside, print_json, print_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command(short_help="Cut the logs of damaged tables, so that they open again.")
@click.argument("url")
@click.option("--yes", is_flag=True, help="Cut without asking.")
@TEXT_OR_JSON
def command(url: str, output: str, *, yes: bool) -> int:
    """Look for damage in all tables of a place, and cut it out of their logs if that is confirmed.

    What precedes the damage is kept whole; what follows it is moved to the folder `cut` of the
    table, and lost to it. Without --yes, and without a terminal to ask on, nothing is changed.
    Leaves with 1 if something was damaged, mended or not, and with 4 if a table cannot be
    mended, once all others are.

    \b
    rowkey repair rocks:./data
    rowkey repair rocks:./data --yes -f json
    """
    from rowkey.render import repair_document

    kind, where = _repairable(url)
    found = kind.examine(where)
    damaged = [one for one in found if one.log]
    told = [one for one in found if not one.broken]
    if output == "text":
        print_lines(map(str, told) if found else [f"{url} holds no table"])
    tried: Sequence[Any] = []
    if damaged and (yes or _confirmed()):
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


def _confirmed() -> bool:
    """Whether somebody at a terminal says so."""
    return sys.stdin.isatty() and click.confirm("Cut what is damaged?", err=True)
