"""The rows of a stored table: pages of them, one row with its cells, and an export."""

from __future__ import annotations

import io
import tempfile
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from starlette.background import BackgroundTask
from starlette.responses import JSONResponse, StreamingResponse

from rowkey.errors import InvalidArgument, ReadError
from rowkey.portal.links import build_path
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tables.engine_session import ANSWER_LIMIT_S
from rowkey.portal.tables.rows import (
    EXPORT_LIMITS,
    MAX_EXPORTED_ROWS,
    MAX_SHOWN_CELLS,
    PAGE_LIMITS,
    RowHistory,
    RowPage,
    RowQuery,
    read_history,
    read_page,
    write_csv,
)
from rowkey.regions import to_string_binary

if TYPE_CHECKING:
    from starlette.responses import Response

CHUNK_BYTES = 1 << 16
"""Bytes of an export that are sent at once."""


def show_rows(request: PortalRequest) -> Response:
    """Show a page of the rows that meet some conditions."""
    name = request.path_values["name"]
    query = RowQuery.parse(name, request.query)
    page, problem = RowPage([], [], [], [], "", is_cut=False), ""

    def read() -> RowPage | str:
        with request.portal.engines.open_table(name) as table:  # a search may have long pauses
            try:
                return read_page(table, query, request.is_abandoned)
            except (ReadError, InvalidArgument) as refusal:
                if request.wants_json:
                    raise
                return str(refusal)

    found = request.portal.engines.ask(read, PAGE_LIMITS.time_s + ANSWER_LIMIT_S, table=name)
    if isinstance(found, str):
        problem = found
    else:
        page = found
    if request.wants_json:
        return JSONResponse(page.build_document(name))
    return request.render(
        "rows.html",
        422 if problem else 200,
        query=query,
        page=page,
        problem=problem,
        row_links=[
            build_path("tables", name, "row", query=urlencode({"row": one}))
            for one in page.identities
        ],
        undecodable_keys=[to_string_binary(one.row_key) for one in page.undecodable.samples],
        max_exported_rows=MAX_EXPORTED_ROWS,
        max_seconds=f"{PAGE_LIMITS.time_s:g}",
    )


def show_row(request: PortalRequest) -> Response:
    """Show one row with its cells, their versions and times."""
    name, text = request.path_values["name"], request.query.get("row", "")

    def read() -> RowHistory:
        with request.portal.engines.open_table(name, quick=True) as table:
            return read_history(table, text)

    history = request.portal.engines.ask(read, table=name)
    status = 200 if history.cells else 404
    if request.wants_json:
        return JSONResponse(history.build_document(name), status)
    return request.render("row.html", status, name=name, history=history, max_cells=MAX_SHOWN_CELLS)


def export_rows(request: PortalRequest) -> Response:
    """Return the rows as CSV; they are complete before the first is sent."""
    name = request.path_values["name"]
    query = RowQuery.parse(name, request.query)
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")

        def write() -> None:
            with request.portal.engines.open_table(name) as table:
                write_csv(table, query, text, request.is_abandoned)

        request.portal.engines.ask(write, EXPORT_LIMITS.time_s + ANSWER_LIMIT_S, table=name)
        text.detach()
        file.seek(0)
        stack.pop_all()
    return StreamingResponse(
        iter(partial(file.read, CHUNK_BYTES), b""),
        media_type="text/csv",
        headers={"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}.csv"},
        background=BackgroundTask(file.close),
    )


ROUTES = [
    PortalRoute("/tables/{name}/rows", show_rows),
    PortalRoute("/tables/{name}/rows.csv", export_rows),
    PortalRoute("/tables/{name}/row", show_row),
]
