"""Drafts: a new design file from an uploaded file of events."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rowkey.errors import Conflict, InvalidArgument
from rowkey.portal.designs.drafts import DEFAULT_SERVERS, DraftRequest
from rowkey.portal.designs.samples import MAX_SAMPLE_BYTES, list_sample_suffixes
from rowkey.portal.designs.workspace import DESIGN_SUFFIX, clean_table_name
from rowkey.portal.links import build_path
from rowkey.portal.screens.simulate import parse_servers
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tasks.pages import find_task, read_request, send_task_events, show_task
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.responses import Response

SHOWN_DRAFTS = 10


def show_draft_form(request: PortalRequest) -> Response:
    """Show the form for a draft, and the newest ones."""
    portal = request.portal
    samples = portal.uploads.list_samples()
    chosen = portal.uploads.find(request.query.get("sample", ""))
    first = chosen or (samples[0] if samples else None)
    stem = "" if first is None else clean_table_name(first.path.name.partition(".")[0])
    return request.render(
        "draft.html",
        samples=samples,
        sample=request.query.get("sample", ""),
        name=f"{stem}{DESIGN_SUFFIX}" if stem else "",
        default_servers=DEFAULT_SERVERS,
        drafts=portal.drafts.list_requests(SHOWN_DRAFTS),
        max_megabytes=MAX_SAMPLE_BYTES >> 20,
        suffixes=list_sample_suffixes(),
        can_write=request.can_act_as(Role.DESIGNER),
    )


def start_draft(request: PortalRequest) -> Response:
    """Begin to draft a design, and show the progress.

    Raises:
        Conflict: the folder has a file of this name.
        InvalidArgument: a value of the form is not allowed.
        Unavailable: too many tasks wait.
    """
    portal, form = request.portal, request.form
    name = form.get("name", "").strip()
    if not name.endswith(DESIGN_SUFFIX):
        name += DESIGN_SUFFIX
    portal.workspace.check_name(name)
    sample = portal.uploads.find(form.get("sample", ""))
    if sample is None:
        what = "there is no such file of events"
        raise InvalidArgument("sample", what, remedy="Upload one, and choose it.")
    if (portal.workspace.folder / name).exists():
        what = "there is a file of this name"
        raise Conflict(name, what, remedy="Choose another name.")
    wanted = DraftRequest(
        name=name,
        sample=sample.path.name,
        sample_id=sample.id,
        servers=parse_servers(form.get("servers", "")) or DEFAULT_SERVERS,
        user=request.user,
        created_ms=time.time_ns() // 1_000_000,
    )
    task_id = portal.drafts.start(
        portal.tasks,
        wanted,
        folder=str(portal.workspace.folder),
        hidden_files=list(map(str, portal.workspace.hidden_files)),
        name=name,
        table=clean_table_name(name.removesuffix(DESIGN_SUFFIX)),
        sample=str(sample.path),
        servers=wanted.servers,
    )
    request.note_action("draft design", name, sample=wanted.sample)
    return request.redirect("drafts", task_id)


def show_draft(request: PortalRequest) -> Response:
    """Show what a draft is based on, or how far it is."""
    draft_id, wanted = read_request(request, request.portal.drafts)
    task = find_task(request, draft_id)
    result = request.portal.drafts.read_result(draft_id)
    title = request.translate("portal.draft.of", sample=wanted.sample)
    if result is not None:
        return request.render("draft_result.html", title=title, wanted=wanted, result=result)
    return show_task(
        request,
        task,
        title=title,
        events=wanted.name,
        path=build_path("drafts", draft_id),
        start=build_path("drafts", query=f"sample={wanted.sample_id}"),
        start_title=request.translate("portal.draft.title"),
        again=request.translate("portal.draft.again"),
    )


def send_draft_events(request: PortalRequest) -> Response:
    """Return the progress of a draft as server-sent events, until it has ended."""
    task_id, _ = read_request(request, request.portal.drafts)
    return send_task_events(request, lambda: find_task(request, task_id))


def cancel_draft(request: PortalRequest) -> Response:
    """End a draft, so that no file is written."""
    draft_id, wanted = read_request(request, request.portal.drafts)
    request.portal.tasks.cancel(draft_id)
    request.note_action("cancel draft", wanted.name)
    return request.redirect("drafts", draft_id)


ROUTES = [
    PortalRoute("/drafts", show_draft_form),
    PortalRoute("/drafts", start_draft, "POST", Role.DESIGNER),
    PortalRoute("/drafts/{id}", show_draft),
    PortalRoute("/drafts/{id}/events", send_draft_events),
    PortalRoute("/drafts/{id}/cancel", cancel_draft, "POST", Role.DESIGNER),
]
