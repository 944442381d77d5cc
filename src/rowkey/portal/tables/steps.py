"""Long steps on tables, such as a move, that run in threads while pages show how far they are."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rowkey.durable_files import make_directory, read_regular_file, replace_file
from rowkey.errors import Conflict, Mistake, RowkeyError, Unavailable
from rowkey.messages import Message
from rowkey.progress import Progress
from rowkey.stored_messages import iter_messages, restore_messages

if TYPE_CHECKING:
    from rowkey.portal.users.audit import AuditLog

    StepResult = tuple[Mapping[str, Any], Iterable[str]]
    """What the command of a step prints: as a JSON document, and as lines of text."""
    StepWork = Callable[["TableStep"], StepResult]


MAX_NAME_BYTES = 200
"""Bytes of a file's name without its suffix; HBase has no table with so long a name."""
_MESSAGES = "messages"
_MAX_STATE_BYTES = 1 << 28


class StepFiles:
    """The stored steps of one portal: a JSON file for each table, replaced as a whole.

    Args:
        folder: where they are stored; it is created with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, table: str, state: dict[str, Any]) -> None:
        """Store the state of the last step of a table, which is on disk when the call returns.

        Args:
            table: the name of the table.
            state: the state, as JSON values and messages.

        Raises:
            OSError: it cannot be written.
        """
        path = self._find_path(table)
        if path is None:
            return
        make_directory(self.folder)
        text = json.dumps({**state, _MESSAGES: iter_messages(state)}, ensure_ascii=False)
        content = text.encode("utf-8", "backslashreplace")
        replace_file(path, content, path.with_suffix(".part"))

    def read(self, table: str) -> dict[str, Any] | None:
        """Return the stored state of a table; None if there is none that can be read.

        A step that was running then was interrupted: its portal has ended.
        """
        path = self._find_path(table)
        try:
            state = None if path is None else json.loads(read_regular_file(path, _MAX_STATE_BYTES))
            if not isinstance(state, dict):
                return None
            restore_messages(state, state.pop(_MESSAGES))
        except (OSError, ValueError, LookupError, TypeError):
            return None
        if state.get("finished_ms") is None:
            state["finished_ms"] = state.get("started_ms")
            state["mistakes"] = [describe_interruption(str(state.get("name")))]
        return state

    def _find_path(self, table: str) -> Path | None:
        """Return the file of a table; None for what cannot be the name of one."""
        name = quote(table, safe="")
        return self.folder / f"{name}.json" if 0 < len(name) <= MAX_NAME_BYTES else None


def describe_interruption(step: str) -> dict[str, str]:
    """Return the mistake of a step that ended with the portal's process.

    >>> describe_interruption("load")["message"]
    'the portal was stopped before load was done'
    """
    what = Message("step.interrupted", "the portal was stopped before {step} was done", step=step)
    remedy = Message("step.begin_again", "Begin it again: it goes on where that is possible.")
    return {"path": "", "message": what, "expected": "", "remedy": remedy}


_STORED = (
    "name",
    "user",
    "details",
    "started_ms",
    "finished_ms",
    "progress",
    "document",
    "lines",
    "mistakes",
)
"""The attributes of a step that outlive the portal's process."""
_LOGGER = logging.getLogger("rowkey.portal")
MIN_ESTIMATE_S = 1.0
"""Seconds of work from which its speed says how long the rest takes."""


class StepCancelled(RowkeyError):
    """Raised within a step that a user has cancelled.

    Args:
        step: the name of the step.
    """

    def __init__(self, step: str) -> None:
        what = Message("step.cancelled", "{step} was cancelled", step=step)
        remedy = Message("step.begin_again", "Begin it again: it goes on where that is possible.")
        self.mistakes = (Mistake("", what, remedy=remedy),)
        super().__init__(str(self.mistakes[0]))


class TableStep:
    """One long step on a table, such as the copy of a move.

    Args:
        table: the name of the table.
        name: the step, by the name of its command.
        user: who began it.
        details: what it was begun with, by name.
    """

    def __init__(
        self, table: str, name: str, user: str, details: Mapping[str, Any] | None = None
    ) -> None:
        self.table, self.name, self.user, self.details = table, name, user, details or {}
        self.started_ms = _get_time_ms()
        self.finished_ms: int | None = None
        self.progress = Progress()
        self.document: Mapping[str, Any] | None = None
        self.lines: tuple[str, ...] = ()
        self.mistakes: tuple[Mapping[str, str], ...] = ()
        """Why it was not completed, as `check` describes mistakes; none if it was."""
        self.is_cancelled = False

    @property
    def is_running(self) -> bool:
        """Whether the step goes on."""
        return self.finished_ms is None

    @property
    def problem(self) -> str:
        """Why it was not completed, in English; empty if it was, or is not yet."""
        return "\n".join(
            str(Mistake(one["path"], one["message"], one["expected"] or "", one["remedy"] or ""))
            for one in self.mistakes
        )

    def cancel(self) -> None:
        """End the step when it next reports how far it is."""
        self.is_cancelled = True

    def report(self, progress: Progress) -> None:
        """Note how far the step is.

        Raises:
            StepCancelled: a user has cancelled it.
        """
        if self.is_cancelled:
            raise StepCancelled(self.name)
        self.progress = progress.follow(self.progress, time.monotonic())

    @property
    def remaining_s(self) -> float | None:
        """Seconds that what is done now still takes at its speed so far; None while unknown."""
        now = self.progress
        is_known = now.reported_s - now.started_s >= MIN_ESTIMATE_S
        return now.estimate_remaining_s() if is_known else None

    def build_document(self) -> dict[str, Any]:
        """Return how far the step is, for programs."""
        left_s = self.remaining_s if self.is_running else None
        return {
            "name": self.name,
            "user": self.user,
            "running": self.is_running,
            "started_ms": self.started_ms,
            "finished_ms": self.finished_ms,
            "progress": {
                "step": self.progress.phase,
                "done": self.progress.done,
                "total": self.progress.total,
                "remaining_s": None if left_s is None else round(left_s),
            },
            "result": self.document,
            "problem": self.problem or None,
        }


