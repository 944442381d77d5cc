"""The figures of the portal for Prometheus."""

from __future__ import annotations

from starlette.responses import Response

from rowkey.portal.live.prometheus_text import METRICS_TYPE, format_metrics
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute


def send_metrics(request: PortalRequest) -> Response:
    """Return all metrics; nothing is read from the engine for them."""
    return Response(format_metrics(request.portal.live), headers={"content-type": METRICS_TYPE})


ROUTES = [PortalRoute("/metrics", send_metrics, accepts_metrics_token=True)]
"""The route of this screen."""
