"""The routes of screens: who may use them, and how their requests are answered."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from rowkey.portal.server.error_pages import RefusedRequest, build_error_response
from rowkey.portal.server.requests import MAX_BODY_BYTES, MAX_FORM_S, PortalRequest, parse_form
from rowkey.portal.server.security import SAFE_METHODS
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.requests import Request

    from rowkey.portal.portal import Portal


TYPED_NAME_FIELD = "typed_name"
"""The form field with the name that confirms a step that cannot be taken back."""


@dataclass(frozen=True, slots=True)
class PortalRoute:
    """A page, or a step that a form of a page takes.

    Args:
        path: its path, with parameters as Starlette has them: `/designs/{name}`.
        handle: answers the request; a plain function runs in a thread of its own.
        method: only requests with other methods than GET may change something.
        role: who may use it.
        is_public: whether it answers without a session.
        accepts_metrics_token: whether a program may use it with the token for metrics, without a
            session.
        is_streaming: whether `handle` reads the body itself, by `PortalRequest.stream_body`.
        confirmed_value: the parameter of the path that must be typed into the form, for a step that
            cannot be taken back; empty if none must.
        menu_key: the label in the menu, by its key in the language files; empty if it is not there.
        menu_position: its place in the menu.
    """

    path: str
    handle: Callable[[PortalRequest], Response | Awaitable[Response]]
    method: Literal["GET", "POST", "PUT", "DELETE"] = "GET"
    role: Role = Role.VIEWER
    is_public: bool = False
    accepts_metrics_token: bool = False
    is_streaming: bool = False
    confirmed_value: str = ""
    menu_key: str = ""
    menu_position: int = 0

    def __post_init__(self) -> None:
        is_guarded = self.is_safe or self.is_public or self.role > Role.VIEWER
        assert is_guarded, f"{self.method} {self.path}: a viewer changes nothing"

    @property
    def is_safe(self) -> bool:
        """Whether requests change nothing."""
        return self.method in SAFE_METHODS

    def build(self, portal: Portal, menu: Sequence[PortalRoute]) -> Route:
        """Return the route for Starlette.

        Args:
            menu: the routes of the menu, in its order.
        """

        async def answer(http: Request) -> Response:
            """Answer a request, with an error page if that fails."""
            request = PortalRequest(http, portal, menu)
            try:
                request = await self._admit(request)
                if inspect.iscoroutinefunction(self.handle):
                    response: Response = await self.handle(request)
                    return response
                return await self._run_in_thread(request)
            except ClientDisconnect:  # nobody waits for an answer, and nothing has failed
                return Response(status_code=400)
            except Exception as problem:  # noqa: BLE001 - each becomes a page
                return build_error_response(request, problem)

        return Route(self.path, answer, methods=[self.method])

    async def _run_in_thread(self, request: PortalRequest) -> Response:
        """Answer by a plain function, which can see that the browser has gone away."""
        watcher = asyncio.create_task(request.watch_browser())
        try:
            return await run_in_threadpool(self.handle, request)  # type: ignore[arg-type]
        finally:
            watcher.cancel()

    async def _admit(self, request: PortalRequest) -> PortalRequest:
        """Return the request with its session and form, if the user may make it.

        Raises:
            RefusedRequest: the user may not, or the form does not come in.
            BodyTooLarge: the body has too many bytes or fields.
        """
        request = replace(request, session=request.find_session())
        if self.accepts_metrics_token and request.has_metrics_token:
            return request
        if not self.is_public:
            if request.session is None:
                raise RefusedRequest(401)
            if not self.is_safe and request.portal.settings.is_read_only:
                raise RefusedRequest(403, "portal.error.read_only")
            if request.session.role < self.role:
                raise RefusedRequest(403, "portal.error.role", role=self.role.label)
        if self.is_safe or self.is_streaming:
            return request
        try:
            async with asyncio.timeout(MAX_FORM_S):
                body = b"".join([piece async for piece in request.stream_body(MAX_BODY_BYTES)])
        except TimeoutError:
            raise RefusedRequest(400) from None
        request = replace(request, form=parse_form(body))
        if self.confirmed_value:
            name = request.path_values[self.confirmed_value]
            if request.form.get(TYPED_NAME_FIELD) != name:
                raise RefusedRequest(422, "portal.error.typed_name", name=name)
        return request
