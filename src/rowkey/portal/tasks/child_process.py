"""The program of a child process: one call, read from standard input, reported line by line."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO

from rowkey.durable_files import replace_file
from rowkey.errors import Mistake, RowkeyError
from rowkey.pandas_guard import skip_pandas
from rowkey.portal.tasks.task import TaskState, list_mistakes, pack_mistakes
from rowkey.progress import Progress
from rowkey.stored_messages import dump_document

REPORT_INTERVAL_S = 0.1
"""Seconds between two reports of one phase."""
NICENESS = 5
"""How much the process lets others go first: the pages of the portal."""


class ProgressWriter:
    """Writes the reports of a task, a JSON object a line.

    Args:
        stream: where they are written.
        clock: seconds that never go back.
    """

    def __init__(self, stream: BinaryIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._phase = ""
        self._next_s = 0.0

    def __call__(self, progress: Progress) -> None:
        """Report how far the task is, unless it was just done."""
        if progress.phase != self._phase or self._clock() >= self._next_s:
            self._phase, self._next_s = progress.phase, self._clock() + REPORT_INTERVAL_S
            self._write(
                {
                    "state": TaskState.RUNNING,
                    "phase": progress.phase,
                    "done": progress.done,
                    "total": progress.total,
                }
            )

    def end(self, state: TaskState, mistakes: Sequence[Mistake] = ()) -> None:
        """Report how the task has ended."""
        self._write({"state": state, "mistakes": pack_mistakes(mistakes)})

    def _write(self, report: Mapping[str, Any]) -> None:
        self._stream.write(dump_document(report) + b"\n")
        self._stream.flush()


def run_call(call: dict[str, Any], report: ProgressWriter) -> None:
    """Call a function, write its document to the result file, and report the end.

    Args:
        call: what `ProcessTask` sends.
    """
    module, _, name = call["function"].partition(":")
    result_file = Path(call["result_file"])
    try:
        document = getattr(import_module(module), name)(report=report, **call["arguments"])
        replace_file(result_file, dump_document(document), result_file.with_suffix(".part"))
    except RowkeyError as problem:
        report.end(TaskState.REFUSED, list_mistakes(problem))
    except MemoryError:
        report.end(TaskState.TOO_LARGE)
    else:
        report.end(TaskState.DONE)


def limit_resources(memory_bytes: int, time_s: float) -> None:
    """Bound the memory and the processor time of this process.

    The portal ends it after `time_s` seconds anyway; the bound here is for one that outlives it.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    cpu_s = int(time_s * (os.cpu_count() or 1)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(NICENESS)


def exit_with_portal() -> None:
    """End this process when its standard input ends, as it does when the portal has died."""
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> None:
    """Read a call, and run it."""
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no report
    call = json.loads(sys.stdin.buffer.readline())
    limit_resources(call["memory_bytes"], call["time_s"])
    Thread(target=exit_with_portal, daemon=True).start()
    with skip_pandas():
        run_call(call, ProgressWriter(reports))
    reports.flush()
    os._exit(0)  # the thread above still reads


if __name__ == "__main__":
    main()
