"""Long tasks on tables, such as a move, that run in threads while pages show how far they are."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rowkey.durable_files import make_directory, read_regular_file, replace_file
from rowkey.errors import Conflict, Mistake, RowkeyError, Unavailable
from rowkey.messages import Message
from rowkey.portal.tasks.task import (
    BEGIN_AGAIN,
    Task,
    TaskCancelled,
    TaskState,
    list_mistakes,
    pack_mistakes,
    unpack_mistakes,
)
from rowkey.portal.tasks.task_queue import TaskQueue
from rowkey.progress import Progress
from rowkey.stored_messages import dump_document, load_document

if TYPE_CHECKING:
    from rowkey.portal.users.audit import AuditLog

    TaskResult = tuple[Mapping[str, Any], Iterable[str]]
    """What the command of a task prints: as a JSON document, and as lines of text."""
    TaskWork = Callable[["TableTask"], TaskResult]


MAX_NAME_BYTES = 200
"""Bytes of a file's name without its suffix; HBase has no table with so long a name."""
_MAX_STATE_BYTES = 1 << 28


class TaskFiles:
    """The stored tasks of one portal: a JSON file for each table, replaced as a whole.

    Args:
        folder: where they are stored; it is created with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, table: str, state: dict[str, Any]) -> None:
        """Store the state of the last task of a table, which is on disk when the call returns.

        Args:
            state: the state, as JSON values and messages.

        Raises:
            OSError: it cannot be written.
        """
        path = self._find_path(table)
        if path is None:
            return
        make_directory(self.folder)
        replace_file(path, dump_document(state), path.with_suffix(".part"))

    def read(self, table: str) -> dict[str, Any] | None:
        """Return the stored state of a table; None if there is none that can be read.

        A task that was running then was interrupted: its portal has ended.
        """
        path = self._find_path(table)
        try:
            if path is None:
                return None
            state = load_document(read_regular_file(path, _MAX_STATE_BYTES))
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None
        if state.get("finished_ms") is None:
            state["finished_ms"] = state.get("started_ms")
            state["mistakes"] = pack_mistakes([build_interruption(str(state.get("name")))])
        return state

    def _find_path(self, table: str) -> Path | None:
        """Return the file of a table; None for what cannot be the name of one."""
        name = quote(table, safe="")
        return self.folder / f"{name}.json" if 0 < len(name) <= MAX_NAME_BYTES else None


def build_interruption(name: str) -> Mistake:
    """Return the mistake of a task that ended with the portal's process.

    >>> build_interruption("load").problem
    'the portal was stopped before load was done'
    """
    what = Message("step.interrupted", "the portal was stopped before {step} was done", step=name)
    return Mistake("", what, remedy=BEGIN_AGAIN)


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
"""The attributes of a task that outlive the portal's process."""
_LOGGER = logging.getLogger("rowkey.portal")
MAX_RUNNING, MAX_WAITING = 8, 8
"""Tasks that run at once, each on a table of its own, and that wait for one of these to end."""


class TableTask(Task):
    """One long task on a table, such as the copy of a move, in a thread of the portal.

    Args:
        name: the task, by the name of its command.
        user: who began it.
        details: what it was begun with, by name.
        run: does the work, and notes its end.
    """

    def __init__(
        self,
        table: str,
        name: str,
        user: str,
        details: Mapping[str, Any] | None = None,
        run: Callable[[TableTask], None] = lambda _: None,
    ) -> None:
        super().__init__(table)
        self.table, self.name, self.user, self.details = table, name, user, details or {}
        self.started_ms = _get_time_ms()
        self.finished_ms: int | None = None
        self.document: Mapping[str, Any] | None = None
        self.lines: tuple[str, ...] = ()
        self._run = run

    def run(self) -> None:
        self._run(self)

    def report(self, progress: Progress) -> None:
        """Note how far the task is.

        Raises:
            TaskCancelled: a user has cancelled it.
        """
        if self.is_cancelled:
            raise TaskCancelled(self.name)
        super().report(progress)

    def build_document(self) -> dict[str, Any]:
        """Return how far the task is, for programs."""
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


