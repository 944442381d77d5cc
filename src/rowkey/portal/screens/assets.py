"""Style sheets and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from rowkey.portal.error_pages import RefusedRequest
from rowkey.portal.routes import PortalRoute
from rowkey.portal.static_files import CONTENT_TYPES, read_static_files

if TYPE_CHECKING:
    from rowkey.portal.requests import PortalRequest


def send_asset(request: PortalRequest) -> Response:
    """Return a style sheet or script; its URL changes with its content."""
    name = request.path_values["name"]
    content = read_static_files().get(name)
    if content is None:
        raise RefusedRequest(404)
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(content, headers=headers, media_type=CONTENT_TYPES[name[name.rindex(".") :]])


ROUTES = [PortalRoute("/static/{name}", send_asset, is_public=True)]
