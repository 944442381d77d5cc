"""Responses that are stored compressed: style sheets, scripts and heat maps.

Pages are not compressed. The length of a compressed response tells whether it holds what somebody
made the browser send with its request (BREACH), and pages repeat values of the request next to rows
of tables. What is sent here repeats none.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from rowkey.portal.requests import PortalRequest


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
        media_type: its type.
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
