"""Moves of tables in use, as text and as JSON documents, with the command that comes next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rowkey.messages import pluralize
from rowkey.render.documents import FORMAT_VERSION, build_row_document, to_json_value

if TYPE_CHECKING:
    from rowkey.findings import Severity
    from rowkey.move import (
        MovePlan,
        MoveStatus,
        RowDifference,
        StayingCells,
        SwitchResult,
        VerificationResult,
    )

MAX_SHOWN_DIFFERENCES = 20
"""Rows that differ which the text lists; a JSON document has the first 100."""

MOVE_PLAN_FIELDS = {
    "format": "version of this document",
    "table": "name of the table",
    "target": "name of the table that its rows will be moved to",
    "possible": "whether nothing blocks the move; the command exits with 1 if it is false",
    "rows": "rows that will be copied",
    "exact": "whether they were counted, not estimated",
    "bytes.source": "bytes of the table's files; 0 if unknown",
    "bytes.target": "bytes that the target will have, before compression",
    "bytes.free": "bytes that are free for it; null if unknown",
    "steps[].name": "what is done",
    "steps[].description": "what happens in it",
    "steps[].seconds": "about how long it takes",
    "findings[].level": "`blocking`, `warning` or `note`",
    "findings[].path": "where, as dotted words",
    "findings[].problem": "what was found",
    "findings[].expected": "what is allowed",
    "findings[].remedy": "what to do about it",
}

_FINDING_LEVELS: dict[Severity, str] = {
    "error": "blocking",
    "warning": "warning",
    "info": "note",
}
"""How severities of a preflight are printed."""

MOVE_STATUS_FIELDS = {
    "format": "version of this document",
    "table": "name of the table that is moved",
    "target": "name of the table that its rows are moved to; null if it is not moved",
    "step": "`none`, `announced`, `copying`, `copied`, `switching`, `cut over`, `finishing` or "
    "`finished`",
    "read": "name of the table that clients read",
    "started_ms": "when the move was announced, milliseconds since 1970; null if it is not moved",
    "rows": "stored rows that are copied, with deleted ones; null before the copy",
    "share": "share of the table's key intervals that is copied, 0 to 1; null before the copy",
    "left_out.rows": "rows that the copy left out: a design cannot read or store them",
    "staying[].column": "column whose cells stay behind, such as `d:x`; empty for further columns",
    "staying[].cells": "how many cells, not counting older versions",
    "staying[].reason": "why they are not moved",
    "staying[].row_key": "key of a row that has one, in hexadecimal; may be empty",
    "verification.started_ms": "when the last verification began; `verification` is null without",
    "verification.passed": "whether all rows were equal",
    "verification.rows": "rows that were compared",
    "verification.differences": "rows that differed",
    "settings.rows_per_s": "most rows that are copied in a second; null without a limit",
    "settings.max_p99_ms": "milliseconds in which 99 of 100 writes of the copy must end, or null",
    "settings.paused": "whether the copy waits",
    "shadow.share": "share of the reads that clients repeat on the table that is not read, 0 to 1",
    "shadow.equal": "answers that were equal, since this table is read",
    "shadow.late": "those of them that were equal only some time later",
    "shadow.unequal": "answers that stayed unequal",
    "shadow.failed": "reads that the other table did not answer",
    "shadow.skipped": "reads that were not repeated because others were waiting",
    "shadow.examples[]": "what differs in the first unequal answers",
    "has_mover": "whether a process works on the move, or did when it died",
    "history[].time_ms": "when a step was done, milliseconds since 1970",
    "history[].step": "the step; the oldest first",
    "history[].details.*": "what belongs to it, by name",
    "next[]": "commands that go on",
}

MOVE_VERIFICATION_FIELDS = {
    "format": "version of this document",
    "table": "name of the table that is moved",
    "target": "name of the table that its rows are moved to",
    "passed": "whether all compared rows are equal; the command exits with 3 if it is false",
    "share": "share of the rows that was compared",
    "rows.source": "rows of the table that were compared",
    "rows.target": "rows of the target that were compared",
    "undeclared.source": "cells of the table in columns of no design, which are moved along",
    "undeclared.target": "the same of the target",
    "unreadable.source": "stored rows of the table that are no rows of its design",
    "unreadable.target": "the same of the target",
    "differing": "rows that differ",
    "counts.*": "rows by what differs: `missing` in the target, `extra` there, or `different`",
    "differences[].kind": "one of these",
    "differences[].row.*": "the fields that identify the row",
    "differences[].fields[]": "names of the fields that differ",
    "left_out.rows": "rows that the copy left out: a design cannot read or store them",
    "staying[].column": "column whose cells stay behind, such as `d:x`; empty for further columns",
    "staying[].cells": "how many cells, not counting older versions",
    "staying[].reason": "why they are not moved",
    "staying[].row_key": "key of a row that has one, in hexadecimal; may be empty",
    "unsettled": "rows that clients changed in every attempt to compare them",
    "unexamined": "rows that differ besides, too many to be read one by one; at least so many",
    "repaired.*": "rows that were repaired before this comparison, by outcome",
    "seconds": "how long the comparison took",
    "next[]": "commands that go on",
}

MOVE_SWITCH_FIELDS = {
    "format": "version of this document",
    "table": "name of the table that is moved",
    "read": "name of the table that clients read now",
    "waited_s": "seconds in which no client could read or write",
    "rows": "changed rows that were copied in this time",
    "staying[].column": "column whose cells stay behind, such as `d:x`; empty for further columns",
    "staying[].cells": "how many cells, not counting older versions",
    "staying[].reason": "why they are not moved",
    "staying[].row_key": "key of a row that has one, in hexadecimal; may be empty",
    "next[]": "commands that go on",
}


def build_move_plan_document(plan: MovePlan) -> dict[str, Any]:
    """Return the preflight of a move as `rowkey move plan -f json` prints it."""
    return {
        "format": FORMAT_VERSION,
        "table": plan.source,
        "target": plan.target,
        "possible": plan.is_possible,
        "rows": plan.rows,
        "exact": plan.is_exact,
        "bytes": {
            "source": plan.source_bytes,
            "target": plan.target_bytes,
            "free": plan.free_bytes,
        },
        "steps": [
            {
                "name": step.name,
                "description": step.description,
                "seconds": round(step.seconds, 3),
            }
            for step in plan.steps
        ],
        "findings": [
            {
                "level": _FINDING_LEVELS[one.severity],
                "path": one.path,
                "problem": one.message,
                "expected": one.expected,
                "remedy": one.remedy,
            }
            for one in plan.findings
        ],
    }


def format_move_plan(plan: MovePlan) -> Iterator[str]:
    """Yield the preflight of a move: what is done, how long it takes, and what was found."""
    about = "" if plan.is_exact else "about "
    size = f"; about {plan.target_bytes:,} bytes before compression" if plan.target_bytes else ""
    yield f"{plan.source}: {about}{pluralize(plan.rows, 'row')} to {plan.target}{size}"
    for step in plan.steps:
        seconds = f"  (about {step.seconds:,.0f} s)" if step.seconds >= 1 else ""
        yield f"  {step.name:10} {step.description}{seconds}"
    for finding in plan.findings:
        yield f"{_FINDING_LEVELS[finding.severity]}: {finding}"


def build_move_status_document(status: MoveStatus, url: str) -> dict[str, Any]:
    """Return how far a move is as `rowkey move status -f json` prints it."""
    note = status.verification
    return {
        "format": FORMAT_VERSION,
        "table": status.source,
        "target": status.target or None,
        "step": status.step,
        "read": status.primary,
        "started_ms": status.started_ms,
        "rows": status.row_count,
        "share": status.copied_share,
        "left_out": {"rows": status.left_out_rows},
        "staying": _build_staying_documents(status.staying),
        "verification": {
            "started_ms": note.get("started_ms"),
            "passed": bool(note.get("has_passed")),
            "rows": note.get("rows"),
            "differences": note.get("differences"),
        }
        if note
        else None,
        "settings": {
            "rows_per_s": status.settings.rows_per_s,
            "max_p99_ms": status.settings.max_p99_ms,
            "paused": status.settings.is_paused,
        },
        "shadow": {"share": status.shadow_share, **asdict(status.shadow_counts)},
        "has_mover": status.has_mover,
        "history": [
            {
                "time_ms": one.get("time_ms"),
                "step": one.get("step"),
                "details": _select_details(one),
            }
            for one in status.history
        ],
        "next": list_next_commands(status, url),
    }


def format_move_status(status: MoveStatus) -> Iterator[str]:
    """Yield how far a move is, and its steps so far with their times."""
    if status.step == "none":
        yield f"{status.source}: no move is under way"
    else:
        yield f"table     {status.source}, moved to {status.target}"
        yield f"step      {_format_step(status)}"
        yield f"read      {status.primary}"
    if left_out := _format_left_out(status.left_out_rows):
        yield f"copy      {left_out}"
    for number, cells in enumerate(status.staying[:MAX_SHOWN_DIFFERENCES]):
        yield f"{'' if number else 'stays':10}{cells}"
    if status.step not in ("none", "finished"):
        yield f"verified  {_format_verification_note(status.verification)}"
        yield f"limits    {format_move_limits(status)}"
        if status.shadow_share or status.shadow_counts.repeated_count:
            yield f"shadow    {format_shadow_reads(status)}"
        worker = "a process works on the move, or has died" if status.has_mover else "none works"
        yield f"process   {worker}"
    for number, one in enumerate(status.history):
        at = datetime.fromtimestamp(one["time_ms"] / 1000, UTC).isoformat(timespec="seconds")
        head = "history   " if number == 0 else " " * 10
        yield f"{head}{at}  {_format_history_step(one)}"


def format_shadow_reads(status: MoveStatus) -> str:
    """Return how many reads clients repeated on the table that is not read, and what differed."""
    counts = status.shadow_counts
    other = status.source if status.primary == status.target else status.target
    said = f"{100 * status.shadow_share:g}% of the reads are repeated on {other}: "
    said += f"{counts.equal:,} answers equal, {counts.late:,} of them late; {counts.unequal:,} not"
    if counts.failed:
        said += f"; {counts.failed:,} failed"
    return "; ".join([said, *counts.examples])


def _format_history_step(step: Mapping[str, Any]) -> str:
    match step["step"]:
        case "announced":
            return f"announced; rows are moved to {step['target']}"
        case "copied":
            left_out = _format_left_out(step["left_out_rows"])
            return f"copied {pluralize(step['rows'], 'row')}{left_out and f'; {left_out}'}"
        case "verified":
            share = step["sample_share"]
            part = "" if share == 1 else f" in a sample of {100 * share:g}%"
            return f"verified: {_format_verification_note(step)}{part}"
        case "switched":
            return f"{step['read']} is read; clients waited for {step['waited_s']:.1f} s"
        case "finished":
            return f"finished; {step['dropped']} is dropped"
        case "forced":
            return "cut over without a passed verification"
    details = ", ".join(f"{value:,} {name}" for name, value in _select_details(step).items())
    return f"{step['step']}{details and f': {details}'}"


def _format_left_out(rows: int) -> str:
    """Return what a copy has left out; an empty text if nothing."""
    return f"left out {pluralize(rows, 'row')} that a design cannot read or store" if rows else ""


def _build_staying_documents(staying: Iterable[StayingCells]) -> list[dict[str, Any]]:
    return [
        {
            "column": one.column,
            "cells": one.cell_count,
            "reason": one.reason,
            "row_key": one.row_key,
        }
        for one in staying
    ]


def _format_staying(staying: Sequence[StayingCells], source: str) -> Iterator[str]:
    """Yield the cells that stay behind, and what becomes of them; nothing if there are none."""
    for one in staying[:MAX_SHOWN_DIFFERENCES]:
        yield f"{source}: stays behind: {one}"
    if (hidden := len(staying) - MAX_SHOWN_DIFFERENCES) > 0:
        yield f"{source}: {pluralize(hidden, 'column')} more have cells that stay behind"
    if staying:
        yield f"{source}: these cells are lost if {source} is dropped"


def _select_details(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a step of the history has besides its time and name."""
    return {name: value for name, value in step.items() if name not in ("time_ms", "step")}


