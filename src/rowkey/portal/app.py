"""The portal as an ASGI app: the routes of all screens behind the security checks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from rowkey.errors import Unavailable
from rowkey.portal import screens
from rowkey.portal.portal import Portal
from rowkey.portal.server.error_pages import RefusedRequest, build_error_response
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.security import SecurityMiddleware
from rowkey.portal.settings import PortalSettings

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from rowkey.portal.server.routes import PortalRoute


def build_app(settings: PortalSettings, more_routes: Sequence[PortalRoute] = ()) -> Starlette:
    """Return the portal as an ASGI app; its parts are in `app.state.portal`.

    Args:
        settings: what it shows and where it listens.
        more_routes: routes next to those of the screens.

    Raises:
        InvalidPortalSettings: the users file has mistakes.
    """
    portal = Portal.from_settings(settings)
    routes = [*find_screen_routes(), *more_routes]
    menu = sorted((one for one in routes if one.menu_key), key=lambda one: one.menu_position)

    @asynccontextmanager
    async def run_lifespan(_: Starlette) -> AsyncIterator[None]:
        """Read tables and check files while the server runs; end all that when it stops."""
        with suppress(Unavailable):  # a folder that is only read has none
            portal.workspace.remove_temporary_files()
        portal.live.start()
        portal.checker.start()
        yield
        portal.checker.close()
        portal.live.close()
        portal.tasks.close()
        portal.engines.close()

    async def answer_unknown_path(http: Request, problem: Exception) -> Response:
        """Answer a request that no route takes; only users learn which paths there are."""
        request = PortalRequest(http, portal, menu)
        session = request.find_session()
        if session is None:
            return build_error_response(request, RefusedRequest(401))
        return build_error_response(PortalRequest(http, portal, menu, session), problem)

    app = Starlette(
        routes=[route.build(portal, menu) for route in routes],
        middleware=[Middleware(SecurityMiddleware, settings=settings)],
        exception_handlers={HTTPException: answer_unknown_path},
        lifespan=run_lifespan,
    )
    app.state.portal = portal
    app.state.portal_routes = tuple(routes)
    return app


def find_screen_routes() -> list[PortalRoute]:
    """Return the routes of all screens: `ROUTES` of each file of the folder."""
    names = sorted(module.name for module in iter_modules(screens.__path__))
    modules = [import_module(f"{screens.__name__}.{name}") for name in names]
    return [route for module in modules for route in module.ROUTES]
