"""One design: its text, the bytes of its key, what the rules find, and its reads; and its edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import JSONResponse

from rowkey.design import Design
from rowkey.errors import Conflict
from rowkey.portal.designs.check import CheckedDesign, DiffLine, compare_texts
from rowkey.portal.designs.completions import build_completions
from rowkey.portal.designs.workspace import DESIGN_SUFFIX, DesignFile, clean_table_name
from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tables.overview import find_design_differences
from rowkey.portal.tables.stored_tables import StoredTable
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.responses import Response

NOTICES = ("saved", "fixed", "created", "adopted")
"""What a page says after a form was sent, by the words of its query."""
NEW_TEXT = """\
table = "{table}"
key   = "[id]"

[fields]
id    = "u64"
value = "text"
"""
"""The text of a new design file."""


def show_design(request: PortalRequest) -> Response:
    """Show a design file."""
    file = request.portal.workspace.read(request.path_values["name"])
    notice = next((one for one in NOTICES if one in request.query), "")
    return _render_design(request, file, request.portal.checker.check(file), notice=notice)


def show_stored_design(request: PortalRequest) -> Response:
    """Show the design file of a stored table, or the stored design if it has no file to edit."""
    name = request.path_values["name"]
    if file := request.portal.workspace.find_table_file(name):
        return request.redirect("designs", file)
    request.portal.live.refresh([name])
    state = request.portal.live.find(name)
    if state is None:
        request.portal.engines.require_answers()
        raise RefusedRequest(404)
    stored = state.stored_table or StoredTable(name)
    text = "" if stored.entry is None else stored.entry.declaration
    checked = CheckedDesign(stored.name, text, lambda: Design.loads(text)) if text else None
    return request.render("stored_table.html", stored=stored, state=state, checked=checked)


def save_design(request: PortalRequest) -> Response:
    """Write a design file, unless it has changed since the form was shown; or check the text."""
    name, workspace = request.path_values["name"], request.portal.workspace
    text, etag = request.form.get("text", ""), request.form.get("etag", "")
    if "check" in request.form:
        return _check_draft(request, name, text, etag)
    try:
        saved = workspace.write(name, text, etag)
    except Conflict:
        return _show_conflict(request, name, text)
    request.note_action("save design", name, etag_before=etag, etag=saved.etag)
    return request.redirect("designs", name, query="saved")


def fix_design(request: PortalRequest) -> Response:
    """Write the safe fixes of the findings into a design file."""
    name, workspace = request.path_values["name"], request.portal.workspace
    file = workspace.read(name)
    checked = request.portal.checker.check(file)
    etag = request.form.get("etag", "")
    saved = workspace.write(name, checked.fixed_text, etag)
    request.note_action("fix design", name, etag_before=etag, etag=saved.etag)
    return request.redirect("designs", name, query="fixed")


def create_design(request: PortalRequest) -> Response:
    """Write a new design file with a small example."""
    name = request.form.get("name", "").strip()
    if not name.endswith(DESIGN_SUFFIX):
        name += DESIGN_SUFFIX
    table = clean_table_name(name.removesuffix(DESIGN_SUFFIX))
    saved = request.portal.workspace.write(name, NEW_TEXT.format(table=table), None)
    request.note_action("create design", name, etag=saved.etag)
    return request.redirect("designs", name, query="created")


def remove_design(request: PortalRequest) -> Response:
    """Remove a design file, whose name was typed."""
    name = request.path_values["name"]
    etag = request.form.get("etag", "")
    request.portal.workspace.remove(name, etag)
    request.note_action("remove design", name, etag=etag)
    return request.redirect(query=urlencode({"removed": name}))


def _check_draft(request: PortalRequest, name: str, text: str, etag: str) -> Response:
    """Show what the rules find in a text that is not saved, and its changes if they are wanted."""
    current = request.portal.workspace.read(name)
    draft = DesignFile(name, current.encode_text(text))
    checked = request.portal.checker.check(draft)
    diff = compare_texts(current.text, draft.text) if "compare" in request.form else ()
    return _render_design(request, draft, checked, notice="checked", etag=etag, diff=diff)


def _show_conflict(request: PortalRequest, name: str, text: str) -> Response:
    """Show a text that was not saved, next to what the file holds now."""
    current = request.portal.workspace.read(name)
    draft = DesignFile(name, current.encode_text(text))
    diff = compare_texts(current.text, draft.text)
    checked = request.portal.checker.check(draft)
    return _render_design(request, draft, checked, notice="conflict", etag=current.etag, diff=diff)


def _render_design(
    request: PortalRequest,
    file: DesignFile,
    checked: CheckedDesign,
    *,
    notice: str = "",
    etag: str = "",
    diff: Sequence[DiffLine] = (),
) -> Response:
    """Return the page of a design file.

    Args:
        file: the file, or a draft of it.
        checked: what the rules find in it.
        notice: what has happened before, by the key of its sentence; empty for nothing.
        etag: the version that the next save replaces; that of the file if empty.
        diff: in what the draft differs from the file.
    """
    live = request.portal.live
    live.refresh([checked.table] if checked.table else (), accepts_old=True)
    state = live.find(checked.table)
    stored = None if state is None else state.stored_table
    # Until it is known, a table has its pages: they say themselves if there is no such table.
    is_listed = request.portal.engines.url is None or live.list_age_s is not None
    has_pages = bool(checked.table) and (state is not None or not is_listed)
    return request.render(
        "design_file.html",
        409 if notice == "conflict" else 200,
        file=file,
        checked=checked,
        notice=notice,
        etag=etag or file.etag,
        is_draft=bool(etag),
        diff=diff,
        stored=stored,
        has_pages=has_pages and not (stored and stored.problem),
        state=state,
        page_table=checked.table,
        problem=live.problem if state is None else "",
        differences=find_design_differences(checked, stored),
        can_write=request.can_act_as(Role.DESIGNER),
    )


def send_completions(request: PortalRequest) -> Response:
    """Return what can be written where in a design file, for the script of the editor."""
    del request
    headers = {"cache-control": "private, max-age=3600"}
    return JSONResponse(build_completions(), headers=headers)


ROUTES = [
    PortalRoute("/completions", send_completions),
    PortalRoute("/designs", create_design, "POST", Role.DESIGNER),
    PortalRoute("/designs/{name}", show_design),
    PortalRoute("/designs/{name}", save_design, "POST", Role.DESIGNER),
    PortalRoute("/designs/{name}/fix", fix_design, "POST", Role.DESIGNER),
    PortalRoute(
        "/designs/{name}/remove", remove_design, "POST", Role.DESIGNER, confirmed_value="name"
    ),
    PortalRoute("/tables/{name}", show_stored_design),
]
