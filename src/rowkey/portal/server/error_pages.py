"""Pages for requests that are refused or fail."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from rowkey.errors import (
    CatalogMismatch,
    Conflict,
    DesignRefused,
    InvalidArgument,
    InvalidDesign,
    NotSupported,
    ReadError,
    RowkeyError,
    Unavailable,
)
from rowkey.messages import escape_text
from rowkey.portal.designs.workspace import DesignFileMissing
from rowkey.portal.server.requests import BodyTooLarge, PortalRequest
from rowkey.portal.server.security import SAFE_METHODS
from rowkey.portal.users.login_pages import find_form_page, find_wanted_page, store_wanted_page

if TYPE_CHECKING:
    from starlette.responses import Response


_LOGGER = logging.getLogger("rowkey.portal")
_ERROR_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (BodyTooLarge, 413),
    (Conflict, 409),
    (CatalogMismatch, 409),
    (Unavailable, 503),
    (NotSupported, 422),
    (DesignFileMissing, 404),
    (InvalidArgument, 422),
    (InvalidDesign, 422),
    (DesignRefused, 422),
    (ReadError, 422),
    (RowkeyError, 422),
)
"""The status of each class of errors; the first that fits counts."""
TITLED_STATUSES = frozenset({400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 503})
"""Statuses with a title of their own in the language files."""


class RefusedRequest(Exception):
    """Raised for a request that is not answered.

    Args:
        key: the sentence that says why, by its key in the language files; that of the status if
            empty.
        arguments: the values of the sentence.
    """

    def __init__(self, status: int, key: str = "", **arguments: Any) -> None:
        super().__init__(status, key)
        self.status = status
        self.key = key or f"portal.error.about_{status}"
        self.arguments = arguments


def build_error_response(request: PortalRequest, problem: Exception) -> Response:
    """Return the page of an error, or a JSON document if the request asks for one.

    A defect of the portal is logged with its traceback; the page does not show it. What an error
    says is shown to users only, and logged for others.
    """
    status, key, arguments, text = _describe_problem(problem)
    if key == "portal.error.about_422" and request.http.method in SAFE_METHODS:
        key = "portal.error.about_422_read"
    if status == 500:
        path = escape_text(request.http.url.path)
        _LOGGER.error("%s %s failed", request.http.method, path, exc_info=problem)
    if text and request.session is None:  # it may name files of the machine
        _LOGGER.warning("%s: %s", escape_text(request.http.url.path), text)
        text = ""
    if request.wants_json:
        message = text or str(request.translate(key, **arguments))
        return JSONResponse({"format": 1, "status": status, "message": message}, status)
    if status == 401:
        return _render_login(request)
    title_status = status if status in TITLED_STATUSES else 500
    return request.render(
        "error.html",
        status,
        key=key,
        arguments=arguments,
        text=text,
        title_status=title_status,
        form_path=find_form_page(request),
    )


def _describe_problem(problem: Exception) -> tuple[int, str, dict[str, Any], str]:
    """Return the status of an error, the key and arguments of its sentence, and its own text."""
    if isinstance(problem, RefusedRequest):
        return problem.status, problem.key, problem.arguments, ""
    if isinstance(problem, HTTPException):
        status = problem.status_code if problem.status_code in TITLED_STATUSES else 400
        return status, f"portal.error.about_{status}", {}, ""
    for error_class, status in _ERROR_STATUSES:
        if isinstance(problem, error_class):
            text = str(problem) if isinstance(problem, RowkeyError) else ""
            return status, f"portal.error.about_{status}", {}, text
    return 500, "portal.error.about_500", {}, ""


def _render_login(request: PortalRequest) -> Response:
    """Return the login form, which leads to the page that was asked for.

    Where a link of another site was followed, which sends no cookie of the session, the page opens
    itself again: then the request comes from the portal, with the cookie.
    """
    headers = request.http.headers
    is_link = headers.get("sec-fetch-mode") == "navigate"
    opens_again = is_link and headers.get("sec-fetch-site") in ("cross-site", "same-site")
    page = find_wanted_page(request)
    response = request.render(
        "login.html", 401, has_failed=False, opens_again=opens_again, page=page
    )
    if request.portal.settings.users_file is None and not opens_again:
        store_wanted_page(request, response)
    return response
