"""Refuses requests that other sites make in a user's browser, and adds the security headers.

A page of another site may send requests to this machine with a name of its own (DNS rebinding), or
as the user who is logged in (cross-site request forgery). The first is refused by the `Host`
header, the second by `Sec-Fetch-Site` and `Origin`, which a page cannot set.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rowkey.portal.settings import PortalSettings

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


SAFE_METHODS = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""
CONTENT_TYPES = frozenset(
    {
        "application/json",
        "application/octet-stream",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    }
)
"""Content types of bodies; `text/plain` is none, as any page can send JSON under its name."""
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'; "
        "form-action 'self'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every response. With `no-referrer`, browsers would send forms with `Origin: null`."""


class SecurityMiddleware:
    """Checks the origin of each request before the app sees it.

    Args:
        settings: the names under which the portal answers.
    """

    def __init__(self, app: AsgiApp, settings: PortalSettings) -> None:
        self._app = app
        self._allowed_hosts = settings.allowed_hosts
        self._scheme = "https" if settings.is_encrypted else "http"

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request of a page of the portal, and refuse any other."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = self._find_refusal(scope)
        if refusal is not None:
            status, reason = refusal
            await _send_text(_add_headers(send), status, reason)
            return
        await self._app(scope, receive, _add_headers(send))

    def _find_refusal(self, scope: MutableMapping[str, Any]) -> tuple[HTTPStatus, str] | None:
        """Return the status and the reason with which a request is refused, or None."""
        headers = _group_headers(scope)
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._allowed_hosts:
            return HTTPStatus.BAD_REQUEST, "The portal does not answer under this host name."
        if scope["method"] in SAFE_METHODS:
            return None
        if not self._is_own_page(headers, hosts[0].lower()):
            return HTTPStatus.FORBIDDEN, "Only pages of the portal itself may send this request."
        content_type = headers.get("content-type", ["application/octet-stream"])
        if {one.partition(";")[0].strip().lower() for one in content_type} - CONTENT_TYPES:
            return HTTPStatus.FORBIDDEN, "A body of this content type is not accepted."
        return None

    def _is_own_page(self, headers: dict[str, list[str]], host: str) -> bool:
        """Return whether a request comes from a page of the portal.

        Every browser of today sends one of both headers; a request with neither is refused.
        """
        sites, origins = headers.get("sec-fetch-site", []), headers.get("origin", [])
        # A proxy in front of the portal may end the encryption.
        own_origins = {f"{self._scheme}://{host}", f"https://{host}"}
        return (
            bool(sites or origins)
            and all(site == "same-origin" for site in sites)
            and all(origin.lower() in own_origins for origin in origins)
        )


def _group_headers(scope: MutableMapping[str, Any]) -> dict[str, list[str]]:
    """Return the values of each header by its name in lower case."""
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _add_headers(send: Send) -> Send:
    """Return a `send` that adds the security headers to a response."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message.get("headers", [])}
            added = [
                (name.encode(), value.encode())
                for name, value in SECURITY_HEADERS.items()
                if name.encode() not in own
            ]
            if b"cache-control" not in own:
                added.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await send(message)

    return send_with_headers


async def _send_text(send: Send, status: HTTPStatus, text: str) -> None:
    """Send a response of one line of text."""
    body = f"{text}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})