class TableTasks:
    """Runs long tasks: one at a time of each table, few at once, and remembers the last one.

    A task that ends with the portal's process can be begun again: it goes on.

    Args:
        audit: notes the begin and the end of each task.
        files: keep the last task of each table.
        follow_end: called with the table of a task when its work is done, before it has ended.
    """

    def __init__(
        self,
        audit: AuditLog,
        files: TaskFiles,
        follow_end: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._audit, self._follow_end = audit, follow_end
        self._files = files
        self._queue: TaskQueue[TableTask] = TaskQueue(MAX_RUNNING, MAX_WAITING)
        self._lock = Lock()

    def find(self, table: str) -> TableTask | None:
        """Return the task of a table that runs or ran last; None if there was none."""
        return self._queue.find(table) or self._read_task(table)

    def cancel(self, table: str) -> None:
        """End the task of a table when it next reports how far it is."""
        self._queue.cancel(table)

    def start(
        self,
        table: str,
        name: str,
        user: str,
        work: TaskWork,
        details: Mapping[str, Any] | None = None,
    ) -> TableTask:
        """Note a task in the audit log, and begin it in a thread of its own.

        Args:
            user: who begins it.
            work: does it, and returns its result.
            details: what it is begun with, by name.

        Raises:
            Conflict: another task of the table runs.
            Unavailable: the audit log cannot be written, or too many tasks wait already.
        """
        with self._lock:
            last = self.find(table)
            if last is not None and last.is_running:
                what = f"{last.name} is under way, which {last.user} began"
                raise Conflict(f"table {table}", what, remedy="Wait until it is done.")
            self._queue.require_place()
            task = TableTask(table, name, user, details, lambda task: self._run(task, work))
            self._audit.append(user, name, table, **task.details)
            self._store(task)
            self._queue.submit(task)
        return task

    def _run(self, task: TableTask, work: TaskWork) -> None:
        """Do the work of a task, and note its result or what went wrong."""
        state = TaskState.DONE
        try:
            task.report(task.progress)  # it may have been cancelled while it waited
            task.document, lines = work(task)
            task.lines = tuple(lines)
        except RowkeyError as problem:
            is_cancelled = isinstance(problem, TaskCancelled)
            state = TaskState.CANCELLED if is_cancelled else TaskState.REFUSED
            task.mistakes = list_mistakes(problem)
        except Exception:
            _LOGGER.exception("%s of the table %s failed", task.name, task.table)
            what = Message("step.defect", "this is a defect of the portal; its log has the details")
            state, task.mistakes = TaskState.BROKEN, [Mistake("", what)]
        try:
            self._audit.append(
                task.user, f"end of {task.name}", task.table, problem=task.problem or None
            )
        except Unavailable:
            _LOGGER.exception("the end of a task is missing in the audit log")
        self._follow_end(task.table)
        task.finished_ms = _get_time_ms()
        task.end(state, task.mistakes)
        self._store(task)

    def _store(self, task: TableTask) -> None:
        """Store the state of a task; one that cannot be stored is only remembered."""
        now = task.progress
        try:
            state = {name: getattr(task, name) for name in _STORED}
            state["progress"] = (now.phase, now.done, now.total)
            state["mistakes"] = pack_mistakes(task.mistakes)
            self._files.write(task.table, state)
        except (OSError, TypeError, ValueError):
            _LOGGER.exception("the task of the table %s cannot be stored", task.table)

    def _read_task(self, table: str) -> TableTask | None:
        """Return the stored task of a table; None if there is none."""
        state = self._files.read(table)
        if state is None or not set(_STORED) <= state.keys():
            return None
        task = TableTask(table, state["name"], state["user"])
        for name in _STORED:
            setattr(task, name, state[name])
        task.progress = Progress(*state["progress"])
        mistakes = unpack_mistakes(state["mistakes"])
        task.end(TaskState.REFUSED if mistakes else TaskState.DONE, mistakes)
        return task


def _get_time_ms() -> int:
    return time.time_ns() // 1_000_000
