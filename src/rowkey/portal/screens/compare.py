"""Comparisons: choose designs and events; progress and report are those of a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.advise import MAX_DESIGNS
from rowkey.errors import InvalidArgument
from rowkey.portal.designs.samples import MAX_SAMPLE_BYTES, list_sample_suffixes
from rowkey.portal.screens.simulate import (
    SHOWN_SIMULATIONS,
    submit_simulation,
)
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tasks.results import MAX_RESULTS
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.responses import Response

DESIGN_FIELD_PREFIX = "design:"
"""The beginning of the names of the form's boxes, before the name of a design file."""


def show_comparison_form(request: PortalRequest) -> Response:
    """Show the form for a comparison, and the newest results."""
    comparisons = [
        one
        for one in request.portal.simulations.list_requests(MAX_RESULTS)
        if len(one[1].designs) > 1
    ]
    return request.render(
        "compare.html",
        files=request.portal.workspace.list_files(),
        samples=request.portal.uploads.list_samples(),
        prefix=DESIGN_FIELD_PREFIX,
        sample=request.query.get("sample", ""),
        max_designs=MAX_DESIGNS,
        max_megabytes=MAX_SAMPLE_BYTES >> 20,
        suffixes=list_sample_suffixes(),
        comparisons=comparisons[:SHOWN_SIMULATIONS],
        can_write=request.can_act_as(Role.DESIGNER),
    )


def start_comparison(request: PortalRequest) -> Response:
    """Start a comparison, and show its progress.

    Raises:
        InvalidArgument: too few or too many designs are chosen.
    """
    names = [
        name.removeprefix(DESIGN_FIELD_PREFIX)
        for name in request.form
        if name.startswith(DESIGN_FIELD_PREFIX)
    ]
    if not 2 <= len(names) <= MAX_DESIGNS:
        what = f"{len(names)} designs cannot be compared"
        raise InvalidArgument("designs", what, f"2 to {MAX_DESIGNS} designs")
    return submit_simulation(request, names)


ROUTES = [
    PortalRoute(
        "/comparisons", show_comparison_form, menu_key="portal.menu.compare", menu_position=4
    ),
    PortalRoute("/comparisons", start_comparison, "POST", Role.DESIGNER),
]
