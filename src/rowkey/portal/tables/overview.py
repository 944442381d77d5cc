"""All tables of a portal: design files and stored tables, joined by their names."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from rowkey.catalog import Difference, find_differences
from rowkey.portal.links import build_path
from rowkey.portal.live.watched_table import TableCondition, WatchedTable

if TYPE_CHECKING:
    from rowkey.portal.designs.check import CheckedDesign
    from rowkey.portal.designs.workspace import DesignFile
    from rowkey.portal.portal import Portal
    from rowkey.portal.tables.stored_tables import StoredTable


PAGE_ROWS = 50
"""Tables of a page of the list."""
CHECK_S = 0.1
"""Seconds that a page of the list spends on design files that were not checked yet."""
MAX_PAGE_DIGITS = 6


@dataclass(frozen=True, slots=True)
class TableOverview:
    """A table with its design file: one line of the list.

    Args:
        name: the name of the table, or of the file if that is no valid design.
        file: the design file; None if the folder has none for the table.
        state: what is known of the table of the engine; None if it is not stored.
        checked: what is found in the file; None if it was not checked yet.
        differences: in what the file and the stored design differ, where stored rows depend on it.
    """

    name: str
    file: DesignFile | None = None
    state: WatchedTable | None = None
    checked: CheckedDesign | None = None
    differences: tuple[Difference, ...] = ()

    @property
    def stored_table(self) -> StoredTable | None:
        """The stored table; None if it is not stored, or was not read yet."""
        return None if self.state is None else self.state.stored_table

    @property
    def has_unsafe_differences(self) -> bool:
        """Whether the table cannot be opened by the file."""
        return any(not one.is_safe for one in self.differences)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Which tables of the list are shown, and in which order.

    Args:
        text: a part of the names of the tables and files.
        sort: the column that they are sorted by, one of `SORTS`.
        is_descending: whether the greatest comes first.
        page: the number of the page, from 1.
    """

    text: str = ""
    sort: str = "table"
    is_descending: bool = False
    page: int = 1

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> Self:
        """Return what the query of a URL asks for; what it says wrongly is as without it.

        >>> TableQuery.parse({"q": "log", "sort": "-regions", "page": "2"}).build_link(page=1)
        '/?q=log&sort=-regions'
        """
        sort, page = query.get("sort", ""), query.get("page", "")
        is_number = page.isascii() and page.isdecimal() and len(page) <= MAX_PAGE_DIGITS
        name = sort.removeprefix("-")
        return cls(
            query.get("q", "").strip()[:100],
            name if name in SORTS else "table",
            name in SORTS and sort.startswith("-"),
            max(int(page), 1) if is_number else 1,
        )

    def build_link(self, **changes: Any) -> str:
        """Return the path of the list with some of these values changed."""
        changed = replace(self, **changes)
        sort = f"{'-' * changed.is_descending}{changed.sort}"
        values: dict[str, Any] = {
            "q": changed.text,
            "sort": "" if sort == "table" else sort,
            "page": "" if changed.page == 1 else changed.page,
        }
        given = {name: value for name, value in values.items() if value}
        return build_path(query=urlencode(given))

    def build_sort_link(self, sort: str) -> str:
        """Return the path of the list sorted by a column; by the same one, the other way round."""
        is_descending = not self.is_descending if sort == self.sort else sort != "table"
        return self.build_link(sort=sort, is_descending=is_descending, page=1)


