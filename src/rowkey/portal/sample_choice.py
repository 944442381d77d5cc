"""Which file of events a form names: an uploaded one, or the sample that a design declares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.errors import InvalidArgument
from rowkey.portal.job_results import MAX_RESULTS

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.portal.portal import Portal
    from rowkey.portal.requests import PortalRequest

OWN_EVENTS, DECLARED_SAMPLE = "", "declared"
"""What a form sends for generated events and for the sample that the design declares."""


def find_sample(request: PortalRequest, designs: Sequence[Design]) -> Path | None:
    """Return the file of events that a form names; None for generated events of one design.

    Args:
        request: the request with the form.
        designs: the designs whose events are wanted; several replay one file.

    Raises:
        InvalidArgument: there is no such file, or several designs declare different ones.
    """
    if request.form.get("sample", OWN_EVENTS) == OWN_EVENTS and len(designs) == 1:
        return None
    declared = {request.portal.workspace.find_sample(one) for one in designs}
    return require_file(request, declared.pop() if len(declared) == 1 else None)


def require_file(request: PortalRequest, declared: Path | None) -> Path:
    """Return the file of events that a form names.

    Args:
        request: the request with the form.
        declared: the sample that is declared, if users may read it; else None.

    Raises:
        InvalidArgument: there is no such file.
    """
    choice = request.form.get("sample", "")
    if choice == DECLARED_SAMPLE:
        path = declared
    else:
        sample = request.portal.uploads.find(choice)
        path = None if sample is None else sample.path
    if path is None:
        what = "there is no such file, or the designs declare several"
        remedy = "Upload one, declare one below the folder of the designs, or generate events."
        raise InvalidArgument("sample", what, remedy=remedy)
    return path


def find_last_sample(portal: Portal, design: str) -> str:
    """Return the id of the uploaded file that a design was last simulated by or drafted from.

    Args:
        portal: the parts of the portal.
        design: the name of the design file.

    Returns:
        The id; empty if there is none, or if the file was removed meanwhile.
    """
    simulated = portal.simulations.list_requests(MAX_RESULTS)
    drafted = portal.drafts.list_requests(MAX_RESULTS)
    found = [one.sample_id for _, one in simulated if design in one.designs and one.sample_id]
    found += [one.sample_id for _, one in drafted if one.name == design]
    return next((one for one in found if portal.uploads.find(one)), "")
