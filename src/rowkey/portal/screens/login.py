"""Log in by a password, or by the token that is printed at the start; and log out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.users.login_pages import clean_page, forget_wanted_page, read_wanted_page
from rowkey.portal.users.login_throttle import TooManyLogins
from rowkey.portal.users.sessions import MAX_SESSION_S

if TYPE_CHECKING:
    from starlette.responses import Response


def show_login(request: PortalRequest) -> Response:
    """Show the form for name and password; exchange a token for a session, and remove it."""
    token = request.query.get("token")
    if token is None:
        return request.render("login.html", has_failed=False, opens_again=False, page="")
    cookie = request.portal.sessions.exchange_token(token)
    if cookie is None:
        raise RefusedRequest(403, "portal.error.token")
    session = request.portal.sessions.find_session(cookie)
    response = _open_page(replace(request, session=session), cookie, read_wanted_page(request))
    forget_wanted_page(request, response)
    return response


async def log_in(request: PortalRequest) -> Response:
    """Open a session for a name and a password."""
    sessions = request.portal.sessions
    name, password = request.form.get("name", ""), request.form.get("password", "")
    if sessions.users is None:
        raise RefusedRequest(403)
    try:
        cookie = await sessions.log_in(request.address, name, password)
    except TooManyLogins:
        raise RefusedRequest(429) from None
    return await run_in_threadpool(_answer_login, request, name, cookie)


def _answer_login(request: PortalRequest, name: str, cookie: str | None) -> Response:
    """Return the page that follows a login, or the form again if there is no cookie for it."""
    sessions = request.portal.sessions
    if cookie is None:
        assert sessions.users is not None, "a password was verified"
        if name in sessions.users.users:  # others could fill the disk with names
            request.note_action("fail to log in", name)
        page = clean_page(request, request.form.get("page", ""))
        return request.render("login.html", 403, has_failed=True, opens_again=False, page=page)
    session = sessions.find_session(cookie)
    page = clean_page(request, request.form.get("page", ""))
    return _open_page(replace(request, session=session), cookie, page)


def log_out(request: PortalRequest) -> Response:
    """End the session."""
    request.portal.sessions.end_session(request.cookie)
    response = request.redirect("login")
    response.delete_cookie(
        request.cookie_name, secure=request.portal.settings.is_encrypted, samesite="strict"
    )
    return response


def _open_page(request: PortalRequest, cookie: str, page: str) -> Response:
    """Return the redirection to the page that follows a login, with the cookie of a session.

    Args:
        page: the path of a page of this portal; empty for the start page.
    """
    request.note_action("log in", "portal")
    response: Response = request.redirect(*request.portal.settings.start_page)
    if page:
        response = RedirectResponse(page, 303)
    # A proxy in front of the portal may end the encryption.
    is_encrypted = request.http.headers.get("origin", "").startswith("https:")
    response.set_cookie(
        request.cookie_name,
        cookie,
        max_age=int(MAX_SESSION_S),
        secure=is_encrypted or request.portal.settings.is_encrypted,
        httponly=True,
        samesite="strict",
    )
    return response


ROUTES = [
    PortalRoute("/login", show_login, is_public=True),
    PortalRoute("/login", log_in, "POST", is_public=True),
    PortalRoute("/logout", log_out, "POST", is_public=True),
]