@dataclass(frozen=True, slots=True)
class TablePage:
    """A page of the list of tables.

    Args:
        query: what was asked for, with the number of a page that is there.
        found_count: tables that were found.
        total_count: tables with and without a file.
        problem: why the tables of the engine could not be listed, in English; empty if they could.
    """

    rows: list[TableOverview]
    query: TableQuery
    found_count: int
    total_count: int
    problem: str

    @property
    def page_count(self) -> int:
        """The number of the last page."""
        return max(-(-self.found_count // PAGE_ROWS), 1)


def list_tables(portal: Portal, query: TableQuery | None = None) -> TablePage:
    """Return a page of the tables; nothing is waited for longer than a moment.

    Args:
        query: which ones; the first page by name if None.
    """
    query = TableQuery() if query is None else query
    portal.live.refresh()
    rows = _join_files(portal)
    text = query.text.casefold()
    found = [
        row
        for row in rows
        if text in row.name.casefold() or (row.file and text in row.file.name.casefold())
    ]
    _sort_rows(portal, found, query)
    page = TablePage([], query, len(found), len(rows), portal.live.problem)
    query = replace(query, page=min(query.page, page.page_count))
    start = (query.page - 1) * PAGE_ROWS
    shown = found[start : start + PAGE_ROWS]
    if stored := [row.name for row in shown if row.state is not None]:
        portal.live.refresh(stored, accepts_old=True)
    return replace(page, query=query, rows=_complete_rows(portal, shown))


def _sort_rows(portal: Portal, rows: list[TableOverview], query: TableQuery) -> None:
    """Sort rows by a column, and those that are equal there or not known by their names."""
    rows.sort(key=lambda row: (row.name, row.file.name if row.file else ""))
    values = {id(row): SORTS[query.sort](portal, row) for row in rows}
    known = [row for row in rows if values[id(row)] is not None]
    known.sort(key=lambda row: values[id(row)], reverse=query.is_descending)
    rows[:] = known + [row for row in rows if values[id(row)] is None]


def _join_files(portal: Portal) -> list[TableOverview]:
    """Return all tables, with files that were checked before, without differences."""
    states = {one.name: one for one in portal.live.list_tables()}
    rows, named = [], set()
    for file in portal.workspace.list_files():
        checked = portal.checker.find(file)
        table = file.declared_table if checked is None else checked.table
        rows.append(TableOverview(table or file.name, file, states.get(table), checked))
        named.add(table)
    lone = [TableOverview(name, state=one) for name, one in states.items() if name not in named]
    return rows + lone


def _complete_rows(portal: Portal, rows: list[TableOverview]) -> list[TableOverview]:
    """Return rows with their files checked, as far as there is time, and their differences."""
    deadline_s = time.monotonic() + CHECK_S
    completed = []
    for row in rows:
        name, checked, state = row.name, row.checked, row.state
        if row.file is not None and checked is None and time.monotonic() < deadline_s:
            checked = portal.checker.check(row.file)
            if not checked.table:  # a file with mistakes belongs to no table
                name, state = row.file.name, None
        stored = None if state is None else state.stored_table
        differences = () if checked is None else find_design_differences(checked, stored)
        completed.append(TableOverview(name, row.file, state, checked, differences))
    return completed


def find_design_differences(
    checked: CheckedDesign, stored: StoredTable | None
) -> tuple[Difference, ...]:
    """Return in what a design file and a stored table differ; nothing if one has no design."""
    remembered = None if stored is None else stored.design
    if checked.design is None or remembered is None:
        return ()
    return tuple(find_differences(checked.design, remembered))


def _rank_condition(portal: Portal, row: TableOverview) -> int | None:
    """Return how urgent the condition of a stored table is."""
    order = (TableCondition.UP, TableCondition.UNKNOWN, TableCondition.STALE, TableCondition.DOWN)
    return None if row.state is None else order.index(portal.live.find_condition(row.state))


SORTS: Mapping[str, Callable[[Portal, TableOverview], Any]] = {
    "table": lambda _, row: row.name,
    "findings": lambda _, row: row.checked and row.checked.badness,
    "condition": _rank_condition,
    "regions": lambda _, row: row.stored_table and row.stored_table.region_count,
    "generation": lambda _, row: row.stored_table and row.stored_table.generation,
    "buckets": lambda _, row: (row.stored_table and row.stored_table.bucket_counts) or None,
}
"""What tables are sorted by, by the name of the column; None comes last."""
