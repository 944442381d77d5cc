"""Simulations: choose a design and events, follow the progress, and read the report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse

from rowkey.design import KeyPath
from rowkey.errors import InvalidArgument
from rowkey.lint import edit_toml
from rowkey.messages import format_value
from rowkey.portal.designs.samples import (
    DECLARED_SAMPLE,
    MAX_SAMPLE_BYTES,
    OWN_EVENTS,
    find_last_sample,
    find_sample,
    list_sample_suffixes,
)
from rowkey.portal.designs.simulations import SimulationRequest, build_arguments
from rowkey.portal.designs.workspace import DesignFile
from rowkey.portal.links import build_path
from rowkey.portal.server.error_pages import RefusedRequest
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.server.stored_responses import send_compressed
from rowkey.portal.tasks.pages import find_task, read_request, send_task_events, show_task
from rowkey.portal.tasks.process_task import TaskLimits
from rowkey.portal.users.roles import Role
from rowkey.render import build_report_variables

if TYPE_CHECKING:
    from starlette.responses import Response

SHOWN_SIMULATIONS = 20


def show_form(request: PortalRequest) -> Response:
    """Show the form for a simulation, and the newest results."""
    portal, query = request.portal, request.query
    design = query.get("design", "")
    sample = query["sample"] if "sample" in query else find_last_sample(portal, design)
    return request.render(
        "simulate.html",
        files=portal.workspace.list_files(),
        samples=portal.uploads.list_samples(),
        design=design,
        sample=sample,
        load={name: query.get(name, "") for name in ("rate", "servers", "capacity")},
        simulations=portal.simulations.list_requests(SHOWN_SIMULATIONS),
        max_megabytes=MAX_SAMPLE_BYTES >> 20,
        limits=TaskLimits(),
        suffixes=list_sample_suffixes(),
        can_write=request.can_act_as(Role.DESIGNER),
    )


async def upload_sample(request: PortalRequest) -> Response:
    """Store the body as a file of events, which all forms then offer."""
    name = request.query.get("name", "")
    pieces = request.stream_body(MAX_SAMPLE_BYTES)
    sample = await request.portal.uploads.receive(name, pieces)
    request.note_action("upload sample", sample.path.name, size_bytes=sample.size_bytes)
    return request.redirect("simulations", query=f"sample={sample.id}")


def start_simulation(request: PortalRequest) -> Response:
    """Start a simulation, and show its progress."""
    return submit_simulation(request, [request.form.get("design", "")])


def submit_simulation(request: PortalRequest, names: Sequence[str]) -> Response:
    """Start what a form asks for, and return the redirection to its page.

    Args:
        request: the request with the form: `sample`, `rate`, `servers` and `capacity`.
        names: the names of the design files; several are compared.

    Raises:
        InvalidArgument: a value of the form is not allowed.
        InvalidDesign: a design has mistakes, perhaps by a value of the form.
        Unavailable: too many simulations wait.
    """
    portal, form = request.portal, request.form
    rate, servers = form.get("rate", "").strip(), parse_servers(form.get("servers", ""))
    capacity = form.get("capacity", "").strip()
    files = [portal.workspace.read(name) for name in names]
    # First, as the mistakes of a changed text would have other lines.
    designs = [portal.workspace.read_design(file) for file in files]
    changed = [change_load(file, rate, servers, capacity) for file in files]
    for file in changed:
        portal.workspace.read_design(file)
    sample = find_sample(request, designs)
    wanted = SimulationRequest(
        designs=[file.name for file in files],
        etags=[file.etag for file in files],
        sample="" if sample is None else sample.name,
        rate=rate,
        servers=servers,
        capacity=capacity,
        user=request.user,
        created_ms=time.time_ns() // 1_000_000,
        sample_id=choice if portal.uploads.find(choice := form.get("sample", "")) else "",
    )
    arguments = build_arguments(portal.workspace, changed, sample)
    task_id = portal.simulations.start(portal.tasks, wanted, **arguments)
    request.note_action("simulate", ", ".join(names), simulation=task_id, sample=wanted.sample)
    return request.redirect("simulations", task_id)


def parse_servers(text: str) -> int:
    """Return a number of region servers; 0 if none is given.

    Raises:
        InvalidArgument: it is no whole number.

    >>> parse_servers(" 12 "), parse_servers("")
    (12, 0)
    """
    text = text.strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 9):
        raise InvalidArgument(
            "servers", f"{format_value(text)} is no number of servers", "1..10000"
        )
    return int(text)


def change_load(file: DesignFile, rate: str, servers: int, capacity: str) -> DesignFile:
    """Return a design file with another rate of writes and other servers, where these are given.

    Raises:
        InvalidDesign: the file is no TOML.
    """
    changes: dict[KeyPath, Any] = {}
    if rate:
        changes["writes", "rate"] = rate
    if servers:
        changes["cluster", "servers"] = servers
    if capacity:
        changes["cluster", "capacity"] = capacity
    if not changes:
        return file
    text = edit_toml(file.content.decode("utf-8", "surrogateescape"), changes)
    return DesignFile(file.name, text.encode("utf-8", "surrogateescape"))


def show_simulation(request: PortalRequest) -> Response:
    """Show the report of a simulation, or how far it is."""
    simulation_id, wanted = read_request(request, request.portal.simulations)
    task = find_task(request, simulation_id)
    result = request.portal.simulations.read_result(simulation_id)
    if result is not None:
        variables = build_report_variables(result["report"], request.language)
        return request.render(
            "simulation.html",
            id=simulation_id,
            wanted=wanted,
            again=build_again_link(wanted),
            can_write=request.can_act_as(Role.DESIGNER),
            **variables,
        )
    names = ", ".join(wanted.designs)
    return show_task(
        request,
        task,
        title=request.translate("portal.simulation.title", design=names),
        events=wanted.sample or request.translate("portal.simulation.generated"),
        path=build_path("simulations", simulation_id),
        start=build_again_link(wanted),
        start_title=request.translate("portal.simulate.title"),
        again=request.translate("portal.simulation.again"),
    )


def build_again_link(wanted: SimulationRequest) -> str:
    """Return the address of the form with the values of a simulation or comparison."""
    sample = wanted.sample_id or (DECLARED_SAMPLE if wanted.sample else OWN_EVENTS)
    if len(wanted.designs) > 1:
        return build_path("comparisons", query=urlencode({"sample": sample}))
    values = {"design": wanted.designs[0], "sample": sample, "rate": wanted.rate}
    values |= {"servers": str(wanted.servers or ""), "capacity": wanted.capacity}
    return build_path("simulations", query=urlencode(values))


def send_document(request: PortalRequest) -> Response:
    """Return the result as `rowkey simulate` or `compare` print it with `-f json`."""
    simulation_id, _ = read_request(request, request.portal.simulations)
    result = request.portal.simulations.read_result(simulation_id)
    if result is None:
        raise RefusedRequest(404)
    return JSONResponse(result["document"])


def send_map_view(request: PortalRequest) -> Response:
    """Return one view of the map of a design; it never changes, but only users may see it."""
    simulation_id, _ = read_request(request, request.portal.simulations)
    names = request.path_values["design"], request.path_values["kind"]
    packed = request.portal.simulations.read_map_view(simulation_id, *names)
    if packed is None:
        raise RefusedRequest(404)
    return send_compressed(
        request, packed, "application/json", f"{simulation_id}-{'-'.join(names)}"
    )


def send_events(request: PortalRequest) -> Response:
    """Return the progress of a simulation as server-sent events, until it has ended."""
    task_id, _ = read_request(request, request.portal.simulations)
    return send_task_events(request, lambda: find_task(request, task_id))


def cancel_simulation(request: PortalRequest) -> Response:
    """End a simulation."""
    simulation_id, wanted = read_request(request, request.portal.simulations)
    request.portal.tasks.cancel(simulation_id)
    request.note_action("cancel simulation", ", ".join(wanted.designs), simulation=simulation_id)
    return request.redirect("simulations", simulation_id)


ROUTES = [
    PortalRoute("/simulations", show_form, menu_key="portal.menu.simulate", menu_position=3),
    PortalRoute("/simulations", start_simulation, "POST", Role.DESIGNER),
    PortalRoute("/simulations/samples", upload_sample, "POST", Role.DESIGNER, is_streaming=True),
    PortalRoute("/simulations/{id}", show_simulation),
    PortalRoute("/simulations/{id}/document", send_document),
    PortalRoute("/simulations/{id}/maps/{design}/{kind}", send_map_view),
    PortalRoute("/simulations/{id}/events", send_events),
    PortalRoute("/simulations/{id}/cancel", cancel_simulation, "POST", Role.DESIGNER),
]
