"""Long work of the portal: where it stands, how far it is, and why it was not completed."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from threading import Lock

from rowkey.errors import Mistake, RowkeyError
from rowkey.messages import Message
from rowkey.progress import Progress

MIN_ESTIMATE_S = 1.0
"""Seconds of work from which its speed says how long the rest takes."""
MAX_MISTAKES = 100
"""Mistakes of one task that are kept; more are no page that a person reads."""
BEGIN_AGAIN = Message(
    "step.begin_again",
    "Start the step again; if possible, it continues where it stopped.",
)


class TaskState(StrEnum):
    """Where a task stands; the last six do not change any more."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    TOO_LONG = "too_long"
    TOO_LARGE = "too_large"
    BROKEN = "broken"

    @property
    def is_final(self) -> bool:
        """Whether the task has ended."""
        return self not in (TaskState.WAITING, TaskState.RUNNING)


class TaskCancelled(RowkeyError):
    """Raised within a task that a user has cancelled."""

    def __init__(self, name: str) -> None:
        what = Message("step.cancelled", "{step} was cancelled", step=name)
        self.mistakes = (Mistake("", what, remedy=BEGIN_AGAIN),)
        super().__init__(str(self.mistakes[0]))


class Task(ABC):
    """Long work that a `TaskQueue` runs to its end, in a process of its own or in a thread.

    Args:
        task_id: by which its queue finds it.
    """

    def __init__(self, task_id: str) -> None:
        self.id = task_id
        self.state = TaskState.WAITING
        self.progress = Progress()
        """How far it is; replaced as a whole, so that any thread may read it."""
        self.mistakes: Sequence[Mistake] = ()
        """Why it was not completed; none if it was."""
        self.is_cancelled = False
        self.lock = Lock()

    @abstractmethod
    def run(self) -> None:
        """Do the work, and note how it has ended."""

    def cancel(self) -> None:
        """End the task as soon as it can be ended; nothing happens if it has ended."""
        self.is_cancelled = True

    def report(self, progress: Progress) -> None:
        """Note how far the task is."""
        self.progress = progress.follow(self.progress, time.monotonic())

    def end(self, state: TaskState, mistakes: Sequence[Mistake] = ()) -> None:
        """Note how the task has ended; only the first call counts."""
        with self.lock:
            if not self.state.is_final:
                self.mistakes, self.state = mistakes, state

    @property
    def is_running(self) -> bool:
        """Whether the task goes on, or waits until it can begin."""
        return not self.state.is_final

    @property
    def problem(self) -> str:
        """Why it was not completed, in English; empty if it was, or is not yet."""
        return "\n".join(map(str, self.mistakes))

    @property
    def remaining_s(self) -> float | None:
        """Seconds that what is done now still takes at its speed so far; None while unknown."""
        now = self.progress
        is_known = now.reported_s - now.started_s >= MIN_ESTIMATE_S
        return now.estimate_remaining_s() if is_known else None


def list_mistakes(problem: RowkeyError) -> Sequence[Mistake]:
    """Return the first `MAX_MISTAKES` mistakes of an error, with the messages in them."""
    if hasattr(problem, "mistakes"):
        return tuple(problem.mistakes[:MAX_MISTAKES])
    return [getattr(problem, "mistake", None) or Mistake("", str(problem))]


def pack_mistakes(mistakes: Sequence[Mistake]) -> list[dict[str, str]]:
    """Return mistakes as JSON objects, with the messages in them."""
    return [
        {
            "path": one.path,
            "message": one.problem,
            "expected": one.expected,
            "remedy": one.remedy,
        }
        for one in mistakes
    ]


def unpack_mistakes(documents: Sequence[Mapping[str, str]]) -> list[Mistake]:
    """Return the mistakes that `pack_mistakes` has made JSON objects of."""
    return [
        Mistake(one["path"], one["message"], one["expected"] or "", one["remedy"] or "")
        for one in documents
    ]
