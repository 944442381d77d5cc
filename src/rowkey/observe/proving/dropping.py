"""A table that stands as long as it is proved: dropped in the end, and named where it is left."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.engines import open_engine
from rowkey.errors import DesignRefused, OneMistakeError, Refused
from rowkey.table import drop_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.design import Design
    from rowkey.table import Table


@contextmanager
def dropped(design: Design, url: str, make: Callable[[], Table], *, keep: bool) -> Iterator[Table]:
    """A table for a `with` block, dropped behind it, however that ends.

    What goes wrong first is raised, and names the table where it is left.

    Args:
        design: the table's.
        url: where it is made.
        make: makes it.
        keep: whether it stays.
    """
    with open_engine(url):
        pass  # where it cannot be reached nothing is made, so that nothing can be left
    made = False
    try:
        with closed(make()) as table:
            made = True
            yield table
    except BaseException as first:
        # A cluster goes on with what it was asked for, unless it has refused that.
        may_come = not made and not isinstance(first, Refused | DesignRefused)
        _tell(first, _left(design, url, keep=keep, may_come=may_come), design.table, url)
        raise
    if keep:
        return
    try:
        drop_table(design, url)
    except BaseException as problem:
        _tell(problem, "is", design.table, url)
        raise


@contextmanager
def closed(table: Table) -> Iterator[Table]:
    """Close a table behind a `with` block; that it cannot be closed hides nothing that went wrong.

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


def _left(design: Design, url: str, *, keep: bool, may_come: bool) -> str:
    """Whether a table is left that was not proved to the end: `is`, `may be`, or nothing.

    It is dropped if it may be.

    Args:
        design: the table's.
        url: where it was made.
        keep: whether it stays.
        may_come: whether making it was broken off, which a cluster may still do.
    """
    left = "may be"
    try:
        with open_engine(url, create=False) as engine:
            absent = "may be" if may_come and engine.shared else ""
            left = "is" if engine.has(design.table) else absent
        if left == "is" and not keep:
            drop_table(design, url)
            left = ""
    except BaseException as second:
        if not isinstance(second, Exception):  # dropping was interrupted in its turn
            _tell(second, left, design.table, url)
            raise
    return left


def _tell(problem: BaseException, left: str, table: str, url: str) -> None:
    """Let an error name the table that is left, if it is, and how it is dropped."""
    if not left:
        return
    said = f"The table {table} {left} left: rowkey drop {table} --on {url}"
    if isinstance(problem, OneMistakeError):
        remedy = f"{problem.mistake.remedy} {said}".lstrip()
        problem.mistake = replace(problem.mistake, remedy=remedy)
        problem.args = (str(problem.mistake),)
    else:
        problem.add_note(said)
