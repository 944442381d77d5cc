"""Requests for tasks and their results, as files that stay after a restart."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import Field, asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from rowkey.durable_files import make_directory, read_regular_file, replace_file
from rowkey.errors import Unavailable
from rowkey.portal.tasks.process_task import (
    MAX_DOCUMENT_BYTES,
    ProcessTask,
    TaskLimits,
    create_task_id,
)
from rowkey.portal.tasks.task_queue import TaskQueue
from rowkey.stored_messages import load_document

MAX_RESULTS = 50
"""Results of one store that are kept; with one more, the oldest is removed."""
_ID = re.compile(r"[0-9a-f]{32}")
_REQUEST_FILE, _RESULT_FILE = "request.json", "result.json"


class TaskRequest(Protocol):
    """What a user wants from a task: a dataclass of JSON values."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def created_ms(self) -> int:
        """When, in milliseconds since 1970."""
        ...


RequestT = TypeVar("RequestT", bound=TaskRequest)


class TaskResults(Generic[RequestT]):
    """The requests for one function and its results, each in a folder of its own.

    Args:
        folder: where they are stored; it is created with the first one.
        function: answers a request in a process of its own, as `ProcessTask` says.
    """

    def __init__(
        self, folder: Path, request_class: type[RequestT], function: Callable[..., dict[str, Any]]
    ) -> None:
        self.folder = folder
        self._request_class = request_class
        self._function = f"{function.__module__}:{function.__name__}"

    def start(
        self,
        queue: TaskQueue[ProcessTask],
        request: RequestT,
        limits: TaskLimits | None = None,
        **arguments: Any,
    ) -> str:
        """Store a request, submit the task that answers it, and return its id.

        Args:
            request: what is wanted.
            limits: what the task may use; as other tasks if None.
            arguments: those of the function.

        Raises:
            OSError: it cannot be written.
            Unavailable: too many tasks wait; nothing is stored.
        """
        task = self.create_task(request, limits, **arguments)
        try:
            queue.submit(task)
        except Unavailable:
            self.remove(task.id)
            raise
        return task.id

    def create_task(
        self, request: RequestT, limits: TaskLimits | None = None, **arguments: Any
    ) -> ProcessTask:
        """Store a request, and return the task that answers it; see `start`."""
        self.remove(*self.list_ids()[MAX_RESULTS - 1 :])
        task_id = create_task_id()
        folder = self.folder / task_id
        make_directory(folder)
        path = folder / _REQUEST_FILE
        replace_file(path, json.dumps(asdict(request)).encode(), path.with_suffix(".part"))
        return ProcessTask(self._function, arguments, folder / _RESULT_FILE, limits, task_id)

    def find_folder(self, task_id: str) -> Path | None:
        """Return the folder of a request; None for a text that is no id."""
        return self.folder / task_id if _ID.fullmatch(task_id) else None

    def remove(self, *task_ids: str) -> None:
        """Remove requests with their results, each as a whole; also what a kill has left of one."""
        for folder in filter(None, map(self.find_folder, task_ids)):
            with suppress(FileNotFoundError):  # another request has removed it
                folder.rename(folder.with_name(f".{folder.name}"))
        for hidden in self.folder.glob(".*"):
            shutil.rmtree(hidden, ignore_errors=True)

    def list_ids(self) -> list[str]:
        """Return the ids of the stored requests, newest first."""
        if not self.folder.is_dir():
            return []
        times: dict[str, int] = {}
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if _ID.fullmatch(entry.name):
                    with suppress(FileNotFoundError):  # another request has removed it
                        times[entry.name] = entry.stat().st_ctime_ns
        requests = {name: self.read_request(name) for name in times}
        created = {name: one.created_ms if one else 0 for name, one in requests.items()}
        return sorted(times, key=lambda name: (-created[name], -times[name]))

    def list_requests(self, count: int) -> list[tuple[str, RequestT]]:
        """Return the newest requests with their ids, newest first.

        Args:
            count: how many at most.
        """
        requests = ((one, self.read_request(one)) for one in self.list_ids()[:count])
        return [(task_id, request) for task_id, request in requests if request is not None]

    def read_request(self, task_id: str) -> RequestT | None:
        """Return a request; None if there is none of this id, or another version wrote it."""
        content = self._read(task_id, _REQUEST_FILE)
        try:
            return None if content is None else self._request_class(**json.loads(content))
        except TypeError:
            return None

    def read_result(self, task_id: str) -> dict[str, Any] | None:
        """Return the result of the function with its messages; None if there is none yet."""
        content = self._read(task_id, _RESULT_FILE)
        return None if content is None else load_document(content)

    def _read(self, task_id: str, name: str) -> bytes | None:
        folder = self.find_folder(task_id)
        if folder is None:
            return None
        try:
            return read_regular_file(folder / name, MAX_DOCUMENT_BYTES)
        except OSError:
            return None
