"""A table that is dropped at the end of a proof; if that fails, the error names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from rowkey.design import Design
from rowkey.engines import open_engine
from rowkey.errors import DesignRefused, InvalidArgument, OneMistakeError
from rowkey.table import Table, drop_table


@contextmanager
def make_temporary_table(
    design: Design, url: str, make: Callable[[], Table], *, keep_table: bool
) -> Iterator[Table]:
    """Create a table for a `with` block, and drop it afterwards, even after an error.

    The first error is raised, with a note if the table still exists.

    Args:
        url: the cluster or engine on which it is created.
        keep_table: whether the table is kept.
    """
    with open_engine(url):
        pass  # if it cannot be reached, no table is created, so none can remain
    is_created = False
    try:
        with close_on_exit(make()) as table:
            is_created = True
            yield table
    except BaseException as first:
        # A cluster may still create the table after an error, unless it rejected the request.
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
    """Close a table after a `with` block without hiding an earlier error."""
    try:
        yield table
    except BaseException:
        with suppress(Exception):
            table.close()
        raise
    table.close()


def _find_remains(design: Design, url: str, *, keep_table: bool, may_appear: bool) -> str:
    """Drop the table of a failed proof; return whether it still exists.

    Args:
        url: the cluster or engine on which it was created.
        keep_table: whether the table is kept.
        may_appear: whether its creation was interrupted, so that a cluster may still finish it.

    Returns:
        "is", "may be", or "" if the table does not exist.
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
        if not isinstance(second, Exception):  # the drop was interrupted too
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
