"""Better keys: choose a design and events, read the proposals, and write one into the file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse

from rowkey.errors import Conflict, InvalidArgument
from rowkey.portal.designs.advice import AdviceRequest, list_figures
from rowkey.portal.designs.check import DiffLine, compare_texts
from rowkey.portal.designs.samples import (
    MAX_SAMPLE_BYTES,
    find_last_sample,
    find_sample,
    list_sample_suffixes,
)
from rowkey.portal.designs.workspace import DesignFile, DesignFileMissing
from rowkey.portal.links import build_path
from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tasks.pages import find_task, read_request, send_task_events, show_task
from rowkey.portal.tasks.process_task import TaskLimits
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.responses import Response

AS_DECLARED = ""
"""What the form sends for the events that the design declares: its sample, or generated ones."""
SHOWN_ADVICE = 20
LIMITS = TaskLimits(time_s=300.0)
"""What a search may use: it replays the events once for each of some twenty keys."""
TABLES_PICK = "tables"
"""What the form sends for the proposed tables, in place of the number of a key."""


def show_advice_form(request: PortalRequest) -> Response:
    """Show the form for a search, and the newest results."""
    portal, query = request.portal, request.query
    design = query.get("design", "")
    return request.render(
        "advise.html",
        files=portal.workspace.list_files(),
        samples=portal.uploads.list_samples(),
        design=design,
        sample=query["sample"] if "sample" in query else find_last_sample(portal, design),
        max_megabytes=MAX_SAMPLE_BYTES >> 20,
        suffixes=list_sample_suffixes(),
        searches=portal.advice.list_requests(SHOWN_ADVICE),
        limits=LIMITS,
        can_write=request.can_act_as(Role.DESIGNER),
    )


def start_advice(request: PortalRequest) -> Response:
    """Begin to search for better keys, and show the progress.

    Raises:
        InvalidArgument: there is no such file of events.
        InvalidDesign: the design has mistakes.
        Unavailable: too many tasks wait.
    """
    portal = request.portal
    file = portal.workspace.read(request.form.get("design", ""))
    design = portal.workspace.read_design(file)
    sample: Path | None = None
    if request.form.get("sample", AS_DECLARED) != AS_DECLARED:
        sample = find_sample(request, [design])
    elif design.declaration.sample is not None:
        sample = portal.workspace.find_sample(design)
        if sample is None:
            what = "the declared sample is not a file below the folder of the designs"
            raise InvalidArgument("sample", what, remedy="Upload a file of events, and choose it.")
    wanted = AdviceRequest(
        design=file.name,
        etag=file.etag,
        sample="" if sample is None else sample.name,
        user=request.user,
        created_ms=time.time_ns() // 1_000_000,
    )
    task_id = portal.advice.start(
        portal.tasks,
        wanted,
        LIMITS,
        folder=str(portal.workspace.folder),
        hidden_files=list(map(str, portal.workspace.hidden_files)),
        name=file.name,
        text=file.content.decode("utf-8", "surrogateescape"),
        sample=None if sample is None else str(sample),
    )
    request.note_action("advise", file.name, advice=task_id, sample=wanted.sample)
    return request.redirect("advice", task_id)


def show_advice(request: PortalRequest) -> Response:
    """Show the proposed keys, or how far the search is; programs get the document of `advise`."""
    advice_id, wanted = read_request(request, request.portal.advice)
    task = find_task(request, advice_id)
    result = request.portal.advice.read_result(advice_id)
    if request.wants_json:
        if result is None:
            raise RefusedRequest(404)
        return JSONResponse(result["document"])
    title = request.translate("portal.advice.of", design=wanted.design)
    if result is not None:
        return _render_result(request, advice_id, wanted, result)
    return show_task(
        request,
        task,
        title=title,
        events=wanted.sample or request.translate("portal.simulation.generated"),
        path=build_path("advice", advice_id),
        start=build_path("advice", query=urlencode({"design": wanted.design})),
        start_title=request.translate("portal.advice.title"),
        again=request.translate("portal.advice.again"),
    )


def _render_result(
    request: PortalRequest, advice_id: str, wanted: AdviceRequest, result: dict[str, Any]
) -> Response:
    """Return the page with the proposed keys."""
    document = result["document"]
    current = _read_current(request, wanted)
    is_current = current is not None and current.etag == wanted.etag
    return request.render(
        "advice.html",
        id=advice_id,
        wanted=wanted,
        result=result,
        document=document,
        figures=list_figures(
            [document["declared"], *document["picks"]], [result["declared"], *result["picks"]]
        ),
        pick_diffs=[_compare(current, text) for text in result["pick_texts"]],
        table_diffs=[
            _compare(current if place == 0 else None, one["text"])
            for place, one in enumerate(result["table_files"])
        ],
        is_current=is_current,
        can_write=request.can_act_as(Role.DESIGNER),
    )


def _read_current(request: PortalRequest, wanted: AdviceRequest) -> DesignFile | None:
    """Return the design file as it is now; None if it is gone."""
    try:
        return request.portal.workspace.read(wanted.design)
    except DesignFileMissing:
        return None


def _compare(current: DesignFile | None, text: str) -> list[DiffLine]:
    """Return the lines in which a text differs from a file, or from a file that is not there."""
    before = "" if current is None else current.text
    return compare_texts(before, DesignFile("", text.encode()).text)


def send_advice_events(request: PortalRequest) -> Response:
    """Return the progress of a search as server-sent events, until it has ended."""
    task_id, _ = read_request(request, request.portal.advice)
    return send_task_events(request, lambda: find_task(request, task_id))


def cancel_advice(request: PortalRequest) -> Response:
    """End a search."""
    advice_id, wanted = read_request(request, request.portal.advice)
    request.portal.tasks.cancel(advice_id)
    request.note_action("cancel advice", wanted.design, advice=advice_id)
    return request.redirect("advice", advice_id)


def adopt_advice(request: PortalRequest) -> Response:
    """Write a proposed key, or the proposed tables, into the design file and further ones.

    Raises:
        Conflict: the file has changed since the search, or one of the further files is there.
        InvalidArgument: the form names no proposal.
    """
    advice_id, wanted = read_request(request, request.portal.advice)
    result = request.portal.advice.read_result(advice_id)
    if result is None:
        raise RefusedRequest(404)
    workspace, choice = request.portal.workspace, request.form.get("pick", "")
    texts = {str(place): one for place, one in enumerate(result["pick_texts"])}
    further: list[dict[str, str]] = []
    if choice == TABLES_PICK and result["table_files"]:
        main, *further = result["table_files"]
        text = main["text"]
    elif choice in texts:
        text = texts[choice]
    else:
        what = "the form names no proposal of this search"
        raise InvalidArgument("pick", what, remedy="Open the result again, and choose one.")
    if workspace.read(wanted.design).etag != wanted.etag:  # before a further file is written
        what = "the file has changed since these keys were searched for"
        raise Conflict(wanted.design, what, remedy="Search again.")
    for one in further:
        saved = workspace.write(one["name"], one["text"], None)
        request.note_action("create design", one["name"], advice=advice_id, etag=saved.etag)
    saved = workspace.write(wanted.design, text, wanted.etag)
    request.note_action(
        "adopt advice",
        wanted.design,
        advice=advice_id,
        pick=choice,
        etag_before=wanted.etag,
        etag=saved.etag,
    )
    return request.redirect("designs", wanted.design, query="adopted")


ROUTES = [
    PortalRoute("/advice", show_advice_form, menu_key="portal.menu.advise", menu_position=5),
    PortalRoute("/advice", start_advice, "POST", Role.DESIGNER),
    PortalRoute("/advice/{id}", show_advice),
    PortalRoute("/advice/{id}/events", send_advice_events),
    PortalRoute("/advice/{id}/cancel", cancel_advice, "POST", Role.DESIGNER),
    PortalRoute("/advice/{id}/adopt", adopt_advice, "POST", Role.DESIGNER),
]
