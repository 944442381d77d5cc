"""Create the table of a design: what will be created, and the task that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rowkey.design import Design
from rowkey.errors import Conflict, InvalidArgument
from rowkey.portal.designs.region_splits import choose_sampled_splits, choose_splits
from rowkey.portal.designs.samples import find_last_sample, find_sample
from rowkey.portal.designs.workspace import DesignFile
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tasks.pages import describe_task
from rowkey.portal.tasks.process_task import TaskLimits, call_in_process
from rowkey.portal.users.roles import Role
from rowkey.progress import Progress
from rowkey.render import (
    DIALECTS,
    FORMAT_VERSION,
    build_create_statement,
    format_created_table,
)

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.tables.table_tasks import TableTask, TaskResult

TASK = "create"
SPLITS_LIMITS = TaskLimits(time_s=300.0)
"""What reading a sample for the boundaries of regions may use."""


class PlannedTable(NamedTuple):
    """A table that will be created.

    Args:
        families: the names of its families.
        region_count: its regions; None if they follow from a sample and their number as well.
        script: the statement for HBase's shell; empty if its boundaries follow from a sample.
    """

    name: str
    families: Sequence[str]
    region_count: int | None
    script: str


def show_creation(request: PortalRequest) -> Response:
    """Show which tables a design needs, and how the last creation went on or ended."""
    portal = request.portal
    file = portal.workspace.read(request.path_values["name"])
    design = portal.workspace.read_design(file)
    task = copy(portal.table_tasks.find(design.table))  # which may end while the page is made
    is_ours = task is not None and task.name == TASK
    is_running = task is not None and task.is_running
    tables = {design.table: design, **design.companions}
    portal.engines.require_url()
    portal.live.refresh()
    return request.render(
        "create.html",
        file=file,
        design=design,
        exists=not is_running and portal.live.find(design.table) is not None,
        planned=[plan_table(name, one, design, file.name) for name, one in tables.items()],
        needs_sample=any(one.splits.needs_sample for one in tables.values()),
        has_declared=portal.workspace.find_sample(design) is not None,
        samples=portal.uploads.list_samples(),
        sample=find_last_sample(portal, file.name),
        task=task if is_ours or is_running else None,
        sentence=describe_task(request, task) if task is not None and is_running else "",
        can_operate=request.can_act_as(Role.OPERATOR) and not is_running,
    )


def plan_table(name: str, design: Design, main: Design, file_name: str) -> PlannedTable:
    """Return what will be created for a design.

    Args:
        main: the design of the main table, which is another one for a companion.

    Raises:
        InvalidDesign: its regions cannot be split so.
    """
    families = list(design.families)
    if design.splits.needs_sample:
        return PlannedTable(name, families, design.splits.request.regions, "")
    splits = choose_splits(design, None)
    is_main = design is main
    path = file_name if is_main else main.declaration.companions[name]
    statement = build_create_statement(design, splits, path, "" if is_main else main.table)
    script = "\n".join(DIALECTS["hbase_shell"](statement))
    return PlannedTable(name, families, len(splits) + 1, script)


def start_creation(request: PortalRequest) -> Response:
    """Begin to create the table of a design, and show how far it is.

    Raises:
        Conflict: the table exists, the file has changed, or another task runs.
        InvalidArgument: boundaries follow from a sample, and none is chosen.
        InvalidDesign: the file has mistakes.
    """
    portal = request.portal
    file = portal.workspace.read(request.path_values["name"])
    if file.etag != request.form.get("etag", ""):
        what = "the file has changed since the page was opened"
        raise Conflict(file.name, what, remedy="Open the page again, and see what is created.")
    design = portal.workspace.read_design(file)
    tables = {design.table: design, **design.companions}
    sample: Path | None = None
    if any(one.splits.needs_sample for one in tables.values()):
        sample = find_sample(request, [design])
        if sample is None:
            what = "the region boundaries follow from a sample, and no sample is chosen"
            raise InvalidArgument("sample", what, remedy="Choose a file of events.")
    if portal.engines.has_table(design.table):
        what = "the table exists"
        remedy = "Load rows into it, or move its rows to another key."
        raise Conflict(f"table {design.table}", what, remedy=remedy)

    def work(task: TableTask) -> TaskResult:
        return create_tables(request, task, file, tables, sample)

    chosen = None if sample is None else sample.name
    details = {"design": file.name, "etag": file.etag, "sample": chosen}
    portal.table_tasks.start(design.table, TASK, request.user, work, details)
    return request.redirect("designs", file.name, "create")


def create_tables(
    request: PortalRequest,
    task: TableTask,
    file: DesignFile,
    tables: Mapping[str, Design],
    sample: Path | None,
) -> TaskResult:
    """Create the table of a design after its companions, as `rowkey create` does.

    Args:
        task: takes the progress.
        tables: its designs by name, that of the main table first.
        sample: the file of events from which boundaries follow; None if none do. It is read in a
            process of its own, and not for longer or in more memory than that may use.
    """
    splitting = Progress("splits")
    task.report(splitting)
    if sample is None:
        splits = {name: choose_splits(one, None) for name, one in tables.items()}
    else:
        found = call_in_process(
            request.portal.tasks,
            lambda: task.report(splitting),
            choose_sampled_splits,
            SPLITS_LIMITS,
            folder=str(request.portal.workspace.folder),
            hidden_files=list(map(str, request.portal.workspace.hidden_files)),
            name=file.name,
            text=file.content.decode("utf-8", "surrogateescape"),
            sample=str(sample),
        )
        splits = {name: list(map(bytes.fromhex, keys)) for name, keys in found.items()}
    task.report(Progress("regions"))
    with request.portal.engines.create_table(
        tables[task.table],
        splits=splits[task.table],
        companion_splits=splits,
        progress=task.report,
    ) as table:
        created = {task.table: table, **table.companions}
        counts = {name: len(one.regions()) for name, one in created.items()}
    lines = [
        format_created_table(name, count, tables[name].families) for name, count in counts.items()
    ]
    found = [{"name": name, "regions": count} for name, count in counts.items()]
    return {"format": FORMAT_VERSION, "tables": found}, lines


ROUTES = [
    PortalRoute("/designs/{name}/create", show_creation),
    PortalRoute("/designs/{name}/create", start_creation, "POST", Role.OPERATOR),
]
