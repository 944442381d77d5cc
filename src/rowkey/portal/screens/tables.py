"""The list of all tables: design files of the folder and tables of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.portal.roles import Role
from rowkey.portal.routes import PortalRoute
from rowkey.portal.table_overview import list_tables

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.requests import PortalRequest


def show_tables(request: PortalRequest) -> Response:
    """Show each table with its findings, regions, bucket counts, move and drift."""
    tables, problem = list_tables(request.portal)
    return request.render(
        "tables.html",
        tables=tables,
        problem=problem,
        can_write=request.can_act_as(Role.DESIGNER),
        verdicts=request.portal.verdicts.find(request.portal.workspace.list_files()),
        removed=request.query.get("removed", ""),
    )


ROUTES = [PortalRoute("/", show_tables, menu_key="portal.menu.tables", menu_position=1)]
