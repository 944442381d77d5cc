"""The list of all tables: design files of the folder and tables of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.portal.designs.samples import MAX_SAMPLE_BYTES, list_sample_suffixes
from rowkey.portal.live.watch import FACTS_S, LATE_FACTOR
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tables.overview import PAGE_ROWS, SORTS, TableQuery, list_tables
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.responses import Response

RELOAD_S = 2
"""Seconds after which the list loads itself again, as long as tables of it were not read yet."""


def show_tables(request: PortalRequest) -> Response:
    """Show a page of the tables with their findings, regions, bucket counts, move and drift."""
    page = list_tables(request.portal, TableQuery.parse(request.query))
    is_unread = any(row.state is not None and row.stored_table is None for row in page.rows)
    return request.render(
        "tables.html",
        reload_s=RELOAD_S if is_unread and not page.problem else None,
        page=page,
        sorts=SORTS,
        page_rows=PAGE_ROWS,
        old_s=LATE_FACTOR * FACTS_S,
        can_write=request.can_act_as(Role.DESIGNER),
        verdicts=request.portal.verdicts.find(row.file for row in page.rows if row.file),
        max_megabytes=MAX_SAMPLE_BYTES >> 20,
        suffixes=list_sample_suffixes(),
        removed=request.query.get("removed", ""),
    )


ROUTES = [PortalRoute("/", show_tables, menu_key="portal.menu.tables", menu_position=1)]
