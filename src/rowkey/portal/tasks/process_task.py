"""A call of a function in a child process: bounded in time and memory."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

from rowkey.durable_files import read_regular_file
from rowkey.errors import InvalidDesign, Mistake, Unavailable
from rowkey.messages import Message
from rowkey.portal.tasks.task import Task, TaskState, unpack_mistakes
from rowkey.portal.tasks.task_queue import TaskQueue
from rowkey.progress import Progress
from rowkey.stored_messages import load_document

# With -P, no module of the current folder replaces one of Python.
PROCESS_COMMAND = (sys.executable, "-P", "-m", "rowkey.portal.tasks.child_process")
"""What starts the process of a task."""
MAX_RUNNING, MAX_WAITING = 2, 8
"""Processes that run at once, and tasks that wait for one of these to end."""
POLL_INTERVAL_S = 0.05
"""Seconds between two looks at a process for which another task waits."""
MAX_DOCUMENT_BYTES = 1 << 28
"""Bytes of the document of a task."""
TASK_ID_BYTES = 16
"""Random bytes of a task's id: nobody meets one by chance."""


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """What one process may use.

    Args:
        time_s: seconds from its start to its end.
        memory_bytes: bytes of memory that it may ask for. Only Linux counts all of it.
    """

    time_s: float = 60.0
    memory_bytes: int = 1 << 30


def create_task_id() -> str:
    """Return a new random id of a task."""
    return token_hex(TASK_ID_BYTES)


class ProcessTask(Task):
    """A call of a function in a process of its own.

    Args:
        function: the function, as `package.module:name`. It takes the arguments and a function that
            reports progress, and returns a JSON document.
        arguments: JSON values by name.
        result_file: where the document is written.
        limits: what it may use.
        task_id: its name, in hexadecimal digits; a new one if empty.
    """

    def __init__(
        self,
        function: str,
        arguments: Mapping[str, Any],
        result_file: Path,
        limits: TaskLimits | None = None,
        task_id: str = "",
    ) -> None:
        super().__init__(task_id or create_task_id())
        self.function, self.arguments, self.result_file = function, arguments, result_file
        self.limits = limits or TaskLimits()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def temporary_folder(self) -> Path:
        """Where its process puts temporary files; removed when that ends, in whatever way."""
        return self.result_file.with_suffix(".tmp")

    def cancel(self) -> None:
        """Kill the process, if it runs."""
        self._stop(TaskState.CANCELLED)

    def run(self) -> None:
        """Start the process, send it the call, and read its reports until it has ended."""
        timer = Timer(self.limits.time_s, self._stop, (TaskState.TOO_LONG,))
        timer.daemon = True
        process = None
        try:
            with self.lock:
                if self.state.is_final:  # it was cancelled meanwhile
                    return
                self.process = process = _start_process(self.temporary_folder)
            timer.start()
            self._send_call(process)
            assert process.stdout is not None, "it is a pipe"
            for line in process.stdout:
                self._note_report(load_document(line))
        except (OSError, ValueError) as problem:
            if process is None:
                self.end(TaskState.BROKEN, [Mistake("", str(problem))])
            # Else the process has ended, perhaps within a line.
        finally:
            timer.cancel()
            if process is not None:
                _end_process(process)
            shutil.rmtree(self.temporary_folder, ignore_errors=True)
            self.end(TaskState.BROKEN)
            self.process = None

    def _send_call(self, process: subprocess.Popen[bytes]) -> None:
        """Tell a process what to do; its standard input stays open as long as the portal runs."""
        call = {
            "function": self.function,
            "arguments": self.arguments,
            "result_file": str(self.result_file),
            **asdict(self.limits),
        }
        assert process.stdin is not None, "it is a pipe"
        process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdin.flush()

    def _note_report(self, report: dict[str, Any]) -> None:
        state = TaskState(report["state"])
        if state.is_final:
            self.end(state, unpack_mistakes(report["mistakes"]))
        else:
            self.report(Progress(report["phase"], report["done"], report["total"]))

    def _stop(self, state: TaskState) -> None:
        """End the task, with its process if it has one."""
        self.end(state)
        with self.lock:
            if self.process is not None:
                _kill(self.process)


def call_in_process(
    queue: TaskQueue[ProcessTask],
    check: Callable[[], None],
    function: Callable[..., Any],
    limits: TaskLimits,
    **arguments: Any,
) -> Any:
    """Return the document of a function that a child process calls, while another task waits.

    Args:
        check: called meanwhile; what it raises ends the process.
        function: the function, as `ProcessTask` says.
        limits: what the process may use.
        arguments: JSON values by name.

    Raises:
        InvalidDesign: the function refuses its arguments, with its mistakes.
        Unavailable: it uses more than it may, or too many tasks wait.
    """
    name = f"{function.__module__}:{function.__name__}"
    with TemporaryDirectory() as folder:
        task = ProcessTask(name, arguments, Path(folder, "result.json"), limits)
        queue.submit(task)
        try:
            while task.is_running:
                check()
                time.sleep(POLL_INTERVAL_S)
        finally:
            queue.cancel(task.id)
            while task.process is not None:  # it may still write to the folder
                time.sleep(POLL_INTERVAL_S)
        if task.state is TaskState.DONE:
            return load_document(read_regular_file(task.result_file, MAX_DOCUMENT_BYTES))
    if task.mistakes:
        raise InvalidDesign(task.mistakes)
    what = Message(
        "step.process_ended",
        "the process of this step was ended: it may use {seconds} s and {gigabytes} GB of memory",
        seconds=f"{limits.time_s:g}",
        gigabytes=f"{limits.memory_bytes / (1 << 30):g}",
    )
    remedy = Message("step.fewer_events", "Use fewer events, or the command line.")
    raise Unavailable("", what, remedy=remedy)


def _start_process(temporary_folder: Path) -> subprocess.Popen[bytes]:
    """Return a new process that waits for a call; it heads a process group of its own.

    Args:
        temporary_folder: where it puts temporary files; it is created.
    """
    temporary_folder.mkdir(exist_ok=True)
    return subprocess.Popen(  # noqa: S603 - this interpreter, with fixed arguments
        PROCESS_COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary_folder)},
        start_new_session=True,
    )


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, wait for its end, and close its pipes."""
    _kill(process)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # a call that a killed process did not read
                stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was not waited for yet, with the processes that it has started."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
