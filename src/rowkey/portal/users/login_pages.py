"""The page that is opened after a login: the one that was asked for, if it is of this portal."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from starlette.routing import compile_path

from rowkey.portal.server.security import SAFE_METHODS

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.server.requests import PortalRequest


MAX_PAGE_CHARS = 2_000
"""Characters of the path of a page; that of a longer one is forgotten."""
PAGE_AGE_S = 3_600
"""Seconds in which a link that logs in leads to the page that was asked for."""


def find_form_page(request: PortalRequest) -> str:
    """Return the path of the portal's page whose form was sent; empty if there is none."""
    page = urlsplit(request.http.headers.get("referer", ""))
    if request.http.method in SAFE_METHODS or page.netloc != request.http.url.netloc:
        return ""
    return urlunsplit(("", "", "/" + page.path.lstrip("/\\"), page.query, ""))


def find_wanted_page(request: PortalRequest) -> str:
    """Return the path of the page to open after the login that a request needs; empty for none.

    That of a form is the page with the form: what was sent is not done after the login.
    """
    scope = request.http.scope
    path = scope.get("raw_path", b"").decode("latin-1")
    query = scope.get("query_string", b"").decode("latin-1")
    if request.http.method in SAFE_METHODS:
        return clean_page(request, f"{path}?{query}" if query else path)
    return clean_page(request, find_form_page(request)) or clean_page(request, path)


def clean_page(request: PortalRequest, text: str) -> str:
    r"""Return a path if it is that of a page of this portal that needs a session; else nothing.

    Browsers take `//host`, `/\host` and paths with control characters for other sites.
    """
    is_path = text.startswith("/") and not text.startswith("//") and len(text) <= MAX_PAGE_CHARS
    if not is_path or not all("!" <= one <= "~" and one not in '\\#"<>' for one in text):
        return ""
    path = unquote(text.partition("?")[0])
    is_page = any(
        route.is_safe and not route.is_public and compile_path(route.path)[0].fullmatch(path)
        for route in request.http.app.state.portal_routes
    )
    return text if is_page else ""


def store_wanted_page(request: PortalRequest, response: Response) -> None:
    """Let the browser remember the page that was asked for, until a link logs it in."""
    if request.http.headers.get("sec-fetch-mode", "navigate") == "navigate":
        page = quote(find_wanted_page(request), safe="")
        response.set_cookie(
            _build_cookie_name(request), page, PAGE_AGE_S, path="/login", httponly=True,
            samesite="strict",
        )  # fmt: skip


def read_wanted_page(request: PortalRequest) -> str:
    """Return the path of the page that was asked for before a link logs in; empty for none."""
    return clean_page(request, unquote(request.http.cookies.get(_build_cookie_name(request), "")))


def forget_wanted_page(request: PortalRequest, response: Response) -> None:
    """Let the browser forget the page that was asked for, if there is one."""
    name = _build_cookie_name(request)
    if name in request.http.cookies:
        response.delete_cookie(name, path="/login", samesite="strict")


def _build_cookie_name(request: PortalRequest) -> str:
    """Return the name of the cookie; cookies do not tell the ports of a host apart."""
    return f"rowkey_page_{request.http.url.port or request.portal.settings.port}"
