"""Which file of events a form names: an uploaded one, or the sample that a design declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rowkey.design import Design
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


def suggest_sample(request: PortalRequest, declared: str) -> str:
    """Return which events a form has chosen before the user does.

    They are those of the link, those that the design of the link declares, or the newest upload.

    Args:
        request: the request for the form.
        declared: what the form sends for declared events.
    """
    if "sample" in request.query:
        return request.query["sample"]
    portal, name = request.portal, request.query.get("design", "")
    files = [one for one in portal.workspace.list_files() if one.name == name]
    design = portal.checker.check(files[0]).design if files else None
    if design is not None and portal.workspace.find_sample(design) is not None:
        return declared
    samples = portal.uploads.list_samples()
    return samples[0].id if samples else OWN_EVENTS
