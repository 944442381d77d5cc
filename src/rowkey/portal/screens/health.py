"""Whether the portal answers, for those who watch it."""

from __future__ import annotations

from starlette.responses import PlainTextResponse, Response

from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute


async def report_health(request: PortalRequest) -> Response:
    """Return `ok`; engine and files are not looked at, and no thread is needed."""
    del request
    return PlainTextResponse("ok\n")


ROUTES = [PortalRoute("/healthz", report_health, is_public=True)]