def _format_step(status: MoveStatus) -> str:
    """Return the step of a move with how much is copied."""
    if status.row_count is None:
        return status.step
    text = f"{status.step}; {pluralize(status.row_count, 'row')} copied"
    if status.step == "copying" and status.copied_share is not None:
        text += f", {status.copied_share:.0%} of the key intervals"
    return text


def _format_verification_note(note: Mapping[str, Any]) -> str:
    """Return the result of the last verification."""
    if not note:
        return "not yet"
    rows = pluralize(note.get("rows", 0), "row")
    if note.get("has_passed"):
        return f"{rows}, all equal"
    return f"{rows} compared; not passed, {note.get('differences', 0):,} differ"


def format_move_limits(status: MoveStatus) -> str:
    """Return the limits of the copy."""
    settings = status.settings
    limits = []
    if settings.rows_per_s is not None:
        limits.append(f"{settings.rows_per_s:,g} rows/s")
    if settings.max_p99_ms is not None:
        limits.append(f"99 of 100 writes within {settings.max_p99_ms:g} ms")
    if settings.is_paused:
        limits.append("paused")
    return ", ".join(limits) or "none"


def build_move_verification_document(
    result: VerificationResult,
    source: str,
    target: str,
    left_out_rows: int = 0,
    next_commands: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the comparison of two tables as `rowkey move verify -f json` prints it.

    Args:
        result: what was found.
        source: the table that is moved, as it is named to the user.
        target: the table that it is moved to.
        left_out_rows: rows that the copy left out.
        next_commands: the commands that go on.
    """
    return {
        "format": FORMAT_VERSION,
        "table": source,
        "target": target,
        "passed": result.has_passed,
        "share": result.sample_share,
        "rows": {"source": result.source.rows, "target": result.target.rows},
        "undeclared": {
            "source": result.source.carried.cell_count,
            "target": result.target.carried.cell_count,
        },
        "unreadable": {
            "source": result.source.skipped_count,
            "target": result.target.skipped_count,
        },
        "differing": result.difference_count,
        "counts": dict(result.difference_counts),
        "differences": [
            {
                "kind": one.kind,
                "row": build_row_document(one.identity),
                "fields": [field.name for field in one.fields],
            }
            for one in result.differences
        ],
        "left_out": {"rows": left_out_rows},
        "staying": _build_staying_documents(result.staying),
        "unsettled": len(result.unsettled),
        "unexamined": result.unexamined_count,
        "repaired": dict(result.repair_counts),
        "seconds": round(result.seconds, 3),
        "next": list(next_commands),
    }


def format_move_verification(
    result: VerificationResult, source: str, target: str, left_out_rows: int = 0
) -> Iterator[str]:
    """Yield what the comparison of two tables found, with the first rows that differ.

    Args:
        source: the table that is moved, as it is named to the user.
        target: the table that it is moved to.
        left_out_rows: rows that the copy left out.
    """
    for outcome, count in result.repair_counts.items():
        yield f"{source}: {pluralize(count, 'row')} {outcome}"
    if lost := _format_left_out(left_out_rows):
        yield f"{source}: the copy {lost}: they are lost if {source} is dropped"
    yield from _format_staying(result.staying, source)
    yield _format_comparison(result, source, target)
    if result.has_passed:
        return
    for one in result.differences[:MAX_SHOWN_DIFFERENCES]:
        yield f"  {_format_difference(one)}"
    if (hidden := result.difference_count - MAX_SHOWN_DIFFERENCES) > 0:
        yield f"  and {hidden:,} more"
    for side, counts in ((source, result.source), (target, result.target)):
        if counts.skipped_count:
            first = counts.skipped[0]
            yield (
                f"  {pluralize(counts.skipped_count, 'row')} of {side} cannot be read; row key "
                f"{first.row_key.hex()}: {first.reason}"
            )
    if result.unsettled:
        yield f"  {pluralize(len(result.unsettled), 'row')} changed during every comparison"
    if result.unexamined_count:
        yield f"  {pluralize(result.unexamined_count, 'row')} or more differ besides"


def _format_comparison(result: VerificationResult, source: str, target: str) -> str:
    """Return how many rows are equal, or differ."""
    share = "" if result.sample_share == 1 else f", {100 * result.sample_share:g}% of all,"
    rows, cells = pluralize(result.source.rows, "row"), result.source.carried.cell_count
    if result.has_passed:
        verb = "is" if result.source.rows == 1 and not cells else "are"
        if cells:
            share = f" and {pluralize(cells, 'undeclared cell')}{share}"
        return f"{source}: {rows}{share} {verb} equal in {target}"
    if not result.difference_count:
        return f"{source}: {rows}{share} compared with {target}, some could not be"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.difference_counts.items())
    return (
        f"{source}: {pluralize(result.difference_count, 'row')} of {result.source.rows:,}"
        f"{share} not equal in {target}: {kinds}"
    )


def _format_difference(difference: RowDifference) -> str:
    """Return a row that differs, and in which fields."""
    row = ", ".join(f"{name}={to_json_value(one)}" for name, one in difference.identity.items())
    if difference.kind != "different":
        return f"{difference.kind}: {row}"
    names = ", ".join(one.name for one in difference.fields)
    return f"{difference.kind}: {row}: {names or 'only one has declared cells'}"


def build_move_switch_document(
    result: SwitchResult, status: MoveStatus, url: str
) -> dict[str, Any]:
    """Return a switch to the other table as `rowkey move cutover -f json` prints it."""
    return {
        "format": FORMAT_VERSION,
        "table": status.source,
        "read": result.primary,
        "waited_s": round(result.window_s, 3),
        "rows": result.caught_up,
        "staying": _build_staying_documents(status.staying),
        "next": list_next_commands(status, url),
    }


def format_move_switch(result: SwitchResult, status: MoveStatus) -> Iterator[str]:
    """Yield which table clients read now, and how long they waited for it."""
    if not result.window_s:
        yield f"{status.source}: {result.primary} is read already"
        return
    rows = pluralize(result.caught_up, "changed row")
    yield (
        f"{status.source}: {result.primary} is read now; clients waited for "
        f"{result.window_s:.1f} s while {rows} were copied"
    )
    yield from _format_staying(status.staying, status.source)
    if not status.verification:
        yield f"{status.source}: cells that stay behind were not counted, as nothing was verified"


def list_next_commands(status: MoveStatus, url: str) -> list[str]:
    """Return the commands that go on with a move, the usual one first.

    Args:
        status: how far it is.
    """
    steps = _choose_next_steps(status)
    place = f"--on {shlex.quote(url)}"
    return [f"rowkey move {step.format(table=status.source)} {place}" for step in steps]


def _choose_next_steps(status: MoveStatus) -> list[str]:
    """Return the next steps of a move, with `{table}` for its name."""
    match status.step:
        case "none":
            return ["plan {table} NEW"]
        case "announced" | "copying":
            return ["resume {table}"] if status.settings.is_paused else ["run {table}"]
        case "copied":
            note = status.verification
            was_switched = any(one["step"] == "switched" for one in status.history)
            ways = ["finish {table} --drop-new"] if was_switched else []
            if note.get("has_passed"):
                return ["cutover {table}", *ways]
            has_differences = note.get("differences")
            return ["verify {table} --repair" if has_differences else "verify {table}", *ways]
        case "switching":
            to = "cutover" if status.primary == status.source else "rollback"
            return [to + " {table}"]
        case "cut over":
            return ["finish {table} --drop-old", "rollback {table}"]
        case "finishing":
            drops_old = status.primary == status.target
            return ["finish {table} " + ("--drop-old" if drops_old else "--drop-new")]
    return []


def format_next_commands(status: MoveStatus, url: str) -> Iterator[str]:
    """Yield a line with the commands that go on with a move; none if it has ended."""
    if commands := list_next_commands(status, url):
        yield f"Next: {', or '.join(commands)}"
