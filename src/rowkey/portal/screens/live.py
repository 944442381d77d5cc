"""The load of running tables: verdicts, causes, maps over time, regions and alerts."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from rowkey.errors import Unavailable
from rowkey.observe import LOAD_LEVEL_NAMES
from rowkey.portal.links import build_path
from rowkey.portal.live.alerts import Alert
from rowkey.portal.live.history import LAYERS
from rowkey.portal.live.page import (
    LEVEL_CLASSES,
    LOADS,
    MAX_LISTED_REGIONS,
    LivePage,
    build_map_payload,
    find_layer,
    find_load,
)
from rowkey.portal.live.watch import UNWATCHED_S, WATCHED_S, LiveWatch
from rowkey.portal.live.watched_table import TableCondition, WatchedTable
from rowkey.portal.page_templates import build_portal_environment
from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.event_streams import EVENT_INTERVAL_S, build_event_response, is_followed
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.render import Translator, build_live_document, format_server

if TYPE_CHECKING:
    from starlette.responses import Response

OLD_CONDITIONS = (TableCondition.DOWN, TableCondition.STALE)
"""Conditions in which what is shown is old."""
MAX_SHOWN_ALERTS = 10
"""Alerts that a page of a table shows; that of all tables shows five times as many."""


def show_overview(request: PortalRequest) -> Response:
    """Show all tables with their level now, and the newest alerts."""
    watch = request.portal.live
    tables = watch.list_tables()
    if request.wants_json:
        loads = [_build_document(watch, one) for one in tables if one.live is not None]
        cluster = {"condition": watch.condition, "problem": watch.problem or None}
        return JSONResponse({"format": 1, "cluster": cluster, "tables": loads})
    pages = [(one, None if one.live is None else LivePage.build(one.live)) for one in tables]
    alerts, problem = _read_alerts(request, "", 5 * MAX_SHOWN_ALERTS)
    return request.render(
        "live_overview.html",
        watch=watch,
        pages=pages,
        alerts=alerts,
        problem=problem
        or (watch.problem if watch.has_only_portal_load else "")
        or watch.alerts.problem,
        refresh_s=round(WATCHED_S * 5),
        **_build_terms(),
    )


def _build_document(watch: LiveWatch, table: WatchedTable) -> dict[str, Any]:
    """Return the load of a table as `rowkey live` prints it, with its condition."""
    regions = table.regions
    return {
        **build_live_document(watch.get_live_load(table.name)),
        "condition": watch.find_condition(table),
        "open_regions": None if regions is None else {"open": regions.open, "total": regions.total},
    }


def show_live(request: PortalRequest) -> Response:
    """Show the load of one table, as it was read last."""
    name = _find_name(request)
    watch = request.portal.live
    if request.wants_json:
        table = watch.find(name)
        live = build_live_document(watch.get_live_load(name))
        return JSONResponse(live if table is None else _build_document(watch, table))
    layer, load = (
        find_layer(request.query.get("span", "")),
        find_load(request.query.get("load", "")),
    )
    choices = {"span": layer.name, "load": load}
    return request.render(
        "live.html",
        layers=LAYERS,
        loads=LOADS,
        layer=layer,
        load=load,
        build_choice=lambda **changes: "?" + urlencode({**choices, **changes}),
        map_url=build_path("tables", name, "live", "map", query=urlencode(choices)),
        refresh_s=round(WATCHED_S * 5),
        **_build_values(request, name),
    )


def send_map(request: PortalRequest) -> Response:
    """Return the map of a table for the script of the page.

    Raises:
        Unavailable: the history cannot be read.
    """
    name = _find_name(request)
    watch = request.portal.live
    layer, load = (
        find_layer(request.query.get("span", "")),
        find_load(request.query.get("load", "")),
    )
    try:
        payload = build_map_payload(
            watch.history, watch.get_live_load(name), layer, load, Translator(request.language)
        )
    except sqlite3.Error as problem:
        raise Unavailable(str(watch.history.database.path.name), str(problem)) from problem
    return JSONResponse(payload)


def send_live_events(request: PortalRequest) -> Response:
    """Return the load of a table as server-sent events, after each reading."""
    name = _find_name(request)
    return build_event_response(iterate_live_events(request, name))


async def iterate_live_events(request: PortalRequest, name: str) -> AsyncIterator[str]:
    """Yield an event after each reading of a table, as long as the session lasts."""
    live, last = request.portal.live, None
    with live.view(name) as table:
        yield ": the table is read every two seconds now\n\n"
        while live.is_running and live.find(name) is table and is_followed(request):
            version = live.describe_version(table)
            if last != version:
                last = version
                yield f"data: {await run_in_threadpool(_render_parts, request, table)}\n\n"
            await asyncio.sleep(EVENT_INTERVAL_S)


def _render_parts(request: PortalRequest, table: WatchedTable) -> str:
    """Return the parts of a page that change, once for all pages in one language."""
    with table.lock:
        version, event = table.events.get(request.language, ((), ""))
        if version != request.portal.live.describe_version(table):
            version, shown = request.portal.live.describe_version(table), table.live
            environment = build_portal_environment(request.language)
            values = _build_values(request, table.name)
            parts = {
                name: environment.get_template(f"live_{name}.html").render(**values)
                for name in ("condition", "verdicts", "tables")
            }
            minute = 0 if shown is None else shown.at_ms // 60_000
            event = json.dumps({**parts, "minute": minute})
            table.events[request.language] = (version, event)
        return event


def _build_values(request: PortalRequest, name: str) -> dict[str, Any]:
    """Return the values of the parts of a page that change."""
    watch = request.portal.live
    table = watch.find(name)
    alerts, problem = _read_alerts(request, name, MAX_SHOWN_ALERTS)
    return {
        "name": name,
        "page": LivePage.build(watch.get_live_load(name)),
        "watch": watch,
        "live": watch,
        "state": table,
        "page_table": name,
        "is_old": table is not None and watch.find_condition(table) in OLD_CONDITIONS,
        "alerts": alerts,
        "problem": problem or watch.alerts.problem,
        **_build_terms(),
    }


def _build_terms() -> dict[str, Any]:
    """Return what the templates format figures by."""
    return {
        "LEVEL_CLASSES": LEVEL_CLASSES,
        "LOAD_LEVEL_NAMES": LOAD_LEVEL_NAMES,
        "MAX_LISTED_REGIONS": MAX_LISTED_REGIONS,
        "format_server": format_server,
        "watched_s": round(WATCHED_S),
        "unwatched_s": round(UNWATCHED_S),
    }


def _read_alerts(request: PortalRequest, table: str, count: int) -> tuple[list[Alert], str]:
    """Return the newest alerts of a table or of all, and why they cannot be read."""
    try:
        return request.portal.live.alerts.log.list_newest(count, table), ""
    except sqlite3.Error as problem:
        return [], str(problem)


def _find_name(request: PortalRequest) -> str:
    """Return the table of the path; a new one is looked up on the engine.

    Raises:
        RefusedRequest: there is no such table.
        Unavailable: the engine cannot be reached.
    """
    name, live = request.path_values["name"], request.portal.live
    if live.find(name) is None:
        live.refresh([name])
    if live.find(name) is None:
        request.portal.engines.require_url()
        request.portal.engines.require_answers()
        raise RefusedRequest(404)
    return name


ROUTES = [
    PortalRoute("/live", show_overview, menu_key="portal.menu.live", menu_position=2),
    PortalRoute("/tables/{name}/live", show_live),
    PortalRoute("/tables/{name}/live/map", send_map),
    PortalRoute("/tables/{name}/live/events", send_live_events),
]
"""The routes of this screen."""
