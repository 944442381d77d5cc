"""Style sheets and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.server.stored_responses import (
    CONTENT_TYPES,
    compress_static_file,
    send_compressed,
)

if TYPE_CHECKING:
    from starlette.responses import Response


def send_asset(request: PortalRequest) -> Response:
    """Return a style sheet or script; its URL changes with its content."""
    name = request.path_values["name"]
    content = compress_static_file(name)
    if content is None:
        raise RefusedRequest(404)
    return send_compressed(
        request,
        content,
        CONTENT_TYPES[name[name.rindex(".") :]],
        cache_control="public, max-age=31536000, immutable",
    )


ROUTES = [PortalRoute("/static/{name}", send_asset, is_public=True)]
