"""Responses from memory, stored compressed: style sheets, scripts and heat maps."""

from __future__ import annotations

import gzip
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.responses import Response

from rowkey.render import read_map_script, read_page_asset

if TYPE_CHECKING:
    from rowkey.portal.server.requests import PortalRequest


def send_compressed(
    request: PortalRequest,
    packed: bytes,
    media_type: str,
    version: str = "",
    cache_control: str = "private, no-cache",
) -> Response:
    """Return a response whose content is compressed already.

    Args:
        request: the request; a browser that takes no gzip gets the content as it was, and one that
            has this version gets none.
        packed: the content, compressed by gzip.
        version: a name that changes with the content; the browser then asks before it shows the
            content again. None if empty.
        cache_control: how long the content may be kept, and by whom.
    """
    headers = {"cache-control": cache_control, "vary": "accept-encoding"}
    if version:
        headers["etag"] = f'"{version}"'
        known = request.http.headers.get("if-none-match", "")
        if headers["etag"] in [one.strip().removeprefix("W/") for one in known.split(",")]:
            return Response(status_code=304, headers=headers)
    if _takes_gzip(request.http.headers.get("accept-encoding", "")):
        headers["content-encoding"] = "gzip"
        return Response(packed, headers=headers, media_type=media_type)
    return Response(gzip.decompress(packed), headers=headers, media_type=media_type)


def _takes_gzip(accepted: str) -> bool:
    """Return whether a header Accept-Encoding has gzip, and does not refuse it.

    >>> [_takes_gzip(one) for one in ("br, gzip;q=0.8", "gzip;q=0", "br", "")]
    [True, False, False, False]
    """
    weights = dict(one.replace(" ", "").partition(";")[::2] for one in accepted.lower().split(","))
    return "gzip" in weights and weights["gzip"] not in ("q=0", "q=0.0", "q=0.00", "q=0.000")


CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
REPORT_STYLE = "report.css"
"""The style sheet of the report, whose colours and boxes the portal uses."""
REPORT_SCRIPT = "report_map.js"
"""The script of the report, which draws its maps."""


@cache
def read_static_files() -> dict[str, bytes]:
    """Return the content of every style sheet, script and picture by name."""
    contents = {
        REPORT_STYLE: read_page_asset("browser/style.css").encode(),
        REPORT_SCRIPT: read_map_script(makes_requests=True).encode(),
    }
    for file in files("rowkey.portal").joinpath("static").iterdir():
        if file.name.endswith(tuple(CONTENT_TYPES)):
            contents[file.name] = file.read_bytes()
    return contents


@cache
def compress_static_file(name: str) -> bytes | None:
    """Return a style sheet, script or picture compressed by gzip; None if there is none."""
    content = read_static_files().get(name)
    return None if content is None else gzip.compress(content, 9, mtime=0)


@cache
def build_static_url(name: str) -> str:
    """Return the URL of a style sheet or script, which changes with its content."""
    version = sha256(read_static_files()[name]).hexdigest()[:12]
    return f"/static/{name}?v={version}"