class TableSteps:
    """Runs long steps: one at a time of each table, and remembers the last one.

    A step that ends with the portal's process can be begun again: it goes on.

    Args:
        audit: notes the begin and the end of each step.
        files: keep the last step of each table.
        follow_end: called with the table of a step when its work is done, before it has ended.
    """

    def __init__(
        self,
        audit: AuditLog,
        files: StepFiles,
        follow_end: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._audit, self._follow_end = audit, follow_end
        self._files = files
        self._steps: dict[str, TableStep] = {}
        self._lock = Lock()

    def find(self, table: str) -> TableStep | None:
        """Return the step of a table that runs or ran last; None if there was none."""
        step = self._steps.get(table)
        return self._read_step(table) if step is None else step

    def start(
        self,
        table: str,
        name: str,
        user: str,
        work: StepWork,
        details: Mapping[str, Any] | None = None,
    ) -> TableStep:
        """Note a step in the audit log, and begin it in a thread of its own.

        Args:
            table: the name of the table.
            name: the step.
            user: who begins it.
            work: does it, and returns its result.
            details: what it is begun with, by name.

        Raises:
            Conflict: another step of the table runs.
            Unavailable: the audit log cannot be written.
        """
        with self._lock:
            last = self.find(table)
            if last is not None and last.is_running:
                what = f"{last.name} is under way, which {last.user} began"
                raise Conflict(f"table {table}", what, remedy="Wait until it is done.")
            step = TableStep(table, name, user, details)
            self._audit.append(user, name, table, **step.details)
            self._steps[table] = step
            self._store(step)
        Thread(target=self._run, args=(step, work), name=f"rowkey {name}", daemon=True).start()
        return step

    def _run(self, step: TableStep, work: StepWork) -> None:
        """Do the work of a step, and note its result or what went wrong."""
        try:
            document, lines = work(step)
            step.document, step.lines = document, tuple(lines)
        except RowkeyError as problem:
            step.mistakes = describe_mistakes(problem)
        except Exception:
            _LOGGER.exception("%s of the table %s failed", step.name, step.table)
            what = Message("step.defect", "this is a defect of the portal; its log has the details")
            step.mistakes = ({"path": "", "message": what, "expected": "", "remedy": ""},)
        try:
            self._audit.append(
                step.user, f"end of {step.name}", step.table, problem=step.problem or None
            )
        except Unavailable:
            _LOGGER.exception("the end of a step is missing in the audit log")
        self._follow_end(step.table)
        step.finished_ms = _get_time_ms()
        self._store(step)

    def _store(self, step: TableStep) -> None:
        """Store the state of a step; one that cannot be stored is only remembered."""
        try:
            state = {name: getattr(step, name) for name in _STORED}
            progress = (step.progress.phase, step.progress.done, step.progress.total)
            self._files.write(step.table, {**state, "progress": progress})
        except (OSError, TypeError, ValueError):
            _LOGGER.exception("the step of the table %s cannot be stored", step.table)

    def _read_step(self, table: str) -> TableStep | None:
        """Return the stored step of a table; None if there is none."""
        state = self._files.read(table)
        if state is None or not set(_STORED) <= state.keys():
            return None
        step = TableStep(table, state["name"], state["user"])
        for name in _STORED:
            setattr(step, name, state[name])
        step.progress = Progress(*state["progress"])
        return step


def describe_mistakes(problem: RowkeyError) -> tuple[dict[str, str], ...]:
    """Return what an error says as `check` describes mistakes, with the messages in it."""
    mistakes = getattr(problem, "mistakes", None) or [getattr(problem, "mistake", None)]
    return tuple(
        {"path": "", "message": str(problem), "expected": "", "remedy": ""}
        if one is None
        else {
            "path": one.path,
            "message": one.problem,
            "expected": one.expected,
            "remedy": one.remedy,
        }
        for one in mistakes
    )


def _get_time_ms() -> int:
    """Return the milliseconds since 1970."""
    return time.time_ns() // 1_000_000
