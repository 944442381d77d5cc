"""What operators do with a stored table: change its number of buckets, and move its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from rowkey.design import Design
from rowkey.errors import InvalidArgument, RowkeyError, Unavailable
from rowkey.move import BucketRetirement, Move, SwitchResult, VerificationResult
from rowkey.portal.live.watched_table import Reading
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tables.stored_tables import TableOperations, read_operations
from rowkey.portal.tasks.pages import describe_task, send_task_events
from rowkey.portal.users.roles import Role
from rowkey.render import (
    FORMAT_VERSION,
    build_bucket_change_document,
    build_bucket_retirement_document,
    build_move_plan_document,
    build_move_status_document,
    build_move_switch_document,
    build_move_verification_document,
    format_bucket_change,
    format_bucket_retirement,
    format_move_plan,
    format_move_switch,
    format_move_verification,
    list_next_commands,
)
from rowkey.schema import parse_duration, parse_rate
from rowkey.table import BucketChange

if TYPE_CHECKING:
    from starlette.responses import Response

    from rowkey.portal.tables.table_tasks import TableTask, TaskResult

RELOAD_S = 1
"""Seconds after which a page loads itself again whose table was not read yet."""
MAX_COUNT_DIGITS = 6
"""Digits of a number of buckets, or of the index of a part."""

STAGES = ("plan", "copy", "verify", "cutover", "finish")
"""What a move goes through, in order."""


# Pages


def show_operations(request: PortalRequest) -> Response:
    """Show bucket counts, what another count costs each read, and how far a move is."""
    name = request.path_values["name"]
    last = request.portal.table_tasks.find(name)
    # Before the status is read: if the step had ended then, the status is that after it.
    step = None if last is None else last.build_document()
    is_running = step is not None and step["running"]
    known, problem = _find_operations(request, is_running=is_running)
    status = None if known is None else known.status
    buckets = None if known is None else known.buckets
    preview = None
    is_unread = known is None and problem is None and not is_running
    if known is not None and known.buckets is None and not is_running:
        problem = known.problem
    try:
        if problem is not None:  # a step that runs may keep readers waiting: a switch
            raise problem
        preview = None if is_unread else _preview_buckets(request, name)
    except RowkeyError as refusal:
        if not is_running:
            if request.wants_json or status is None:
                raise
            problem = refusal
    documents = {
        "format": FORMAT_VERSION,
        "table": name,
        "buckets": buckets,
        "preview": preview,
        "move": status,
        "step": step,
    }
    if request.wants_json:
        return JSONResponse(documents)
    state = request.portal.live.find(name)
    is_outdated = state is not None and problem is None and state.is_outdated(Reading.OPERATIONS)
    reloads = is_unread or (is_outdated and not request.portal.live.find_outage(name))
    return request.render(
        "operations.html",
        422 if problem else 200,
        reload_s=RELOAD_S if reloads else None,
        is_unread=is_unread,
        name=name,
        buckets=buckets,
        preview=preview,
        move=status,
        stages=STAGES,
        stage=find_stage(status, step),
        step=step,
        details={} if last is None else last.details,
        sentence="" if last is None else describe_task(request, last),
        lines=last.lines if last is not None and step is not None and not step["running"] else (),
        mistakes=() if last is None else last.mistakes,
        problem="" if problem is None else str(problem),
        state=state,
        query=request.query,
        designs=list_valid_designs(request),
        can_operate=request.can_act_as(Role.OPERATOR),
    )


def list_valid_designs(request: PortalRequest) -> list[str]:
    """Return the names of the design files without mistakes, which a table can be moved to."""
    portal = request.portal
    files = portal.workspace.list_files()
    return [file.name for file in files if portal.checker.check(file).design is not None]


def find_stage(move: Mapping[str, Any] | None, step: Mapping[str, Any] | None) -> int:
    """Return which of `STAGES` a move is at; the number of stages if it is finished.

    Args:
        move: its status as a document; None while that cannot be read.
        step: the step that runs or ran last, as a document; None if there was none.
    """
    if step is not None and step["running"] and step["name"].startswith("move "):
        is_compared = step["progress"]["step"] in ("verify", "catch up", "repair")
        names = {"move plan": 0, "move verify": 2, "move cutover": 3, "move rollback": 3}
        return {**names, "move run": 1 + is_compared, "move finish": 4}[step["name"]]
    if move is None:
        return 0
    has_passed = bool(move["verification"] and move["verification"]["passed"])
    numbers = {"none": 0, "announced": 1, "copying": 1, "copied": 2 + has_passed, "switching": 3}
    return numbers.get(move["step"], len(STAGES) if move["step"] == "finished" else 4)


def send_events(request: PortalRequest) -> Response:
    """Return the progress of the step of a table as server-sent events, until it has ended."""
    table = request.path_values["name"]
    return send_task_events(request, lambda: request.portal.table_tasks.find(table))


def _find_operations(
    request: PortalRequest, *, is_running: bool
) -> tuple[TableOperations | None, RowkeyError | None]:
    """Return the bucket counts and the move of the table, and why they are not known.

    Of a table that the engine does not have, the move may have ended. Both are None for a page
    whose table was not read yet.
    """
    name, portal = request.path_values["name"], request.portal
    portal.live.refresh([name], Reading.OPERATIONS)
    state = portal.live.find(name)
    if state is not None:
        if state.operations is None and state.operations_problem is None and not is_running:
            portal.engines.require_answers(name)
            if request.wants_json:
                raise Unavailable(name, "it was not read yet", remedy="Ask again in a second.")
            return None, None
        is_known = state.operations is not None
        return state.operations, None if is_known else state.operations_problem
    url = portal.engines.require_url()

    def read() -> TableOperations:
        with portal.engines.open(quick=True) as engine:
            return read_operations(engine, name, url)

    try:
        return portal.engines.ask(read), None
    except RowkeyError as problem:
        return None, problem


def _open_move(request: PortalRequest, *, quick: bool = False) -> AbstractContextManager[Move]:
    """Open the move of the table for the time of a `with` block."""
    return request.portal.engines.open_move(request.path_values["name"], quick=quick)


def _preview_buckets(request: PortalRequest, name: str) -> dict[str, Any] | None:
    """Return what the bucket count of the query would cost; None if it names none.

    Raises:
        InvalidDesign: the table cannot have this count.
        Unavailable: the engine does not answer.
    """
    if not request.query.get("count"):
        return None
    count, part = _parse_count(request.query)

    def preview() -> dict[str, Any]:
        with request.portal.engines.open_table(name, quick=True) as table:
            result = BucketChange(table.tracker, count, part).preview()
            return build_bucket_change_document(table.design.table, result)

    return request.portal.engines.ask(preview, table=name)


def _parse_count(values: Mapping[str, str]) -> tuple[int, int | None]:
    """Return a number of buckets, and the index of the part that is to have it.

    Raises:
        InvalidArgument: one is no number.
    """
    numbers: list[int | None] = []
    for name in ("count", "part"):
        text = values.get(name, "").strip()
        if not text and name == "part":
            numbers.append(None)
            continue
        if not (text.isascii() and text.isdecimal() and len(text) <= MAX_COUNT_DIGITS):
            what = f"{text[:40]!r} is not a number"
            raise InvalidArgument(name, what, "a whole number, such as 32")
        numbers.append(int(text))
    count, part = numbers
    assert count is not None, "only a part may be missing"
    return count, part


# Steps


def set_buckets(request: PortalRequest) -> Response:
    """Begin to change the number of buckets."""
    count, part = _parse_count(request.form)

    def work(task: TableTask) -> TaskResult:
        with request.portal.engines.open_table(request.path_values["name"]) as table:
            result = table.set_buckets(count, part=part, progress=task.report)
            name = table.design.table
        return build_bucket_change_document(name, result), format_bucket_change(name, result)

    return _begin(request, "buckets set", work, count=count)


def retire_buckets(request: PortalRequest) -> Response:
    """Begin to move the rows of earlier numbers of buckets to their current places."""

    def work(task: TableTask) -> TaskResult:
        with request.portal.engines.open_table(request.path_values["name"]) as table:
            result = BucketRetirement(table, progress=task.report).run()
            name = table.design.table
        document = build_bucket_retirement_document(name, result)
        return document, format_bucket_retirement(name, result)

    return _begin(request, "buckets retire", work)


def plan_move(request: PortalRequest) -> Response:
    """Begin to find out what a move will do and what blocks it, which changes nothing."""
    design = _read_design(request)
    if design is None:
        raise InvalidArgument("design", "no design file is chosen", "a file of the folder")

    def work(task: TableTask) -> TaskResult:
        with _open_move(request) as move:
            plan = move.plan(design, progress=task.report)
        return build_move_plan_document(plan), format_move_plan(plan)

    return _begin(request, "move plan", work, design=request.form["design"])


def run_move(request: PortalRequest) -> Response:
    """Begin a move to a design, or go on with the one that was begun: copy and verify."""
    design = _read_design(request)

    def work(task: TableTask) -> TaskResult:
        with _open_move(request) as move:
            result = move.run(design, progress=task.report)
            return _describe_verification(move, result)

    return _begin(request, "move run", work, design=request.form.get("design") or None)


def verify_move(request: PortalRequest) -> Response:
    """Begin to compare both tables, and to repair what differs if that is asked for."""
    percent, repairs = (
        _parse_count({"count": request.form.get("share", "100")})[0],
        "repair" in request.form,
    )
    if not 1 <= percent <= 100:
        raise InvalidArgument("share", f"{percent} is not a share of the rows", "1..100 percent")
    consents = _parse_consents(request)

    def work(task: TableTask) -> TaskResult:
        with _open_move(request) as move:
            result = move.verify(
                sample_share=percent / 100,
                repair=repairs,
                consents=consents,
                progress=task.report,
            )
            return _describe_verification(move, result)

    return _begin(request, "move verify", work, percent=percent, repair=repairs, consents=consents)


def cut_over(request: PortalRequest) -> Response:
    """Begin to let clients read the new table."""
    force = "force" in request.form
    return _begin_switch(
        request,
        "move cutover",
        lambda move, task: move.cut_over(force=force, progress=task.report),
        force=force,
    )


def roll_back(request: PortalRequest) -> Response:
    """Begin to let clients read the old table again."""
    return _begin_switch(
        request, "move rollback", lambda move, task: move.roll_back(progress=task.report)
    )


def finish_move(request: PortalRequest) -> Response:
    """Begin to drop the table that is not read, whose name and consents were typed."""
    dropped = request.path_values["dropped"]
    consents = _parse_consents(request)

    def work(task: TableTask) -> TaskResult:
        with _open_move(request) as move:
            name = move.finish(drop=dropped, consents=consents, progress=task.report)
            document = build_move_status_document(move.status, move.url)
        return document, [f"{name}: dropped"]

    return _begin(request, "move finish", work, dropped=dropped, consents=consents)


def _parse_consents(request: PortalRequest) -> list[str]:
    """Return the sentences that were typed to let cells be lost, one a line."""
    lines = [line.strip() for line in request.form.get("consents", "").splitlines()]
    return [one for one in lines if one]


def throttle_copy(request: PortalRequest) -> Response:
    """Limit the copy, also one that another process makes."""
    rows = _parse_limit(request, "rows", parse_rate)
    p99 = _parse_limit(request, "max_p99", lambda text: parse_duration(text).nanoseconds / 1e6)
    return _change_copy(
        request,
        "move throttle",
        lambda move: move.throttle(rows_per_s=rows, max_p99_ms=p99),
        rows_per_s=rows,
        max_p99_ms=p99,
    )


def pause_copy(request: PortalRequest) -> Response:
    """Make the copy wait."""
    return _change_copy(request, "move pause", Move.pause_copy)


def resume_copy(request: PortalRequest) -> Response:
    """Let a copy that waits go on."""
    return _change_copy(request, "move resume", Move.resume_copy)


def _begin(
    request: PortalRequest, name: str, work: Callable[[TableTask], TaskResult], **details: Any
) -> Response:
    """Begin a step and open the page that shows how far it is.

    Raises:
        Conflict: another step of the table runs.
        InvalidArgument: the portal has no tables.
        Unavailable: they are known not to answer.
    """
    table = request.path_values["name"]
    request.portal.engines.require_url()
    request.portal.engines.require_answers(table)
    request.portal.table_tasks.start(table, name, request.user, work, details)
    return request.redirect("tables", table, "operations")


def _begin_switch(
    request: PortalRequest,
    name: str,
    switch: Callable[[Move, TableTask], SwitchResult],
    **details: Any,
) -> Response:
    """Begin to let clients read the other table."""

    def work(task: TableTask) -> TaskResult:
        with _open_move(request) as move:
            result, status = switch(move, task), move.status
        document = build_move_switch_document(result, status, move.url)
        return document, format_move_switch(result, status)

    return _begin(request, name, work, **details)


def _change_copy(
    request: PortalRequest, name: str, change: Callable[[Move], None], **details: Any
) -> Response:
    """Change how a copy goes on, and show its page again."""
    table = request.path_values["name"]

    def change_move() -> None:
        with _open_move(request, quick=True) as move:
            change(move)

    request.portal.engines.ask(change_move, table=table)
    request.portal.live.note_change(table)
    request.note_action(name, table, **details)
    return request.redirect("tables", table, "operations")


def _describe_verification(move: Move, result: VerificationResult) -> TaskResult:
    """Return what a verification found, as `rowkey move verify` prints it."""
    status = move.status
    tables, left_out = (status.source, status.target), status.left_out_rows
    commands = list_next_commands(status, move.url)
    document = build_move_verification_document(result, *tables, left_out, commands)
    return document, format_move_verification(result, *tables, left_out)


def _read_design(request: PortalRequest) -> Design | None:
    """Return the design of the file that the form names; None if it names none.

    Raises:
        DesignFileMissing: the folder has no such file.
        InvalidDesign: the file has mistakes.
    """
    name = request.form.get("design", "")
    workspace = request.portal.workspace
    return workspace.read_design(workspace.read(name)) if name else None


def _parse_limit(request: PortalRequest, name: str, parse: Callable[[str], float]) -> float | None:
    """Return a limit of the form; None for an empty field.

    Raises:
        InvalidArgument: it is not a limit.
    """
    text = request.form.get(name, "").strip()
    return parse(text) if text else None


ROUTES = [
    PortalRoute("/tables/{name}/operations", show_operations),
    PortalRoute("/tables/{name}/operations/events", send_events),
    PortalRoute("/tables/{name}/buckets", set_buckets, "POST", Role.OPERATOR),
    PortalRoute("/tables/{name}/buckets/retire", retire_buckets, "POST", Role.OPERATOR),
    PortalRoute("/tables/{name}/move/plan", plan_move, "POST", Role.OPERATOR),
    PortalRoute("/tables/{name}/move/run", run_move, "POST", Role.OPERATOR),
    PortalRoute("/tables/{name}/move/throttle", throttle_copy, "POST", Role.OPERATOR),
    PortalRoute("/tables/{name}/move/pause", pause_copy, "POST", Role.OPERATOR),
    PortalRoute("/tables/{name}/move/resume", resume_copy, "POST", Role.OPERATOR),
    PortalRoute("/tables/{name}/move/verify", verify_move, "POST", Role.OPERATOR),
    PortalRoute(
        "/tables/{name}/move/cutover", cut_over, "POST", Role.OPERATOR, confirmed_value="name"
    ),
    PortalRoute(
        "/tables/{name}/move/rollback", roll_back, "POST", Role.OPERATOR, confirmed_value="name"
    ),
    PortalRoute(
        "/tables/{name}/move/finish/{dropped}",
        finish_move,
        "POST",
        Role.OPERATOR,
        confirmed_value="dropped",
    ),
]
