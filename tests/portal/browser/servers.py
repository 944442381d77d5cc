"""Portals on a real server, and pages of them in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from chromium import watch_page
from rowkey.portal.app import build_app
from rowkey.portal.server.server import bind_listener, build_server

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from rowkey.portal import PortalSettings

START_S = 20


@dataclass(frozen=True)
class ServedPortal:
    """A portal that a server in a thread of this process serves.

    Args:
        app: the portal.
        origin: the start of its URLs.
    """

    app: Starlette
    origin: str

    def create_login_url(self) -> str:
        """Return a link that logs in once."""
        token = self.app.state.portal.sessions.create_login_token()
        return f"{self.origin}/login?token={token}"


@contextmanager
def serve_portal(settings: PortalSettings, port: int = 0) -> Iterator[ServedPortal]:
    """Serve a portal until the `with` block ends.

    Args:
        settings: what it shows.
        port: where it listens; 0 for a free one.
    """
    with bind_listener(replace(settings, port=port)) as listener:
        settings = replace(settings, port=listener.getsockname()[1])
        app = build_app(settings)
        server = build_server(app, settings, listener)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield ServedPortal(app, settings.origin)
        finally:
            server.should_exit = True
            thread.join(START_S)


@contextmanager
def open_portal(
    browser: Any, portal: ServedPortal, refused_count: int = 0, **options: Any
) -> Iterator[Any]:
    """Open a portal in a browser, logged in; check at the end that its pages had no errors.

    Args:
        browser: the browser.
        portal: the portal.
        refused_count: how many requests are refused.
        options: of the browser's context, such as `viewport` or `color_scheme`.
    """
    context = browser.new_context(reduced_motion="reduce", **options)
    try:
        view = context.new_page()
        with watch_page(view, portal.origin, refused_count):
            view.goto(portal.create_login_url())
            yield view
    finally:
        context.close()
