"""Runs tasks in the order in which they are submitted, few at once."""

from __future__ import annotations

from threading import RLock, Thread
from typing import Generic, TypeVar

from rowkey.errors import Unavailable
from rowkey.portal.tasks.task import Task, TaskState

MAX_REMEMBERED = 200
"""Tasks that have ended and are remembered; their results are files, which stay."""

TaskT = TypeVar("TaskT", bound=Task)


class TaskQueue(Generic[TaskT]):
    """Runs tasks in the order in which they are submitted, each followed by a thread.

    Args:
        max_running: tasks that run at once.
        max_waiting: tasks that wait for one of these to end.
    """

    def __init__(self, max_running: int, max_waiting: int) -> None:
        self.max_running, self.max_waiting = max_running, max_waiting
        self._lock = RLock()
        self._tasks: dict[str, TaskT] = {}
        self._n_running = 0
        self._is_closed = False

    def submit(self, task: TaskT) -> None:
        """Start a task, or let it wait until fewer run.

        Raises:
            Unavailable: too many wait already, or the portal is being stopped.
        """
        with self._lock:
            self.require_place()
            self._tasks.pop(task.id, None)
            self._tasks[task.id] = task
            for one in [one for one in self._tasks.values() if one.state.is_final][
                :-MAX_REMEMBERED
            ]:
                del self._tasks[one.id]
            self._start_waiting()

    def require_place(self) -> None:
        """Raise unless a task can be submitted.

        Raises:
            Unavailable: too many wait already, or the portal is being stopped.
        """
        with self._lock:
            n_waiting = len(self._list_waiting())
            if n_waiting >= self.max_waiting or self._is_closed:
                what = f"{n_waiting} jobs wait already"
                remedy = "Wait until one has ended, or cancel one."
                raise Unavailable("job", what, f"at most {self.max_waiting}", remedy)

    def find(self, task_id: str) -> TaskT | None:
        """Return a task of this process; None if it is unknown or forgotten."""
        with self._lock:
            return self._tasks.get(task_id)

    def cancel(self, task_id: str) -> None:
        """End a task; nothing happens if it has ended or is unknown."""
        with self._lock:
            if task := self._tasks.get(task_id):
                task.cancel()
                self._start_waiting()

    def close(self) -> None:
        """End all tasks, and accept no more."""
        with self._lock:
            self._is_closed = True
            for task in self._tasks.values():
                task.cancel()

    def _list_waiting(self) -> list[TaskT]:
        """Return the tasks that wait, in the order of their submission."""
        return [one for one in self._tasks.values() if one.state is TaskState.WAITING]

    def _start_waiting(self) -> None:
        """Start tasks that wait, as far as few enough run; the lock is held.

        One that was cancelled while it waited starts too: it only notes its end.
        """
        if self._is_closed:
            return
        for task in self._list_waiting():
            if self._n_running < self.max_running or task.is_cancelled:
                self._n_running += 1
                task.state = TaskState.RUNNING
                Thread(target=self._run, args=(task,), daemon=True).start()

    def _run(self, task: TaskT) -> None:
        """Run a task to its end, and start the next one."""
        try:
            task.run()
        finally:
            task.end(TaskState.BROKEN)
            with self._lock:
                self._n_running -= 1
                self._start_waiting()
