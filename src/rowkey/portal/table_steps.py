"""Long steps on tables, such as a move, that run in threads while pages show how far they are."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any

from rowkey.errors import Conflict, Mistake, RowkeyError
from rowkey.messages import Message
from rowkey.move import Move
from rowkey.table import open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rowkey.portal.audit import AuditLog
    from rowkey.portal.engine_session import EngineSession
    from rowkey.portal.step_files import StepFiles
    from rowkey.table import Table

    StepResult = tuple[Mapping[str, Any], Iterable[str]]
    """What the command of a step prints: as a JSON document, and as lines of text."""
    StepWork = Callable[["TableStep"], StepResult]

_STORED = ("name", "user", "started_ms", "finished_ms", "progress", "document", "lines", "mistakes")
"""The attributes of a step that outlive the portal's process."""
_LOGGER = logging.getLogger("rowkey.portal")


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
    """

    def __init__(self, table: str, name: str, user: str) -> None:
        self.table, self.name, self.user = table, name, user
        self.started_ms = _get_time_ms()
        self.finished_ms: int | None = None
        self.progress: tuple[str, int, int] = ("", 0, 0)
        """What is done now, how much of it, and of how much; 0 if that is not known."""
        self.document: Mapping[str, Any] | None = None
        self.lines: tuple[str, ...] = ()
        self.mistakes: tuple[Mapping[str, str], ...] = ()
        """Why it was not completed, as `check` describes mistakes; none if it was."""
        self.is_cancelled = False
        self._move: Move | None = None
        self._lock = RLock()

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

    def report(self, what: str, done: int, total: int) -> None:
        """Note how far the step is.

        Raises:
            StepCancelled: a user has cancelled it.
        """
        if self.is_cancelled:
            raise StepCancelled(self.name)
        self.progress = (what, done, total)

    @contextmanager
    def open_move(self, engines: EngineSession) -> Iterator[Move]:
        """Open the move of the table, which pages may use until the `with` block ends.

        Raises:
            InvalidArgument: there is no such table.
            Unavailable: the engine or the catalog does not answer.
        """
        with engines.wait_for_pages():
            move = Move(self.table, engines.require_url())
        self._move = move
        try:
            yield move
        finally:
            with self._lock:
                self._move = None
                move.close()

    @contextmanager
    def open_table(self, engines: EngineSession) -> Iterator[Table]:
        """Open the table for the time of a `with` block, in which pages go on.

        Raises:
            InvalidArgument: there is no such table.
            Unavailable: the engine or the catalog does not answer.
        """
        with engines.wait_for_pages():
            table = open_table(self.table, engines.require_url(), create=False)
        with table:
            yield table

    @contextmanager
    def borrow_move(self) -> Iterator[Move | None]:
        """Lend the move that the step works on to a page; None if it has none open."""
        with self._lock:
            yield self._move

    def build_document(self) -> dict[str, Any]:
        """Return how far the step is, for programs."""
        what, done, total = self.progress
        return {
            "name": self.name,
            "user": self.user,
            "running": self.is_running,
            "started_ms": self.started_ms,
            "finished_ms": self.finished_ms,
            "progress": {"step": what, "done": done, "total": total},
            "result": self.document,
            "problem": self.problem or None,
        }


class TableSteps:
    """Runs long steps: one at a time of each table, and remembers the last one.

    A step that ends with the portal's process can be begun again: it goes on.

    Args:
        audit: notes how each step ended.
        files: keep the last step of each table.
    """

    def __init__(self, audit: AuditLog, files: StepFiles) -> None:
        self._audit = audit
        self._files = files
        self._steps: dict[str, TableStep] = {}
        self._lock = RLock()

    def find(self, table: str) -> TableStep | None:
        """Return the step of a table that runs or ran last; None if there was none."""
        step = self._steps.get(table)
        return self._read_step(table) if step is None else step

    def start(self, table: str, name: str, user: str, work: StepWork) -> TableStep:
        """Begin a step in a thread of its own.

        Args:
            table: the name of the table.
            name: the step.
            user: who begins it.
            work: does it, and returns its result.

        Raises:
            Conflict: another step of the table runs.
        """
        with self._lock:
            last = self.find(table)
            if last is not None and last.is_running:
                what = f"{last.name} is under way, which {last.user} began"
                raise Conflict(f"table {table}", what, remedy="Wait until it is done.")
            step = self._steps[table] = TableStep(table, name, user)
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
        except OSError:
            _LOGGER.exception("the audit log cannot be written")
        step.finished_ms = _get_time_ms()
        self._store(step)

    def _store(self, step: TableStep) -> None:
        """Store the state of a step; one that cannot be stored is only remembered."""
        try:
            self._files.write(step.table, {name: getattr(step, name) for name in _STORED})
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
