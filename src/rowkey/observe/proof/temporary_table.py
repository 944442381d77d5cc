"""A table that is dropped at the end of a proof, and named if it cannot be dropped."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.engines import open_engine
from rowkey.errors import DesignRefused, InvalidArgument, OneMistakeError
from rowkey.table import drop_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.design import Design
    from rowkey.table import Table


@contextmanager
def make_temporary_table(
    design: Design, url: str, make: Callable[[], Table], *, keep_table: bool
) -> Iterator[Table]:
    """Create a table for a `with` block, and drop it afterwards, even after an error.

    What goes wrong first is raised, and names the table where it is left.

    Args:
        design: the table's.
        url: where it is made.
        make: makes it.
        keep_table: whether it stays.
    """
    with open_engine(url):
        pass  # where it cannot be reached nothing is made, so that nothing can be left
    is_created = False
    try:
        with close_on_exit(make()) as table:
            is_created = True
            yield table
    except BaseException as first:
        # A cluster goes on with what it was asked for, unless it has refused that.
        may_come = not is_created and not isinstance(first, InvalidArgument | DesignRefused)
        _add_remains_note(
            first,
            _find_remains(design, url, keep_table=keep_table, may_appear=may_come),
            design.table,
            url,
        )
        raise
    if keep_table:
        return
    try:
        drop_table(design, url)
    except BaseException as problem:
        _add_remains_note(problem, "is", design.table, url)
        raise


@contextmanager
def close_on_exit(table: Table) -> Iterator[Table]:
    """Close a table after a `with` block without hiding an earlier error.

    Args:
        table: the table.
    """
    try:
        yield table
    except BaseException:
        with suppress(Exception):
            table.close()
        raise
    table.close()


def _find_remains(design: Design, url: str, *, keep_table: bool, may_appear: bool) -> str:
    """Drop the table of a failed proof; return whether it still exists.

    It is dropped if it may be.

    Args:
        design: the table's.
        url: where it was made.
        keep_table: whether it stays.
        may_appear: whether making it was broken off, which a cluster may still do.
    """
    remains = "may be"
    try:
        with open_engine(url, create=False) as engine:
            absent = "may be" if may_appear and engine.is_shared else ""
            remains = "is" if engine.has_table(design.table) else absent
        if remains == "is" and not keep_table:
            drop_table(design, url)
            remains = ""
    except BaseException as second:
        if not isinstance(second, Exception):  # dropping was interrupted in its turn
            _add_remains_note(second, remains, design.table, url)
            raise
    return remains


def _add_remains_note(error: BaseException, remains: str, table: str, url: str) -> None:
    """Add to an error how the user removes a table that still exists."""
    if not remains:
        return
    advice = f"The table {table} {remains} still there. Remove it by rowkey drop {table} --on {url}"
    if isinstance(error, OneMistakeError):
        remedy = f"{error.mistake.remedy} {advice}".lstrip()
        error.mistake = replace(error.mistake, remedy=remedy)
        error.args = (str(error.mistake),)
    else:
        error.add_note(advice)
