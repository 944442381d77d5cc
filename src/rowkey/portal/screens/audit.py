"""The audit log: who changed what and when, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse

from rowkey.errors import InvalidArgument
from rowkey.portal.links import build_path
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.users.roles import Role
from rowkey.render import FORMAT_VERSION

if TYPE_CHECKING:
    from starlette.responses import Response

PAGE_ENTRIES = 50
MAX_END_DIGITS = 18
SHOWN_APART = frozenset({"time_ms", "user", "action", "target"})
"""Parts of an entry that have a column of their own."""


def show_audit(request: PortalRequest) -> Response:
    """Show a page of the audit log, of all files and tables or of one."""
    text, target = request.query.get("end", ""), request.query.get("target", "")
    if text and not (text.isascii() and text.isdecimal() and len(text) <= MAX_END_DIGITS):
        raise InvalidArgument(
            "end", f"{text[:40]!r} is not a place in the log", "a place as in the links of the page"
        )
    end = int(text) if text else None
    entries, older = request.portal.audit.read_page(PAGE_ENTRIES, end, target)
    if request.wants_json:
        return JSONResponse({"format": FORMAT_VERSION, "entries": entries, "next": older})
    return request.render(
        "audit.html",
        entries=[(entry, list_details(entry)) for entry in entries],
        target=target,
        is_newest=end is None,
        newest_link=build_page_link(target),
        older_link=None if older is None else build_page_link(target, older),
    )


def build_page_link(target: str, end: int | None = None) -> str:
    """Return the link to a page of the log.

    >>> build_page_link("logs", 70), build_page_link("")
    ('/audit?target=logs&end=70', '/audit')
    """
    values = {"target": target or None, "end": end}
    return build_path(
        "audit", query=urlencode({name: one for name, one in values.items() if one is not None})
    )


def list_details(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names and values of an entry that have no column of their own.

    >>> list_details({"user": "ann", "action": "buckets set", "count": 32, "problem": None})
    [('count', '32')]
    """
    return [
        (name.replace("_", " "), str(value))
        for name, value in entry.items()
        if name not in SHOWN_APART and value not in (None, "", False)
    ]


ROUTES = [
    PortalRoute(
        "/audit", show_audit, role=Role.OPERATOR, menu_key="portal.menu.audit", menu_position=9
    )
]
