"""Options of the commands that use a table, and how they open it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

import rowkey
from rowkey.cli.options import print_errors
from rowkey.errors import InvalidArgument
from rowkey.messages import shorten_text

if TYPE_CHECKING:
    from rowkey.table import Table


def _check_url(ctx: click.Context, _: click.Parameter, url: str | None) -> str | None:
    """Return the URL of --on; tables in memory would be gone when the command ends.

    Raises:
        UsageError: no URL is given, nor declared in the environment or a settings file.
        InvalidArgument: it names the memory of one process.
    """
    if not url:
        if ctx.resilient_parsing:
            return url
        raise click.UsageError(
            "--on is missing. Give --on URL, such as --on rocks:./data; or set ROWKEY_ON, or write "
            'on = "URL" into rowkey.toml.'
        )
    if url.partition(":")[0].lower() == "memory":
        raise InvalidArgument(
            "--on",
            f"{shorten_text(url)} stores tables in the memory of one process, so they are gone "
            "when the command ends",
            "rocks:PATH or the URL of an HBase cluster",
        )
    return url


TABLE_URL_OPTION = click.option(
    "--on",
    "url",
    metavar="URL",
    envvar="ROWKEY_ON",
    show_envvar=True,
    callback=_check_url,
    help="Where the table lives: rocks:PATH, a directory with a folder for each table; "
    "hbase://zk1,zk2:2181/hbase or hbase+master://m1:16000,m2:16000, an HBase cluster.",
)


_CATALOG_META_KEY = "rowkey.catalog"


def _store_catalog_url(ctx: click.Context, _: click.Parameter, url: str | None) -> None:
    """Keep the value of --catalog in the click context."""
    ctx.meta[_CATALOG_META_KEY] = url


CATALOG_OPTION = click.option(
    "--catalog",
    metavar="URL",
    expose_value=False,
    callback=_store_catalog_url,
    help="Catalog of the table, if it is not next to the table and no design file declares it.",
)


def get_catalog_url() -> str | None:
    """Return the value of --catalog of the current command line; None without it."""
    url: str | None = click.get_current_context().meta.get(_CATALOG_META_KEY)
    return url


@contextmanager
def open_existing_table(design: str, url: str) -> Iterator[Table]:
    """Open an existing table, given by its design file or its name in the catalog."""
    with rowkey.table.open_table(
        read_design_or_name(design), url, create=False, catalog=get_catalog_url()
    ) as table:
        yield table


def find_table_name(design: str) -> str:
    """Return the table's name for a design file, or the given name itself."""
    design_or_name = read_design_or_name(design)
    return design_or_name if isinstance(design_or_name, str) else design_or_name.table


YES_ALONE = "\0"
"""The value of a --yes that nothing follows. No argument can be it: `--yes ""`, as of a variable
that is not set, is a wrong name."""


def add_confirmation_option(purpose: str) -> Callable[[Any], Any]:
    """Return a decorator that adds --yes, which confirms by a table's name what cannot be undone.

    Args:
        purpose: its help.
    """
    return click.option(
        "--yes", metavar="[NAME]", is_flag=False, flag_value=YES_ALONE, help=purpose
    )


def confirm_drop(name: str, url: str, argument: str, typed: str | None) -> None:
    """Have the name of a table typed before it is dropped; see `confirm_name`."""
    warning = f"This removes the table {name} on {url} and all its rows."
    confirm_name(name, argument, typed, [warning], f"{name} is not dropped")


def confirm_name(
    name: str, argument: str, typed: str | None, warning: Iterable[str], refusal: str
) -> None:
    """Have the name of a table typed before its rows are removed.

    Args:
        argument: what the command line names the table by, which a --yes without a value repeats.
        typed: the value of --yes; None to ask for the name on a terminal.
        warning: what is printed before it is asked for, line by line.
        refusal: what is said if it is not typed.

    Raises:
        UsageError: it is not the name.
    """
    typed = argument if typed == YES_ALONE else typed
    if typed is None and sys.stdin.isatty():
        print_errors(warning)
        typed = click.prompt("Type the table's name to confirm", err=True)
    if typed != name:
        reason = "no name was typed" if typed is None else f"{typed[:40]!r} is not the table's name"
        raise click.UsageError(f"{refusal}: {reason}. Give --yes {name}.")


def read_design_or_name(design: str) -> rowkey.Design | str:
    """Return the design of a file, or the text itself if it is the name of a table."""
    # pathlib raises for a name that no file can have.
    is_file = design.endswith(".toml") or os.path.isfile(design)  # noqa: PTH113
    return rowkey.Design.read(design) if is_file else design
