"""Load a file of events into a stored table, and follow how far that is."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from rowkey.portal.designs.samples import (
    MAX_SAMPLE_BYTES,
    find_last_sample,
    list_sample_suffixes,
    require_file,
)
from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tasks.pages import describe_task
from rowkey.portal.users.roles import Role
from rowkey.render import FORMAT_VERSION, format_left_out_rows, format_load_result
from rowkey.table import FileLoadResult, load_file

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.tables.table_tasks import TableTask, TaskResult

TASK = "load"


def show_load(request: PortalRequest) -> Response:
    """Show the form for a load, and the task of the table that runs or ran last."""
    name = request.path_values["name"]
    task = copy(request.portal.table_tasks.find(name))  # which may end while the page is made
    if request.wants_json:
        state = None if task is None else task.build_document()
        return JSONResponse({"format": FORMAT_VERSION, "table": name, "step": state})
    is_running = task is not None and task.is_running
    if not is_running:
        request.portal.live.refresh([name], accepts_old=True)
        if request.portal.live.find(name) is None:
            request.portal.engines.require_url()
            request.portal.engines.require_answers()
            raise RefusedRequest(404)
    declared = find_declared_sample(request, name)
    return request.render(
        "load.html",
        name=name,
        task=task if task is not None and (is_running or task.name == TASK) else None,
        sentence=describe_task(request, task) if task is not None and is_running else "",
        samples=request.portal.uploads.list_samples(),
        declared=None if declared is None else declared.name,
        sample=request.query.get("sample")
        or find_last_sample(request.portal, request.portal.workspace.find_table_file(name)),
        max_megabytes=MAX_SAMPLE_BYTES >> 20,
        suffixes=list_sample_suffixes(),
        can_operate=request.can_act_as(Role.OPERATOR),
    )


def start_load(request: PortalRequest) -> Response:
    """Begin to load a file, or go on with a load that was interrupted.

    Raises:
        Conflict: another task of the table runs.
        InvalidArgument: there is no such file.
    """
    name, portal = request.path_values["name"], request.portal
    portal.engines.require_url()
    portal.engines.require_answers(name)
    path = require_file(request, find_declared_sample(request, name))
    shuffles, restarts = "shuffle" in request.form, "restart" in request.form

    def work(task: TableTask) -> TaskResult:
        with portal.engines.open_table(name) as table, portal.live.follow_step(name):
            result = load_file(
                table,
                path,
                shuffle=shuffles,
                restart=restarts,
                progress=task.report,
            )
        return build_load_document(name, path, result), [
            *format_load_result(result),
            *format_left_out_rows(result),
        ]

    details = {"sample": path.name, "shuffle": shuffles, "restart": restarts}
    portal.table_tasks.start(name, TASK, request.user, work, details)
    return request.redirect("tables", name, "load")


def build_load_document(table: str, path: Path, result: FileLoadResult) -> dict[str, Any]:
    """Return what a load did, for programs."""
    return {
        "format": FORMAT_VERSION,
        "table": table,
        "file": path.name,
        "rows": result.row_count,
        "rows_before": result.rows_before,
        "left_out": {"count": result.left_out.count, "problems": list(result.problems)},
        "repeated": {"rows": result.repeat_count, "exact": result.is_exact_count},
        "absent_fields": list(result.absent_fields),
        "assumptions": list(result.assumptions),
    }


def cancel_load(request: PortalRequest) -> Response:
    """Cancel the load that runs; rows that are loaded stay.

    Raises:
        RefusedRequest: the table has had no load.
    """
    name = request.path_values["name"]
    task = request.portal.table_tasks.find(name)
    if task is None or task.name != TASK:
        raise RefusedRequest(404)
    if task.is_running:
        request.portal.table_tasks.cancel(name)
        request.note_action("cancel load", name)
    return request.redirect("tables", name, "load")


def find_declared_sample(request: PortalRequest, table: str) -> Path | None:
    """Return the sample that the design file of a table declares; None without one."""
    portal = request.portal
    for file in portal.workspace.list_files():
        design = portal.checker.check(file).design if file.declared_table == table else None
        if design is not None and design.table == table:
            return portal.workspace.find_sample(design)
    return None


ROUTES = [
    PortalRoute("/tables/{name}/load", show_load),
    PortalRoute("/tables/{name}/load", start_load, "POST", Role.OPERATOR),
    PortalRoute("/tables/{name}/load/cancel", cancel_load, "POST", Role.OPERATOR),
]
