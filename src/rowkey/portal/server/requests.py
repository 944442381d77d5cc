"""Requests as the screens of a portal see them, and the responses that they return."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from starlette.responses import HTMLResponse, RedirectResponse

from rowkey.portal.links import build_path
from rowkey.portal.page_templates import build_portal_environment
from rowkey.portal.settings import read_token
from rowkey.render import LANGUAGES, Translator

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from rowkey.portal.portal import Portal
    from rowkey.portal.server.routes import PortalRoute
    from rowkey.portal.users.roles import Role
    from rowkey.portal.users.sessions import Session


LANGUAGE_COOKIE = "rowkey_language"
YEAR_S = 365 * 86_400
MAX_BODY_BYTES = 1 << 20
"""Bytes of the body of a request, unless its route takes more."""
MAX_FORM_S = 30.0
"""Seconds in which a form must have come in."""


class BodyTooLarge(Exception):
    """Raised when the body of a request has more bytes or fields than its route takes."""


@dataclass(frozen=True, slots=True)
class PortalRequest:
    """A request to a screen.

    Args:
        menu: the routes of the menu, in its order.
        session: who is logged in; None on public pages.
        form: the fields of a form that was sent, by name.
        is_abandoned: set once the browser does not wait for the answer any more.
    """

    http: Request
    portal: Portal
    menu: Sequence[PortalRoute] = ()
    session: Session | None = None
    form: Mapping[str, str] = field(default_factory=dict)
    is_abandoned: Event = field(default_factory=Event)

    @property
    def path_values(self) -> Mapping[str, str]:
        """The values of the parameters of the route's path."""
        return self.http.path_params

    @property
    def page_table(self) -> str:
        """The name of the table that the page is about; empty for another page."""
        is_table = self.http.url.path.startswith("/tables/")
        return self.http.path_params.get("name", "") if is_table else ""

    @property
    def query(self) -> Mapping[str, str]:
        """The values after the question mark of the URL."""
        return self.http.query_params

    @property
    def address(self) -> str:
        """Where the connection comes from; empty if that is unknown."""
        return "" if self.http.client is None else self.http.client.host

    @property
    def user(self) -> str:
        """The name of the user; empty on public pages."""
        return "" if self.session is None else self.session.user

    @property
    def language(self) -> str:
        """The language of the page: that of `?lang=`, of the cookie, or of the browser."""
        accepted = self.http.headers.get("accept-language", "")
        ranges = [one.partition(";")[0].strip() for one in accepted.split(",")]
        wanted = (
            self.query.get("lang", ""),
            self.http.cookies.get(LANGUAGE_COOKIE, ""),
            *(one.partition("-")[0].lower() for one in ranges),
        )
        return next((one for one in wanted if one in LANGUAGES), LANGUAGES[0])

    def build_language_link(self, language: str) -> str:
        """Return the link to the same page in another language."""
        return "?" + urlencode({**self.query, "lang": language})

    @property
    def cookie_name(self) -> str:
        """The name of the session's cookie; cookies do not tell the ports of a host apart."""
        settings = self.portal.settings
        prefix = "__Host-" if settings.is_encrypted else ""
        return f"{prefix}rowkey_session_{self.http.url.port or settings.port}"

    @property
    def cookie(self) -> str:
        """The session's cookie, or an empty string."""
        return self.http.cookies.get(self.cookie_name, "")

    @property
    def wants_json(self) -> bool:
        """Whether a program asks, which gets the document of a page in place of the page."""
        return self.http.headers.get("accept", "").startswith("application/json")

    def find_session(self) -> Session | None:
        """Return the session of the request: that of the user whom a proxy names, or the cookie's.

        None if there is neither, so nobody is logged in.
        """
        sessions, headers = self.portal.sessions, self.http.headers
        return sessions.find_proxied_session(self.address, headers) or sessions.find_session(
            self.cookie
        )

    @property
    def has_metrics_token(self) -> bool:
        """Whether a program shows the token of the settings for metrics."""
        path = self.portal.settings.metrics_token_file
        token = "" if path is None else read_token(path)
        scheme, _, shown = self.http.headers.get("authorization", "").partition(" ")
        is_equal = secrets.compare_digest(token.encode(), shown.strip().encode())
        return bool(token) and scheme.lower() == "bearer" and is_equal

    def can_act_as(self, role: Role) -> bool:
        """Return whether the user may do what a role may, on a portal that allows changes."""
        is_allowed = self.session is not None and self.session.role >= role
        return is_allowed and not self.portal.settings.is_read_only

    def translate(self, key: str, **arguments: Any) -> str:
        """Return a sentence in the language of the page; arguments as for `Translator`."""
        return Translator(self.language).translate(key, **arguments)

    def render(
        self, template: str, status: int = 200, *, reload_s: int | None = None, **values: Any
    ) -> Response:
        """Return a page.

        Args:
            reload_s: seconds after which the page loads itself again; None for never.
            values: the variables of the template.
        """
        page = build_portal_environment(self.language).get_template(template)
        values = {"page_table": self.page_table, **values}
        response = HTMLResponse(
            page.render(request=self, settings=self.portal.settings, **values), status
        )
        if reload_s is not None:
            response.headers["Refresh"] = str(reload_s)
        if self.query.get("lang") in LANGUAGES:
            response.set_cookie(
                LANGUAGE_COOKIE, self.language, max_age=YEAR_S, samesite="strict", httponly=True
            )
        return response

    def redirect(self, *steps: str, query: str = "") -> Response:
        """Return the answer to a form: the browser opens a page of the portal.

        Args:
            steps: the steps of its path, which are quoted: `"designs", "logs.toml"`.
            query: what stands after the question mark.
        """
        return RedirectResponse(build_path(*steps, query=query), 303)

    def note_action(self, action: str, target: str, **details: Any) -> None:
        """Write an entry of the audit log; arguments as for `AuditLog.append`."""
        self.portal.audit.append(self.user, action, target, **details)

    async def watch_browser(self) -> None:
        """Wait until the browser goes away, and note that; the body must have been read."""
        for _ in range(2):  # the end of an empty body may come first
            if (await self.http.receive())["type"] == "http.disconnect":
                self.is_abandoned.set()
                return

    async def stream_body(self, max_bytes: int) -> AsyncIterator[bytes]:
        """Yield the pieces of the body.

        Args:
            max_bytes: how many bytes it may have.

        Raises:
            BodyTooLarge: it has more.
        """
        length = self.http.headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length) > max_bytes:
            raise BodyTooLarge
        count = 0
        async for piece in self.http.stream():
            count += len(piece)
            if count > max_bytes:
                raise BodyTooLarge
            yield piece


def parse_form(body: bytes) -> dict[str, str]:
    """Return the fields of a form by name; of several with one name, the last.

    Raises:
        BodyTooLarge: it has too many fields.

    >>> parse_form(b"text=a%0Ab&etag=1")
    {'text': 'a\\nb', 'etag': '1'}
    """
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=1_000,
        )
    except ValueError as problem:
        raise BodyTooLarge from problem
    return dict(pairs)
