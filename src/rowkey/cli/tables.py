"""What the verbs of a table share: where it lives, and how it is opened."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.design import Design
    from rowkey.table import Table

ON = click.option(
    "--on",
    "url",
    metavar="URL",
    required=True,
    help="Where the table lives: rocks:PATH, a directory with a folder for each table; "
    "hbase://zk1,zk2:2181/hbase or hbase+master://m1:16000,m2:16000, an HBase cluster.",
)


_CATALOG = "rowkey.catalog"


def _keep_catalog(ctx: click.Context, _: click.Parameter, url: str | None) -> None:
    ctx.meta[_CATALOG] = url


CATALOG = click.option(
    "--catalog",
    metavar="URL",
    expose_value=False,
    callback=_keep_catalog,
    help="What remembers the table, where that is not next to it and no design file declares it.",
)


def named_catalog() -> str | None:
    """Return the catalog that the command line names, if it names one."""
    url: str | None = click.get_current_context().meta.get(_CATALOG)
    return url


@contextmanager
def opened(design: str, url: str) -> Iterator[Table]:
    """The table of a design file, or of a name that the catalog knows; it must exist."""
    from rowkey.table import open_table

    with open_table(_named(design), url, create=False, catalog=named_catalog()) as table:
        yield table


def name_of(design: str) -> str:
    """The name of the table of a design file, or the name given."""
    found = _named(design)
    return found if isinstance(found, str) else found.table


def _named(design: str) -> Design | str:
    """A design file that is named, or the name of a table."""
    from rowkey.design import Design

    # pathlib raises for a name that no file can have.
    is_file = design.endswith(".toml") or os.path.isfile(design)  # noqa: PTH113
    return Design.read(design) if is_file else design
